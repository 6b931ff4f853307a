// SPDX-License-Identifier: BSD-3-Clause
//! Holds what iterative methods have in common: a pair of projections, the readings in the order of
//! blocks, masks, weights, and how many iterations were made.
#pragma once

#include <iso/core/detail/presence.hpp>
#include <iso/core/sum_of.hpp>
#include <iso/ct/detail/elementwise.hpp>
#include <iso/ct/detail/total_variation_steps.hpp>
#include <iso/ct/iterate.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace iso::ct {

/// The masks of the voxels and readings that count: 1 where they do, 0 elsewhere; methods refuse
/// any other number. Without memory: all.
template <class T, class Space>
struct iterative_masks {
  typename volume_view<T const, Space>::data_type voxels = {};        ///< [nx, ny, nz]
  typename projection_view<T const, Space>::data_type readings = {};  ///< [views, u, v]
};

namespace detail {

template <execution_space Exec, real T>
class iterative_state {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using projections = projection_view<T, space>;
  using plane = Kokkos::View<T*, space>;

  /// The part of the largest sum at or below which sums count as zero: in float they are rounding.
  static constexpr double min_part = 1e-6;
  /// The part of the largest column sum below which a sum counts as that where methods may take
  /// shorter steps: beside so small a sum the rounding of others is large.
  static constexpr double capped_part = 1e-3;
  /// The words of a voxel's sum of ones, which is divided by: small sums are then as exact as large
  /// ones.
  static constexpr std::int32_t words_of_sums = 3;

  iterative_state(char const* method, Exec const& exec, geometry const& g,
                  projection_view<T const, space> const& given, volume const& start,
                  iterative_masks<T, space> const& masks, view_blocks const& blocks,
                  projector_options const& projector, elsewhere const& through, job const& control,
                  value_range const& range = {}, bool refuse_negative = false)
      : pair(exec, g, start.grid, blocks, projector, through),
        x(start),
        name_(method),
        name_of_method_(method),
        box_(range),
        voxels_(masks.voxels) {
    pair.part_.together(method, control, [&] {
      validate_arrays(given, masks);
      readings_ = in_order("readings", given.data);
      if (masks.readings.size() > 0) {
        reading_mask_ = in_order("mask of readings", masks.readings);
      }
    });
    // A rank without rows or planes has no masks either, and checks with the others.
    if (pair.part_.largest(masks.readings.size() > 0 ? 1 : 0) > 0) {
      check_mask("readings", reading_mask_.data(), std::int64_t(reading_mask_.size()));
    }
    masked_ = pair.part_.largest(voxels_.size() > 0 ? 1 : 0) > 0;
    if (masked_) {
      pair.part_.together(method, [&] {
        ISO_VALIDATE(std::int64_t(voxels_.size()) == num_voxels(),
                     "{}: no mask of this rank's voxels (other ranks have one); give all ranks "
                     "one, or none",
                     method);
      });
      check_mask("voxels", voxels_.data(), std::int64_t(voxels_.size()));
    }
    refuse_readings(refuse_negative);
    refuse_start();
    pair.part_.together(method, control, [&] {
      auto const n = pair.scan();
      buffer_ = {
          allocate<array>("iso::ct::iterate: projections", {blocks.max_size(), n[1], n[2]}, exec)};
    });
    correction = new_volume("iso::ct::iterate: correction", control);
    pair.page_lock(x.data);
    pair.page_lock(buffer_.data);
    norm_of_readings_ = std::sqrt(
        sum(num_readings(), square_misfit_term<T>{readings_.data(), mask_data(0), nullptr}));
  }

