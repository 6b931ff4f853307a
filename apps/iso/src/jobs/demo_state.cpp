// SPDX-License-Identifier: BSD-3-Clause
#include "demo_runs.hpp"
#include "machine.hpp"

#include <iso/backend/registry.hpp>
#include <iso/files/png_file.hpp>
#include <iso/jobs/info.hpp>

#include <algorithm>
#include <cmath>

namespace iso::jobs {

demo_state::demo_state(demo_request const& the_request, observer const& the_watch,
                       demo_plan the_plan)
    : request(the_request),
      watch(the_watch),
      plan(std::move(the_plan)),
      counts(count_rays(plan.scan, plan.volume)) {
  result.machine = info(request.backends, ceilings_wanted::no, {});
  for (auto& machine : result.machine) {
    watch.step(0, "ceilings of " + machine.backend);
    backend::with_name(machine.backend, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      auto const measured = backend::measure_ceilings(exec);
      ceilings[machine.backend] = measured;
      machine.ceilings = list_ceilings(measured);
    });
  }
}

void demo_state::next(std::string const& what) {
  // Eight operations in two precisions, the matrix, and three on the CT, a backend.
  int const planned = int(request.backends.size()) * (request.ct ? 20 : 17);
  watch.step(std::min(0.99, double(started_++) / planned), what);
}

template <class T>
void demo_state::add(std::string const& operation, std::string const& backend,
                     std::vector<T> values, double seconds, std::optional<double> error,
                     std::optional<double> least_seconds) {
  record one;
  one.operation = operation;
  one.backend = backend;
  one.precision = sizeof(T) == 4 ? "float" : "double";
  one.hash = hash_text(hash_bits<T>(values));
  one.runs = 1;
  one.error = error;
  one.time_ms = 1e3 * seconds;
  if (least_seconds && *least_seconds > 0) {
    one.share_of_ceiling = *least_seconds / seconds;
  }
  auto& references = [this]() -> auto& {
    if constexpr (sizeof(T) == 4) {
      return float_references_;
    } else {
      return double_references_;
    }
  }();
  auto const [reference, is_first] = references.try_emplace(operation, std::move(values));
  if (!is_first) {
    if (auto const where = first_difference<T>(reference->second, values)) {
      one.agrees = false;
      one.disagreements.push_back({"against the first backend", *where});
    }
  }
  result.records.push_back(std::move(one));
}
template void demo_state::add(std::string const&, std::string const&, std::vector<float>, double,
                              std::optional<double>, std::optional<double>);
template void demo_state::add(std::string const&, std::string const&, std::vector<double>, double,
                              std::optional<double>, std::optional<double>);

template <class T>
double relative_l1(std::vector<T> const& a, std::vector<T> const& b) {
  double difference = 0;
  double size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::abs(double(a[i]) - double(b[i]));
    size += std::abs(double(b[i]));
  }
  return difference / size;
}
template double relative_l1(std::vector<float> const&, std::vector<float> const&);
template double relative_l1(std::vector<double> const&, std::vector<double> const&);

namespace {

void draw(demo_state& state, std::string const& name, files::gray_image const& image,
          files::gray_window window) {
  files::write_png(state.request.folder / name, image, window);
  state.result.figures.push_back(name);
}

}  // namespace

// The slice that cuts most of the ellipsoids, x to the right and y upwards; the skull is
// overexposed.
void draw_phantom(demo_state& state, std::vector<float> const& volume) {
  auto const& n = state.plan.volume.extent;
  files::gray_image image{n[0], n[1], {}};
  for (std::int64_t y = n[1]; y-- > 0;) {
    for (std::int64_t x = 0; x < n[0]; ++x) {
      image.values.push_back(volume[std::size_t((x * n[1] + y) * n[2] + n[2] * 3 / 8)]);
    }
  }
  draw(state, "phantom.png", image, {0, 0.5});
}

// The slice through the isocenter, the beam from the left and y upwards.
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
