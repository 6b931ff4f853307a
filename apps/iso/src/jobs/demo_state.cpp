// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"

#include <iso/files/png_file.hpp>
#include <iso/jobs/info.hpp>

#include <algorithm>

namespace iso::jobs {

demo_state::demo_state(demo_request const& the_request, observer const& the_watch,
                       demo_plan the_plan)
    : request(the_request), watch(the_watch), plan(std::move(the_plan)) {
  result.machine = info(request.backends, ceilings_wanted::no, {});
  ceilings = measure_ceilings(result.machine, watch);
}

void demo_state::next(std::string const& what) {
  // Ten operations in two precisions, the matrix, and four on the CT, a backend.
  int const planned = int(request.backends.size()) * (request.ct ? 25 : 21);
  watch.step(std::min(0.99, double(started_++) / planned), what);
}

template <class T>
void demo_state::add(std::string const& operation, std::string const& backend,
                     std::vector<T> values, double seconds, double error, least_work const& least) {
  auto one = new_record<T>(operation, backend);
  one.error = error;
  add_time(one, seconds, least, ceilings.at(backend));
  if constexpr (sizeof(T) == 4) {
    float_judges_[operation].judge(one, std::move(values), "against the first backend");
  } else {
    double_judges_[operation].judge(one, std::move(values), "against the first backend");
  }
  result.records.push_back(std::move(one));
}
template void demo_state::add(std::string const&, std::string const&, std::vector<float>, double,
                              double, least_work const&);
template void demo_state::add(std::string const&, std::string const&, std::vector<double>, double,
                              double, least_work const&);

namespace {

void draw(demo_state& state, std::string const& name, files::gray_image const& image,
          files::gray_window window) {
  state.figures.push_back(files::prepare_png(state.request.folder / name, image, window));
  state.result.figures.push_back(name);
}

}  // namespace

// The slice at three eighths of the height, which cuts most of the phantom's ellipsoids; x to the
// right and y upwards.
void draw_slice(demo_state& state, std::string const& name, grid const& box,
                std::vector<float> const& volume, files::gray_window window) {
  auto const& n = box.extent;
  files::gray_image image{n[0], n[1], {}};
  for (std::int64_t y = n[1]; y-- > 0;) {
    for (std::int64_t x = 0; x < n[0]; ++x) {
      image.values.push_back(volume[std::size_t((x * n[1] + y) * n[2] + n[2] * 3 / 8)]);
    }
  }
  draw(state, name, image, window);
}

// The slice through the isocentre, the beam from the left and y upwards.
void draw_dose(demo_state& state, grid const& voxels, std::vector<double> const& dose) {
  auto const& n = voxels.extent;
  files::gray_image image{n[0], n[1], {}};
  for (std::int64_t y = n[1]; y-- > 0;) {
    for (std::int64_t x = 0; x < n[0]; ++x) {
      image.values.push_back(float(dose[std::size_t((x * n[1] + y) * n[2] + n[2] / 2)]));
    }
  }
  draw(state, "dose_matrix.png", image, files::full_window(image));
}

// The slice across z through the middle, x to the right and y, the depth, downwards.
void draw_depths(demo_state& state, std::string const& name, grid const& voxels,
                 std::vector<float> const& dose) {
  auto const& n = voxels.extent;
  files::gray_image image{n[0], n[1], {}};
  for (std::int64_t y = 0; y < n[1]; ++y) {
    for (std::int64_t x = 0; x < n[0]; ++x) {
      image.values.push_back(dose[std::size_t((x * n[1] + y) * n[2] + n[2] / 2)]);
    }
  }
  draw(state, name, image, files::full_window(image));
}

// The first view, u to the right and v upwards.
void draw_projection(demo_state& state, std::string const& name, ct::geometry const& scan,
                     std::vector<float> const& projections) {
  files::gray_image image{scan.num_u(), scan.num_v(), {}};
  for (std::int64_t v = scan.num_v(); v-- > 0;) {
    for (std::int64_t u = 0; u < scan.num_u(); ++u) {
      image.values.push_back(projections[std::size_t(u * scan.num_v() + v)]);
    }
  }
  draw(state, name, image, files::full_window(image));
}

}  // namespace iso::jobs
