// SPDX-License-Identifier: BSD-3-Clause
// The errors of every projection method in the experiment of iso/oracle/residuals.hpp, for
// projector_paper.py. Prints JSON: {"backend", "size", "views", "rows": [{"what", "residuals": [one
// a view]}]}, and writes to the file of --images the difference of the first view, float32 [u, v],
// of one row after the other.
#include "support/program.hpp"

#include <iso/backend/registry.hpp>
#include <iso/ct/forward_project_texture.hpp>
#include <iso/oracle/residuals.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

struct settings {
  std::string backend;
  std::string images;
  std::int64_t size = 128;
  std::int64_t views = 100;
};

template <class Exec>
void measure(settings const& s) {
  Exec const exec;
  oracle::residual_experiment<Exec> experiment(exec, s.size, s.views);
  json said{{"backend", s.backend}, {"size", s.size}, {"views", s.views}, {"rows", json::array()}};
  std::vector<float> images;
  auto const report = [&](char const* name) {
    said["rows"].push_back({{"what", name}, {"residuals", experiment.residuals()}});
    auto const image = experiment.difference(0);
    images.insert(images.end(), image.begin(), image.end());
  };
  auto const project = [&](char const* name, ct::forward_project_options const& options) {
    experiment.project(options);
    report(name);
  };
  using ct::projector;
  project("joseph_linear", {});
  project("joseph_spline", {.method = projector::joseph_spline});
  project("dda", {.method = projector::branchless});
  project("dda_2x2", {.method = projector::branchless, .oversampling = 2});
#if ISO_HAS_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    ct::forward_project_texture(exec, experiment.geometry(),
                                backend::texture_volume(exec, experiment.volume()),
                                experiment.projections());
    exec.fence("iso_projection_residuals");
    report("joseph_texture");
  }
#endif
  std::cout << said << "\n";
  write_floats(s.images, images);
}

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Errors of the projection methods", "iso_projection_residuals");
  app.add_option("--backend", s.backend)->required();
  app.add_option("--size", s.size, "voxels along a side, and pixels");
  app.add_option("--views", s.views);
  app.add_option("--images", s.images, "file to write")->required();
  return iso::perf::run_program(app, argc, argv, [&] {
    iso::backend::with_name(
        s.backend, [&]<class Tag>(Tag) { iso::perf::measure<typename Tag::execution_space>(s); });
  });
}
