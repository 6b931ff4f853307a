// SPDX-License-Identifier: BSD-3-Clause
//! Defines what iso/ct/ranked.hpp declares.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/agreement.hpp>
#include <iso/ct/detail/back_project_step.hpp>
#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/detail/streamed_impl.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace iso::ct {
namespace detail {

/// What is known before anything is allocated. The windows are of all ranks.
struct ranked_preparation {
  forward_project_options forward;  ///< one path for all views
  std::int64_t halo = 0;            ///< planes that a projection reads beyond its own
  std::int64_t batch = 0;           ///< views that are computed at a time
  rank_windows met;                 ///< by the rays of projections
  rank_windows needed;              ///< by an adjoint, or a reconstruction
};

/// Has ranks agree, checks options, and finds the windows.
/// \throws iso::invalid_argument  on every rank
ranked_preparation prepare_pair(backend::communicator& ranks, rank_plan const& plan,
                                projector_options const& options, std::int64_t batch_views,
                                std::int64_t value_bytes);
ranked_preparation prepare_fdk(backend::communicator& ranks, rank_plan const& plan,
                               fdk_options const& options, std::int64_t batch_views,
                               std::int64_t value_bytes);

/// Returns the planes that a rank's projection reads.
slab held_planes(rank_plan const& plan, int rank, std::int64_t halo);

/// Returns the pixels that a rank's planes need and another rank owns, for each other one.
shared_windows windows_from_owners(rank_plan const& plan, rank_windows const& needed, int rank);
/// Returns the pixels that a rank owns and another rank's planes need, for each other one.
shared_windows windows_of_owner(rank_plan const& plan, rank_windows const& needed, int rank);
/// Returns windows of words of 32 flags each, which hold the flags of windows of pixels.
shared_windows windows_of_flags(shared_windows all);
/// Returns the planes that a rank owns and another rank reads, as windows of one image whose u goes
/// along columns of voxels.
shared_windows planes_that_go(rank_plan const& plan, int rank, std::int64_t halo);
/// Returns the planes that a rank reads and another rank owns.
shared_windows planes_that_come(rank_plan const& plan, int rank, std::int64_t halo);

/// Calls f(), and throws on every rank where it throws on one.
template <class F>
void check_together(backend::communicator& ranks, char const* function, F const& f) {
  std::exception_ptr failure;
  try {
    f();
  } catch (...) {
    failure = std::current_exception();
  }
  std::uint32_t failed = failure ? 1 : 0;
  ranks.maximum(std::span<std::uint32_t>(&failed, 1));
  if (failure) {
    std::rethrow_exception(failure);
  }
  ISO_VALIDATE(failed == 0,
               "{}: another rank stopped here (its own sentence says why); read what all ranks say",
               function);
}

/// Copies rows of images that both have; index (view, u, v) of `some`, whose rows are rows of
/// `all`.
template <class T, bool Out>
struct copy_rows_kernel {
  image_rows<T> all;
  image_rows<std::conditional_t<Out, T, T const>> some;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / some.num_v;
    std::int64_t const there =
        column * all.num_v + index - column * some.num_v + some.first_v - all.first_v;
    if constexpr (Out) {
      some.data[index] = all.data[there];
    } else {
      all.data[there] = some.data[index];
    }
  }
};

/// Throws, naming `function`, unless a rank's arrays are those that it owns.
template <class Voxel, class Pixel, class Space>
void validate_parts(rank_plan const& plan, int rank, volume_view<Voxel, Space> const& x,
                    projection_view<Pixel, Space> const& p, char const* function) {
  slab const& own = plan.planes(rank);
  geometry const& g = plan.scan();
  if (own.count() > 0) {
    validate_slab(x, function);
    validate_contiguous(x.data, "volume data", function);
    ISO_VALIDATE(x.grid == plan.grid() && x.planes() == own,
                 "{}: planes {} to {} of a grid of {} (rank {} owns {} to {} of the plan's grid); "
                 "make them by iso::ct::make_volume_part",
                 function, x.planes().first, x.planes().last - 1, x.grid.extent[2], rank, own.first,
                 own.last - 1);
  }
  if (plan.rows(rank).count() > 0) {
    validate(p, {g.num_views(), g.num_u(), plan.rows(rank).count()}, function);
    validate_contiguous(p.data, "projections", function);
  }
  memory_range const voxels = memory_of(x.data, "volume data");
  memory_range const pixels = memory_of(p.data, "projections");
  validate_apart(std::is_const_v<Voxel> ? pixels : voxels,
                 {std::is_const_v<Voxel> ? voxels : pixels}, function);
}

