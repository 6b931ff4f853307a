// SPDX-License-Identifier: BSD-3-Clause
// The errors of every projection method in the experiment of iso/oracle/residuals.hpp, for
// projector_paper.py:
//
//   iso_projection_residuals BACKEND SIZE VIEWS IMAGES
//
// prints JSON: {"backend", "size", "views", "rows": [{"what", "residuals": [one a view]}]}, and
// writes to the file IMAGES the difference of the first view, float32 [u, v], of one row after the
// other.
#include <iso/backend/registry.hpp>
#include <iso/ct/forward_project_texture.hpp>
#include <iso/oracle/residuals.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace {

struct variant {
  char const* name;
  iso::ct::forward_project_options options;
};

std::vector<variant> variants() {
  using iso::ct::projector;
  return {{"joseph_linear", {}},
          {"joseph_spline", {.method = projector::joseph_spline}},
          {"dda", {.method = projector::branchless}},
          {"dda_2x2", {.method = projector::branchless, .oversampling = 2}}};
}

template <class Exec>
void measure(char const* backend, std::int64_t size, std::int64_t views, char const* images) {
  Exec const exec;
  iso::oracle::residual_experiment<Exec> experiment(exec, size, views);
  std::ofstream file(images, std::ios::binary);
  std::printf("{\"backend\": \"%s\", \"size\": %lld, \"views\": %lld, \"rows\": [", backend,
              static_cast<long long>(size), static_cast<long long>(views));
  bool first = true;
  auto const report = [&](char const* name) {
    std::printf("%s\n {\"what\": \"%s\", \"residuals\": [", first ? "" : ",", name);
    char const* separator = "";
    for (double const each : experiment.residuals()) {
      std::printf("%s%.9g", separator, each);
      separator = ", ";
    }
    std::printf("]}");
    first = false;
    auto const image = experiment.difference(0);
    file.write(reinterpret_cast<char const*>(image.data()),
               std::streamsize(image.size() * sizeof(float)));
  };
  for (auto const& [name, options] : variants()) {
    experiment.project(options);
    report(name);
  }
#if ISO_HAS_CUDA
  if constexpr (std::is_same_v<Exec, Kokkos::Cuda>) {
    iso::ct::forward_project_texture(exec, experiment.geometry(),
                                     iso::backend::texture_volume(exec, experiment.volume()),
                                     experiment.projections());
    exec.fence("iso_projection_residuals");
    report("joseph_texture");
  }
#endif
  std::printf("]}\n");
  if (!file.flush()) {
    throw std::runtime_error(std::string("cannot write ") + images);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: iso_projection_residuals BACKEND SIZE VIEWS IMAGES\n");
    return 2;
  }
  try {
    Kokkos::ScopeGuard const kokkos;
    iso::backend::with_name(argv[1], [&]<class Tag>(Tag) {
      measure<typename Tag::execution_space>(argv[1], std::atoll(argv[2]), std::atoll(argv[3]),
                                             argv[4]);
    });
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "iso_projection_residuals: %s\n", failure.what());
    return 1;
  }
  return 0;
}
