// SPDX-License-Identifier: BSD-3-Clause
#include <iso/jobs/demo.hpp>

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
#include <iso/dose/slab_phantom.hpp>
#include <iso/files/drawing.hpp>
#include <iso/files/png_file.hpp>
#include <iso/jobs/info.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <numbers>
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

/// Source at 1000 mm, detector at 1536 mm.
constexpr double magnification = 1.536;
ct::geometry circle(std::int64_t num_u, std::int64_t num_v, double pixel, std::int64_t views) {
  return ct::circular_cone({num_u, num_v, pixel, pixel, 0, 0}, 1000, 1000 * magnification,
                           ct::even_angles(views, 2 * std::numbers::pi));
}

/// The phantom in a cube of 256 mm, whatever the number of voxels, and scans with pixels that see a
/// voxel at the axis.
struct head_scan {
  std::vector<ct::ellipsoid> bodies = ct::shepp_logan(128);
  grid box;
  ct::geometry projection;
  ct::geometry reconstruction;  ///< with views enough for it

  head_scan(std::int64_t n, std::int64_t views)
      : box(grid::centred({n, n, n}, (256 / double(n)) * vec3<double>{1, 1, 1})),
        projection(circle(n, n, magnification * 256 / double(n), views)),
        reconstruction(circle(n, n, magnification * 256 / double(n), std::max(3 * views, 2 * n))) {}

  [[nodiscard]] input_volume volume() const {
    return {box, input_volume::contents::ellipsoids, bodies};
  }
};

/// A field of 100 mm of 6 MV onto the slab phantom, its isocentre 100 mm behind the surface.
irradiation slab_irradiation(std::int64_t voxels) {
  double const voxel = dose::slab_phantom_width / double(voxels);
  irradiation one;
  one.patient = dose::slab_phantom_grid(voxel);
  one.margin = dose::default_margin;
  auto const slabs = dose::slab_phantom();
  auto const& n = one.patient.extent;
  std::vector<double> density(std::size_t(one.patient.size()));
  for (std::size_t v = 0; v < density.size(); ++v) {
    auto const layer = double(v / std::size_t(n[2]) % std::size_t(n[1]));
    density[v] = dose::mean_density(slabs, layer * voxel, (layer + 1) * voxel);
  }
  one.given = std::make_shared<std::vector<double> const>(std::move(density));
  one.field.isocentre = {0, 100, 0};
  one.field.fluence = dose::fluence_map::rectangle(-50, 50, -50, 50);
  one.region = dose::region_around(one.field, one.patient, one.margin);
  return one;
}

/// Points in the box between two corners.
grid points_between(vec3<double> const& low, vec3<double> const& high) {
  constexpr double apart = 2;  // mm
  grid g;
  for (int axis = 0; axis < 3; ++axis) {
    g.extent[std::size_t(axis)] = std::llround((high[axis] - low[axis]) / apart);
    g.spacing[axis] = apart;
    g.origin[axis] = low[axis] + 0.5 * apart;
  }
  return g;
}

constexpr double slices = 4;  // mm between contours

/// A ball about the field's isocentre.
organ target_of(dose::beam const& field, double diameter) {
  oracle::ideal_body const ball{oracle::ideal_body::shape::sphere, diameter, diameter};
  auto contours = oracle::contours_of(ball, slices, 90);
  contours.name = "target";
  auto const& middle = field.isocentre;
  for (auto& contour : contours.contours) {
    for (auto& p : contour.points) {
      p = p + middle;
    }
  }
  double const radius = 0.5 * diameter;
  vec3<double> const corner{radius, radius, radius};
  return {std::move(contours),
          [=](vec3<double> const& p) { return dot(p - middle, p - middle) <= radius * radius; },
          points_between(middle - corner, middle + corner)};
}

