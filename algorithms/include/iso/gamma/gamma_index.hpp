// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/gamma/gamma_index.hpp
//! Compares two dose distributions by the gamma index.
//! A Kokkos space that the build has not needs detail/gamma_index_impl.hpp too.
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/gamma/detail/gamma_counts.hpp>
#include <iso/gamma/detail/gamma_search.hpp>
#include <iso/gamma/gamma_options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace iso::gamma {

/// What a comparison by slabs must know of a whole dose before the first of them.
struct dose_bounds {
  double largest = -std::numeric_limits<double>::infinity();
  double largest_size = 0;  ///< the largest |dose|

  /// Returns the bounds of two parts of a dose together.
  [[nodiscard]] dose_bounds joined(dose_bounds const& other) const {
    return {largest > other.largest ? largest : other.largest,
            largest_size > other.largest_size ? largest_size : other.largest_size};
  }

  friend bool operator==(dose_bounds const&, dose_bounds const&) = default;
};

namespace detail {

template <execution_space Exec, real T>
dose_bounds find_bounds(Exec const& exec,
                        volume_view<T const, typename Exec::memory_space> const& dose);
/// Returns the bytes of a plan's arrays.
/// \param range_bytes  of a cell's ranges
std::int64_t bytes_of_plan(iso::grid const& reference, iso::grid const& evaluated,
                           std::vector<criterion> const& criteria, gamma_options const& options,
                           slab const& reference_planes, std::int64_t range_bytes);

}  // namespace detail

/// Returns the bounds of the doses that are held, of a volume or a slab. Waits for `exec`.
/// Determinism: backend_to_backend.
/// \throws iso::invalid_argument  data of other extents than the grid's, with gaps or without
///                                memory; doses that are not finite
template <execution_space Exec, class T>
dose_bounds bounds_of(Exec const& exec, volume_view<T, typename Exec::memory_space> const& dose) {
  return detail::find_bounds<Exec, std::remove_const_t<T>>(exec, dose);
}

/// Returns the evaluated planes that the search about some reference planes reads: those within
/// reach, and the corners of the cells there.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  reference planes that the grid has not; as gamma_plan, for grids,
///                                criteria and options
slab planes_needed(grid const& reference, grid const& evaluated, slab const& reference_planes,
                   std::vector<criterion> const& criteria, gamma_options const& options = {});

/// Two doses and criteria, checked and made ready for gamma_index in `Space`: for each cell between
/// evaluated voxels the ranges of its dose and slopes, and the cells in the order of the search.
/// Keeps the views of both doses, whose values must not change while it is used.
///
/// A plan of slabs compares the reference planes that it holds, with the gamma, the status and the
/// counts that they have in the whole.
template <real T, class Space>
class gamma_plan {
 public:
  using volume = volume_view<T const, Space>;

  // No moves: a Kokkos::View that is moved from would dangle, and a copy shares its memory.
  gamma_plan(gamma_plan const&) = default;
  gamma_plan& operator=(gamma_plan const&) = default;
  ~gamma_plan() = default;

  /// Checks both doses, every voxel, and prepares the search. Waits for `exec`: no other instance
  /// is fenced. Allocates eight numbers an evaluated voxel and 16 bytes a cell within reach of a
  /// point.
  ///
  /// The grids may differ in every way. Along an axis with one voxel a dose is a plane: positions
  /// count, and nothing is interpolated. Doses in one or two dimensions have one voxel along the
  /// other axes, at the same place.
  ///
  /// \param[in] reference  [nx, ny, nz], any unit
  /// \param[in] evaluated  [mx, my, mz], the same unit
  /// \throws iso::invalid_argument  invalid grids; volumes with gaps or without memory; grids whose
  /// voxels
  ///           do not overlap; 2^30 evaluated voxels along an axis; no criteria or more than 64; a
  ///           criterion, cut-off or given dose that is not finite or not positive (the cut-off may
  ///           be 0); a maximum gamma of at most 1 or above 1e6; a given dose with another
  ///           normalisation; an interpolation or normalisation that is none; a distance of more
  ///           than 1e6 or less than 1e-6 spacings; more than 2^24 cells in the box of what is
  ///           within reach; doses that are not finite or above 1e300 in size; no reference dose
  ///           above zero; dose differences below 1e-8 of the largest dose, as where
  ///           normalisation::local meets a dose of zero, or below 1e-290
  /// \throws iso::out_of_memory     as iso::allocate
  template <execution_space Exec>
  gamma_plan(Exec const& exec, volume const& reference, volume const& evaluated,
             std::vector<criterion> const& criteria, gamma_options const& options = {});

