// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/projector_pair.hpp
//! Holds a projection and its exact adjoint, as iterative methods call them.
#pragma once

#include <iso/backend/texture_volume.hpp>
#include <iso/core/check.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/detail/presence.hpp>
#include <iso/core/error.hpp>
#include <iso/core/job.hpp>
#include <iso/core/onto.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/back_project_step.hpp>
#include <iso/ct/detail/elementwise.hpp>
#include <iso/ct/detail/pair_options.hpp>
#include <iso/ct/elsewhere.hpp>
#include <iso/ct/fdk.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/forward_project_texture.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/view_blocks.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <vector>

namespace iso::ct {

namespace detail {

template <execution_space Exec, real T>
class iterative_state;

/// Returns the options, for methods that need a projection and its adjoint.
/// \throws iso::invalid_argument  they are not
inline projector_options const& matched(projector_options const& options, char const* method) {
  ISO_VALIDATE(options.projection == projection::exact,
               "{}: a projection by texture units (the method needs A^T, and their weights have no "
               "adjoint); choose SIRT, OS-SART or MLEM, or the exact projection",
               method);
  ISO_VALIDATE(options.backprojection == backprojection::adjoint,
               "{}: a backprojection that is not the adjoint (the method needs A^T); choose SIRT, "
               "OS-SART or MLEM, or the adjoint",
               method);
  return options;
}

}  // namespace detail

/// The projection A of volumes on one grid along the rays of one scan, and its adjoint: <A x, y> =
/// <x, A^T y>, unless another projection or backprojection is asked for. It owns the views, in the
/// order of its blocks, and the scratch memory; what was moved from refuses every call. Where
/// arrays lie elsewhere, what is there projects. Determinism: backend_to_backend, as
/// iso::ct::forward_project and back_project; not_guaranteed with texture units.
template <execution_space Exec, real T>
class projector_pair {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using const_volume = volume_view<T const, space>;
  using projections = projection_view<T, space>;
  using const_projections = projection_view<T const, space>;

  /// Allocates views and scratch, and waits for `exec`: no other instance is fenced.
  /// \param through  the place of volumes and readings; empty: the memory of `exec`
  /// \throws iso::invalid_argument  a grid or an option as the two functions refuse it; with FDK's
  ///                                backprojection, a scan that fdk_plan refuses; texture units
  ///                                with other numbers than float, another method than linear
  ///                                Joseph or edge than zero, or on a backend that has none
  /// \throws iso::out_of_memory     as iso::allocate; what streams has too little memory
  projector_pair(Exec const& exec, geometry const& g, iso::grid const& volume,
                 view_blocks const& blocks, projector_options const& options = {},
                 elsewhere const& through = {})
      : exec_(exec), grid_(volume), options_(options), blocks_(blocks) {
    validate(grid_, "iso::ct::projector_pair");
    if (through) {
      elsewhere_ = through.template make<T, space>(g, grid_, blocks_, options_);
      part_ = elsewhere_->part();
    }
    if (options.projection == projection::texture && !through) {
      make_texture();
    }
    // One rank may lack memory for it.
    part_.together("iso::ct::projector_pair", [&] {
      staged_geometry<space> const all(exec, detail::in_order(g, blocks));
      for (std::int64_t b = 0; b < blocks.count(); ++b) {
        scans_.push_back(all.subset(blocks.begins[std::size_t(b)], blocks.size(b)));
        scatters_ = scatters_ || !detail::gathers(scans_.back().host(), grid_, sizeof(T),
                                                  detail::adjoint_options(options));
      }
      if (elsewhere_) {
        return;
      }
      if (options.backprojection == backprojection::fdk) {
        plan_blocks(all.host());
      }
      scratch_.reserve(bytes_needed(exec, all.host(), volume, blocks, options));
    });
  }

  /// Returns the bytes of scratch memory of a pair whose blocks take the views of `g` in their
  /// order: what the largest block wants. Enqueues nothing.
  /// \throws iso::invalid_argument  as the constructor, of grid and options
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 iso::grid const& volume, view_blocks const& blocks,
                                                 projector_options const& options) {
    std::int64_t bytes = 0;
    for (geometry const& scan : detail::scans_of(g, blocks)) {
      bytes = std::max(bytes, forward_project_bytes_needed<T>(exec, scan, volume,
                                                              detail::forward_options(options)));
      for (std::int32_t words = options.words; words <= 3; ++words) {
        bytes = std::max(bytes, back_project_bytes_needed<T>(
                                    exec, scan, volume, detail::adjoint_options(options, words)));
      }
    }
    return options.backprojection == backprojection::adjoint
               ? bytes
               : std::max(bytes, weighted_back_project_bytes_needed<T>(exec, g, centred()));
  }