/// Images of a batch of the whole detector, and the memory behind them.
template <class T, class Space>
struct batch_memory {
  T* images;
  workspace<Space> scratch;

  batch_memory(workspace<Space> const& memory, geometry const& g, std::int64_t batch,
               char const* function) {
    workspace_parts parts(memory, function);
    images = parts.take<T>({batch, g.num_u(), g.num_v()});
    scratch = rest_of(memory, parts.bytes());
  }
  static std::int64_t bytes_needed(geometry const& g, std::int64_t batch, std::int64_t scratch) {
    workspace_parts parts("iso::ct::ranked");
    parts.take<T>({batch, g.num_u(), g.num_v()});
    return parts.bytes() + scratch;
  }
};

/// Fills the images of a batch: with this rank's rows, what other ranks own and it needs, and
/// zeros.
template <class Exec, class T>
void gather_readings(Exec const& exec, backend::carrier<Exec>& by, window_exchange<Exec>& readings,
                     rank_plan const& plan, int rank, T const* rows_of_rank, std::int64_t first,
                     std::int64_t count, T* images) {
  geometry const& g = plan.scan();
  row_range const& rows = plan.rows(rank);
  image_rows<T> const all{images, g.num_u(), g.num_v()};
  std::int64_t const owned = g.num_u() * rows.count();
  image_rows<T const> const mine{owned > 0 ? rows_of_rank + first * owned : nullptr, g.num_u(),
                                 rows.count(), rows.first};
  Kokkos::deep_copy(exec,
                    Kokkos::View<T*, typename Exec::memory_space, Kokkos::MemoryUnmanaged>(
                        images, std::size_t(count * g.num_u() * g.num_v())),
                    T(0));
  if (owned > 0) {
    backend::for_each_index("iso::ct::ranked: rows", exec, count * owned,
                            copy_rows_kernel<T, false>{all, mine});
  }
  readings.template run<arrival::stored>(exec, by, mine, all, first, count);
}

/// Calls f(first, count) for each batch of views; ranks stop together.
template <class F>
void for_each_ranked_batch(backend::communicator& ranks, rank_plan const& plan, std::int64_t batch,
                           job const& control, F const& f) {
  std::int64_t const views = plan.scan().num_views();
  for (std::int64_t first = 0; first < views; first += batch) {
    step_together(ranks, control, double(first) / double(views));
    f(first, std::min(batch, views - first));
  }
}

inline back_project_options ranked_adjoint(projector_options const& o) {
  return {.method = o.method,
          .edge = o.edge,
          .within = o.within,
          .oversampling = o.oversampling,
          .words = o.words,
          .shape = o.shape};
}

/// The parts of memory while ranks project. Words and pixels have one place.
template <class Exec, class T>
struct ranked_forward_memory {
  using sums_type = ray_sums<T, typename Exec::memory_space>;
  T* held;
  std::int64_t sums_bytes;
  std::byte* sums;

  ranked_forward_memory(Exec const& exec, workspace_parts& parts, rank_plan const& plan,
                        slab const& planes, forward_project_options const& options,
                        std::int64_t batch)
      : held(parts.take<T>({plan.grid().extent[0], plan.grid().extent[1], planes.count()})),
        sums_bytes(sums_type::bytes_needed(
            exec, plan.scan().subset(0, std::min(batch, plan.scan().num_views())), plan.grid(),
            {0, false}, options)),
        sums(parts.take<std::byte>({sums_bytes})) {}
};

}  // namespace detail

