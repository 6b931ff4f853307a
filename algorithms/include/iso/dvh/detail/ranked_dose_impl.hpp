// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/dvh/ranked_dose.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/detail/plane_exchange.hpp>
#include <iso/dvh/ranked_dose.hpp>

#include <algorithm>
#include <cstddef>

namespace iso::dvh {
namespace detail {

/// Returns the planes of a dose that a rank's slab reads for any of some structures.
/// \param shares  their grids
slab planes_read(grid const& dose, std::vector<grid> const& shares, slab const& own);

/// Returns a hash of what ranks must have alike to exchange planes of a dose.
iso::detail::fingerprint fingerprint_of(grid const& dose, std::vector<slab> const& planes,
                                        std::vector<grid> const& shares, std::int64_t number_bytes);

}  // namespace detail

template <execution_space Exec, real T>
ranked_dose<Exec, T>::ranked_dose(Exec const& exec, backend::communicator& ranks,
                                  volume const& dose, std::vector<slab> planes,
                                  std::vector<grid> const& shares)
    : planes_(std::move(planes)), here_(ranks.rank()), held_(dose) {
  char const* const function = "iso::dvh::ranked_dose";
  iso::detail::validate_agreement(
      ranks, int(planes_.size()),
      detail::fingerprint_of(dose.grid, planes_, shares, std::int64_t(sizeof(T))), function,
      "grids or planes");
  backend::carrier<Exec> carrier(exec, ranks);
  iso::detail::plane_exchange<Exec> exchange;
  std::int64_t const columns = dose.grid.extent[0] * dose.grid.extent[1];
  slab needed;
  slab mine;
  std::vector<slab> out;
  std::vector<slab> in;
  auto brought = volume_view<T, space>();
  iso::detail::check_together(ranks, function, [&] {
    validate(planes_, dose.grid, function);
    mine = planes_[std::size_t(here_)];
    if (mine.count() > 0) {
      validate_slab(dose, function);
      validate_contiguous(dose.data, "dose", function);
      ISO_VALIDATE(dose.planes() == mine,
                   "{}: a dose of planes {} to {} (this rank owns {} to {}); give the planes that "
                   "it owns",
                   function, dose.planes().first, dose.planes().last - 1, mine.first,
                   mine.last - 1);
    }
    needed = detail::planes_read(dose.grid, shares, mine);
    for (slab const& of_rank : planes_) {
      out.push_back(
          iso::detail::common_planes(mine, detail::planes_read(dose.grid, shares, of_rank)));
      in.push_back(iso::detail::common_planes(of_rank, needed));
    }
    exchange.reserve(columns, out, in, std::int64_t(sizeof(T)), here_);
    if (needed.count() > mine.count()) {
      brought = make_slab<T, space>(exec, function, dose.grid, needed);
    }
  });
  iso::detail::plane_columns<T const> const from{dose.data.data(), columns, mine};
  iso::detail::plane_columns<T> const to{brought.data.data(), columns, needed};
  if (brought.data.size() > 0) {
    iso::detail::copy_planes("iso::dvh::ranked_dose: own planes", exec, to, from, mine);
    held_ = brought;
  }
  exchange.run(exec, carrier, from, out, to, in);
  exec.fence("iso::dvh::ranked_dose: the planes are there");
  report_ = {exchange.bytes_sent(), std::int64_t(brought.data.size() * sizeof(T))};
}

#define ISO_DVH_RANKED(linkage, Exec, T) linkage template class ranked_dose<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_DVH_RANKED, extern)

}  // namespace iso::dvh
