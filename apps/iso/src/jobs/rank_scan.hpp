// SPDX-License-Identifier: BSD-3-Clause
//! Brings the readings of a scan to the ranks that share a job, and looks through them.
#pragma once

#include "rank_parts.hpp"
#include "rank_views.hpp"

#include <iso/core/check.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::jobs {

/// Whole views of a scan, some of them: what is looked at for what was scanned.
struct sampled_scan {
  ct::geometry scan;
  std::vector<float> readings;  ///< [views, u, v]
  std::vector<float> mask;      ///< likewise; empty: all readings count
};

/// Returns n of every n-th view that is looked at: so that these have at most 2^23 readings, where
/// that leaves 16 views.
inline std::int64_t sample_step(ct::geometry const& g) {
  constexpr double max_readings = double(1 << 23);
  constexpr std::int64_t min_views = 16;
  double const readings = double(g.num_views()) * double(g.num_u()) * double(g.num_v());
  auto const step = std::int64_t(std::ceil(readings / max_readings));
  return std::max<std::int64_t>(std::min(step, g.num_views() / min_views), 1);
}
inline ct::geometry sampled_geometry(ct::geometry const& g, std::int64_t step) {
  std::vector<ct::view_vectors> views;
  for (std::int64_t view = 0; view < g.num_views(); view += step) {
    views.push_back(g.views()[std::size_t(view)]);
  }
  return {g.kind(), g.num_u(), g.num_v(), std::move(views)};
}
/// Returns every so many-th of images of so many numbers.
template <class Readings>
auto sampled_images(Readings const& all, std::int64_t image, std::int64_t step) {
  std::vector<std::remove_cvref_t<decltype(all[0])>> some;
  for (std::int64_t at = 0; at < std::int64_t(all.size()); at += step * image) {
    for (std::int64_t i = at; i < at + image; ++i) {
      some.push_back(all[std::size_t(i)]);
    }
  }
  return some;
}

/// Readings that equal the largest, of those that count.
struct largest_readings {
  float most = -std::numeric_limits<float>::infinity();
  std::int64_t equal = 0;
  std::int64_t all = 0;

  /// \param mask  empty, or 0 where a reading does not count
  template <class Readings>
  void add(Readings const& readings, std::span<float const> mask) {
    for (std::size_t i = 0; i < readings.size(); ++i) {
      if (!mask.empty() && mask[i] == 0) {
        continue;
      }
      auto const here = float(readings[i]);
      ++all;
      equal = here > most ? 1 : equal + (here == most ? 1 : 0);
      most = std::max(most, here);
    }
  }
  /// Makes them those of all ranks.
  void join(rank_parts const& parts) {
    auto const of_all = float(iso::detail::largest_signed_of_ranks(parts.ranks(), double(most)));
    equal = parts.part().count(most == of_all ? equal : 0);
    all = parts.part().count(all);
    most = of_all;
  }
};

/// A rank's rows of the readings of a scan, on the host.
template <class T>
class scan_rows {
 public:
  /// \param rows  [views, u, rows], which read() fills
  scan_rows(reconstruct_request const& request, rank_parts const& parts, std::span<T> rows)
      : request_(request), parts_(parts), rows_(rows) {}

  /// Reads the mask, where there is one, and the readings: each rank its share of the views, of
  /// which all get their rows. All ranks call it.
  /// \throws iso::invalid_argument  on every rank: readings that are not finite, or say nothing
  void read(job const& asked) {
    if (request_.iterative && request_.iterative->reading_mask) {
      mask_.resize(rows_.size());
      spread_file<float>(request_.iterative->read_reading_mask,
                         request_.iterative->reading_mask->values, mask_);
    }
    if (request_.phantom_width) {
      project_phantom(asked);
      return;
    }
    spread_file<T>(request_.read_views, request_.projections, rows_);
    check();
  }
  /// Returns the rows of the mask; empty where there is none.
  [[nodiscard]] std::vector<float> const& mask() const { return mask_; }
  [[nodiscard]] std::span<T const> rows() const { return rows_; }