  /// Returns the bytes of so many volumes and sets of projections.
  [[nodiscard]] static std::int64_t bytes_of(geometry const& g, grid const& box,
                                             std::int64_t volumes, std::int64_t sets) {
    double const bytes = double(sizeof(T)) * (double(volumes) * double(box.size()) +
                                              double(sets) * double(g.num_views()) *
                                                  double(g.num_u()) * double(g.num_v()));
    return bytes < 0x1p60 ? std::int64_t(bytes) : std::int64_t(1) << 60;
  }
  /// Returns the bytes that a method allocates which has so many volumes and sets of projections
  /// beside what this state has: the copies of readings and their mask, a buffer of a block's
  /// projections, the correction and the pair's scratch.
  /// \throws iso::invalid_argument  as the pair's constructor
  [[nodiscard]] static std::int64_t bytes_needed(Exec const& exec, geometry const& g,
                                                 grid const& box, view_blocks const& blocks,
                                                 projector_options const& projector, bool masked,
                                                 std::int64_t volumes, std::int64_t sets) {
    std::int64_t const most = blocks.max_size();
    // Texture units read three stacks of planes; one volume more says how many there are.
    std::int64_t const texture = projector.projection == projection::texture ? 4 : 0;
    return bytes_of(g, box, 1 + volumes + texture, 1 + sets + (masked ? 1 : 0)) +
           std::int64_t(sizeof(T)) * most * g.num_u() * g.num_v() +
           projector_pair<Exec, T>::bytes_needed(exec, detail::in_order(g, blocks), box, blocks,
                                                 projector);
  }

  /// Throws iso::invalid_argument where the method was moved from.
  void check_present() const { present_.check(name_of_method_); }

