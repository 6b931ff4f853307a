// SPDX-License-Identifier: BSD-3-Clause
#include <iso/gamma/detail/gamma_index_impl.hpp>

#include <iso/core/check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace iso::gamma {
namespace detail {
namespace {

constexpr std::int64_t max_criteria = 64;
constexpr std::int64_t max_offsets = std::int64_t(1) << 24;
constexpr double max_spacings = 1e6;     // of a distance, and their inverse
constexpr double min_difference = 1e-8;  // of the largest dose
constexpr double min_dose = 1e-290;      // of a difference
constexpr double largest_dose = 1e300;
// Of squared distances that are out of reach: kernels, which round otherwise, find them too far.
constexpr double margin = 1 + 1e-12;

/// Returns how far from a voxel's middle, in spacings, rounding may have put a point that is there.
double snap_of(iso::grid const& reference, iso::grid const& evaluated, int axis) {
  double const spacing = evaluated.spacing[axis];
  double const end =
      std::fabs(reference.origin[axis]) + reference.spacing[axis] * double(reference.extent[axis]);
  return std::max(1e-9, 8 * std::numeric_limits<double>::epsilon() *
                            ((std::fabs(evaluated.origin[axis]) + end) / spacing));
}

double min_spacing(iso::grid const& g) {
  return std::min({g.spacing[0], g.spacing[1], g.spacing[2]});
}

double reach_of(std::vector<criterion> const& criteria, gamma_options const& options) {
  double distance = 0;
  for (auto const& c : criteria) {
    distance = std::max(distance, c.distance);
  }
  return options.max_gamma * distance;
}

/// Returns the spacings between a point at `fraction` and what begins `offset` voxels above.
double spacings_between(double low, double high, double width, std::int64_t offset) {
  return std::max({0.0, double(offset) - high, low - double(offset) - width});
}

/// What is within reach along one axis.
struct axis_reach {
  std::int64_t first;
  std::vector<double> squared;  ///< least squared distances, in least spacings
};

axis_reach reach_along(iso::grid const& evaluated, std::vector<reference_place> const& places,
                       gamma_options const& options, double reach, int axis) {
  auto const last = std::int64_t(evaluated.extent[axis]) - 1;
  double low = 1;
  double high = 0;
  for (auto const& p : places) {
    double const inside = std::clamp(double(p.voxel) + p.fraction, 0.0, double(last)) - p.voxel;
    low = std::min(low, inside);
    high = std::max(high, inside);
  }
  bool const cells = options.between != interpolation::grid_points && last > 0;
  double const spacing = evaluated.spacing[axis];
  double const unit = min_spacing(evaluated);
  axis_reach found{0, {}};
  double const spacings = std::min(reach / spacing, double(max_offsets)) + 2;
  std::int64_t const end = std::min(last, std::int64_t(high + spacings));
  for (std::int64_t o = std::max(-last, std::int64_t(low - spacings)); o <= end; ++o) {
    double const mm = spacing * spacings_between(low, high, cells ? 1 : 0, o);
    if (mm <= reach * margin) {
      found.first = found.squared.empty() ? o : found.first;
      found.squared.push_back(mm / unit * (mm / unit));
    }
  }
  return found;
}

void validate_criterion(criterion const& c, iso::grid const& evaluated) {
  ISO_VALIDATE(std::isfinite(c.dose_difference) && c.dose_difference > 0,
               "iso::gamma::gamma_plan: a dose difference of {} (must be finite and above 0); give "
               "a fraction, as 0.03 for 3 %",
               c.dose_difference);
  ISO_VALIDATE(std::isfinite(c.distance) && c.distance > 0,
               "iso::gamma::gamma_plan: a distance to agreement of {} mm (must be finite and above "
               "0); give a distance in mm, as 3",
               c.distance);
  for (int axis = 0; axis < 3; ++axis) {
    double const spacings = c.distance / evaluated.spacing[axis];
    ISO_VALIDATE(spacings >= 1 / max_spacings && spacings <= max_spacings,
                 "iso::gamma::gamma_plan: a distance to agreement of {} mm where voxels are {} mm "
                 "(their ratio must lie in 1e-6..1e6); check that both are in mm",
                 c.distance, evaluated.spacing[axis]);
  }
}

void validate_overlap(iso::grid const& reference, iso::grid const& evaluated) {
  for (int axis = 0; axis < 3; ++axis) {
    double const r0 = reference.origin[axis] - 0.5 * reference.spacing[axis];
    double const r1 = r0 + reference.spacing[axis] * double(reference.extent[axis]);
    double const e0 = evaluated.origin[axis] - 0.5 * evaluated.spacing[axis];
    double const e1 = e0 + evaluated.spacing[axis] * double(evaluated.extent[axis]);
    ISO_VALIDATE(
        r0 < e1 && e0 < r1,
        "iso::gamma::gamma_plan: reference voxels from {} to {} mm along {}, evaluated ones from "
        "{} to {} mm (they do not overlap); give both origins in one frame of reference",
        r0, r1,
        axis == 0   ? "x"
        : axis == 1 ? "y"
                    : "z",
        e0, e1);
  }
}

}  // namespace

void validate_request(iso::grid const& reference, iso::grid const& evaluated,
                      std::vector<criterion> const& criteria, gamma_options const& options) {
  ISO_VALIDATE(!criteria.empty() && std::int64_t(criteria.size()) <= max_criteria,
               "iso::gamma::gamma_plan: {} criteria (1 to {} can be compared in a pass); compare "
               "them in several passes",
               std::int64_t(criteria.size()), max_criteria);
  for (auto const& c : criteria) {
    validate_criterion(c, evaluated);
  }
  auto const& o = options;
  check_fields(o, "iso::gamma::gamma_plan");
  ISO_VALIDATE(
      o.normalise != normalisation::given || (std::isfinite(o.given_dose) && o.given_dose > 0),
      "iso::gamma::gamma_plan: a given dose of {} (must be finite and above 0); give the dose of "
      "which differences are fractions",
      o.given_dose);
  ISO_VALIDATE(o.normalise == normalisation::given || o.given_dose == 0,
               "iso::gamma::gamma_plan: a given dose of {} with another normalisation (it would "
               "not be used); choose normalisation::given, or leave the dose at 0",
               o.given_dose);
  ISO_VALIDATE(std::isfinite(o.cut_off),
               "iso::gamma::gamma_plan: a cut-off of {} (must be finite); give a fraction, as 0.1 "
               "for 10 %",
               o.cut_off);
  // A point at the maximum must not pass.
  ISO_VALIDATE(o.max_gamma > 1,
               "iso::gamma::gamma_plan: a maximum gamma of {} (must lie above 1, where points "
               "fail); use 2 to see by how much points fail",
               o.max_gamma);
  for (int axis = 0; axis < 3; ++axis) {
    ISO_VALIDATE(evaluated.extent[axis] < std::numeric_limits<std::int32_t>::max() / 2,
                 "iso::gamma::gamma_plan: {} evaluated voxels along an axis (at most 2^30 can be "
                 "searched); crop the evaluated dose",
                 evaluated.extent[axis]);
  }
  validate_overlap(reference, evaluated);
}

void validate_finite(iso::detail::found_numbers const& not_finite, iso::grid const& g,
                     slab const& planes, char const* name, char const* function) {
  if (not_finite.count > 0) {
    std::int64_t const row = not_finite.first / planes.count();
    fail_argument(
        "{}: {} of {} voxels of the {}dose are NaN or infinite (a dose is a number; the first is "
        "({}, {}, {})); replace them by numbers",
        function, not_finite.count, g.extent[0] * g.extent[1] * planes.count(), name,
        row / g.extent[1], row % g.extent[1], planes.first + not_finite.first % planes.count());
  }
}

void validate_bounds(dose_bounds const& held, dose_bounds const& all, char const* name) {
  ISO_VALIDATE(
      held.joined(all) == all,
      "iso::gamma::gamma_plan: a {}dose of up to {} (the bounds of all planes say {}); join "
      "iso::gamma::bounds_of every slab",
      name, held.largest_size > all.largest_size ? held.largest_size : held.largest,
      held.largest_size > all.largest_size ? all.largest_size : all.largest);
}

void validate_planes(slab const& held, slab const& needed, slab const& reference_planes) {
  ISO_VALIDATE(
      held.first <= needed.first && needed.last <= held.last,
      "iso::gamma::gamma_plan: evaluated planes {} to {} (reference planes {} to {} are compared "
      "with planes {} to {}); give those that iso::gamma::planes_needed returns",
      held.first, held.last - 1, reference_planes.first, reference_planes.last - 1, needed.first,
      needed.last - 1);
}

void validate_differences(std::vector<criterion> const& criteria, gamma_options const& options,
                          double reference_maximum, double largest_size, double least) {
  ISO_VALIDATE(reference_maximum > 0,
               "iso::gamma::gamma_plan: the largest reference dose is {} (must be above 0); check "
               "the order of the doses",
               reference_maximum);
  ISO_VALIDATE(largest_size <= largest_dose,
               "iso::gamma::gamma_plan: a dose of {} (at most {} can be compared); scale both "
               "doses to another unit",
               largest_size, largest_dose);
  double const dose = options.normalise == normalisation::given ? options.given_dose : least;
  for (auto const& c : criteria) {
    double const difference = c.dose_difference * dose;
    bool const is_local = options.normalise == normalisation::local;
    ISO_VALIDATE(difference >= min_difference * largest_size || !is_local,
                 "iso::gamma::gamma_plan: a dose difference of {} where doses go up to {} (must be "
                 "at least {} of that; it is a fraction of the least reference dose compared, and "
                 "points without dose have no local gamma); raise the cut-off",
                 difference, largest_size, min_difference);
    ISO_VALIDATE(difference >= min_difference * largest_size,
                 "iso::gamma::gamma_plan: a dose difference of {} where doses go up to {} (must be "
                 "at least {} of that); give a larger difference",
                 difference, largest_size, min_difference);
    ISO_VALIDATE(difference >= min_dose,
                 "iso::gamma::gamma_plan: a dose difference of {} (must be at least {}); scale "
                 "both doses to another unit",
                 difference, min_dose);
  }
}

std::vector<reference_place> places_of(iso::grid const& reference, iso::grid const& evaluated,
                                       int axis) {
  std::vector<reference_place> places(std::size_t(reference.extent[axis]));
  auto const last = double(evaluated.extent[axis] - 1);
  double const snap = snap_of(reference, evaluated, axis);
  for (std::size_t n = 0; n < places.size(); ++n) {
    double const mm = reference.origin[axis] + reference.spacing[axis] * double(n);
    double at = (mm - evaluated.origin[axis]) / evaluated.spacing[axis];
    at = std::fabs(at - std::floor(at + 0.5)) <= snap ? std::floor(at + 0.5) : at;
    double const voxel = std::clamp(std::floor(at), 0.0, last);
    places[n] = {at - voxel, std::int32_t(voxel)};
  }
  return places;
}

std::int64_t sites_along(iso::grid const& evaluated, gamma_options const& options, int axis) {
  std::int64_t const n = evaluated.extent[axis];
  return options.between == interpolation::grid_points || n == 1 ? n : n - 1;
}

std::int64_t cells_held(iso::grid const& evaluated, gamma_options const& options,
                        slab const& planes) {
  return options.between == interpolation::grid_points ? 0
         : evaluated.extent[2] == 1                    ? 1
                                                       : planes.count() - 1;
}

std::int64_t bytes_of_plan(iso::grid const& reference, iso::grid const& evaluated,
                           std::vector<criterion> const& criteria, gamma_options const& options,
                           slab const& reference_planes, std::int64_t range_bytes) {
  slab const needed = planes_needed(reference, evaluated, reference_planes, criteria, options);
  std::vector<reference_place> places[3];
  double bytes = double(criteria.size()) * sizeof(criterion_terms);
  for (int axis = 0; axis < 3; ++axis) {
    places[axis] = places_of(reference, evaluated, axis);
    bytes += double(places[axis].size()) * sizeof(reference_place);
  }
  bytes += double(offsets_of(evaluated, places, criteria, options).size()) * sizeof(site_offset);
  bytes += double(range_bytes) * double(sites_along(evaluated, options, 0)) *
           double(sites_along(evaluated, options, 1)) *
           double(cells_held(evaluated, options, needed));
  return std::int64_t(std::min(bytes, 0x1p60));
}

std::vector<site_offset> offsets_of(iso::grid const& evaluated,
                                    std::vector<reference_place> const (&places)[3],
                                    std::vector<criterion> const& criteria,
                                    gamma_options const& options) {
  double const reach = reach_of(criteria, options);
  axis_reach along[3];
  double count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    along[axis] = reach_along(evaluated, places[axis], options, reach, axis);
    count *= double(along[axis].squared.size());
  }
  ISO_VALIDATE(
      count <= double(max_offsets),
      "iso::gamma::gamma_plan: {} cells within reach of a point (maximum gamma {} times the "
      "largest distance is {} mm, at most {} cells can be searched); lower one of the two",
      count, options.max_gamma, reach, max_offsets);
  // In spacings, whatever the criteria are: the order is that of each of them alone.
  double const unit = min_spacing(evaluated);
  std::vector<site_offset> offsets;
  for (std::size_t i = 0; i < along[0].squared.size(); ++i) {
    for (std::size_t j = 0; j < along[1].squared.size(); ++j) {
      for (std::size_t k = 0; k < along[2].squared.size(); ++k) {
        double const squared = (along[0].squared[i] + along[1].squared[j]) + along[2].squared[k];
        if (squared <= reach / unit * (reach / unit) * margin) {
          offsets.push_back({std::nextafter(float(squared), 0.0F),
                             std::int32_t(along[0].first + std::int64_t(i)),
                             std::int32_t(along[1].first + std::int64_t(j)),
                             std::int32_t(along[2].first + std::int64_t(k))});
        }
      }
    }
  }
  std::sort(offsets.begin(), offsets.end(), [](site_offset const& a, site_offset const& b) {
    return std::tie(a.distance, a.x, a.y, a.z) < std::tie(b.distance, b.x, b.y, b.z);
  });
  return offsets;
}

