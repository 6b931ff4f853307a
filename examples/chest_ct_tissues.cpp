// SPDX-License-Identifier: BSD-3-Clause
// The chest CT projected and reconstructed again by FDK: the error in Hounsfield units by tissue.
//
// chest_ct_tissues CT.nii.gz [PICTURE.png]
//
// 360 cone-beam views of 320 x 256 pixels of 2.4 mm, source 1000 mm from the axis and 1536 mm from
// the detector; attenuation is linear in the CT number, water 0.01707 / mm (100 keV). Tissues are
// ranges of the CT number in the original. "inside" leaves out voxels beside one of another tissue,
// where half a voxel of blur counts as an error of hundreds of units. The top and bottom eighth of
// the slices, which the circle of sources does not see from all sides, are left out.
#include <iso/core/projection_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/volume_file.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <numbers>
#include <vector>

namespace {

namespace fs = std::filesystem;
using exec_space = Kokkos::DefaultExecutionSpace;
using space = exec_space::memory_space;

constexpr double water = 0.01707;

struct tissue {
  char const* name;
  float low;          ///< HU, this one included
  float high;         ///< HU, not included
  double max_inside;  ///< mean absolute error allowed inside, HU
  double max_bias;    ///< mean error allowed inside, HU
};
constexpr std::array<tissue, 5> tissues = {{{"air", -3000, -950, 25, 8},
                                            {"lung", -950, -500, 30, 5},
                                            {"fat", -150, -30, 21, 3},
                                            {"soft tissue", -30, 130, 24, 3},
                                            {"bone", 250, 5000, 40, 6}}};

/// The tissue of a CT number; -1: none of them.
int tissue_of(float hu) {
  for (std::size_t i = 0; i < tissues.size(); ++i) {
    if (hu >= tissues[i].low && hu < tissues[i].high) {
      return int(i);
    }
  }
  return -1;
}

std::vector<float> reconstructed(iso::files::host_volume const& ct, iso::grid const& grid) {
  exec_space const exec;
  auto const volume = iso::make_volume<float, space>(exec, "volume", grid);
  auto const host = Kokkos::create_mirror_view(volume.data);
  std::transform(ct.values.begin(), ct.values.end(), host.data(), [](float hu) {
    return float(water * (1 + std::max(double(hu), -1000.0) / 1000));
  });
  Kokkos::deep_copy(exec, volume.data, host);
  auto const g = iso::ct::circular_cone({320, 256, 2.4, 2.4}, 1000, 1536,
                                        iso::ct::even_angles(360, 2 * std::numbers::pi));
  auto const projections =
      iso::make_projections<float, space>(exec, "projections", g.num_views(), g.num_u(), g.num_v());
  {
    iso::workspace<space> const scratch(
        iso::ct::forward_project_bytes_needed<float>(exec_space(), g, grid));
    iso::ct::forward_project<exec_space, float>(exec, iso::ct::stage(exec, g), volume, projections,
                                                scratch);
    exec.fence();
  }
  iso::ct::fdk_reconstructor<exec_space, float> const reconstructor(exec, g, grid);
  reconstructor.apply(projections, volume);
  exec.fence();
  Kokkos::deep_copy(host, volume.data);
  std::vector<float> hu(host.data(), host.data() + host.size());
  for (float& x : hu) {
    x = float(1000 * (double(x) / water - 1));
  }
  return hu;
}

struct figures {
  double sum = 0;
  double sizes = 0;
  double count = 0;
  void add(double error) {
    sum += error;
    sizes += std::abs(error);
    count += 1;
  }
  [[nodiscard]] double bias() const { return sum / count; }
  [[nodiscard]] double mean() const { return sizes / count; }
};

/// The middle slice across z of both, and the difference, side by side.
void write_picture(fs::path const& path, iso::files::host_volume const& ct,
                   std::vector<float> const& again) {
  auto const [nx, ny, nz] = ct.extent;
  iso::files::gray_image picture{3 * nx, ny, {}};
  for (std::int64_t row = 0; row < ny; ++row) {
    for (std::int64_t x = 0; x < 3 * nx; ++x) {
      auto const at = std::size_t((x % nx * ny + row) * nz + nz / 2);
      float const hu = x < nx       ? ct.values[at]
                       : x < 2 * nx ? again[at]
                                    : 4 * (again[at] - ct.values[at]) - 150;
      picture.values.push_back(hu);
    }
  }
  iso::files::prepare_png(path, picture, {-1000, 700}).commit();
}

int run(fs::path const& file, fs::path const& picture) {
  auto const ct = iso::files::read_volume(file);
  auto const [nx, ny, nz] = ct.extent;
  auto const grid = iso::grid::centred({nx, ny, nz}, {ct.spacing[0], ct.spacing[1], ct.spacing[2]});
  auto const again = reconstructed(ct, grid);
  std::array<figures, tissues.size()> all;
  std::array<figures, tissues.size()> inside;
  auto const at = [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    return std::size_t((x * ny + y) * nz + z);
  };
  for (std::int64_t x = 1; x + 1 < nx; ++x) {
    for (std::int64_t y = 1; y + 1 < ny; ++y) {
      for (std::int64_t z = nz / 8; z < nz - nz / 8; ++z) {
        int const own = tissue_of(ct.values[at(x, y, z)]);
        if (own < 0) {
          continue;
        }
        double const error = double(again[at(x, y, z)]) - double(ct.values[at(x, y, z)]);
        all[std::size_t(own)].add(error);
        bool alike = true;
        for (std::int64_t i = 0; i < 27 && alike; ++i) {
          alike = tissue_of(ct.values[at(x + i / 9 - 1, y + i / 3 % 3 - 1, z + i % 3 - 1)]) == own;
        }
        if (alike) {
          inside[std::size_t(own)].add(error);
        }
      }
    }
  }
  std::printf(
      "tissue        HU from      to  |   voxels   mean error  mean |error|  |   inside   "
      "mean error  mean |error|\n");
  bool good = true;
  for (std::size_t i = 0; i < tissues.size(); ++i) {
    auto const& t = tissues[i];
    std::printf("%-12s %8.0f %7.0f  | %8.0f %12.1f %13.1f  | %8.0f %12.1f %13.1f\n", t.name,
                double(t.low), double(t.high), all[i].count, all[i].bias(), all[i].mean(),
                inside[i].count, inside[i].bias(), inside[i].mean());
    good = good && inside[i].count > 100 && inside[i].mean() <= t.max_inside &&
           std::abs(inside[i].bias()) <= t.max_bias;
  }
  if (!picture.empty()) {
    write_picture(picture, ct, again);
  }
  if (!good) {
    std::printf("an error is larger than this example allows\n");
  }
  return good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  fs::path const file = argc > 1 ? argv[1] : ".deps/data/chest_ct.nii.gz";
  if (!fs::exists(file)) {
    std::printf("not run: tissues of a chest (%s is not there); run scripts/get_example_data.sh\n",
                file.c_str());
    return 77;
  }
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  try {
    return run(file, argc > 2 ? argv[2] : "");
  } catch (std::exception const& problem) {
    std::fprintf(stderr, "%s\n", problem.what());
    return 2;
  }
}
