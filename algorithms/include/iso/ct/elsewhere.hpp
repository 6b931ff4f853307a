// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/elsewhere.hpp
//! Says that an iterative method's volume and readings do not all lie where it computes.
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/error.hpp>
#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/ct/detail/rank_part.hpp>
#include <iso/ct/detail/voxel_step.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/stored_readings.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/ct/view_blocks.hpp>
#include <iso/ct/voxel_bounds.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace iso::ct {

namespace detail {

/// A projection and its adjoint, of whatever numbers in whatever memory.
class any_pair {
 public:
  any_pair() = default;
  any_pair(any_pair const&) = delete;
  any_pair& operator=(any_pair const&) = delete;
  virtual ~any_pair() = default;
};

/// The plane next to those that lie here.
enum class neighbour {
  below,
  above,
};

/// A projection and its adjoint of arrays in the memory of `Space`, wherever they are computed.
template <real T, class Space>
class pair_elsewhere : public any_pair {
 public:
  using volume = volume_view<T, Space>;
  using const_volume = volume_view<T const, Space>;
  using projections = projection_view<T, Space>;
  using const_projections = projection_view<T const, Space>;

  /// As projector_pair has them, but that they wait: the results are there when they return.
  virtual void forward(std::int64_t block, const_volume const& x, projections const& p,
                       job const& control) = 0;
  virtual void adjoint(std::int64_t block, const_projections const& p, volume const& x, onto to,
                       job const& control, std::int32_t words) = 0;
  /// Does the same from integers of 16 bits in host memory, where it streams.
  virtual void adjoint(std::int64_t /*block*/, stored_readings<Kokkos::HostSpace> const& /*p*/,
                       volume const& /*x*/, onto /*to*/, job const& /*control*/,
                       std::int32_t /*words*/) {
    ISO_VALIDATE(false,
                 "iso::ct::elsewhere: readings of 16 bits (only what is streamed takes them); "
                 "unpack them before");
  }
  /// Makes every voxel of `x` what `by` makes of it and its sum A^T p, with the bits of adjoint()
  /// and the step behind it. `correction` may be overwritten.
  virtual void adjoint_step(std::int64_t block, const_projections const& p, volume const& x,
                            voxel_step<T> const& by, volume const& correction, job const& control,
                            std::int32_t words) = 0;
  /// Overwrites `r` by the readings less A x of the views of a block, zero where their mask is, and
  /// returns what it finds of them; nothing, having done nothing, where projector_pair makes it of
  /// forward(), and weighted_step() of adjoint_step(): with the same bits.
  /// \param known  bounds of x, or null: they are looked for
  virtual std::optional<misfit_bounds> misfit(std::int64_t /*block*/, const_volume const& /*x*/,
                                              compared_rays<T> const& /*of*/,
                                              projections const& /*r*/,
                                              voxel_bounds const* /*known*/,
                                              job const& /*control*/) {
    return {};
  }
  /// As adjoint_step of r times the weights of rays, zero where these are, behind a misfit() that
  /// made r and returned `found`. Returns the bounds of the voxels that it makes.
  virtual std::optional<voxel_bounds> weighted_step(
      std::int64_t /*block*/, const_projections const& /*r*/, misfit_bounds const& /*found*/,
      T const* /*ray_weights*/, volume const& /*x*/, voxel_step<T> const& /*by*/,
      volume const& /*correction*/, job const& /*control*/, std::int32_t /*words*/) {
    return {};
  }
  /// Overwrites `plane`, [nx, ny], by the plane of `x` above those that lie here, or below, which
  /// another rank holds: where there is one.
  virtual void fetch(neighbour /*which*/, const_volume const& /*x*/, T* /*plane*/) {}
  /// Has arrays of many calls copied where they lie, as backend::page_lock.
  virtual void page_lock(typename volume::data_type const& /*array*/) {}
  /// Does so with an array that misfit() compares with, where it does: the readings or their mask.
  /// \param masked  whether there is a mask
  virtual void page_lock_compared(typename projections::data_type const& /*array*/,
                                  bool /*masked*/) {}
  /// Returns how calls are divided, where they are streamed.
  [[nodiscard]] virtual std::optional<streaming_report> streaming() const { return {}; }
  /// Returns which part of the volume and the scan lies here.
  [[nodiscard]] virtual rank_part part() const { return {}; }
};

/// What makes pairs of a scan and a grid, for the type of a number.
class pair_maker {
 public:
  pair_maker() = default;
  pair_maker(pair_maker const&) = delete;
  pair_maker& operator=(pair_maker const&) = delete;
  virtual ~pair_maker() = default;
  [[nodiscard]] virtual std::shared_ptr<any_pair> make(float, geometry const& g,
                                                       iso::grid const& volume,
                                                       view_blocks const& blocks,
                                                       projector_options const& options) const = 0;
  [[nodiscard]] virtual std::shared_ptr<any_pair> make(double, geometry const& g,
                                                       iso::grid const& volume,
                                                       view_blocks const& blocks,
                                                       projector_options const& options) const = 0;
};

}  // namespace detail

/// The place where an iterative method's volume and readings lie, and where they are projected:
/// iso::ct::streamed, in host memory, while a device projects; iso::ct::ranked, in parts on the
/// ranks of a job; or, where it is neither, in the memory of the method's execution space. A method
/// does not know which, and every iterate has the bits of one memory with
/// `summation::reproducible`.
class elsewhere {
 public:
  /// Everything lies where the method computes.
  elsewhere() = default;
  // No moves: what was moved from would be no place, and a copy shares it.
  elsewhere(elsewhere const&) = default;
  elsewhere& operator=(elsewhere const&) = default;
  ~elsewhere() = default;

  [[nodiscard]] explicit operator bool() const { return make_ != nullptr; }

  /// Makes the pair for a scan and a grid: what iso::ct::projector_pair calls.
  /// \throws iso::invalid_argument  arrays in another memory than the place is for; ordered sums,
  ///                                texture units, what projector_pair refuses; what streamed_pair
  ///                                and ranked_pair refuse
  /// \throws iso::out_of_memory     as those
  template <real T, class Space = Kokkos::HostSpace>
  [[nodiscard]] std::shared_ptr<detail::pair_elsewhere<T, Space>> make(
      geometry const& g, iso::grid const& volume, view_blocks const& blocks,
      projector_options const& options) const {
    auto pair = std::dynamic_pointer_cast<detail::pair_elsewhere<T, Space>>(
        make_->make(T(0), g, volume, blocks, options));
    ISO_VALIDATE(pair != nullptr,
                 "iso::ct::elsewhere: arrays in another memory (what is streamed lies in host "
                 "memory, what ranks hold in that of their execution spaces); give the method the "
                 "execution space of that memory");
    return pair;
  }

 protected:
  explicit elsewhere(std::shared_ptr<detail::pair_maker const> make) : make_(std::move(make)) {}

 private:
  std::shared_ptr<detail::pair_maker const> make_;
};

}  // namespace iso::ct
