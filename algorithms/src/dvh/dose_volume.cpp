// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dvh/detail/dose_volume_impl.hpp>

#include <iso/core/check.hpp>
#include <iso/detail/check_word.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

namespace iso::dvh {
namespace detail {
namespace {

constexpr std::int64_t max_levels = std::int64_t(1) << 20;
constexpr int parts_a_round = 7;       // of a search
constexpr int rounds = 14;             // 7^14 > 1e11
constexpr double beside_guess = 2e-3;  // of a bracket
constexpr double narrow = 1e-12;       // of the dose's range
constexpr double volume_rounding = 1e-9;
double const none = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void validate_levels(std::vector<double> const& levels) {
  ISO_VALIDATE(std::int64_t(levels.size()) <= max_levels,
               "iso::dvh::volumes_at: {} levels (at most {}); ask for fewer", levels.size(),
               max_levels);
  for (std::size_t n = 0; n < levels.size(); ++n) {
    ISO_VALIDATE(!std::isnan(levels[n]) && (n == 0 || levels[n] >= levels[n - 1]),
                 "iso::dvh::volumes_at: level {} is {} (levels must ascend); sort the levels", n,
                 levels[n]);
  }
}

void validate_volumes(std::vector<double> const& volumes) {
  for (double const v : volumes) {
    ISO_VALIDATE(std::isfinite(v) && v > 0,
                 "iso::dvh::doses_at: a volume of {} mm3 (must be finite and positive); ask for a "
                 "volume above 0",
                 v);
  }
}

void validate_fractions(std::int64_t bad, std::int64_t voxels, char const* function) {
  ISO_VALIDATE(bad == 0,
               "{}: {} of {} fractions are not from 0 to 1 (they are shares of voxels); make them "
               "by iso::dvh::rasterise",
               function, bad, voxels);
}

void validate_finite(std::int64_t not_finite, std::int64_t voxels, char const* function) {
  ISO_VALIDATE(not_finite == 0,
               "{}: the dose is NaN or infinite in {} of {} voxels of the structure (no volume "
               "could be told); replace these doses by numbers",
               function, not_finite, voxels);
}

void validate_bins(histogram_options const& options, double largest) {
  check_fields(options, "iso::dvh::histograms");
  ISO_VALIDATE(std::isfinite(options.end),
               "iso::dvh::histograms: an end of {} (must be finite); leave it at 0 for the largest "
               "dose",
               options.end);
  ISO_VALIDATE(
      options.end > 0 || largest > 0,
      "iso::dvh::histograms: the largest dose is {} (bins go from 0 to it); give an end above 0",
      largest);
}

void validate_prescription(double prescription) {
  ISO_VALIDATE(std::isfinite(prescription) && prescription > 0,
               "iso::dvh::conformity: a prescription of {} (must be finite and positive); give the "
               "prescribed dose in the dose's unit",
               prescription);
}

void validate_extremes(extremes of, char const* function) {
  iso::detail::check_word(of, function, "extremes");
}

brick_axis brick_axis_of(double first, double step, std::int64_t extent, std::int64_t most) {
  // In voxels: as many as a cell has, or a part or some of these.
  constexpr std::int64_t usual = 4;
  double const a_cell = std::clamp(std::nearbyint(1 / step), 1.0, 64.0);
  std::int64_t size = usual;
  for (std::int64_t const fitting : {3, 5}) {
    if (std::int64_t(a_cell) % usual != 0 && std::int64_t(a_cell) % fitting == 0) {
      size = fitting;
      break;
    }
  }
  size = std::min(size, most);
  // A brick ends at the first middle of the dose's voxels.
  double const to_middle = (std::ceil(first - coordinate_slack) - first) / step;
  std::int64_t const whole = to_middle < double(extent) ? std::int64_t(std::lround(to_middle)) : 0;
  std::int64_t const shift = (size - whole % size) % size;
  return {size, shift, (extent + shift + size - 1) / size};
}

std::pair<std::int64_t, std::int64_t> held_along(double first, double step, std::int64_t extent,
                                                 std::int64_t dose_extent) {
  dose_reader<float> const dose{nullptr, {dose_extent, 1, 1}, 1};
  auto const is_held = [&](std::int64_t n) {
    return dose.holds(std::fma(double(n) + 0.5, step, first), 0);
  };
  std::int64_t from = 0;
  while (from < extent && !is_held(from)) {
    ++from;
  }
  std::int64_t to = from;
  while (to < extent && is_held(to)) {
    ++to;
  }
  return {from, to};
}

std::vector<axis_place> corner_places(double first, double step, std::int64_t extent,
                                      std::int64_t dose_extent) {
  std::vector<axis_place> places;
  for (std::int64_t n = 0; n <= extent; ++n) {
    places.push_back(axis_place_of(std::fma(double(n), step, first), dose_extent));
  }
  return places;
}

brick_axis bricks_of(brick_axis const& all, slab const& own) {
  if (own.count() == 0) {
    return {all.size, all.shift, 0};
  }
  std::int64_t const first = (own.first + all.shift) / all.size;
  std::int64_t const last = (own.last - 1 + all.shift) / all.size;
  return {all.size, all.shift - first * all.size, last - first + 1};
}

slab voxels_along_z::owned(slab const& own) const {
  slab found{extent, extent};
  for (std::int64_t n = extent; n-- > 0;) {
    auto const below =
        axis_place_of(std::fma(double(n), steps.step, steps.first), dose_extent).below;
    found.first = below >= own.first ? n : found.first;
    found.last = below >= own.last ? n : found.last;
  }
  return found;
}

slab voxels_along_z::dose_planes(slab const& own) const {
  slab const voxels = owned(own);
  slab needed{own.first, std::min(own.last + 1, dose_extent)};
  if (voxels.count() > 0) {
    auto const top =
        axis_place_of(std::fma(double(voxels.last), steps.step, steps.first), dose_extent);
    needed.last = std::max(needed.last, top.below + (top.fraction > 0 ? 2 : 1));
  }
  return needed;
}

slab voxels_along_z::share_planes(slab const& own) const {
  slab const voxels = owned(own);
  return voxels.count() == 0
             ? slab{0, 0}
             : slab{std::max<std::int64_t>(voxels.first - 1, 0), std::min(voxels.last + 1, extent)};
}

void validate_slabs(std::vector<slab> const& slabs, grid const& dose, char const* function) {
  std::vector<slab> all;
  for (slab const& one : slabs) {
    validate(one, dose, function);
    iso::detail::join_planes(all, std::vector<slab>(1, one), function);
  }
  iso::detail::validate_complete(all, dose, function);
}

void validate_brought(grid const& of, slab const& held, grid const& whole, slab const& needed,
                      char const* name, char const* function) {
  ISO_VALIDATE(
      of == whole,
      "{}: a slab of another grid where planes of {} were asked for (its planes are of one "
      "grid); give a slab of that",
      function, name);
  ISO_VALIDATE(held.first <= needed.first && needed.last <= held.last,
               "{}: planes {} to {} of {} (planes {} to {} were asked for); give these, or more",
               function, held.first, held.last - 1, name, needed.first, needed.last - 1);
}

dose_search::dose_search(std::vector<double> volumes, dose_range const& range, double volume)
    : volumes_(std::move(volumes)), narrow_(narrow * (range.largest - range.least)) {
  for (double const v : volumes_) {
    bool const has = v <= volume * (1 + volume_rounding) && volume > 0;
    brackets_.push_back(has ? bracket{range.least, range.largest, volume, 0}
                            : bracket{none, none, 0, 0});
    if (has) {
      levels_.push_back(range.largest);
    }
  }
  choose_levels();
}

std::int64_t dose_search::levels_at_once(std::size_t volumes) {
  constexpr int at_guess = 2;
  constexpr int at_the_largest = 1;  // of the first round
  return std::int64_t(volumes) * (parts_a_round - 1 + at_guess + at_the_largest);
}

void dose_search::choose_levels() {
  for (std::size_t n = 0; n < brackets_.size(); ++n) {
    auto const& b = brackets_[n];
    double const width = b.largest - b.least;
    if (!(width > narrow_)) {
      continue;
    }
    for (int part = 1; part < parts_a_round; ++part) {
      levels_.push_back(b.least + width * (double(part) / parts_a_round));
    }
    // Where the volume is smooth, these two are on either side of it.
    double const fall = b.at_least - b.at_largest;
    double const guess = fall > 0 ? std::clamp((b.at_least - volumes_[n]) / fall, 0.0, 1.0) : 0.5;
    levels_.push_back(b.least + width * std::max(guess - beside_guess, 0.0));
    levels_.push_back(b.least + width * std::min(guess + beside_guess, 1.0));
  }
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
}

void dose_search::take(std::vector<double> const& volumes_at_levels) {
  for (std::size_t n = 0; n < volumes_.size(); ++n) {
    bracket& b = brackets_[n];
    if (std::isnan(b.least)) {
      continue;
    }
    // Volumes fall with the level. The last level that still has the volume:
    auto const end = std::partition_point(volumes_at_levels.begin(), volumes_at_levels.end(),
                                          [&](double v) { return v >= volumes_[n]; });
    auto const index = std::size_t(end - volumes_at_levels.begin());
    if (index > 0 && levels_[index - 1] >= b.least) {
      b.least = levels_[index - 1];
      b.at_least = volumes_at_levels[index - 1];
    }
    if (index < levels_.size() && levels_[index] <= b.largest) {
      b.largest = levels_[index];
      b.at_largest = volumes_at_levels[index];
    }
    b.largest = std::max(b.largest, b.least);
  }
  levels_.clear();
  if (++round_ < rounds) {
    choose_levels();
  }
}

std::vector<double> dose_search::result() const {
  std::vector<double> doses;
  for (auto const& b : brackets_) {
    doses.push_back(b.least);
  }
  return doses;
}

quantity_reader::quantity_reader(std::vector<quantity> const& quantities,
                                 dose_statistics const& all, extremes of)
    : quantities_(quantities), all_(all), of_(of) {
  for (auto const& q : quantities_) {
    switch (q.what) {
      case quantity::kind::dose_at_percent:
        volumes_.push_back(all_.volume * (q.value / 100));
        break;
      case quantity::kind::dose_at_volume:
        volumes_.push_back(q.value * mm3_per_cm3);
        break;
      case quantity::kind::homogeneity:
        for (double const percent : {2.0, 98.0, 50.0}) {
          volumes_.push_back(all_.volume * (percent / 100));
        }
        break;
      case quantity::kind::volume_at_dose:
      case quantity::kind::absolute_at_dose:
      case quantity::kind::conformity:
        has_conformity_ = has_conformity_ || q.what == quantity::kind::conformity;
        levels_.push_back(q.value);
        break;
      default:
        break;
    }
  }
  std::sort(levels_.begin(), levels_.end());
  levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
}

double quantity_reader::dose_of(double found, double percent) const {
  if (std::isnan(found) || std::isnan(all_.minimum)) {
    return found;
  }
  // All of the volume gets the minimum, by whatever points that is told. Where these are of the
  // surface, what planes leave of voxels beyond it gets no less, and no more than the maximum.
  return percent == 100             ? all_.minimum
         : of_ == extremes::surface ? std::clamp(found, all_.minimum, all_.maximum)
                                    : found;
}

std::vector<double> quantity_reader::values(std::vector<double> const& doses,
                                            std::vector<double> const& at_levels,
                                            std::vector<double> const& anywhere) const {
  std::vector<double> all;
  auto dose = doses.begin();
  auto const index_of = [&](double level) {
    return std::size_t(std::lower_bound(levels_.begin(), levels_.end(), level) - levels_.begin());
  };
  auto const at_level = [&](double level) { return at_levels[index_of(level)]; };
  bool const empty = !(all_.volume > 0);
  for (auto const& q : quantities_) {
    switch (q.what) {
      case quantity::kind::dose_at_percent:
        all.push_back(dose_of(*dose++, q.value));
        break;
      case quantity::kind::dose_at_volume:
        all.push_back(dose_of(*dose++, 0));
        break;
      case quantity::kind::homogeneity:
        all.push_back((dose_of(dose[0], 2) - dose_of(dose[1], 98)) / dose_of(dose[2], 50));
        dose += 3;
        break;
      case quantity::kind::volume_at_dose:
        all.push_back(empty ? none : 100 * at_level(q.value) / all_.volume);
        break;
      case quantity::kind::absolute_at_dose:
        all.push_back(empty ? none : at_level(q.value) / mm3_per_cm3);
        break;
      case quantity::kind::mean:
        all.push_back(all_.mean);
        break;
      case quantity::kind::minimum:
        all.push_back(all_.minimum);
        break;
      case quantity::kind::maximum:
        all.push_back(all_.maximum);
        break;
      case quantity::kind::volume:
        all.push_back(all_.volume / mm3_per_cm3);
        break;
      case quantity::kind::conformity:
        all.push_back(empty ? none
                            : paddick(at_level(q.value), all_.volume, anywhere[index_of(q.value)]));
        break;
      case quantity::kind::outside:
        all.push_back(all_.outside / mm3_per_cm3);
        break;
    }
  }
  return all;
}

double part_done(std::size_t dose, std::size_t structure, std::size_t doses,
                 std::size_t structures) {
  return double((dose - 1) * structures + structure) / double(doses * structures);
}

double paddick(double inside, double whole, double anywhere) {
  // Either quotient is a part of a whole, but for what is rounded.
  auto const part = [](double some, double all) { return std::min(some / all, 1.0); };
  return inside > 0 ? part(inside, whole) * part(inside, anywhere) : 0.0;
}

std::vector<double> bin_edges(std::int64_t bins, double end) {
  std::vector<double> edges;
  for (std::int64_t n = 0; n <= bins; ++n) {
    edges.push_back(end * (double(n) / double(bins)));
  }
  return edges;
}

histogram histogram_of(std::vector<double> const& cumulative, double bin_width, double volume,
                       double outside) {
  histogram h{bin_width, volume, outside, cumulative, {}};
  for (std::size_t n = 0; n + 1 < cumulative.size(); ++n) {
    h.differential.push_back(cumulative[n] - cumulative[n + 1]);
  }
  return h;
}

}  // namespace detail

slab_planes planes_needed(grid const& dose, grid const& fractions, slab const& own) {
  char const* const function = "iso::dvh::planes_needed";
  validate(dose, function);
  validate(fractions, function);
  validate(own, dose, function);
  detail::voxels_along_z const voxels{detail::steps_of(fractions, dose, 2), fractions.extent[2],
                                      dose.extent[2]};
  return {voxels.dose_planes(own), voxels.share_planes(own)};
}

ISO_FOR_EACH_INSTANCE(ISO_DVH, )

}  // namespace iso::dvh
