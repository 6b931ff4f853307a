// SPDX-License-Identifier: BSD-3-Clause
#include <iso/jobs/demo.hpp>

#include "demo_inputs.hpp"
#include "demo_pictures.hpp"
#include "memory.hpp"
#include "record.hpp"
#include "scan.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/dose.hpp>
#include <iso/cases/dvh.hpp>
#include <iso/cases/formats.hpp>
#include <iso/cases/iteration.hpp>
#include <iso/cases/product.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/reconstruction.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/files/drawing.hpp>
#include <iso/files/png_file.hpp>
#include <iso/jobs/info.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace iso::jobs {
namespace {

struct named_method {
  std::string name;
  ct::forward_project_options options;
};
named_method const methods[] = {
    {"joseph_ordered", {}},
    {"joseph_reproducible", {.sum = summation::reproducible}},
    {"joseph_spline", {.method = ct::projector::joseph_spline}},
    {"amanatides_woo", {.method = ct::projector::amanatides_woo}},
    {"branchless", {.method = ct::projector::branchless}},
    {"siddon", {.method = ct::projector::siddon}},
};
auto const& joseph = methods[0];
auto const& branchless = methods[4];

class demonstration {
 public:
  demonstration(demo_request const& request, observer const& watch)
      : request_(request), watch_(watch), head_(request.size, request.views) {}

  demo_result run() {
    check_memory();
    report_.machine = info(request_.backends, ceilings_wanted::no, {});
    ceilings_ = measure_ceilings(report_.machine, watch_);
    each_backend([&](auto const& exec) { show_phantom<float>(exec); });
    each_backend([&](auto const& exec) { show_phantom<double>(exec); });
    each_backend([&](auto const& exec) { show_few_views(exec); });
    if (request_.ct) {
      show_ct();
    } else {
      report_.notes.emplace_back(
          "no chest CT (scripts/get_example_data.sh of the source fetches it): only the phantom "
          "was projected");
    }
    auto const slabs = slab_irradiation(request_.size);
    each_backend([&](auto const& exec) {
      auto const dose = show<float>(exec, "dose_slab", dose_case<float>{slabs}, 2);
      // The beam comes from above.
      draw_slice({.file = "dose_slab.png",
                  .title = "Dose of a field of 100 mm, from above",
                  .unit = "Gy",
                  .colours = demo_palette::dose},
                 slabs.region, dose, slabs.region.extent[2] / 2, demo_rows::downwards);
      show<double>(exec, "dose_slab", dose_case<double>{slabs}, 2);
      show_histograms(exec, slabs, dose);
    });
    each_backend([&](auto const& exec) { show_matrix(exec); });
    each_backend([&](auto const& exec) { show_large(exec); });
    report_.bits_agree = judge(report_.records, request_.backends.size());
    watch_.step(1, "done");
    return {std::move(report_), std::move(figures_)};
  }

 private:
  template <class F>
  void each_backend(F const& f) {
    for (auto const& name : request_.backends) {
      backend_ = name;
      backend::with_name(name, [&](auto tag) { f(typename decltype(tag)::execution_space()); });
    }
  }

  /// Throws iso::out_of_memory before anything is measured: every backend needs two volumes, the
  /// projections to reconstruct from in double and what reconstructs them, the host keeps the first
  /// backend's results in both precisions.
  void check_memory() {
    std::int64_t const pixels = num_pixels(head_.reconstruction);
    std::int64_t const voxels = head_.box.size();
    each_backend([&](auto const& exec) {
      using reconstructor = ct::fdk_reconstructor<std::decay_t<decltype(exec)>, double>;
      check_free(
          exec, 8 * (2 * voxels + pixels) + reconstructor::bytes_needed(exec, head_.reconstruction),
          "iso demo");
    });
    check_free(Kokkos::Serial(), 12 * (3 * voxels + 3 * pixels), "iso demo");
  }

  /// What a result is compared with, and how well it must agree.
  struct answer {
    std::vector<double> truth = {};  ///< empty: what the case says
    /// The phantom's voxels may be few.
    double largest_error = 0.05;
  };
  /// What a reconstruction is compared with. Edges blur, of which a phantom of 24 voxels has little
  /// else: 0.34 there, 0.17 at 128 voxels; zeros would be 1.
  static answer blurred(std::vector<double> truth) { return {std::move(truth), 0.5}; }

