// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dvh/structure.hpp>

#include "pixel_areas.hpp"
#include "planes.hpp"

#include <iso/core/check.hpp>
#include <iso/detail/check_word.hpp>
#include <iso/dvh/detail/tetrahedra.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

namespace iso::dvh {
namespace detail {
namespace {

constexpr int cap_steps = 8;            // straight parts of a rounded cap
constexpr double area_rounding = 1e-6;  // of a pixel
constexpr double min_outside = 1e-9;    // of the volume: rounding

using regions = std::vector<plane_region const*>;

regions chosen(contour_plane const& plane, std::vector<std::size_t> const& which) {
  regions some;
  for (std::size_t const n : which) {
    some.push_back(&plane.regions[n]);
  }
  return some;
}

/// Parts of a structure in some rows of the voxels of a grid, and apart what lies beyond.
class voxel_sums {
 public:
  /// \param sums     of the whole grid; only rows from `first` to before `end` are written
  /// \param outside  of what lies beyond, a number a row and one each for rows below and above
  voxel_sums(grid const& g, char const* function, std::string const& name, std::int64_t first,
             std::int64_t end, std::vector<double>& sums, std::vector<double>& outside)
      : grid_(g),
        function_(function),
        name_(name),
        first_(first),
        end_(end),
        sums_(sums),
        outside_(outside) {
    frame_ = {g.origin.x - 0.5 * g.spacing.x, g.origin.y - 0.5 * g.spacing.y, g.spacing.x,
              g.spacing.y};
  }

  /// Adds what is between z_low and z_high and has the same outline at every z.
  void add_prism(regions const& of, double z_low, double z_high) {
    auto const window = window_of(of, frame_, function_);
    auto const rows = window.rows(first_, end_);
    auto const areas = areas_of(of, window, z_low);
    for (auto const& part : layers_of(z_low, z_high)) {
      for_each_pixel(rows, [&](std::int64_t i, std::int64_t j) {
        double const area = areas[rows.index(i, j)];
        if (area != 0) {
          add(i, j, part.layer, area * (part.to - part.from));
        }
      });
    }
  }

  /// Adds what is between regions at z_low and others at z_high.
  void add_frustum(regions const& low, regions const& high, double z_low, double z_high) {
    regions both = low;
    both.insert(both.end(), high.begin(), high.end());
    auto const window = window_of(both, frame_, function_);
    auto const rows = window.rows(first_, end_);
    corner_distances at_low(low, frame_, rows);
    corner_distances at_high(high, frame_, rows);
    add_between(rows, areas_of(low, window, z_low), areas_of(high, window, z_high), z_low, z_high,
                [&](std::int64_t i, std::int64_t j) {
                  return std::pair{at_low.at(i, j), at_high.at(i, j)};
                });
  }

  /// Adds a cap from z to its tip, which may be below.
  void add_rounded_cap(regions const& of, double z, double tip) {
    auto const window = window_of(of, frame_, function_);
    auto const rows = window.rows(first_, end_);
    if (rows.size() == 0) {
      return;
    }
    auto const areas = areas_of(of, window, z);
    corner_distances distances(of, frame_, window);
    double const depth = distances.depth();
    // Steps get shorter towards the tip.
    auto const height_of = [](double n) {
      double const left = 1 - n / cap_steps;
      return 1 - left * left;
    };
    for (int n = 0; n < cap_steps; ++n) {
      double const low = height_of(n);
      double const high = height_of(n + 1);
      double const shrunk[2] = {depth * (1 - std::sqrt(1 - low * low)),
                                depth * (1 - std::sqrt(1 - high * high))};
      double const ends[2] = {z + (tip - z) * low, z + (tip - z) * high};
      int const first = tip > z ? 0 : 1;
      auto const none = std::vector<double>(areas.size());
      auto const& base = n == 0 ? areas : none;
      add_between(
          rows, first == 0 ? base : none, first == 0 ? none : base, ends[first], ends[1 - first],
          [&](std::int64_t i, std::int64_t j) {
            double const d = distances.at(i, j);
            return std::pair{d + shrunk[first], d + shrunk[1 - first]};
          },
          n == 0 ? first : -1);
    }
  }