std::vector<criterion_terms> terms_of(iso::grid const& evaluated,
                                      std::vector<criterion> const& criteria, double dose) {
  double const unit = min_spacing(evaluated);
  std::vector<criterion_terms> all;
  for (auto const& c : criteria) {
    criterion_terms t{};
    for (int axis = 0; axis < 3; ++axis) {
      double const side = evaluated.spacing[axis] / c.distance;
      t.weight[axis] = side * side;
      t.inverse[axis] = 1 / t.weight[axis];
    }
    t.difference = c.dose_difference * dose;
    t.scale = unit / c.distance * (unit / c.distance);
    all.push_back(t);
  }
  return all;
}

void validate_results(std::int64_t const (&n)[3], std::int64_t criteria,
                      std::int64_t const (&gamma)[4], std::int64_t const (&status)[3],
                      char const* function) {
  ISO_VALIDATE(gamma[0] == criteria && gamma[1] == n[0] && gamma[2] == n[1] && gamma[3] == n[2],
               "{}: gamma of [{}, {}, {}, {}] (of {} criteria on the reference's grid it is [{}, "
               "{}, {}, {}]); allocate it so",
               function, gamma[0], gamma[1], gamma[2], gamma[3], criteria, criteria, n[0], n[1],
               n[2]);
  ISO_VALIDATE(status[0] == n[0] && status[1] == n[1] && status[2] == n[2],
               "{}: status of [{}, {}, {}] (the reference has [{}, {}, {}] voxels); allocate it on "
               "the reference's grid",
               function, status[0], status[1], status[2], n[0], n[1], n[2]);
}