  /// Returns what is looked at for what was scanned, on rank 0, and no readings elsewhere.
  [[nodiscard]] sampled_scan sample(ct::geometry const& given) const {
    std::int64_t const step = sample_step(given);
    auto const of = [&](auto const& rows) {
      using number = std::remove_cvref_t<decltype(rows[0])>;
      auto const& g = parts_.plan().scan();
      std::int64_t const image = std::int64_t(rows.size()) / g.num_views();
      auto whole = parts_.gather_rows(
          image == 0 ? std::vector<number>()
                     : sampled_images(std::span<number const>(rows), image, step));
      if constexpr (std::is_same_v<number, float>) {
        return whole;
      } else {
        return std::vector<float>(whole.begin(), whole.end());
      }
    };
    return {sampled_geometry(given, step), of(rows_),
            mask_counts() ? of(mask_) : std::vector<float>()};
  }
  /// Returns the hash of all readings, or of the mask, as one process has them, on every rank.
  [[nodiscard]] std::uint64_t hash() const { return hash_of<T>(rows_.data()); }
  [[nodiscard]] std::uint64_t hash_of_mask() const {
    return mask_counts() ? hash_of<float>(mask_.data()) : iso::detail::fnv1a_of_nothing;
  }

 private:
  [[nodiscard]] bool mask_counts() const {
    return request_.iterative && request_.iterative->reading_mask;
  }
  template <class Number>
  [[nodiscard]] view_carrier<Number> carrier(std::int64_t piece = 1) const {
    return {parts_.ranks(), parts_.plan(),
            view_shares(parts_.plan().scan(), num_ranks(), sizeof(Number), piece)};
  }
  template <class Number>
  [[nodiscard]] std::uint64_t hash_of(Number const* rows) const {
    return carrier<Number>().collect(rows, [](std::int64_t, std::span<Number const>) {});
  }

  /// Fills rows from views that each rank reads, or that all have read whole.
  template <class Number>
  void spread_file(views_reader const& by_views, std::vector<float> const& whole,
                   std::span<Number> rows) const {
    if (!by_views.read) {
      parts_.cut_readings(whole, rows);
      return;
    }
    carrier<Number>(by_views.piece)
        .spread(
            [&](std::int64_t first, std::span<Number> views) {
              if constexpr (std::is_same_v<Number, float>) {
                by_views.read(first, views);
              } else {
                std::vector<float> stored(views.size());
                by_views.read(first, stored);
                std::copy(stored.begin(), stored.end(), views.begin());
              }
            },
            rows.data());
  }
  void project_phantom(job const& asked) const {
    Kokkos::DefaultHostExecutionSpace const host;
    auto const& g = parts_.plan().scan();
    auto const phantom = ct::shepp_logan(*request_.phantom_width / 2);
    carrier<T>().spread(
        [&](std::int64_t first, std::span<T> views) {
          auto const some = g.subset(first, std::int64_t(views.size()) / (g.num_u() * g.num_v()));
          ct::project_ellipsoids<Kokkos::DefaultHostExecutionSpace, T>(
              host, phantom, ct::stage(host, some),
              cases::projections_at<T, Kokkos::HostSpace>(views.data(), some), {}, asked);
          host.fence("iso::jobs::scan_rows: views of the phantom");
        },
        rows_.data());
  }

  /// Sets what the mask hides to 0, and throws where readings are no numbers or tell nothing.
  void check() {
    auto const& g = parts_.plan().scan();
    auto const own = parts_.plan().rows(parts_.rank());
    std::int64_t const width = own.last - own.first;
    std::int64_t counted = 0;
    std::int64_t told = 0;
    char const* const what = request_.adjoint_of ? "iso back-project" : "iso reconstruct";
    iso::detail::check_together(parts_.ranks(), what, [&] {
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        bool const counts = mask_.empty() || mask_[i] != 0;
        rows_[i] = counts ? rows_[i] : T(0);
        counted += counts ? 1 : 0;
        told += rows_[i] != T(0) ? 1 : 0;
        if (!std::isfinite(rows_[i])) {
          auto const at = std::int64_t(i);
          fail_argument(
              "{}: view {}, pixel ({}, {}): the reading is {} (every one must be finite, or it "
              "would spoil its row); replace it by a number",
              what, at / (g.num_u() * width), at / width % g.num_u(), own.first + at % width,
              double(rows_[i]));
        }
      }
    });
    counted = parts_.part().count(counted);
    told = parts_.part().count(told);
    ISO_VALIDATE(told > 0 || !mask_counts(),
                 "iso reconstruct: --reading-mask leaves {} of {} readings, none of which differs "
                 "from zero (there is nothing to reconstruct); check where the mask is 0",
                 counted, g.num_views() * g.num_u() * g.num_v());
    ISO_VALIDATE(told > 0 || request_.adjoint_of,
                 "iso reconstruct: all {} readings are zero (nothing lay in the beam, so that "
                 "there is nothing to reconstruct); check where the projections come from",
                 counted);
  }

  reconstruct_request const& request_;
  rank_parts const& parts_;
  std::span<T> rows_;
  std::vector<float> mask_;
};

}  // namespace iso::jobs