  [[nodiscard]] std::int64_t num_voxels() const { return std::int64_t(x.data.size()); }
  [[nodiscard]] std::int64_t num_readings() const { return std::int64_t(readings_.size()); }
  /// Returns an array of zeros, and asks whether to stop: several of many voxels take a second.
  [[nodiscard]] volume new_volume(std::string const& label, job const& control) const {
    volume made{x.grid, {}, x.first_plane};
    auto const& n = x.grid.extent;
    pair.part_.together(name_of_method_, control, [&] {
      made.data = allocate<typename volume::data_type>(
          label, {n[0], n[1], pair.part_.planes(x.grid).count()}, pair.exec());
    });
    pair.page_lock(made.data);
    return made;
  }
  [[nodiscard]] projections new_projections(std::string const& label, job const& control) const {
    projections made;
    auto const n = pair.scan();
    pair.part_.together(name_of_method_, control, [&] {
      made.data = allocate<array>(label, {n[0], n[1], n[2]}, pair.exec());
    });
    pair.page_lock(made.data);
    return made;
  }
  /// Returns a plane of voxels for the one next to those that lie here; without memory where there
  /// is none.
  [[nodiscard]] plane new_plane(std::string const& label, neighbour which) const {
    plane made;
    slab const here = pair.part_.planes(x.grid);
    bool const there = which == neighbour::below ? here.first > 0 : here.last < x.grid.extent[2];
    pair.part_.together(name_of_method_, [&] {
      if (here.count() > 0 && there) {
        made = allocate<plane>(label, {x.grid.extent[0] * x.grid.extent[1]}, pair.exec());
      }
    });
    return made;
  }
  /// Returns that plane of the mask of voxels; without memory where all count.
  [[nodiscard]] plane new_mask_plane(neighbour which) const {
    if (!masked_) {
      return {};
    }
    plane const made = new_plane("iso::ct::iterate: mask of the next plane", which);
    if (pair.elsewhere_) {
      pair.elsewhere_->fetch(which, {x.grid, voxels_, x.first_plane}, made.data());
    }
    return made;
  }
  /// Overwrites `to` by the plane of `of` next to those that lie here, where there is one.
  void fetch(neighbour which, volume const& of, plane const& to) const {
    if (pair.elsewhere_) {
      pair.elsewhere_->fetch(which, of, to.data());
    }
  }
  /// Asks whether to stop, between passes over many numbers: all ranks do where one is asked to.
  void ask(job const& control) const {
    pair.part_.together(name_of_method_, control, [] {});
  }
  /// Throws on every rank, unless all have the same options.
  template <class Options>
  void agree(Options const& options) const {
    pair.part_.agree(name_of_method_, options);
  }
  /// Has the readings copied where they lie, for methods that compare projections with them where
  /// these are made.
  void carry_readings() const {
    bool const masked = reading_mask_.size() > 0;
    pair.page_lock_compared(readings_, masked);
    pair.page_lock_compared(reading_mask_, masked);
  }
  /// Does f(i) for every number of arrays of the method.
  template <class F>
  void each(char const* label, std::int64_t count, F const& f) const {
    for_each_number(label, pair.exec(), count, f);
  }
  /// Returns the extents of what lies here of the volume.
  [[nodiscard]] Kokkos::Array<std::int64_t, 3> extents() const {
    auto const& n = x.grid.extent;
    return {n[0], n[1], pair.part_.planes(x.grid).count()};
  }
  /// Returns the sum of term(i), as iso::sum_of, of the whole: ranks add theirs.
  template <class Term>
  [[nodiscard]] double sum(std::int64_t count, Term const& term) const {
    return sum_of_parts(pair.exec(), pair.part_, count, term);
  }
  /// Returns the sum of term(place) of voxels, likewise.
  template <class Term>
  [[nodiscard]] double sum_of_voxels(voxel_box const& box, Term const& term) const {
    return sum_of_parts(pair.exec(), pair.part_, num_places<Exec>(box), box.size(),
                        place_terms<Term, by_columns<Exec>>{box, term});
  }
  /// Returns the sum of squares, as iso::dot.
  [[nodiscard]] double squares(T const* x, std::int64_t count) const {
    return sum(count, iso::detail::product_term<T>{x, x});
  }
  /// Returns what `counter` adds up to, of the whole.
  template <class Counter>
  [[nodiscard]] std::int64_t number_of(std::int64_t count, Counter const& counter) const {
    return pair.part_.count(count_of(pair.exec(), count, counter));
  }
  /// Returns the largest number of the whole, or the largest size of one, at least zero.
  template <bool OfSize = false>
  [[nodiscard]] double largest(T const* x, std::int64_t count) const {
    return pair.part_.largest(largest_of<OfSize>(pair.exec(), x, count));
  }
  /// y becomes a x + b y, as iso::axpby.
  void combine(double a, T const* x, double b, T* y, std::int64_t count) const {
    iso::axpby<Exec, T>(pair.exec(), T(a), x, T(b), y, count);
  }
  /// Returns where a block's projections go until the next block's.
  [[nodiscard]] projections block_buffer(std::int64_t block) const {
    return {typename projections::data_type(
        buffer_.data, Kokkos::make_pair(std::int64_t(0), pair.blocks().size(block)), Kokkos::ALL,
        Kokkos::ALL)};
  }

