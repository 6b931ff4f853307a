// SPDX-License-Identifier: BSD-3-Clause
#include "grid_options.hpp"

#include <iso/core/error.hpp>

#include <algorithm>

namespace iso::cli {
namespace {

std::array<double, 3> point_of(std::vector<double> const& numbers) {
  std::array<double, 3> point{};
  std::copy_n(numbers.begin(), std::min<std::size_t>(numbers.size(), 3), point.begin());
  return point;
}

}  // namespace

void add_grid_options(CLI::App& app, grid_options& options) {
  auto const coordinate = number_from(-1e9, 1e9);
  auto* const extent = app.add_option("--extent", options.extent,
                                      "voxels along x, y, z (default: as many as pixels)")
                           ->expected(3)
                           ->check(whole_from(1, 65536));
  auto* const spacing =
      app.add_option("--spacing", options.spacing,
                     "of voxels, mm: one number, or one each for x, y and z (default: the pixels' "
                     "distance at the z axis)")
          ->expected(1, 3)
          ->check(number_from(1e-6, 1e6));
  auto* const origin =
      app.add_option("--origin", options.origin,
                     "X Y Z: centre of the first voxel, mm (default: the isocentre in the middle)")
          ->expected(3)
          ->check(coordinate);
  auto* const like = app.add_option("--like", options.like,
                                    "volume file, or folder of a DICOM CT series, whose extent, "
                                    "spacing and origin the result shall have")
                         ->excludes(extent)
                         ->excludes(spacing)
                         ->excludes(origin);
  add_folder_options(app, options.folder, like);
  auto* const isocentre =
      app.add_option(
             "--isocentre", options.isocentre,
             "X Y Z: where the isocentre lies in the coordinates of --origin, of --like and "
             "of the result, as of iso project, mm (default: 0 0 0)")
          ->expected(3)
          ->check(coordinate);
  app.add_flag("--centre", options.centred, "in the middle of --like's volume")
      ->needs(like)
      ->excludes(isocentre);
}

placement place_grid(grid_options const& options, jobs::reconstruct_request& request) {
  placement place{point_of(options.isocentre), {}};
  if (!options.like.empty()) {
    auto volume = files::read_volume_grid(options.like, options.folder.search);
    warn_of_unread(options.like, volume, options.folder);
    request.extent = volume.extent;
    request.spacing = volume.spacing;
    place.origin = volume.origin;
    if (options.centred) {
      place.isocentre = middle_of(volume);
      centre(volume);
      request.origin = volume.origin;
      return place;
    }
  } else {
    std::copy_n(options.extent.begin(), options.extent.size(), request.extent.begin());
    if (options.spacing.size() == 2) {
      throw invalid_argument(
          "--spacing with two numbers (one is for all axes, three are for x, y and z); give one or "
          "three");
    }
    for (std::size_t axis = 0; axis < 3 && !options.spacing.empty(); ++axis) {
      request.spacing[axis] = options.spacing[options.spacing.size() == 1 ? 0 : axis];
    }
    if (!options.origin.empty()) {
      place.origin = point_of(options.origin);
    }
  }
  if (place.origin) {
    request.origin = place.origin;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      (*request.origin)[axis] -= place.isocentre[axis];
    }
  }
  return place;
}

void move_to(placement const& place, files::host_volume& volume) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] =
        place.origin ? (*place.origin)[axis] : volume.origin[axis] + place.isocentre[axis];
  }
}

}  // namespace iso::cli