  /// Prepares the search of slabs: `reference` may hold some planes of its grid, and `evaluated` no
  /// more than planes_needed says. Does all else as the first constructor.
  /// \param of_reference, of_evaluated  bounds_of all planes of a dose, joined
  /// \throws iso::invalid_argument  evaluated planes that are needed and not held; doses that are
  ///                                larger than the bounds say
  template <execution_space Exec>
  gamma_plan(Exec const& exec, volume const& reference, volume const& evaluated,
             std::vector<criterion> const& criteria, gamma_options const& options,
             dose_bounds const& of_reference, dose_bounds const& of_evaluated);

  /// Returns the bytes that a plan of some reference planes allocates, all unless told otherwise,
  /// from evaluated planes that planes_needed returns. Enqueues nothing.
  /// \throws iso::invalid_argument  as planes_needed
  [[nodiscard]] static std::int64_t bytes_needed(grid const& reference, grid const& evaluated,
                                                 std::vector<criterion> const& criteria,
                                                 gamma_options const& options = {},
                                                 std::optional<slab> const& reference_planes = {}) {
    return detail::bytes_of_plan(reference, evaluated, criteria, options,
                                 reference_planes.value_or(all_planes(reference)),
                                 sizeof(detail::dose_range<T>));
  }

  [[nodiscard]] volume const& reference() const { return reference_; }
  [[nodiscard]] volume const& evaluated() const { return evaluated_; }
  [[nodiscard]] std::vector<criterion> const& criteria() const { return criteria_; }
  [[nodiscard]] gamma_options const& options() const { return options_; }
  /// Returns the largest reference dose.
  [[nodiscard]] double reference_maximum() const { return reference_maximum_; }
  /// Returns the least reference dose that is compared.
  [[nodiscard]] double cut_off_dose() const { return cut_off_dose_; }
  /// Returns what the kernel reads.
  [[nodiscard]] detail::dose_search<T> search() const;

 private:
  template <execution_space Exec>
  void prepare(Exec const& exec, dose_bounds const* of_reference, dose_bounds const* of_evaluated);
  template <execution_space Exec>
  void check_doses(Exec const& exec, dose_bounds const* of_reference,
                   dose_bounds const* of_evaluated);

  volume reference_;
  volume evaluated_;
  std::vector<criterion> criteria_;
  gamma_options options_;
  double reference_maximum_ = 0;
  double cut_off_dose_ = 0;
  detail::search_arrays<T, Space> arrays_;
};

template <execution_space Exec, class T>
gamma_plan(Exec const&, volume_view<T, typename Exec::memory_space> const&,
           volume_view<std::remove_const_t<T> const, typename Exec::memory_space> const&,
           std::vector<criterion> const&, gamma_options const& = {})
    -> gamma_plan<std::remove_const_t<T>, typename Exec::memory_space>;

template <execution_space Exec, class T>
gamma_plan(Exec const&, volume_view<T, typename Exec::memory_space> const&,
           volume_view<std::remove_const_t<T> const, typename Exec::memory_space> const&,
           std::vector<criterion> const&, gamma_options const&, dose_bounds const&,
           dose_bounds const&) -> gamma_plan<std::remove_const_t<T>, typename Exec::memory_space>;

/// The gamma of every criterion: [criteria, nx, ny, nz], of a slab the planes that it holds.
template <class T, class Space>
using gamma_values = Kokkos::View<T****, Kokkos::LayoutRight, Space>;
/// The outcome at each reference point: [nx, ny, nz].
template <class Space>
using status_values = Kokkos::View<point_status***, Kokkos::LayoutRight, Space>;
/// The same array where it is only read.
template <class Space>
using const_status_values = Kokkos::View<point_status const***, Kokkos::LayoutRight, Space>;