 private:
  /// Returns the pixels' shares in regions at z, of the rows.
  [[nodiscard]] std::vector<double> areas_of(regions const& of, pixel_window const& window,
                                             double z) const {
    auto areas = pixel_areas(of, frame_, window, window.rows(first_, end_));
    for (double& share : areas) {
      // Contours that cross at one of their points go around something twice, or the other way.
      ISO_VALIDATE(share > -area_rounding && share < 1 + area_rounding,
                   "{}: a contour of '{}' near z = {} mm crosses itself or another at one of its "
                   "points (its inside is not defined); draw the contour anew",
                   function_, name_, z);
      share = std::clamp(share, 0.0, 1.0);
    }
    return areas;
  }
  /// What some part of a structure has of a layer of voxels.
  struct layer_part {
    std::int64_t layer;
    double from;  ///< mm
    double to;
  };

  /// Returns the layers of voxels that z_low to z_high reaches.
  [[nodiscard]] std::vector<layer_part> layers_of(double z_low, double z_high) const {
    std::vector<layer_part> layers;
    double const face = grid_.origin.z - 0.5 * grid_.spacing.z;
    auto const first = std::int64_t(std::floor((z_low - face) / grid_.spacing.z));
    auto const last = std::int64_t(std::floor((z_high - face) / grid_.spacing.z));
    // Layers beyond the grid are one, on either side.
    auto const on_or_beside = [&](std::int64_t layer) {
      return std::clamp<std::int64_t>(layer, -1, grid_.extent[2]);
    };
    for (auto layer = on_or_beside(first); layer <= on_or_beside(last); ++layer) {
      double const low = face + grid_.spacing.z * double(layer);
      double const from = layer < 0 ? z_low : std::max(z_low, low);
      double const to = layer == grid_.extent[2] ? z_high : std::min(z_high, low + grid_.spacing.z);
      if (to > from) {
        layers.push_back({layer, from, to});
      }
    }
    return layers;
  }
  template <class F>
  static void for_each_pixel(pixel_window const& window, F const& f) {
    for (std::int64_t i = 0; i < window.extent[0]; ++i) {
      for (std::int64_t j = 0; j < window.extent[1]; ++j) {
        f(window.first[0] + i, window.first[1] + j);
      }
    }
  }

  /// Adds pixels' areas between two planes: as the distances say, which are linear in z, and what
  /// these leave of the exact areas.
  /// \param distances  of a pixel's lower corner at z_low and z_high
  /// \param exact_at   0, 1: only the areas of that end are exact; 2: both
  template <class F>
  void add_between(pixel_window const& window, std::vector<double> const& low,
                   std::vector<double> const& high, double z_low, double z_high, F const& distances,
                   int exact_at = 2) {
    auto const layers = layers_of(z_low, z_high);
    for_each_pixel(window, [&](std::int64_t i, std::int64_t j) {
      double const ends[2] = {low[window.index(i, j)], high[window.index(i, j)]};
      bool const whole = ends[0] == 1 && ends[1] == 1;
      if (exact_at == 2 && ends[0] == ends[1] && (ends[0] == 0 || whole)) {
        if (whole) {
          for (auto const& part : layers) {
            add(i, j, part.layer, part.to - part.from);
          }
        }
        return;
      }
      std::pair<double, double> corners[4];
      for (int n = 0; n < 4; ++n) {
        corners[n] = distances(i + (n >> 1), j + (n & 1));
      }
      double rest[2] = {0, 0};
      for (int end = 0; end < 2; ++end) {
        if (exact_at == 2 || exact_at == end) {
          rest[end] = ends[end] - share_between(corners, end, end);
        }
      }
      for (auto const& part : layers) {
        double const t = (part.from - z_low) / (z_high - z_low);
        double const u = (part.to - z_low) / (z_high - z_low);
        double const middle = 0.5 * (t + u);
        add(i, j, part.layer,
            (part.to - part.from) *
                (share_between(corners, t, u) + (1 - middle) * rest[0] + middle * rest[1]));
      }
    });
  }

  /// Returns the share inside of a pixel from t to u, parts of the way between two planes.
  static double share_between(std::pair<double, double> const (&corners)[4], double t, double u) {
    cell_corners c{};
    for (int n = 0; n < 4; ++n) {
      auto const [low, high] = corners[n];
      c.value[2 * n] = -((1 - t) * low + t * high);
      c.value[2 * n + 1] = -((1 - u) * low + u * high);
    }
    return sorted_cell(c).share_at_least(0);
  }

