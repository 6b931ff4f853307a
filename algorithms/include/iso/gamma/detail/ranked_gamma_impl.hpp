// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/gamma/ranked_gamma.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/view_checks.hpp>
#include <iso/detail/agreement.hpp>
#include <iso/detail/plane_exchange.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace iso::gamma {
namespace detail {

/// Returns a hash of what all ranks must have alike.
/// \param number_bytes  of a dose
iso::detail::fingerprint fingerprint_of(iso::grid const& reference, iso::grid const& evaluated,
                                        std::vector<slab> const& reference_planes,
                                        std::vector<slab> const& evaluated_planes,
                                        std::vector<criterion> const& criteria,
                                        gamma_options const& options, std::int64_t number_bytes);

/// Returns bounds of the doses of all ranks.
dose_bounds joined_of_ranks(backend::communicator& ranks, dose_bounds const& here);

/// Throws, naming `function`, unless a dose is what a rank owns.
template <class T, class Space>
void validate_share(volume_view<T const, Space> const& dose, slab const& own, char const* name,
                    char const* function) {
  if (own.count() == 0) {
    return;
  }
  validate_slab(dose, function);
  validate_contiguous(dose.data, name, function);
  ISO_VALIDATE(dose.planes() == own,
               "{}: {} planes {} to {} (this rank owns {} to {}); give the planes that it owns",
               function, name, dose.planes().first, dose.planes().last - 1, own.first,
               own.last - 1);
}

/// What a comparison on ranks has, and what it does.
template <class Exec, class T>
struct ranked_gamma_parts {
  using space = typename Exec::memory_space;
  using volume = volume_view<T const, space>;
  static constexpr char const* function = "iso::gamma::ranked_gamma";

  ranked_gamma_parts(Exec const& on, backend::communicator& ranks, std::vector<slab> of_reference,
                     std::vector<slab> of_evaluated)
      : exec(on),
        carrier(on, ranks),
        here(ranks.rank()),
        reference_planes(std::move(of_reference)),
        evaluated_planes(std::move(of_evaluated)) {}

  [[nodiscard]] slab const& own() const { return reference_planes[std::size_t(here)]; }

  /// Returns the evaluated planes that this rank's search reads, with those of other ranks.
  volume exchange_planes(volume const& reference, volume const& evaluated,
                         std::vector<criterion> const& criteria, gamma_options const& options);
  void prepare(volume const& reference, volume const& evaluated,
               std::vector<criterion> const& criteria, gamma_options const& options);

  Exec exec;
  backend::carrier<Exec> carrier;
  int here;
  std::vector<slab> reference_planes;
  std::vector<slab> evaluated_planes;
  grid whole;
  std::vector<criterion> criteria;
  gamma_options options;
  dose_bounds of_reference;
  double cut_off = 0;
  std::int64_t bytes_of_halo = 0;
  iso::detail::plane_exchange<Exec> exchange;
  std::optional<gamma_plan<T, space>> plan;  ///< none where the rank has no reference planes
};

template <class Exec, class T>
auto ranked_gamma_parts<Exec, T>::exchange_planes(volume const& reference, volume const& evaluated,
                                                  std::vector<criterion> const& c,
                                                  gamma_options const& o) -> volume {
  grid const& e = evaluated.grid;
  auto const needed_by = [&](slab const& s) {
    return s.count() > 0 ? planes_needed(reference.grid, e, s, c, o) : slab{0, 0};
  };
  slab const mine = evaluated_planes[std::size_t(here)];
  slab needed;
  std::vector<slab> out;
  std::vector<slab> in;
  auto brought = volume_view<T, space>();
  iso::detail::check_together(carrier.ranks(), function, [&] {
    needed = needed_by(own());
    for (std::size_t rank = 0; rank < reference_planes.size(); ++rank) {
      out.push_back(iso::detail::common_planes(mine, needed_by(reference_planes[rank])));
      in.push_back(iso::detail::common_planes(evaluated_planes[rank], needed));
    }
    exchange.reserve(e.extent[0] * e.extent[1], out, in, std::int64_t(sizeof(T)), here);
    if (needed.count() > 0 && iso::detail::common_planes(mine, needed) != needed) {
      brought = make_slab<T, space>(exec, "iso::gamma::ranked_gamma: evaluated planes", e, needed);
    }
  });
  bytes_of_halo = std::int64_t(brought.data.size() * sizeof(T));
  std::int64_t const columns = e.extent[0] * e.extent[1];
  iso::detail::plane_columns<T const> const from{evaluated.data.data(), columns, mine};
  iso::detail::plane_columns<T> const to{brought.data.data(), columns, needed};
  if (bytes_of_halo > 0) {
    iso::detail::copy_planes("iso::gamma::ranked_gamma: own planes", exec, to, from,
                             iso::detail::common_planes(mine, needed));
  }
  exchange.run(exec, carrier, from, out, to, in);
  return bytes_of_halo > 0 ? volume(brought) : evaluated;
}

template <class Exec, class T>
void ranked_gamma_parts<Exec, T>::prepare(volume const& reference, volume const& evaluated,
                                          std::vector<criterion> const& by,
                                          gamma_options const& with) {
  auto& ranks = carrier.ranks();
  whole = reference.grid;
  criteria = by;
  options = with;
  dose_bounds of_evaluated;
  iso::detail::check_together(ranks, function, [&] {
    validate(reference_planes, reference.grid, function);
    validate(evaluated_planes, evaluated.grid, function);
    validate_share(reference, own(), "reference", function);
    validate_share(evaluated, evaluated_planes[std::size_t(here)], "evaluated", function);
    if (own().count() > 0) {
      of_reference = bounds_of(exec, reference);
    }
    if (evaluated_planes[std::size_t(here)].count() > 0) {
      of_evaluated = bounds_of(exec, evaluated);
    }
  });
  of_reference = joined_of_ranks(ranks, of_reference);
  of_evaluated = joined_of_ranks(ranks, of_evaluated);
  auto const held = exchange_planes(reference, evaluated, by, with);
  iso::detail::check_together(ranks, function, [&] {
    if (own().count() > 0) {
      plan.emplace(exec, reference, held, by, with, of_reference, of_evaluated);
    }
  });
  // The same on all ranks that have planes.
  cut_off = iso::detail::largest_of_ranks(ranks, plan ? plan->cut_off_dose() : 0);
}

}  // namespace detail