  /// Has all views of the scan in one block, number 0, in the order of the scan. Allocates and
  /// waits likewise.
  projector_pair(Exec const& exec, geometry const& g, iso::grid const& volume,
                 projector_options const& options = {})
      : projector_pair(exec, g, volume,
                       split_views(g.num_views(), g.num_views(), block_order::sequential),
                       options) {}

  /// Enqueues `p` = A x of the views of a block; does not allocate.
  void forward(std::int64_t block, const_volume const& x, projections const& p,
               job const& control = {}) const {
    present_.check("iso::ct::projector_pair");
    if (elsewhere_) {
      elsewhere_->forward(block, x, p, control);
      return;
    }
    if constexpr (has_textures) {
      if (texture_) {
        texture_->update(exec_, x);
        forward_project_texture(exec_, scans_[std::size_t(block)], *texture_, p,
                                {.within = options_.within, .shape = options_.shape});
        control.step(1);
        return;
      }
    }
    forward_project<Exec, T>(exec_, scans_[std::size_t(block)], x, p, scratch_,
                             detail::forward_options(options_), control);
  }
  /// Enqueues `x` = A^T p of the views of a block, or adds it, as back_project; does not allocate.
  /// The sums of a scatter have at least so many `words`.
  void adjoint(std::int64_t block, const_projections const& p, volume const& x,
               onto to = onto::zero, job const& control = {}, std::int32_t words = 0) const {
    present_.check("iso::ct::projector_pair");
    if (elsewhere_) {
      elsewhere_->adjoint(block, p, x, to, control, words);
      return;
    }
    if (!plans_.empty()) {
      weighted_back_project<Exec, T>(exec_, plans_[std::size_t(block)], p, x, scratch_, to,
                                     control);
      return;
    }
    back_project<Exec, T>(exec_, scans_[std::size_t(block)], p, x, scratch_,
                          detail::adjoint_options(options_, words), to, control);
  }
  /// Returns the views of a block of `all`, which lie in the order of view_blocks::views.
  [[nodiscard]] projections part(projections const& all, std::int64_t block) const {
    present_.check("iso::ct::projector_pair");
    std::int64_t const begin = blocks_.begins[std::size_t(block)];
    return {typename projections::data_type(
        all.data, Kokkos::make_pair(begin, begin + blocks_.size(block)), Kokkos::ALL, Kokkos::ALL)};
  }

  [[nodiscard]] Exec const& exec() const {
    present_.check("iso::ct::projector_pair");
    return exec_;
  }
  [[nodiscard]] iso::grid const& grid() const {
    present_.check("iso::ct::projector_pair");
    return grid_;
  }
  [[nodiscard]] view_blocks const& blocks() const {
    present_.check("iso::ct::projector_pair");
    return blocks_;
  }
  /// Returns the extents of the readings that lie here.
  [[nodiscard]] Kokkos::Array<std::int64_t, 3> scan() const {
    present_.check("iso::ct::projector_pair");
    auto const& any = scans_.front().host();
    return {std::int64_t(blocks_.views.size()), any.num_u(), part_.rows(any).count()};
  }
  /// Returns whether a block's adjoint adds whole numbers, which `words` hold.
  [[nodiscard]] bool scatters() const {
    present_.check("iso::ct::projector_pair");
    return scatters_ && options_.backprojection == backprojection::adjoint;
  }
  /// Returns how calls are divided, and what they carry; nothing where nothing is streamed.
  [[nodiscard]] std::optional<streaming_report> streaming() const {
    present_.check("iso::ct::projector_pair");
    return elsewhere_ ? elsewhere_->streaming() : std::nullopt;
  }
  /// Returns the bytes of scratch.
  [[nodiscard]] std::int64_t bytes_held() const {
    present_.check("iso::ct::projector_pair");
    return scratch_.size();
  }

 private:
  template <execution_space E, real N>
  friend class detail::iterative_state;

  /// Has an array that goes through many calls copied where it lies, where calls are streamed.
  void page_lock(typename volume::data_type const& array) const {
    if (elsewhere_) {
      elsewhere_->page_lock(array);
    }
  }

  /// Does so with the readings or their mask, where misfit() compares with them as it streams.
  void page_lock_compared(typename projections::data_type const& array, bool masked) const {
    if (elsewhere_) {
      elsewhere_->page_lock_compared(array, masked);
    }
  }

  /// Enqueues `r` = readings less A x of the views of a block, zero where their mask is. Returns
  /// what was found of them, where what projects compares too.
  /// \param known  bounds of x, where they are
  std::optional<detail::misfit_bounds> misfit(std::int64_t block, const_volume const& x,
                                              detail::compared_rays<T> const& of,
                                              projections const& r,
                                              std::optional<voxel_bounds> const& known,
                                              job const& control) const {
    present_.check("iso::ct::projector_pair");
    if (elsewhere_) {
      auto const found = elsewhere_->misfit(block, x, of, r, known ? &*known : nullptr, control);
      if (found) {
        return found;
      }
    }
    forward(block, x, r, control);
    detail::for_each_number("iso::ct::iterate: residual", exec_, std::int64_t(r.data.size()),
                            detail::misfit<T>{of.readings, of.mask, r.data.data()});
    return {};
  }