  void add(std::int64_t i, std::int64_t j, std::int64_t layer, double height) {
    auto const& n = grid_.extent;
    if (i >= 0 && i < n[0] && j >= 0 && j < n[1] && layer >= 0 && layer < n[2]) {
      sums_[std::size_t((i * n[1] + j) * n[2] + layer)] += height;
    } else {
      outside_[std::size_t(std::clamp<std::int64_t>(i, -1, n[0]) + 1)] += height;
    }
  }

  grid grid_;
  char const* function_;
  std::string const& name_;
  pixel_frame frame_;
  std::int64_t first_;  ///< row of voxels along x
  std::int64_t end_;
  std::vector<double>& sums_;     ///< of height times share of the pixel, mm
  std::vector<double>& outside_;  ///< the same
};

/// Makes shares of the sums, and tells volumes.
void finish_shares(std::vector<double>& sums, double outside, grid const& g,
                   structure_report& report) {
  double inside = 0;
  for (double& share : sums) {
    share = std::clamp(share / g.spacing.z, 0.0, 1.0);
    // Sums along z round: a voxel wholly inside must count as whole.
    share = share < share_rounding ? 0 : share > 1 - share_rounding ? 1 : share;
    inside += share;
  }
  double const pixel = g.spacing.x * g.spacing.y;
  report.volume = inside * pixel * g.spacing.z;
  report.outside = std::max(outside, 0.0) * pixel;
  report.outside = report.outside > min_outside * report.volume ? report.outside : 0.0;
}

using host = Kokkos::DefaultHostExecutionSpace;

std::int64_t threads_of_host() { return Kokkos::is_initialized() ? host().concurrency() : 1; }

/// Calls f(0) to f(count - 1), each by a thread of the host. What calls throw is thrown: of several
/// the first one's.
template <class F>
void for_each_on_host(std::int64_t count, F const& f) {
  std::vector<std::exception_ptr> failures(std::size_t(count), nullptr);
  auto const guarded = [&](std::int64_t n) {
    try {
      f(n);
    } catch (...) {
      failures[std::size_t(n)] = std::current_exception();
    }
  };
  if (count > 1) {
    host const exec;
    Kokkos::parallel_for("iso::dvh::voxel_fractions",
                         Kokkos::RangePolicy<host, Kokkos::Schedule<Kokkos::Dynamic>, std::int64_t>(
                             exec, 0, count, Kokkos::ChunkSize(1)),
                         guarded);
    exec.fence("iso::dvh::voxel_fractions: all rows are there");
  } else {
    for (std::int64_t n = 0; n < count; ++n) {
      guarded(n);
    }
  }
  for (auto const& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

/// Adds the caps below or above a plane, one by one.
void add_caps(voxel_sums& sums, contour_plane const& plane, bool above, end_cap caps) {
  for (auto const& region : plane.regions) {
    double const height = above ? region.cap_above : region.cap_below;
    double const tip = above ? plane.z + height : plane.z - height;
    if (height > 0 && caps == end_cap::half_slice) {
      sums.add_prism({&region}, std::min(plane.z, tip), std::max(plane.z, tip));
    } else if (height > 0 && caps == end_cap::rounded) {
      sums.add_rounded_cap({&region}, plane.z, tip);
    }
  }
}

/// Adds what is between the planes of a joint.
void add_joint(voxel_sums& sums, contour_stack const& stack, joint const& j,
               between_planes between) {
  auto const& low = stack.planes[j.low];
  auto const& high = stack.planes[j.high];
  auto const below = chosen(low, j.below);
  auto const above = chosen(high, j.above);
  if (between == between_planes::frusta) {
    sums.add_frustum(below, above, low.z, high.z);
  } else {
    double const middle = 0.5 * (low.z + high.z);
    sums.add_prism(below, low.z, middle);
    sums.add_prism(above, middle, high.z);
  }
}

constexpr char const* sharing = "iso::dvh::voxel_fractions";

void validate_arguments(grid const& g, structure_options const& options) {
  iso::validate(g, sharing);
  iso::detail::check_word(options.beyond, sharing, "beyond");
}

std::vector<double> shares_of(structure_plan::contents const& plan, grid const& g,
                              structure_report* report, job const& control) {
  auto const& name = plan.name;
  auto const& options = plan.options;
  auto const& stack = plan.stack;
  auto found = stack.report;
  std::vector<double> shares(std::size_t(g.size()));
  std::vector<double> outside(std::size_t(g.extent[0]) + 2);
  // A band of rows a thread: what a row adds up, and in which order, does not depend on bands. A
  // rounded cap measures the whole of its contour.
  std::int64_t const bands =
      options.caps == end_cap::rounded ? 1 : std::min(threads_of_host(), g.extent[0]);
  auto next = stack.joints.begin();
  for (std::size_t n = 0; n < stack.planes.size(); ++n) {
    auto const first = next;
    next = std::find_if(first, stack.joints.end(), [&](auto const& j) { return j.low != n; });
    for_each_on_host(bands, [&](std::int64_t band) {
      constexpr auto far = std::int64_t(1) << 62;
      voxel_sums sums(g, sharing, name, band == 0 ? -far : g.extent[0] * band / bands,
                      band + 1 == bands ? far : g.extent[0] * (band + 1) / bands, shares, outside);
      add_caps(sums, stack.planes[n], false, options.caps);
      for (auto j = first; j != next; ++j) {
        add_joint(sums, stack, *j, options.between);
      }
      add_caps(sums, stack.planes[n], true, options.caps);
    });
    control.step(double(n + 1) / double(stack.planes.size()));
  }
  finish_shares(shares, std::accumulate(outside.begin(), outside.end(), 0.0), g, found);
  double const all = found.volume + found.outside;
  ISO_VALIDATE(all > 0,
               "{}: '{}' has no volume (its contours lie apart, without end caps); choose "
               "end_cap::half_slice",
               sharing, name);
  ISO_VALIDATE(found.outside == 0 || options.beyond == off_grid::cut,
               "{}: {} of {} cm3 of '{}' ({} %) lie outside of the grid (its volume would be "
               "wrong); use a larger grid, or off_grid::cut for the part inside",
               sharing, found.outside / 1000, all / 1000, name, 100 * found.outside / all);
  if (report != nullptr) {
    *report = found;
  }
  return shares;
}

constexpr char const* listing = "iso::dvh::surface_points";

void validate_distance(double distance) {
  ISO_VALIDATE(std::isfinite(distance) && distance > 0,
               "{}: a distance of {} mm (must be finite and positive); give the distance of "
               "neighbouring points",
               listing, distance);
}

std::vector<vec3<double>> points_of(structure_plan::contents const& plan, double distance) {
  bool const capped = plan.options.caps == end_cap::half_slice;
  std::vector<vec3<double>> points;
  for (auto const& plane : plan.stack.planes) {
    for (auto const& region : plane.regions) {
      std::vector<double> heights = {plane.z};
      if (capped && region.cap_below > 0) {
        heights.push_back(plane.z - region.cap_below);
      }
      if (capped && region.cap_above > 0) {
        heights.push_back(plane.z + region.cap_above);
      }
      for (auto const& contour : region.contours) {
        for (std::size_t p = 0; p < contour.size(); ++p) {
          auto const a = contour[p];
          auto const b = next_of(contour, p);
          double const parts =
              std::max(std::ceil(std::sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y)) /
                                 distance),
                       1.0);
          ISO_VALIDATE(double(points.size()) + parts < 0x1p24,
                       "{}: points {} mm apart on '{}' are too many (at most 2^24); choose a "
                       "larger distance",
                       listing, distance, plan.name);
          for (double m = 0; m < parts; ++m) {
            double const t = m / parts;
            for (double const z : heights) {
              points.push_back({a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), z});
            }
          }
        }
      }
    }
  }
  return points;
}

}  // namespace
}  // namespace detail

std::vector<double> voxel_fractions(structure const& s, grid const& g,
                                    structure_options const& options, structure_report* report,
                                    job const& control) {
  detail::validate_arguments(g, options);
  return detail::shares_of(detail::planned(s, options, detail::sharing, control), g, report,
                           control);
}

std::vector<double> voxel_fractions(structure_plan const& plan, grid const& g,
                                    structure_report* report, job const& control) {
  detail::validate_arguments(g, plan.held().options);
  return detail::shares_of(plan.held(), g, report, control);
}

std::vector<vec3<double>> surface_points(structure const& s, double distance,
                                         structure_options const& options, job const& control) {
  detail::validate_distance(distance);
  return detail::points_of(detail::planned(s, options, detail::listing, control), distance);
}

std::vector<vec3<double>> surface_points(structure_plan const& plan, double distance) {
  detail::validate_distance(distance);
  return detail::points_of(plan.held(), distance);
}

}  // namespace iso::dvh