bool same_comparison(std::vector<criterion> const& a, gamma_options const& of_a,
                     std::vector<criterion> const& b, gamma_options const& of_b) {
  auto const same = [](criterion const& x, criterion const& y) {
    return x.dose_difference == y.dose_difference && x.distance == y.distance;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same) && of_a.between == of_b.between &&
         of_a.normalise == of_b.normalise && of_a.given_dose == of_b.given_dose &&
         of_a.cut_off == of_b.cut_off && of_a.max_gamma == of_b.max_gamma;
}

void point_sums::add(point_sums const& other) {
  counts.join(other.counts);
  for (std::size_t n = 0; n < histogram.size(); ++n) {
    histogram[n] += other.histogram[n];
  }
}

}  // namespace detail

slab planes_needed(grid const& reference, grid const& evaluated, slab const& reference_planes,
                   std::vector<criterion> const& criteria, gamma_options const& options) {
  char const* const function = "iso::gamma::planes_needed";
  validate(reference, function);
  validate(evaluated, function);
  detail::validate_request(reference, evaluated, criteria, options);
  validate(reference_planes, reference, function);
  auto const places = detail::places_of(reference, evaluated, 2);
  auto const along =
      detail::reach_along(evaluated, places, options, detail::reach_of(criteria, options), 2);
  std::int64_t const last = evaluated.extent[2] - 1;
  // Beside what is within reach, the neighbours of a point's voxel tell which way the dose goes.
  std::int64_t const below = std::min<std::int64_t>(along.first, -1);
  std::int64_t const above =
      std::max<std::int64_t>(along.first + std::int64_t(along.squared.size()) - 1 +
                                 (options.between == interpolation::grid_points ? 0 : 1),
                             1);
  slab needed{last, 0};
  for (std::int64_t z = reference_planes.first; z < reference_planes.last; ++z) {
    std::int64_t const voxel = places[std::size_t(z)].voxel;
    needed.first = std::min(needed.first, std::max<std::int64_t>(voxel + below, 0));
    needed.last = std::max(needed.last, std::min(voxel + above, last) + 1);
  }
  return needed;
}