  /// Returns the length below which a ray counts as that long, mm: a quarter of the diagonal of a
  /// cube whose side is a voxel's shortest. The reading of a ray that grazes a corner would weigh
  /// as much as it is short, and so would its noise.
  [[nodiscard]] double shortest_ray() const {
    auto const& h = x.grid.spacing;
    return 0.25 * std::sqrt(3.0) * std::min({h.x, h.y, h.z});
  }
  /// Makes the weights 1 / (A 1) of rays, those of short rays capped.
  void make_row_weights(job const& control) {
    row_weights_ = new_projections("iso::ct::iterate: row weights", control);
    make_row_sums(row_weights_, control);
    double const most = largest(row_weights_.data.data(), num_readings());
    each("iso::ct::iterate: row weights", num_readings(),
         invert<T>{T(min_part * most), T(shortest_ray()), row_weights_.data.data()});
    each("iso::ct::iterate: row weights", num_readings(),
         scale_by<T>{mask_data(0), row_weights_.data.data()});
    refuse_unmet(largest(row_weights_.data.data(), num_readings()));
  }
  /// Returns the average of the readings along their rays, 1/mm, each weighed by itself: b b / (|b|
  /// times the rays' lengths). That of a small dense body is not that of the air about it, and one
  /// wild reading is one of many. 0 where all readings are.
  [[nodiscard]] double average_along_rays() const {
    T const* const weights = row_weights_.data.data();
    double const lengths = sum(num_readings(), size_times_length<T>{readings_.data(), weights});
    double const squares = norm_of_readings_ * norm_of_readings_;
    return lengths > 0 ? squares / lengths : 0;
  }
  /// Makes what is added to the readings and to the projections of short rays, in their ratio:
  /// `mean` times what they lack, `mean` being the sum of all readings over that of all lengths.
  /// Without memory where no ray is short.
  void make_background(job const& control) {
    background_ = new_projections("iso::ct::iterate: background", control);
    T* const sums = background_.data.data();
    make_row_sums(background_, control);
    T const least = T(min_part * largest(sums, num_readings()));
    T const floor = T(shortest_ray());
    double const length = sum(num_readings(), counted_term<T>{sums, mask_data(0)});
    double const all = sum(num_readings(), counted_term<T>{readings_.data(), mask_data(0)});
    if (!(length > 0) || number_of(num_readings(), is_short<T>{least, floor, sums}) == 0) {
      background_ = {};
      return;
    }
    each("iso::ct::iterate: background", num_readings(),
         background_of_short<T>{least, floor, T(all / length), sums});
  }
  /// Has the adjoint take more words where the largest of `count` numbers is so far above their
  /// root mean square that what one word rounds it to would be seen beside the others.
  void choose_words(T const* numbers, std::int64_t count) {
    if (sizeof(T) > 4 || !pair.scatters()) {
      return;  // sums of doubles have two words at least: 1e-13
    }
    auto const& h = x.grid.spacing;
    double const most = largest<true>(numbers, count);
    double const mean = std::sqrt(squares(numbers, count) / double(pair.part_.count(count)));
    words_ = most * norm(h) > 16 * std::sqrt(3.0) * std::min({h.x, h.y, h.z}) * mean ? 2 : 0;
  }
  /// Does so by the readings over the lengths of their rays, which `sizes` then holds.
  void choose_words_by_readings(T* sizes) {
    each("iso::ct::iterate: averages", num_readings(),
         size_of_average<T>{readings_.data(), row_weights_.data.data(), sizes});
    choose_words(sizes, num_readings());
  }
  /// Throws where no ray that counts meets a voxel that counts. Methods that make no sums ask where
  /// the first gradient is zero, as it is then; it projects once, into `sums`, by `correction`.
  void refuse_unmet_rays(projections const& sums, job const& control) {
    make_row_sums(sums, control);
    each("iso::ct::iterate: mask", num_readings(), scale_by<T>{mask_data(0), sums.data.data()});
    refuse_unmet(largest(sums.data.data(), num_readings()));
  }
  /// Throws where the largest of all sums, or of weights, is zero.
  void refuse_unmet(double most) const {
    ISO_VALIDATE(most > 0,
                 "{}: no ray meets a voxel (geometry and grid lie apart, or masks leave nothing); "
                 "check the grid's origin and the masks",
                 name_);
  }