  /// Enqueues `x` <- `by`(x, A^T w r), w being the weights of rays and r what misfit() made.
  /// Returns the bounds of x, where what projects made the step.
  /// \param found       what misfit() returned
  /// \param weighted    may be overwritten, w r, and may be r
  /// \param correction  as adjoint_step
  std::optional<voxel_bounds> weighted_step(std::int64_t block, projections const& r,
                                            std::optional<detail::misfit_bounds> const& found,
                                            T const* ray_weights, projections const& weighted,
                                            volume const& x, detail::voxel_step<T> const& by,
                                            volume const& correction, job const& control,
                                            std::int32_t words) const {
    present_.check("iso::ct::projector_pair");
    if (elsewhere_ && found) {
      return elsewhere_->weighted_step(block, r, *found, ray_weights, x, by, correction, control,
                                       words);
    }
    detail::for_each_number("iso::ct::iterate: weigh", exec_, std::int64_t(r.data.size()),
                            detail::weigh<T>{ray_weights, r.data.data(), weighted.data.data()});
    adjoint_step(block, weighted, x, by, correction, control, words);
    return {};
  }

  /// Enqueues `x` <- `by`(x, A^T p). `correction` may be overwritten: A^T p, where it needs a
  /// volume of its own.
  void adjoint_step(std::int64_t block, const_projections const& p, volume const& x,
                    detail::voxel_step<T> const& by, volume const& correction, job const& control,
                    std::int32_t words) const {
    present_.check("iso::ct::projector_pair");
    if (elsewhere_) {
      elsewhere_->adjoint_step(block, p, x, by, correction, control, words);
      return;
    }
    if (plans_.empty() &&
        detail::steps_at_once(blocks_.size(block), detail::adjoint_options(options_))) {
      detail::back_project_step<Exec, T>(exec_, scans_[std::size_t(block)], p, x, scratch_,
                                         detail::adjoint_options(options_, words), by, control);
      return;
    }
    adjoint(block, p, correction, onto::zero, control, words);
    detail::for_each_number("iso::ct::iterate: step", exec_, std::int64_t(x.data.size()),
                            detail::step_voxels<T>{by, correction.data.data(), x.data.data()});
  }

  /// True where a texture can hold T. Whether Exec has textures is checked by the constructor.
  static constexpr bool has_textures = std::is_same_v<T, float>;

  void make_texture() {
    ISO_VALIDATE(has_textures,
                 "iso::ct::projector_pair: a projection of doubles by texture units (they blend "
                 "floats); choose float, or the exact projection");
    ISO_VALIDATE(
        options_.method == projector::joseph_linear && options_.edge == boundary::zero,
        "iso::ct::projector_pair: a projection by texture units of another method than linear "
        "Joseph with zeros outside (they have no other); choose that, or the exact projection");
    if constexpr (has_textures) {
      // The planes are filled before each projection; this volume only says how many there are.
      texture_.emplace(exec_, const_volume(make_volume<T, space>(
                                  exec_, "iso::ct::projector_pair: texture", grid_)));
      exec_.fence("iso::ct::projector_pair: texture");
    }
  }

  [[nodiscard]] static fdk_options centred() {
    return {.scan = {.detector = detector_placement::centred}};
  }
  /// Plans each block's backprojection by FDK.
  void plan_blocks(geometry const& all) {
    try {
      fdk_plan<space> const plan(exec_, all, centred());
      for (std::int64_t b = 0; b < blocks_.count(); ++b) {
        plans_.push_back(plan.subset(blocks_.begins[std::size_t(b)], blocks_.size(b)));
      }
    } catch (invalid_argument const& why) {
      // What it advises, an iterative method, is what asks.
      fail_argument(
          "iso::ct::projector_pair: FDK's backprojection does not take this scan (of FDK: {}); "
          "choose the adjoint",
          why.what());
    }
  }

  Exec exec_;
  iso::grid grid_;
  projector_options options_;
  view_blocks blocks_;
  std::vector<staged_geometry<space>> scans_;
  std::vector<fdk_plan<space>> plans_;  ///< of blocks; empty: the adjoint goes back
  std::optional<backend::texture_volume> texture_;
  std::shared_ptr<detail::pair_elsewhere<T, space>> elsewhere_;  ///< null: exec_ projects
  detail::rank_part part_;
  bool scatters_ = false;
  iso::detail::presence present_;
  workspace<space> scratch_;
};

}  // namespace iso::ct