template <execution_space Exec, real T>
ranked_pair<Exec, T>::ranked_pair(Exec const& exec, backend::communicator& ranks,
                                  rank_plan const& plan, projector_options const& options,
                                  std::int64_t batch_views)
    : ranked_pair(exec, ranks, plan, options,
                  detail::prepare_pair(ranks, plan, options, batch_views, sizeof(T))) {}

template <execution_space Exec, real T>
ranked_pair<Exec, T>::ranked_pair(Exec const& exec, backend::communicator& ranks,
                                  rank_plan const& plan, projector_options const& options,
                                  detail::ranked_preparation const& by)
    : exec_(exec),
      carrier_(exec, ranks),
      plan_(plan),
      rank_(ranks.rank()),
      options_(options),
      forward_(by.forward),
      halo_(by.halo),
      batch_(by.batch),
      scan_(exec, plan.scan()),
      planes_(exec, rank_, detail::planes_that_go(plan, rank_, halo_),
              detail::planes_that_come(plan, rank_, halo_), 1, sizeof(T)),
      words_(exec, rank_, detail::windows_from_owners(plan, by.met, rank_),
             detail::windows_of_owner(plan, by.met, rank_), batch_, sizeof(T)),
      flags_(exec, rank_,
             detail::windows_of_flags(detail::windows_from_owners(plan, by.met, rank_)),
             detail::windows_of_flags(detail::windows_of_owner(plan, by.met, rank_)), batch_,
             sizeof(std::uint32_t)),
      readings_(exec, rank_, detail::windows_of_owner(plan, by.needed, rank_),
                detail::windows_from_owners(plan, by.needed, rank_), batch_, sizeof(T)) {
  char const* const function = "iso::ct::ranked_pair";
  slab const own = plan_.planes(rank_);
  detail::check_together(ranks, function, [&] {
    if (own.count() == 0) {
      return;
    }
    workspace_parts parts(function);
    detail::ranked_forward_memory<Exec, T>(
        exec, parts, plan_, detail::held_planes(plan_, rank_, halo_), forward_, batch_);
    std::int64_t scratch = 0;
    for (std::int32_t words = options_.words; words <= 3; ++words) {
      auto by = detail::ranked_adjoint(options_);
      by.words = words;
      scratch = std::max(scratch,
                         back_project_bytes_needed<T>(exec, plan_.scan(), plan_.grid(), own, by));
    }
    memory_.reserve(std::max(
        parts.bytes(), detail::batch_memory<T, space>::bytes_needed(
                           plan_.scan(), std::min(batch_, plan_.scan().num_views()), scratch)));
  });
}

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::forward(const_volume const& x, projections const& p,
                                   job const& control) {
  char const* const function = "iso::ct::ranked_pair::forward";
  backend::communicator& ranks = carrier_.ranks();
  detail::check_together(ranks, function,
                         [&] { detail::validate_parts(plan_, rank_, x, p, function); });
  slab const own = plan_.planes(rank_);
  row_range const rows = plan_.rows(rank_);
  geometry const& g = plan_.scan();
  auto const& n = plan_.grid().extent;
  auto bounds = own.count() > 0 ? bounds_of(exec_, x) : voxel_bounds{};
  bounds.max_abs = detail::largest_of_ranks(ranks, bounds.max_abs);
  bounds.all_finite = detail::largest_of_ranks(ranks, bounds.all_finite ? 0 : 1) == 0;

  slab const held = detail::held_planes(plan_, rank_, halo_);
  workspace_parts parts(memory_, function);
  detail::ranked_forward_memory<Exec, T> const m(exec_, parts, plan_, held, forward_, batch_);
  detail::image_rows<T const> const mine{x.data.data(), n[0] * n[1], own.count(), own.first};
  detail::image_rows<T> const with_halo{m.held, n[0] * n[1], held.count(), held.first};
  if (own.count() > 0) {
    backend::for_each_index("iso::ct::ranked: planes", exec_, std::int64_t(x.data.size()),
                            detail::copy_rows_kernel<T, false>{with_halo, mine});
  }
  planes_.template run<detail::arrival::stored>(exec_, carrier_, mine, with_halo, 0, 1);
  const_volume const slab_here{
      plan_.grid(), typename const_volume::data_type(m.held, n[0], n[1], held.count()), held.first};

  using word = bits_of<T>;
  detail::for_each_ranked_batch(
      ranks, plan_, batch_, control, [&](std::int64_t first, std::int64_t count) {
        std::int64_t const flag_words = (g.num_v() + 31) / 32;
        if (own.count() == 0) {
          detail::image_rows<word> const none{nullptr, g.num_u(), g.num_v()};
          words_.template run<detail::arrival::added>(exec_, carrier_, none, none, first, count);
          return;
        }
        ray_sums<T, space> sums(exec_, scan_.subset(first, count), plan_.grid(), bounds, forward_,
                                detail::part_of_memory<space>(m.sums, m.sums_bytes));
        sums.add(exec_, slab_here, own);
        detail::image_rows<word> const words{sums.words().data(), g.num_u(), g.num_v()};
        words_.template run<detail::arrival::added>(exec_, carrier_, words, words, first, count);
        if (sums.flags().size() > 0) {
          detail::image_rows<std::uint32_t> const flags{sums.flags().data(), g.num_u(), flag_words};
          flags_.template run<detail::arrival::united>(exec_, carrier_, flags, flags, first, count);
        }
        for (int rank = 0; rank < plan_.size(); ++rank) {
          if (rank != rank_ && plan_.planes(rank).count() > 0) {
            sums.count_added({plan_.planes(rank)});
          }
        }
        // Pixels take the place of their words.
        auto* const pixels = reinterpret_cast<T*>(sums.words().data());
        sums.finish(exec_, projections{typename projections::data_type(pixels, count, g.num_u(),
                                                                       g.num_v())});
        std::int64_t const owned = g.num_u() * rows.count();
        if (owned > 0) {
          backend::for_each_index(
              "iso::ct::ranked: rows", exec_, count * owned,
              detail::copy_rows_kernel<T, true>{
                  {pixels, g.num_u(), g.num_v()},
                  {p.data.data() + first * owned, g.num_u(), rows.count(), rows.first}});
        }
      });
  exec_.fence("iso::ct::ranked_pair: the rows are there");
  detail::step_together(ranks, control, 1);
}