/// Computes gamma(r) = min over x of sqrt(|x - r|^2 / distance^2 + (D_eval(x) - D_ref(r))^2 /
/// difference^2) at the middle r of every reference voxel that is not below the cut-off, or the
/// maximum gamma where that is less. x runs through the box of the evaluated voxels' middles.
///
/// Of normalisation::local the difference is a fraction of D_ref(r). A point outside the box has
/// the gamma of its definition, and its status says so. Below the cut-off gamma is NaN.
///
/// interpolation::trilinear: above the minimum by at most 1e-7 gamma + 1e-7, proved by a bound for
/// every box that is left, but for boxes of 2^-20 of a cell along each axis, which are left after
/// eight steps down. The other two by closed forms, to rounding. In double, rounded to T once.
/// Rounding is up to 1e-16 of the dose at a cell's corners, in dose differences. A coordinate
/// within 1e-9 spacings of an evaluated voxel's middle is taken to be there; far from the origin,
/// within 8 roundings of the coordinate.
///
/// Enqueued on `exec`; does not fence and does not allocate. With a job that has callbacks it waits
/// for `exec` after each of many batches of points, and asks. Overwrites `gamma` and `status`,
/// which must not overlap each other or the doses.
///
/// Determinism: backend_to_backend. Cells are visited in one order; a criterion's gamma does not
/// depend on which others there are, nor on the job.
///
/// \param[out] gamma   [criteria, nx, ny, nz], nz the reference planes of the plan
/// \param[out] status  [nx, ny, nz]
/// \throws iso::invalid_argument  other shapes, arrays with gaps or without memory, or that overlap
/// \throws iso::cancelled         as job::step
/// \par Method  D. A. Low et al., Med. Phys. 25, 1998, doi:10.1118/1.598248, equation 4; on
///              simplices T. Ju et al., Med. Phys. 35, 2008, doi:10.1118/1.2836952
template <execution_space Exec, real T>
void gamma_index(Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
                 gamma_values<std::type_identity_t<T>, typename Exec::memory_space> const& gamma,
                 status_values<typename Exec::memory_space> const& status, job const& control = {});

namespace detail {

/// The sums over points of one criterion.
struct point_sums {
  gamma_counts counts;
  std::vector<std::uint64_t> histogram;

  void add(point_sums const& other);
};

}  // namespace detail

/// The counts of a comparison while its slabs come, in any order: sums of integers, and a maximum.
/// Determinism: backend_to_backend, in any order and number of slabs.
class gamma_sums {
 public:
  /// Makes sums of no points.
  /// \param reference  the whole grid
  /// \throws iso::invalid_argument  an invalid grid; a rule that is none; fewer than 1 or more than
  ///                                2^20 bins
  gamma_sums(grid const& reference, std::vector<criterion> const& criteria,
             gamma_options const& options, summary_options const& summary = {});

  /// Adds what gamma_index wrote by a plan. Waits for `exec`; allocates the histogram there.
  /// \throws iso::invalid_argument  as gamma_index; a plan of another grid, criteria or options;
  ///                                planes that were added before
  template <execution_space Exec, real T>
  void add(Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
           gamma_values<std::type_identity_t<T> const, typename Exec::memory_space> const& gamma,
           const_status_values<typename Exec::memory_space> const& status);
  /// Adds the counts of other slabs.
  /// \throws iso::invalid_argument  counts of another grid, criteria or options; planes that were
  ///                                added before
  void add(gamma_sums const& other);
  /// Adds the counts of all other ranks, each of which has added the planes that it owns: they are
  /// then the same on all. All ranks call it together.
  /// \param planes  of each rank
  /// \throws iso::invalid_argument  planes of another rank that were added before
  void add_ranks(backend::communicator& ranks, std::vector<slab> const& planes);

  /// Returns a summary a criterion.
  /// \throws iso::invalid_argument  planes of the grid that were not added
  [[nodiscard]] std::vector<gamma_summary> finish() const;

 private:
  grid reference_;
  std::vector<criterion> criteria_;
  gamma_options options_;
  summary_options summary_;
  detail::mean_scale scale_;
  std::vector<detail::point_sums> sums_;  ///< [criteria]
  std::vector<slab> planes_;              ///< that were added
};

/// Summarises what gamma_index wrote, a summary a criterion. Waits for `exec`; allocates the
/// histogram there.
/// Determinism: backend_to_backend; counts, a maximum, and a mean by integers, each gamma rounded
/// to 2^-64 of the maximum gamma (up to 2^30 points); NaN where a gamma is none.
/// \throws iso::invalid_argument  as gamma_index; a rule that is none; fewer than 1 or more than
///                                2^20 bins; a plan of a slab (gamma_sums takes these)
template <execution_space Exec, real T>
std::vector<gamma_summary> summarise(
    Exec const& exec, gamma_plan<T, typename Exec::memory_space> const& plan,
    gamma_values<std::type_identity_t<T> const, typename Exec::memory_space> const& gamma,
    const_status_values<typename Exec::memory_space> const& status,
    summary_options const& options = {});

}  // namespace iso::gamma