  /// A record of the prepared operation, which is run so many times (on a GPU, twice as many) for
  /// the shortest: the first pays for pages and clocks. Returns the values.
  template <class T, class Exec>
  std::vector<T> measure(Exec const& exec, std::string const& operation, prepared<Exec, T> what,
                         int runs, answer const& expected = {}) {
    // Twelve operations in two precisions, two of few views, the matrix in three formats, and four
    // on the CT.
    int const planned = int(request_.backends.size()) * (request_.ct ? 33 : 29);
    watch_.step(std::min(0.99, double(started_++) / planned), operation + " on " + backend_);
    auto const least = what.least;
    measurable<Exec, T> const call(exec, std::move(what));
    double best = 1e30;
    for (int run = 0; run < (backend::is_device<Exec> ? 2 * runs : runs); ++run) {
      best = std::min(best, seconds_of(exec, call));
    }
    auto values = call.values();
    auto one = new_record<T>(operation, backend_);
    auto const& truth = expected.truth;
    one.error = truth.empty() ? call.error() : oracle::relative_l1(values, truth);
    one.largest_error = expected.largest_error;
    one.has_model = least.has_value();
    add_time(one, best, least, ceilings_.at(backend_));
    if constexpr (sizeof(T) == 4) {
      float_judges_[operation].judge(one, values, "against the first backend");
    } else {
      double_judges_[operation].judge(one, values, "against the first backend");
    }
    report_.records.push_back(std::move(one));
    return values;
  }
  template <class T, class Exec, class Case>
  std::vector<T> show(Exec const& exec, std::string const& operation, Case const& what, int runs,
                      answer const& expected = {}) {
    return measure<T>(exec, operation, what.prepare(exec), runs, expected);
  }

  template <class T, class Exec>
  void show_phantom(Exec const& exec) {
    auto const wide = [](std::vector<T> const& v) {
      return std::vector<double>(v.begin(), v.end());
    };
    auto const& scan = head_.projection;
    auto const voxels = show<T>(exec, "phantom_raster", raster_case<T>{head_.bodies, head_.box}, 1);
    auto const pixels = show<T>(exec, "phantom_exact_projection",
                                ellipsoid_projection_case<T>{head_.bodies, scan}, 1);
    draw_slice(
        {.file = "phantom.png", .title = "Shepp-Logan head", .unit = "1/mm", .window = demo_brain},
        head_.box, voxels, shown_slice(head_.box), demo_rows::upwards);
    auto const exact = wide(pixels);
    for (auto const& m : methods) {
      auto const projected =
          show<T>(exec, "project_" + m.name, projection_case<T>{head_.volume(), scan, m.options}, 2,
                  {exact});
      if (&m == &joseph) {
        draw_view({.file = "projection_joseph.png",
                   .title = "Line integrals of the head, first view",
                   .unit = "no unit"},
                  scan, projected);
        std::vector<T> difference;
        std::transform(projected.begin(), projected.end(), pixels.begin(),
                       std::back_inserter(difference), std::minus<>());
        draw_view({.file = "difference_joseph.png",
                   .title = "Line integrals less the exact ones, first view",
                   .unit = "no unit",
                   .colours = demo_palette::difference},
                  scan, difference);
      }
    }
    auto const reconstructed = show<T>(
        exec, "reconstruct_fdk", fdk_case<T>{{{}, head_.bodies}, head_.reconstruction, head_.box},
        2, blurred(wide(voxels)));
    draw_slice({.file = "reconstruction_fdk.png",
                .title = message("FDK of {} views", {head_.reconstruction.num_views()}),
                .unit = "1/mm",
                .window = demo_brain},
               head_.box, reconstructed, shown_slice(head_.box), demo_rows::upwards);
  }