template <execution_space Exec, real T>
void ranked_pair<Exec, T>::adjoint(const_projections const& p, volume const& x, onto to,
                                   job const& control) {
  char const* const function = "iso::ct::ranked_pair::adjoint";
  backend::communicator& ranks = carrier_.ranks();
  detail::check_together(ranks, function, [&] {
    detail::validate_parts(plan_, rank_, x, p, function);
    validate(to, function);
  });
  slab const own = plan_.planes(rank_);
  geometry const& g = plan_.scan();
  auto options = detail::ranked_adjoint(options_);
  if (!detail::gathers(g, plan_.grid(), sizeof(T), options)) {
    // The scatter's unit is the scan's, whatever rows are here.
    double const most = p.data.size() == 0
                            ? 0
                            : iso::detail::survey_of("iso::ct::ranked: readings", exec_,
                                                     p.data.data(), std::int64_t(p.data.size()))
                                  .largest_size;
    options.max_abs = detail::largest_of_ranks(ranks, most);
  }
  detail::for_each_ranked_batch(
      ranks, plan_, batch_, control, [&](std::int64_t first, std::int64_t count) {
        if (own.count() == 0) {
          detail::image_rows<T> const none{nullptr, g.num_u(), g.num_v()};
          readings_.template run<detail::arrival::stored>(exec_, carrier_, none, none, first,
                                                          count);
          return;
        }
        detail::batch_memory<T, space> const m(memory_, g, std::min(batch_, g.num_views()),
                                               function);
        detail::gather_readings<Exec, T>(exec_, carrier_, readings_, plan_, rank_, p.data.data(),
                                         first, count, m.images);
        options.first_view = first;
        back_project<Exec, T>(exec_, scan_,
                              const_projections{typename const_projections::data_type(
                                  m.images, count, g.num_u(), g.num_v())},
                              x, m.scratch, options, first == 0 ? to : onto::stored);
      });
  exec_.fence("iso::ct::ranked_pair: the planes are there");
  detail::step_together(ranks, control, 1);
}