/// A layer of the slab phantom, 120 mm wide along x and 60 mm along z, about the beam's axis.
organ layer_of(std::string const& name, std::size_t number) {
  constexpr double x = 60;
  constexpr double half = 30;
  double near = 0;
  auto const slabs = dose::slab_phantom();
  for (std::size_t n = 0; n < number; ++n) {
    near += slabs[n].thickness;
  }
  double const far = near + slabs[number].thickness;
  dvh::structure s{name, {}};
  for (double z = 0.5 * slices - half; z < half; z += slices) {
    s.contours.push_back({{{-x, near, z}, {x, near, z}, {x, far, z}, {-x, far, z}}});
  }
  return {std::move(s), [](vec3<double> const&) { return true; },
          points_between({-x, near, -half}, {x, far, half})};
}

/// A field of proton pencil beams on a sphere behind bone and lung, in a cube of 192 mm.
synthetic::pencil_beams pencil_field(std::int64_t size) {
  std::int64_t const n = std::clamp<std::int64_t>(size, 16, 64);
  double const voxel = 192 / double(n);
  synthetic::pencil_beams field;
  field.voxels = grid::centred({n, n, n}, {voxel, voxel, voxel});
  field.entrance = 96;
  field.radius = 30;
  field.slabs = {{20, 1.0}, {10, 1.6}, {25, 0.3}};
  return field;
}

