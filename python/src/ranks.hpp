// SPDX-License-Identifier: BSD-3-Clause
//! \file  ranks.hpp
//! Holds the ranks of a job and what each of them owns, for Python's classes mpi.Ranks and
//! mpi.Plan.
#pragma once

#include "geometry.hpp"

#include <iso/backend/communicator.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/rank_plan.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace iso::python {

/// Ranks that objects of Python share. What works on them may refer to them by this pointer.
struct job_ranks {
  std::shared_ptr<backend::communicator> all;
};

/// What each rank owns of one scan and one grid, and the ranks.
struct rank_share {
  std::shared_ptr<backend::communicator> ranks;
  std::shared_ptr<ct::rank_plan const> plan;

  [[nodiscard]] slab const& planes() const { return plan->planes(ranks->rank()); }
  [[nodiscard]] ct::row_range const& rows() const { return plan->rows(ranks->rank()); }
  /// Returns the extents of this rank's voxels, and of its readings.
  [[nodiscard]] std::array<std::int64_t, 3> volume_extents() const {
    auto const& n = plan->grid().extent;
    return {n[0], n[1], planes().count()};
  }
  [[nodiscard]] std::array<std::int64_t, 3> projection_extents() const {
    ct::geometry const& g = plan->scan();
    return {g.num_views(), g.num_u(), rows().count()};
  }
  /// Returns this rank's voxels, or readings, of which there may be none.
  template <class Space, class T>
  [[nodiscard]] volume_view<T, Space> volume(T* data) const {
    auto const n = volume_extents();
    return {plan->grid(), part<volume_view<T, Space>>(data, n), planes().first};
  }
  template <class Space, class T>
  [[nodiscard]] projection_view<T, Space> projections(T* data) const {
    return {part<projection_view<T, Space>>(data, projection_extents())};
  }

 private:
  template <class View, class T>
  static typename View::data_type part(T* data, std::array<std::int64_t, 3> const& n) {
    return typename View::data_type(data, std::size_t(n[0]), std::size_t(n[1]), std::size_t(n[2]));
  }
};

/// The planes of a grid that each rank owns, and the ranks.
struct rank_planes {
  std::shared_ptr<backend::communicator> ranks;
  iso::grid grid;
  std::vector<slab> all;

  [[nodiscard]] slab const& own() const { return all[std::size_t(ranks->rank())]; }
  /// Returns the extents of this rank's voxels.
  [[nodiscard]] std::array<std::int64_t, 3> extents() const {
    return {grid.extent[0], grid.extent[1], own().count()};
  }
  /// Returns this rank's voxels, of which there may be none.
  template <class Space, class T>
  [[nodiscard]] volume_view<T, Space> volume(T* data) const {
    auto const n = extents();
    return {grid,
            typename volume_view<T, Space>::data_type(data, std::size_t(n[0]), std::size_t(n[1]),
                                                      std::size_t(n[2])),
            own().first};
  }
};

void bind_ranks(nb::module_& m);

}  // namespace iso::python
