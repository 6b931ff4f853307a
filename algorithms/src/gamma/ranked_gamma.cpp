// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/detail/added_planes.hpp>
#include <iso/gamma/detail/ranked_gamma_impl.hpp>

#include <algorithm>
#include <span>

namespace iso::gamma {
namespace detail {

iso::detail::fingerprint fingerprint_of(iso::grid const& reference, iso::grid const& evaluated,
                                        std::vector<slab> const& reference_planes,
                                        std::vector<slab> const& evaluated_planes,
                                        std::vector<criterion> const& criteria,
                                        gamma_options const& options, std::int64_t number_bytes) {
  iso::detail::fingerprint of;
  of.add(reference);
  of.add(evaluated);
  of.add(reference_planes);
  of.add(evaluated_planes);
  for (criterion const& c : criteria) {
    describe(of, c);
  }
  describe(of, options);
  of.add(number_bytes);
  return of;
}

dose_bounds joined_of_ranks(backend::communicator& ranks, dose_bounds const& here) {
  return {iso::detail::largest_signed_of_ranks(ranks, here.largest),
          iso::detail::largest_of_ranks(ranks, here.largest_size)};
}

}  // namespace detail

void gamma_sums::add_ranks(backend::communicator& ranks, std::vector<slab> const& planes) {
  char const* const function = "iso::gamma::gamma_sums::add_ranks";
  iso::detail::check_together(ranks, function, [&] {
    for (std::size_t rank = 0; rank < planes.size(); ++rank) {
      if (int(rank) != ranks.rank() && planes[rank].count() > 0) {
        iso::detail::join_planes(planes_, std::vector<slab>(1, planes[rank]), function);
      }
    }
  });
  for (auto& [counts, histogram] : sums_) {
    std::vector<std::uint64_t> words = histogram;
    for (std::int64_t const count : {counts.below_cut_off, counts.passed, counts.outside,
                                     counts.outside_passed, counts.no_gamma}) {
      words.push_back(std::uint64_t(count));
    }
    words.push_back(counts.sum.coarse);
    words.push_back(counts.sum.fine);
    ranks.sum(std::span<std::uint64_t>(words));
    std::copy_n(words.begin(), histogram.size(), histogram.begin());
    std::uint64_t const* const all = words.data() + histogram.size();
    counts = {std::int64_t(all[0]), std::int64_t(all[1]),
              std::int64_t(all[2]), std::int64_t(all[3]),
              std::int64_t(all[4]), iso::detail::largest_of_ranks(ranks, counts.largest),
              {all[5], all[6]}};
  }
}

ISO_FOR_EACH_INSTANCE(ISO_GAMMA_RANKED, )

}  // namespace iso::gamma