  /// Adds A_s^T 1 of blocks [first, last) to `sums`, over the rays that have a weight.
  void add_column_sums(std::int64_t first, std::int64_t last, volume const& sums,
                       job const& control) {
    for (std::int64_t s = first; s < last; ++s) {
      auto const ones = block_buffer(s);
      std::int64_t const count = std::int64_t(ones.data.size());
      each("iso::ct::iterate: ones", count, fill<T>{T(1), ones.data.data()});
      each("iso::ct::iterate: ones", count,
           scale_by<T>{mask_data(pair.blocks().begins[std::size_t(s)]), ones.data.data()});
      pair.adjoint(s, ones, sums, s == first ? onto::zero : onto::stored, control, words_of_sums);
    }
  }
  /// `sums` becomes the larger of both, voxel by voxel.
  void raise(volume const& sums, volume const& other) const {
    each("iso::ct::iterate: largest sums", num_voxels(),
         raise_to<T>{other.data.data(), sums.data.data()});
  }
  /// `sums` becomes 1 / sums, zero where no ray came or the mask is zero. A sum below `cap` of the
  /// largest counts as that.
  void invert_columns(volume const& sums, double cap = 0) {
    double const most = largest(sums.data.data(), num_voxels());
    each("iso::ct::iterate: column weights", num_voxels(),
         invert<T>{T(min_part * most), T(cap * most), sums.data.data()});
    mask_voxels(sums);
  }
  void mask_voxels(volume const& v) const {
    if (voxels_.size() > 0) {
      each("iso::ct::iterate: mask", num_voxels(), scale_by<T>{voxels_.data(), v.data.data()});
    }
  }
  void mask_readings(std::int64_t block, projections const& p) const {
    each("iso::ct::iterate: mask", std::int64_t(p.data.size()),
         scale_by<T>{mask_data(pair.blocks().begins[std::size_t(block)]), p.data.data()});
  }

  /// `p` becomes b_s - p.
  void subtract_from_readings(std::int64_t block, projections const& p) const {
    each("iso::ct::iterate: residual", std::int64_t(p.data.size()),
         misfit<T>{part_data(readings_, block), block_mask(block), p.data.data()});
  }
  [[nodiscard]] double square_norm(projections const& p) const {
    return squares(p.data.data(), std::int64_t(p.data.size()));
  }
  /// Returns the same of numbers whose largest size is known, in one pass.
  [[nodiscard]] double square_norm(projections const& p, double largest_size) const {
    std::int64_t const count = std::int64_t(p.data.size());
    partial_sum all(pair.part_.joined({largest_size * largest_size, count}));
    all.add(pair.exec(), count, iso::detail::product_term<T>{p.data.data(), p.data.data()});
    pair.part_.add_others(all);
    return all.value();
  }
  /// Returns the square norm of b_s - p, and leaves p.
  [[nodiscard]] double square_misfit(std::int64_t block, projections const& p) const {
    return sum(std::int64_t(p.data.size()),
               square_misfit_term<T>{block_readings(block), block_mask(block), p.data.data()});
  }
  /// `r` becomes b_s - A_s x. Returns what was found of it where what projects compares too.
  [[nodiscard]] std::optional<misfit_bounds> make_residual(std::int64_t block, projections const& r,
                                                           job const& control) const {
    return pair.misfit(block, x, rays_of(block), r, bounds_of_x_, control);
  }
  /// x becomes x + relaxation weights A_s^T (w r) within the box, of a residual and the weights w
  /// of its rays; `weighted` may be overwritten, and may be r.
  /// \param found  what make_residual returned
  void step(std::int64_t block, projections const& r, std::optional<misfit_bounds> const& found,
            projections const& weighted, double relaxation, volume const& weights,
            job const& control) {
    bounds_of_x_.reset();  // a step that is cancelled leaves others
    bounds_of_x_ =
        pair.weighted_step(block, r, found, rays_of(block).weights, weighted, x,
                           {T(relaxation), weights.data.data(), T(box_.lower), T(box_.upper)},
                           correction, control, words_);
  }
  /// x becomes x weights A_s^T p.
  void multiply(std::int64_t block, projections const& p, volume const& weights,
                job const& control) {
    step_by(block, p, {.weights = weights.data.data(), .multiplies = true}, control);
  }
  /// x becomes what `by` makes of it and A_s^T p; `correction` may be overwritten.
  void step_by(std::int64_t block, projections const& p, voxel_step<T> const& by,
               job const& control) {
    pair.adjoint_step(block, p, x, by, correction, control, words_);
  }