  /// Filtered backprojection of few views, beside total variation.
  template <class Exec>
  void show_few_views(Exec const& exec) {
    std::int64_t const n = std::min<std::int64_t>(request_.size, 64);
    double const voxel = 256 / double(n);
    auto const box = grid::centred({n, n, n}, {voxel, voxel, voxel});
    auto const scan = circle(n, n, demo_magnification * voxel, 24);
    input_projections const readings{{}, head_.bodies};
    measurable<Exec, float> const raster(exec, raster_case<float>{head_.bodies, box}.prepare(exec));
    raster();
    auto const phantom = raster.values();
    std::vector<double> const truth(phantom.begin(), phantom.end());
    auto const draw = [&](std::string const& name, std::string const& title,
                          std::vector<float> const& values) {
      draw_slice({.file = name + ".png", .title = title, .unit = "1/mm", .window = demo_brain}, box,
                 values, shown_slice(box), demo_rows::upwards);
    };
    // Too few views are what total variation is for.
    answer const too_few{truth, 1};
    draw("few_views_fdk", "FDK of 24 views",
         show<float>(exec, "few_views_fdk", fdk_case<float>{readings, scan, box}, 2, too_few));
    ct::total_variation_options const options{.weight = 5, .box = {.lower = 0, .upper = 1}};
    total_variation_case<float> const what{{readings, scan, box, options, 50, 3, {}}};
    draw("few_views_total_variation", "Total variation, 24 views",
         show<float>(exec, "few_views_total_variation", what, 1, blurred(truth)));
  }

  /// The CT by two methods, and reconstructed.
  void show_ct() {
    auto const& ct = *request_.ct;
    grid const box = make_grid(ct);
    input_volume const volume{box,
                              input_volume::contents::given,
                              {},
                              std::make_shared<std::vector<float> const>(ct.values)};
    auto const side = [&](std::size_t a) { return double(ct.extent[a]) * ct.spacing[a]; };
    double const width = 1.3 * 1.6 * std::max({side(0), side(1), side(2)});
    auto const scan = circle(160, 128, width / 160, 24);
    // The detector sees the whole of the CT in every view.
    double const pixel = demo_magnification * 1.2 * std::hypot(side(0), side(1)) / 320;
    auto const whole =
        circle(320, std::int64_t(demo_magnification * 1.3 * side(2) / pixel), pixel, 180);
    std::vector<double> const truth(ct.values.begin(), ct.values.end());
    each_backend([&](auto const& exec) {
      show<double>(exec, "chest_ct_" + joseph.name, projection_case<double>{volume, scan}, 2);
      auto const pixels =
          show<float>(exec, "chest_ct_" + joseph.name, projection_case<float>{volume, scan}, 2);
      draw_view({.file = "chest_ct_projection.png",
                 .title = "Line integrals of the chest CT, first view",
                 .unit = "no unit"},
                scan, pixels);
      show<float>(exec, "chest_ct_" + branchless.name,
                  projection_case<float>{volume, scan, branchless.options}, 2);
      auto const found = show<float>(exec, "chest_ct_fdk", fdk_case<float>{{volume}, whole, box}, 2,
                                     blurred(truth));
      draw_slice({.file = "chest_ct_fdk.png",
                  .title = message("FDK of {} views of the chest CT", {whole.num_views()}),
                  .unit = "1/mm",
                  .window = files::gray_window{0, 0.03}},
                 box, found, shown_slice(box), demo_rows::downwards);
    });
  }

  /// What a target and layers of the phantom get of the dose.
  template <class Exec>
  void show_histograms(Exec const& exec, irradiation const& slabs, std::vector<float> const& dose) {
    double const end =
        dvh::beyond_largest_dose * double(*std::max_element(dose.begin(), dose.end()));
    auto const wide = std::make_shared<std::vector<double> const>(dose.begin(), dose.end());
    std::vector<organ> const organs = {target_of(slabs.field, 60), layer_of("lung", 4),
                                       layer_of("bone", 2)};
    histogram_case<float> const what{slabs.region, wide, end, organs};
    draw_histograms("dvh_slab.png", what, show<float>(exec, "dvh_slab", what, 1));
    show<double>(exec, "dvh_slab", histogram_case<double>{slabs.region, wide, end, organs}, 1);
  }

  /// A matrix of proton pencil beams times weights, in double and in half.
  template <class Exec>
  void show_matrix(Exec const& exec) {
    auto const field = pencil_field(request_.size);
    auto const weights = spot_weights(field);
    auto const wide = synthetic::generate<double>(exec, field);
    auto const exact = oracle::exact_product(
        1, synthetic::generate<double>(Kokkos::Serial(), field), weights, 0, weights);
    auto const multiply = [&](std::string const& operation, auto const& a) {
      return measure<double>(exec, operation, product_of<double>(exec, a, weights), 5, {exact});
    };
    multiply("dose_matrix_double", wide);
    auto const narrow = sparse::convert_values<half>(exec, wide).matrix;
    multiply("dose_matrix_half", narrow);
    auto const format = sparse::choose_format(exec, narrow).format;
    with_format(exec, narrow, format, [&](auto const& formatted) {
      auto const dose = multiply("dose_matrix_half_" + name_of(format), formatted);
      draw_slice({.file = "dose_matrix.png",
                  .title = "Protons behind bone and lung, half matrix",
                  .unit = "Gy",
                  .colours = demo_palette::dose},
                 field.voxels, dose, field.voxels.extent[2] / 2, demo_rows::upwards);
    });
  }