template <execution_space Exec, real T>
ranked_gamma<Exec, T>::ranked_gamma(Exec const& exec, backend::communicator& ranks,
                                    volume const& reference, volume const& evaluated,
                                    std::vector<slab> const& reference_planes,
                                    std::vector<slab> const& evaluated_planes,
                                    std::vector<criterion> const& criteria,
                                    gamma_options const& options) {
  using parts_type = detail::ranked_gamma_parts<Exec, T>;
  auto const of =
      detail::fingerprint_of(reference.grid, evaluated.grid, reference_planes, evaluated_planes,
                             criteria, options, std::int64_t(sizeof(T)));
  for (auto const* planes : {&reference_planes, &evaluated_planes}) {
    iso::detail::validate_agreement(ranks, int(planes->size()), of, parts_type::function,
                                    "grids, planes, criteria or options");
  }
  parts_ = std::make_unique<parts_type>(exec, ranks, reference_planes, evaluated_planes);
  parts_->prepare(reference, evaluated, criteria, options);
}

template <execution_space Exec, real T>
ranked_gamma<Exec, T>::~ranked_gamma() = default;

template <execution_space Exec, real T>
slab const& ranked_gamma<Exec, T>::planes() const {
  return parts_->own();
}

template <execution_space Exec, real T>
gamma_values<T, typename Exec::memory_space> ranked_gamma<Exec, T>::make_gamma(
    std::string const& label) const {
  auto const& n = parts_->whole.extent;
  return allocate<gamma_values<T, space>>(
      label, {std::int64_t(parts_->criteria.size()), n[0], n[1], planes().count()}, parts_->exec);
}

template <execution_space Exec, real T>
status_values<typename Exec::memory_space> ranked_gamma<Exec, T>::make_status(
    std::string const& label) const {
  auto const& n = parts_->whole.extent;
  return allocate<status_values<space>>(label, {n[0], n[1], planes().count()}, parts_->exec);
}

template <execution_space Exec, real T>
void ranked_gamma<Exec, T>::apply(gamma_values<T, space> const& gamma,
                                  status_values<space> const& status, job const& control) {
  iso::detail::check_together(parts_->carrier.ranks(), parts_->function, control, [&] {
    if (parts_->plan) {
      gamma_index(parts_->exec, *parts_->plan, gamma, status, control);
    }
    parts_->exec.fence("iso::gamma::ranked_gamma: the result is there");
  });
}

template <execution_space Exec, real T>
std::vector<gamma_summary> ranked_gamma<Exec, T>::summarise(
    gamma_values<std::type_identity_t<T> const, space> const& gamma,
    const_status_values<space> const& status, summary_options const& with) {
  auto& p = *parts_;
  auto& ranks = p.carrier.ranks();
  iso::detail::fingerprint of;
  describe(of, with);
  iso::detail::validate_agreement(ranks, ranks.size(), of, p.function, "summary options");
  std::optional<gamma_sums> sums;
  iso::detail::check_together(ranks, p.function, [&] {
    sums.emplace(p.whole, p.criteria, p.options, with);
    if (p.plan) {
      sums->add(p.exec, *p.plan, gamma, status);
    }
  });
  sums->add_ranks(ranks, p.reference_planes);
  return sums->finish();
}

template <execution_space Exec, real T>
double ranked_gamma<Exec, T>::reference_maximum() const {
  return parts_->of_reference.largest;
}

template <execution_space Exec, real T>
double ranked_gamma<Exec, T>::cut_off_dose() const {
  return parts_->cut_off;
}

template <execution_space Exec, real T>
rank_report ranked_gamma<Exec, T>::report() const {
  auto const& p = *parts_;
  std::int64_t const of_plan =
      p.plan ? gamma_plan<T, space>::bytes_needed(p.whole, p.plan->evaluated().grid, p.criteria,
                                                  p.options, p.own())
             : 0;
  return {p.exchange.bytes_sent(), of_plan + p.bytes_of_halo + p.exchange.bytes_held()};
}

#define ISO_GAMMA_RANKED(linkage, Exec, T) linkage template class ranked_gamma<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_GAMMA_RANKED, extern)

}  // namespace iso::gamma