/// The deepest layer lifts the others' sum to a plateau.
std::vector<double> spot_weights(synthetic::pencil_beams const& field) {
  std::vector<double> weights;
  for (auto const& spot : synthetic::plan_of(field).spots) {
    weights.push_back(spot.layer == 0 ? 0.08 : 0.02);
  }
  return weights;
}

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
                  .colours = palette::dose},
                 slabs.region, dose, slabs.region.extent[2] / 2, rows::downwards);
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
  enum class rows { upwards, downwards };

  template <class F>
  void each_backend(F const& f) {
    for (auto const& name : request_.backends) {
      backend_ = name;
      backend::with_name(name, [&](auto tag) { f(typename decltype(tag)::execution_space()); });
    }
  }

  /// Throws iso::out_of_memory before anything is measured: every backend needs two volumes and the
  /// projections to reconstruct from in double, the host keeps the first backend's results in both
  /// precisions.
  void check_memory() {
    std::int64_t const pixels = num_pixels(head_.reconstruction);
    std::int64_t const voxels = head_.box.size();
    each_backend(
        [&](auto const& exec) { check_free(exec, 8 * (2 * voxels + pixels), "iso demo"); });
    check_free(Kokkos::Serial(), 12 * (3 * voxels + 3 * pixels), "iso demo");
  }

  /// A record of the prepared operation, which is run so many times (on a GPU, twice as many) for
  /// the shortest: the first pays for pages and clocks. The error is against `truth`, or against
  /// what the case says. Returns the values.
  template <class T, class Exec>
  std::vector<T> measure(Exec const& exec, std::string const& operation, prepared<Exec, T> what,
                         int runs, std::vector<double> const& truth = {}) {
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
    one.error = truth.empty() ? call.error() : oracle::relative_l1(values, truth);
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
                      std::vector<double> const& truth = {}) {
    return measure<T>(exec, operation, what.prepare(exec), runs, truth);
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
        {.file = "phantom.png", .title = "Shepp-Logan head", .unit = "1/mm", .window = brain},
        head_.box, voxels, shown_slice(head_.box), rows::upwards);
    auto const exact = wide(pixels);
    for (auto const& m : methods) {
      auto const projected = show<T>(exec, "project_" + m.name,
                                     projection_case<T>{head_.volume(), scan, m.options}, 2, exact);
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
                   .colours = palette::difference},
                  scan, difference);
      }
    }
    auto const reconstructed =
        show<T>(exec, "reconstruct_fdk",
                fdk_case<T>{{{}, head_.bodies}, head_.reconstruction, head_.box}, 2, wide(voxels));
    draw_slice({.file = "reconstruction_fdk.png",
                .title = message("FDK of {} views", {head_.reconstruction.num_views()}),
                .unit = "1/mm",
                .window = brain},
               head_.box, reconstructed, shown_slice(head_.box), rows::upwards);
  }

  /// Filtered backprojection of few views, beside total variation.
  template <class Exec>
  void show_few_views(Exec const& exec) {
    std::int64_t const n = std::min<std::int64_t>(request_.size, 64);
    double const voxel = 256 / double(n);
    auto const box = grid::centred({n, n, n}, {voxel, voxel, voxel});
    auto const scan = circle(n, n, magnification * voxel, 24);
    input_projections const readings{{}, head_.bodies};
    measurable<Exec, float> const raster(exec, raster_case<float>{head_.bodies, box}.prepare(exec));
    raster();
    auto const phantom = raster.values();
    std::vector<double> const truth(phantom.begin(), phantom.end());
    auto const draw = [&](std::string const& name, std::string const& title,
                          std::vector<float> const& values) {
      draw_slice({.file = name + ".png", .title = title, .unit = "1/mm", .window = brain}, box,
                 values, shown_slice(box), rows::upwards);
    };
    draw("few_views_fdk", "FDK of 24 views",
         show<float>(exec, "few_views_fdk", fdk_case<float>{readings, scan, box}, 2, truth));
    ct::total_variation_options const options{.weight = 5, .box = {.lower = 0, .upper = 1}};
    total_variation_case<float> const what{{readings, scan, box, options, 50, 3, {}}};
    draw("few_views_total_variation", "Total variation, 24 views",
         show<float>(exec, "few_views_total_variation", what, 1, truth));
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
    double const pixel = magnification * 1.2 * std::hypot(side(0), side(1)) / 320;
    auto const whole = circle(320, std::int64_t(magnification * 1.3 * side(2) / pixel), pixel, 180);
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
      auto const found =
          show<float>(exec, "chest_ct_fdk", fdk_case<float>{{volume}, whole, box}, 2, truth);
      draw_slice({.file = "chest_ct_fdk.png",
                  .title = message("FDK of {} views of the chest CT", {whole.num_views()}),
                  .unit = "1/mm",
                  .window = files::gray_window{0, 0.03}},
                 box, found, shown_slice(box), rows::downwards);
    });
  }

  /// What a target and layers of the phantom get of the dose.
  template <class Exec>
  void show_histograms(Exec const& exec, irradiation const& slabs, std::vector<float> const& dose) {
    double const end = 1.02 * double(*std::max_element(dose.begin(), dose.end()));
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
      return measure<double>(exec, operation, product_of<double>(exec, a, weights), 5, exact);
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
                  .colours = palette::dose},
                 field.voxels, dose, field.voxels.extent[2] / 2, rows::upwards);
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
                    projection_case<float>{large.volume(), large.projection, m.options}, 2, exact);
      }
    }
  }

  /// At three eighths of the height, which cuts most of the phantom's ellipsoids.
  static std::int64_t shown_slice(grid const& box) { return box.extent[2] * 3 / 8; }

  enum class palette { grey, difference, dose };

  /// What a picture shows, and how.
  struct picture {
    std::string file;
    std::string title;
    std::string unit;
    palette colours = palette::grey;
    std::optional<files::gray_window> window = {};  ///< none: all values
    std::array<char const*, 2> axes = {"x, mm", "y, mm"};
    bool has_place = true;  ///< the title says which slice it is
  };

  static constexpr files::gray_window brain = {0, 0.5};  ///< 1/mm; the skull is overexposed

  static files::colour colour_of(palette colours, double part) {
    switch (colours) {
      case palette::difference:
        return files::colour_between({{0.1, 0.3, 0.9}, {1, 1, 1}, {0.9, 0.1, 0.1}}, part);
      case palette::dose:
        return files::dose_colour(part);
      case palette::grey:
        break;
    }
    return files::colour_between({files::black, files::white}, part);
  }

  /// The least to the largest value; of differences the same on both sides of zero, and all but the
  /// largest half per cent, which lie on a few edges.
  static files::gray_window window_of(palette colours, files::gray_image const& image) {
    if (colours == palette::difference) {
      auto sizes = image.values;
      std::transform(sizes.begin(), sizes.end(), sizes.begin(),
                     [](float d) { return std::abs(d); });
      double const most = files::percentile_window(std::move(sizes), 0, 0.995).white;
      return {-most, most};
    }
    auto const full = files::full_window(image);
    return colours == palette::dose ? files::gray_window{0, full.white} : full;
  }

  /// One slice across z of the first backend's values, x to the right, with axes, a bar and a
  /// title.
  template <class T>
  void draw_slice(picture const& what, grid const& box, std::vector<T> const& values,
                  std::int64_t slice, rows direction) {
    if (std::ranges::find(report_.figures, what.file) != report_.figures.end()) {
      return;
    }
    auto const& n = box.extent;
    files::gray_image image{n[0], n[1], {}};
    for (std::int64_t row = 0; row < n[1]; ++row) {
      std::int64_t const y = direction == rows::downwards ? row : n[1] - 1 - row;
      for (std::int64_t x = 0; x < n[0]; ++x) {
        image.values.push_back(float(values[std::size_t((x * n[1] + y) * n[2] + slice)]));
      }
    }
    auto const window = what.window.value_or(window_of(what.colours, image));
    auto const colour = [&](double part) { return colour_of(what.colours, part); };
    std::int64_t const scale = std::max<std::int64_t>((480 + n[0] - 1) / n[0], 1);
    auto drawn = files::in_colours(image, window, colour, scale);
    auto const size = files::text_size(drawn);
    auto const axis = [&](int a) {
      double const low = box.origin[a] - 0.5 * box.spacing[a];
      return files::picture_axis{what.axes[std::size_t(a)], low,
                                 low + box.spacing[a] * double(n[std::size_t(a)])};
    };
    auto up = axis(1);
    if (direction == rows::downwards) {
      std::swap(up.from, up.to);
    }
    files::add_axes(drawn, axis(0), up, size);
    files::add_colour_bar(drawn, colour, files::round_marks(window.black, window.white), what.unit);
    auto title = what.title;
    if (what.has_place) {
      title += message(", z = {:.4g} mm", {box.origin.z + double(slice) * box.spacing.z});
    }
    files::add_title(drawn, title, size);
    figures_.push_back(files::prepare_png(request_.folder / what.file, drawn));
    report_.figures.push_back(what.file);
  }
  /// The first view, u to the right and v upwards.
  template <class T>
  void draw_view(picture what, ct::geometry const& g, std::vector<T> const& values) {
    auto const& view = g.views().front();
    vec3<double> const pitch{norm(view.u_step), norm(view.v_step), 1};
    what.axes = {"u, mm", "v, mm"};
    what.has_place = false;
    draw_slice(what, grid::centred({g.num_u(), g.num_v(), 1}, pitch), values, 0, rows::upwards);
  }

  /// Cumulative histograms of the first backend, with figures in the legend.
  void draw_histograms(std::string const& name, histogram_case<float> const& what,
                       std::vector<float> const& values) {
    if (std::ranges::find(report_.figures, name) != report_.figures.end()) {
      return;
    }
    std::vector<files::curve> curves;
    for (std::size_t s = 0; s < what.organs.size(); ++s) {
      auto const* const of = values.data() + s * std::size_t(what.numbers_each());
      auto const* const figures = of + what.bins + 1;
      auto const gray = [&](int n) { return double(figures[n]) / 100 * what.end; };
      curves.push_back({message("{}: mean {:.3g} Gy, D95 {:.3g} Gy",
                                {std::string_view(what.organs[s].contours.name), gray(0), gray(1)}),
                        {of, figures}});
    }
    auto image = files::draw_curves(curves, what.end, "Gy");
    files::add_title(image, "Volume of each structure that gets a dose, or more", 2);
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