  /// A larger projection for its time, on GPUs alone.
  template <class Exec>
  void show_large(Exec const& exec) {
    if constexpr (backend::is_device<Exec>) {
      head_scan const large(512, 360);
      try {
        check_free(exec, 8 * (large.box.size() + num_pixels(large.projection)),
                   "demo at 512 voxels a side");
      } catch (out_of_memory const& failure) {
        report_.notes.emplace_back(failure.what());
        return;
      }
      auto const exact = oracle::exact_projections(large.bodies, large.projection, 4,
                                                   stride_for(num_pixels(large.projection), 2000));
      for (auto const& m : {methods[0], methods[1], methods[3], methods[4]}) {
        show<float>(exec, "project_" + m.name + "_512",
                    projection_case<float>{large.volume(), large.projection, m.options}, 2,
                    {exact});
      }
    }
  }

  /// At three eighths of the height, which cuts most of the phantom's ellipsoids.
  static std::int64_t shown_slice(grid const& box) { return box.extent[2] * 3 / 8; }

  /// Draws one slice across z of the first backend's values, x to the right.
  template <class T>
  void draw_slice(demo_picture const& what, grid const& box, std::vector<T> const& values,
                  std::int64_t slice, demo_rows direction) {
    if (std::ranges::find(report_.figures, what.file) != report_.figures.end()) {
      return;
    }
    auto const& n = box.extent;
    files::gray_image image{n[0], n[1], {}};
    for (std::int64_t row = 0; row < n[1]; ++row) {
      std::int64_t const y = direction == demo_rows::downwards ? row : n[1] - 1 - row;
      for (std::int64_t x = 0; x < n[0]; ++x) {
        image.values.push_back(float(values[std::size_t((x * n[1] + y) * n[2] + slice)]));
      }
    }
    auto const drawn = draw_demo_slice(what, image, box, slice, direction);
    figures_.push_back(files::prepare_png(request_.folder / what.file, drawn));
    report_.figures.push_back(what.file);
  }
  /// The first view, u to the right and v upwards.
  template <class T>
  void draw_view(demo_picture what, ct::geometry const& g, std::vector<T> const& values) {
    auto const& view = g.views().front();
    vec3<double> const pitch{norm(view.u_step), norm(view.v_step), 1};
    what.axes = {"u, mm", "v, mm"};
    what.has_place = false;
    draw_slice(what, grid::centred({g.num_u(), g.num_v(), 1}, pitch), values, 0,
               demo_rows::upwards);
  }

  /// Cumulative histograms of the first backend, with figures in the legend.
  void draw_histograms(std::string const& name, histogram_case<float> const& what,
                       std::vector<float> const& values) {
    if (std::ranges::find(report_.figures, name) != report_.figures.end()) {
      return;
    }
    auto const image = draw_demo_histograms(what, values);
    figures_.push_back(files::prepare_png(request_.folder / name, image));
    report_.figures.push_back(name);
  }

  demo_request const& request_;
  observer const& watch_;
  head_scan head_;
  std::string backend_;
  report report_;
  std::vector<files::atomic_file> figures_;
  ceilings_of_backends ceilings_;
  std::map<std::string, bit_judge<float>> float_judges_;
  std::map<std::string, bit_judge<double>> double_judges_;
  int started_ = 0;
};

}  // namespace

demo_result demo(demo_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(),
               "demo: no backend (at least one is needed); choose one by --backend");
  ISO_VALIDATE(request.size >= 8 && request.size <= 1024,
               "demo: size {} (must be from 8 to 1024); choose another by --size", request.size);
  ISO_VALIDATE(request.views >= 1 && request.views <= 10000,
               "demo: {} views (must be from 1 to 10000); choose another number by --views",
               request.views);
  return demonstration(request, watch).run();
}

}  // namespace iso::jobs