  /// Counts an iteration whose misfit has this square norm.
  iteration told(double squares) {
    ++made;
    ISO_VALIDATE(is_finite(squares),
                 "{}: the residual of iteration {} is not finite (numbers too large for the "
                 "precision); scale the readings, or choose double",
                 name_, made);
    double const residual = std::sqrt(squares);
    return {.number = made,
            .residual = residual,
            .relative_residual = norm_of_readings_ > 0 ? residual / norm_of_readings_ : residual};
  }
  [[nodiscard]] projections const& row_weights() const { return row_weights_; }
  /// Returns what the ratio of a block's rays adds; null: nothing.
  [[nodiscard]] T const* block_background(std::int64_t block) const {
    return background_.data.size() == 0 ? nullptr : part_data(background_.data, block);
  }
  [[nodiscard]] std::int32_t words() const { return words_; }  ///< of the adjoint at least
  [[nodiscard]] T const* voxel_mask() const { return voxels_.data(); }
  [[nodiscard]] double norm_of_readings() const { return norm_of_readings_; }
  [[nodiscard]] T const* block_readings(std::int64_t block) const {
    return part_data(readings_, block);
  }
  [[nodiscard]] T const* block_mask(std::int64_t block) const {
    return mask_data(pair.blocks().begins[std::size_t(block)]);
  }

  template <class F>
  void visit(F& f) {
    bounds_of_x_.reset();  // f may put another x there
    f("volume", x);
    f("iterations", made);
  }

  projector_pair<Exec, T> pair;
  volume x;
  volume correction;
  std::int64_t made = 0;

 private:
  using array = typename projections::data_type;

  [[nodiscard]] compared_rays<T> rays_of(std::int64_t block) const {
    return {block_readings(block), block_mask(block), part_data(row_weights_.data, block)};
  }

  /// Makes A 1 of the voxels that count, by `correction`.
  void make_row_sums(projections const& sums, job const& control) {
    auto const& exec = pair.exec();
    if (voxels_.size() > 0) {
      Kokkos::deep_copy(exec, correction.data, voxels_);
    } else {
      each("iso::ct::iterate: ones", num_voxels(), fill<T>{T(1), correction.data.data()});
    }
    for (std::int64_t s = 0; s < pair.blocks().count(); ++s) {
      pair.forward(s, correction, pair.part(sums, s), control);
    }
  }