gamma_sums::gamma_sums(grid const& reference, std::vector<criterion> const& criteria,
                       gamma_options const& options, summary_options const& summary)
    : reference_(reference), criteria_(criteria), options_(options), summary_(summary) {
  validate(reference, "iso::gamma::gamma_sums");
  check_fields(summary, "iso::gamma::summarise");
  scale_ = {options.max_gamma, double(reference.size())};
  sums_.resize(criteria.size());
  for (auto& one : sums_) {
    one.counts = {};
    one.histogram.resize(std::size_t(summary.bins));
  }
}

void gamma_sums::add(gamma_sums const& other) {
  char const* const function = "iso::gamma::gamma_sums::add";
  ISO_VALIDATE(
      other.reference_ == reference_ &&
          detail::same_comparison(other.criteria_, other.options_, criteria_, options_) &&
          other.summary_.passes == summary_.passes && other.summary_.bins == summary_.bins,
      "{}: counts of another grid, criteria or options (counts are of one comparison); make both "
      "of the same",
      function);
  iso::detail::join_planes(planes_, other.planes_, function);
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    sums_[c].add(other.sums_[c]);
  }
}

std::vector<gamma_summary> gamma_sums::finish() const {
  iso::detail::validate_complete(planes_, reference_, "iso::gamma::gamma_sums::finish");
  double const nan = std::numeric_limits<double>::quiet_NaN();
  std::int64_t const points = reference_.size();
  std::vector<gamma_summary> all;
  for (auto const& [counts, histogram] : sums_) {
    gamma_summary s;
    s.below_cut_off = counts.below_cut_off;
    s.compared = points - counts.below_cut_off;
    s.passed = counts.passed;
    s.outside = counts.outside;
    s.outside_passed = counts.outside_passed;
    s.pass_rate = s.compared > 0 ? double(s.passed) / double(s.compared) : nan;
    s.largest = counts.largest;
    s.mean = s.compared > 0 && counts.no_gamma == 0
                 ? scale_.scale.value(counts.sum) / double(s.compared)
                 : nan;
    s.bin_width = options_.max_gamma / double(histogram.size());
    s.histogram.assign(histogram.begin(), histogram.end());
    all.push_back(s);
  }
  return all;
}

ISO_FOR_EACH_INSTANCE(ISO_GAMMA_INDEX, )

}  // namespace iso::gamma