template <execution_space Exec, real T>
ranked_report ranked_pair<Exec, T>::report() const {
  ranked_report r;
  r.batch_views = batch_;
  r.bytes_held = memory_.size() + std::int64_t(sizeof(view_vectors)) * plan_.scan().num_views();
  for (auto const* shared : {&planes_, &words_, &flags_, &readings_}) {
    r.bytes_sent += shared->bytes_sent();
    r.bytes_held += shared->bytes_held();
  }
  return r;
}

template <execution_space Exec, real T>
ranked_fdk<Exec, T>::ranked_fdk(Exec const& exec, backend::communicator& ranks,
                                rank_plan const& plan, fdk_options const& options,
                                std::int64_t batch_views)
    : ranked_fdk(exec, ranks, plan, options,
                 detail::prepare_fdk(ranks, plan, options, batch_views, sizeof(T))) {}

template <execution_space Exec, real T>
ranked_fdk<Exec, T>::ranked_fdk(Exec const& exec, backend::communicator& ranks,
                                rank_plan const& plan, fdk_options const& options,
                                detail::ranked_preparation const& by)
    : exec_(exec),
      carrier_(exec, ranks),
      plan_(plan),
      rank_(ranks.rank()),
      batch_(by.batch),
      filter_(exec, plan.scan(), options),
      readings_(exec, rank_, detail::windows_of_owner(plan, by.needed, rank_),
                detail::windows_from_owners(plan, by.needed, rank_), batch_, sizeof(T)) {
  char const* const function = "iso::ct::ranked_fdk";
  detail::check_together(ranks, function, [&] {
    if (plan_.planes(rank_).count() > 0) {
      memory_.reserve(detail::batch_memory<T, space>::bytes_needed(
          plan_.scan(), std::min(batch_, plan_.scan().num_views()),
          fdk_bytes_needed<T>(exec, plan_.scan(), options)));
    }
  });
}

template <execution_space Exec, real T>
void ranked_fdk<Exec, T>::apply(const_projections const& p, volume const& x, onto to,
                                job const& control) {
  char const* const function = "iso::ct::ranked_fdk";
  backend::communicator& ranks = carrier_.ranks();
  detail::check_together(ranks, function, [&] {
    detail::validate_parts(plan_, rank_, x, p, function);
    validate(to, function);
  });
  geometry const& g = plan_.scan();
  detail::for_each_ranked_batch(
      ranks, plan_, batch_, control, [&](std::int64_t first, std::int64_t count) {
        if (plan_.planes(rank_).count() == 0) {
          detail::image_rows<T> const none{nullptr, g.num_u(), g.num_v()};
          readings_.template run<detail::arrival::stored>(exec_, carrier_, none, none, first,
                                                          count);
          return;
        }
        detail::batch_memory<T, space> const m(memory_, g, std::min(batch_, g.num_views()),
                                               function);
        detail::gather_readings<Exec, T>(exec_, carrier_, readings_, plan_, rank_, p.data.data(),
                                         first, count, m.images);
        fdk<Exec, T>(exec_, filter_.subset(first, count),
                     const_projections{typename const_projections::data_type(m.images, count,
                                                                             g.num_u(), g.num_v())},
                     x, m.scratch, first == 0 ? to : onto::stored);
      });
  exec_.fence("iso::ct::ranked_fdk: the planes are there");
  detail::step_together(ranks, control, 1);
}

template <execution_space Exec, real T>
ranked_report ranked_fdk<Exec, T>::report() const {
  return {readings_.bytes_sent(), memory_.size() + filter_.bytes_held() + readings_.bytes_held(),
          batch_};
}

#define ISO_CT_RANKED(linkage, Exec, T)        \
  linkage template class ranked_pair<Exec, T>; \
  linkage template class ranked_fdk<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_CT_RANKED, extern)

}  // namespace iso::ct