  /// Throws, on this rank, unless arrays are what lies here.
  void validate_arrays(projection_view<T const, space> const& given,
                       iterative_masks<T, space> const& masks) const {
    validate_voxels({x.grid, x.data, x.first_plane}, "volume");
    if (voxels_.size() > 0) {
      validate_voxels({x.grid, voxels_, x.first_plane}, "mask of voxels");
    }
    if (pair.scan()[2] > 0) {
      validate(given, pair.scan(), name_.c_str());
      if (masks.readings.size() > 0) {
        validate(projection_view<T const, space>{masks.readings}, pair.scan(), name_.c_str());
      }
    }
    ISO_VALIDATE(
        box_.lower < box_.upper,
        "{}: values from {} to {} (the box is empty); give a lower bound below the upper one",
        name_, box_.lower, box_.upper);
  }
  void validate_voxels(volume_view<T const, space> const& v, char const* what) const {
    slab const here = pair.part_.planes(v.grid);
    if (here == all_planes(v.grid)) {
      validate(v, name_.c_str());
    } else if (here.count() > 0) {
      validate_slab(v, name_.c_str());
      ISO_VALIDATE(v.planes() == here,
                   "{}: planes {} to {} of a {} (the rank owns {} to {}); make it by "
                   "iso::ct::make_volume_part",
                   name_, v.planes().first, v.planes().last - 1, what, here.first, here.last - 1);
    }
    validate_contiguous(v.data, what, name_.c_str());
  }
  /// Returns a copy with views in the order of blocks.
  array in_order(char const* what,
                 typename projection_view<T const, space>::data_type const& from) const {
    auto const& exec = pair.exec();
    auto const n = pair.scan();
    // Not page-locked: most methods use readings on the host alone.
    auto const to =
        allocate<array>(std::string("iso::ct::iterate: ") + what, {n[0], n[1], n[2]}, exec);
    for (std::size_t i = 0; to.size() > 0 && i < pair.blocks().views.size(); ++i) {
      Kokkos::deep_copy(exec, Kokkos::subview(to, i, Kokkos::ALL, Kokkos::ALL),
                        Kokkos::subview(from, pair.blocks().views[i], Kokkos::ALL, Kokkos::ALL));
    }
    return to;
  }
  /// Returns the readings' mask from a view on; null where all count.
  [[nodiscard]] T const* mask_data(std::int64_t view) const {
    auto const n = pair.scan();
    return reading_mask_.size() == 0 ? nullptr : reading_mask_.data() + view * n[1] * n[2];
  }
  [[nodiscard]] T const* part_data(array const& all, std::int64_t block) const {
    auto const n = pair.scan();
    return all.data() + pair.blocks().begins[std::size_t(block)] * n[1] * n[2];
  }
  void check_mask(char const* of, T const* mask, std::int64_t count) const {
    std::int64_t const other = number_of(count, not_zero_or_one<T>{mask});
    ISO_VALIDATE(other == 0,
                 "{}: {} numbers of the mask of {} are neither 0 nor 1 (0 leaves out, 1 keeps); "
                 "set them to 0 or 1",
                 name_, other, of);
    ISO_VALIDATE(largest(mask, count) > 0,
                 "{}: the mask of {} is zero everywhere (nothing is left); set what counts to 1",
                 name_, of);
  }
  /// Throws for readings that spoil a volume, or whose sums and squares would leave the range of
  /// their numbers.
  void refuse_readings(bool refuse_negative) const {
    auto const found = iso::detail::survey_of(
        "iso::ct::iterate: readings", pair.exec(), static_cast<T const*>(readings_.data()),
        num_readings(), {.lower = refuse_negative ? 0 : -std::numeric_limits<double>::infinity()},
        mask_data(0));
    std::int64_t const number = pair.part_.count(found.not_finite.count + found.below.count);
    ISO_VALIDATE(number == 0,
                 "{}: {} readings are {} (they would spoil the volume); set the mask of readings "
                 "to 0 there, or replace them",
                 name_, number, refuse_negative ? "negative or not finite" : "not finite");
    double const most = pair.part_.largest(found.largest_size);
    constexpr double limit = sizeof(T) == 4 ? 0x1p100 : 0x1p400;
    ISO_VALIDATE(most == 0 || (most >= 1 / limit && most <= limit),
                 "{}: readings of at most {} (the largest must lie between {} and {}, so that sums "
                 "and squares are numbers of the precision); scale the readings",
                 name_, most, 1 / limit, limit);
  }
  void refuse_start() const {
    auto const found = iso::detail::survey_of("iso::ct::iterate: start", pair.exec(),
                                              static_cast<T const*>(x.data.data()), num_voxels(),
                                              {double(T(box_.lower)), double(T(box_.upper))});
    std::int64_t const number =
        pair.part_.count(found.not_finite.count + found.below.count + found.above.count);
    ISO_VALIDATE(number == 0,
                 "{}: {} voxels of the start are not within [{}, {}] (no iterate may be); clamp "
                 "the start, or widen the range",
                 name_, number, box_.lower, box_.upper);
  }

  std::string name_;
  char const* name_of_method_;  ///< a literal, which stays where the method moves
  iso::detail::presence present_;
  value_range box_;
  array readings_;
  array reading_mask_;
  typename volume_view<T const, space>::data_type voxels_;
  bool masked_ = false;  ///< voxels, on any rank
  projections row_weights_;
  projections background_;
  projections buffer_;
  double norm_of_readings_ = 0;
  std::int32_t words_ = 0;
  std::optional<voxel_bounds> bounds_of_x_;  ///< where the last step told them
};

}  // namespace detail
}  // namespace iso::ct
