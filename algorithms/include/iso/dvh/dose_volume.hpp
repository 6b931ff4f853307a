// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dvh/dose_volume.hpp
//! Says which dose which volume of a structure gets: histograms and what is read off them.
//! A Kokkos space that the build has not needs detail/dose_volume_impl.hpp too.
//!
//! The dose is linear on six tetrahedra of each cell between the middles of eight voxels, cut as
//! iso::gamma::interpolation::tetrahedra cuts it, and constant beyond the outermost middles, to the
//! voxels' faces. At every point it lies between the least and the largest of the voxels around. A
//! structure is the share of each voxel of a grid of its own that lies inside. In such a voxel the
//! dose is that of the interpolant at its corners, and linear on its six tetrahedra: the
//! interpolant itself where the structure's voxels divide the dose's cells, into one number of
//! parts along all axes (iso::dvh::structure_grid). Of a voxel with a share a plane cuts off that
//! share, on the side where its neighbours have more. A volume that gets a dose is then a sum of
//! closed forms; nothing is sampled, and there are no bins in it.
//! Functions that take an iso::job ask it while they work, several times a second as a rule, and
//! throw iso::cancelled as job::step does. What they return is of the same bits with and without.
//! \par Source  D. L. Youngs, in: Numerical Methods for Fluid Dynamics, 1982, pages 273-285 (plane)
#pragma once

#include <iso/backend/communicator.hpp>
#include <iso/core/job.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/dvh/quantity.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::dvh {

/// A structure in the form in which doses are read off in it.
template <real T, class Space>
struct region {
  volume_view<T const, Space> fractions;  ///< [mx, my, mz], 0 to 1
  /// Points of the surface, mm (iso::dvh::surface_points); may be empty.
  Kokkos::View<vec3<double> const*, Space> surface;

  region() = default;
  // Constructors, because g++ 12 makes no code, or ends, where braces within braces would need a
  // default of `surface`.
  region(volume_view<T const, Space> of) : fractions(std::move(of)) {}
  region(volume_view<T const, Space> of, Kokkos::View<vec3<double> const*, Space> points)
      : fractions(std::move(of)), surface(std::move(points)) {}
};
template <class T, class Space, class... Surface>
region(volume_view<T, Space> const&, Surface const&...) -> region<std::remove_const_t<T>, Space>;

/// A dose and a structure's shares that are read slab by slab, as often as a result takes passes
/// over them.
template <real T, class Space>
struct slab_source {
  /// Returns planes of a volume, or more of them; they stay until others are asked for.
  using planes_of = std::function<volume_view<T const, Space>(slab const& planes)>;

  grid dose;
  grid fractions;
  std::vector<slab> slabs;                           ///< of the dose: each plane is in one
  planes_of dose_planes;                             ///< [nx, ny, nz], any unit
  planes_of fraction_planes;                         ///< [mx, my, mz], 0 to 1
  Kokkos::View<vec3<double> const*, Space> surface;  ///< as of a region; it stays throughout
};

/// The planes of a dose and of a structure's shares that one slab of the dose reads.
struct slab_planes {
  slab dose;
  slab fractions;  ///< none where the slab has no voxel of the structure

  friend bool operator==(slab_planes const&, slab_planes const&) = default;
};

/// Returns what is read for a slab of a dose. A structure's voxel belongs to the slab that owns the
/// lower one of the planes between which its lower corners lie; its upper corners may lie above.
/// The plane that cuts a share off a voxel depends on the shares around. So a slab reads one plane
/// of the dose above its own, two or more where voxels of the structure lie across planes, and one
/// plane of shares on either side of its voxels.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  an invalid grid; planes that the dose has not
slab_planes planes_needed(grid const& dose, grid const& fractions, slab const& own);

namespace detail {

template <execution_space Exec, real T>
class placed_dose;

}  // namespace detail

/// A structure in a dose, placed and checked once for all that is read off it. Copies share it, and
/// memory of the dose and of the region. Allocates, and waits for `exec`, in every call.
/// Determinism: backend_to_backend, as the functions below, whose bits and units its members give.
template <execution_space Exec, real T>
class histogrammer {
 public:
  using space = typename Exec::memory_space;

  /// \throws iso::invalid_argument  as statistics
  /// \throws iso::out_of_memory     as iso::allocate
  histogrammer(Exec const& exec,
               volume_view<std::type_identity_t<T> const, std::type_identity_t<space>> const& dose,
               region<T, space> const& where, job const& control = {});
  /// Places a structure whose dose and shares come in slabs, with the bits of the whole. Those of
  /// one slab are asked for once; those of more in every pass. A mean, and each volume that is
  /// summed, take two passes, a dose that a volume gets up to 14, and all else one. Waits for
  /// `exec` before others are asked for.
  /// \throws iso::invalid_argument  as statistics; slabs that overlap, leave planes out or lie
  ///                                outside of the dose; planes of another grid, or fewer than are
  ///                                asked for
  /// \throws iso::out_of_memory     as iso::allocate
  histogrammer(Exec const& exec, slab_source<T, space> const& source, job const& control = {});
  /// Places a structure in a dose of which the ranks of a job own planes: each reads the slab that
  /// it owns, and has all figures of the whole. All ranks make it and call its functions together,
  /// with the same arguments; `ranks` must outlive it.
  /// \param source  its slabs are the planes of each rank, as iso::divide_planes returns them; this
  ///                rank is asked for what its own slab reads (ranked_dose::source)
  /// \throws iso::invalid_argument  on every rank: likewise; ranks of other doses, structures or
  ///                                planes. Members: ranks of other arguments
  /// \throws iso::cancelled         on every rank
  histogrammer(Exec const& exec, backend::communicator& ranks, slab_source<T, space> const& source,
               job const& control = {});
  // No moves: it stays whole.
  histogrammer(histogrammer const&) = default;
  histogrammer& operator=(histogrammer const&) = default;
  ~histogrammer() = default;

  /// Returns the bytes that one of these grids allocates in the execution space's memory, at most,
  /// with what evaluating such quantities and a histogram takes on the way. Enqueues nothing.
  /// \param shares  the grid of the region's fractions
  /// \param bins    0: no histogram is made
  /// \param own     planes of the dose: while one of these slabs is read
  /// \throws iso::invalid_argument  an invalid grid; planes that the dose has not
  [[nodiscard]] static std::int64_t bytes_needed(grid const& dose, grid const& shares,
                                                 std::vector<quantity> const& quantities = {},
                                                 std::int64_t bins = 0,
                                                 std::optional<slab> const& own = {});

  [[nodiscard]] dose_statistics statistics(extremes of = extremes::surface,
                                           job const& control = {}) const;
  [[nodiscard]] std::vector<double> volumes_at(std::vector<double> const& levels,
                                               job const& control = {}) const;
  [[nodiscard]] std::vector<double> doses_at(std::vector<double> const& volumes,
                                             job const& control = {}) const;
  /// Returns one value a quantity.
  [[nodiscard]] std::vector<double> evaluate(std::vector<quantity> const& quantities,
                                             extremes of = extremes::surface,
                                             job const& control = {}) const;
  /// Makes the histogram, which ends at 1.02 times this dose's largest unless it is told.
  [[nodiscard]] histogram make_histogram(histogram_options const& options = {},
                                         job const& control = {}) const;
  [[nodiscard]] double conformity(double prescription, job const& control = {}) const;

 private:
  std::shared_ptr<detail::placed_dose<Exec, T> const> held_;
};
template <execution_space Exec, class T, class Space>
histogrammer(Exec const&, slab_source<T, Space> const&, job const& = {}) -> histogrammer<Exec, T>;
template <execution_space Exec, class T, class Space>
histogrammer(Exec const&, backend::communicator&, slab_source<T, Space> const&, job const& = {})
    -> histogrammer<Exec, T>;
template <execution_space Exec, class T, class Space, class Where>
histogrammer(Exec const&, volume_view<T, Space> const&, Where const&, job const& = {})
    -> histogrammer<Exec, std::remove_const_t<T>>;

/// Summarises the dose of a structure. Allocates tables of the structure's voxels where `exec`
/// computes, and waits for it.
/// Determinism: backend_to_backend; sums by iso::sum_of, to 1e-13.
/// \param[in] dose  [nx, ny, nz], any unit
/// \throws iso::invalid_argument  invalid grids; volumes with gaps or without memory; doses that
///           are not finite where the structure is; fractions that are not from 0 to 1
template <execution_space Exec, real T>
dose_statistics statistics(Exec const& exec,
                           volume_view<T const, typename Exec::memory_space> const& dose,
                           region<T, typename Exec::memory_space> const& where,
                           extremes of = extremes::surface, job const& control = {});

/// Does the same for a dose that is not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
dose_statistics statistics(
    Exec const& exec, volume_view<T, Space> const& dose,
    region<std::type_identity_t<T>, std::type_identity_t<Space>> const& where,
    extremes of = extremes::surface, job const& control = {}) {
  return statistics<Exec, T>(exec, volume_view<T const, Space>(dose), where, of, control);
}

/// Returns the volume, mm3, that gets each level or more. Allocates as statistics, and waits for
/// `exec`.
///
/// Exact for the interpolant and fractions but for rounding: each voxel's volume is off by at most
/// 2^-b of a voxel, where b is the lesser of 50 and 61 - log2(voxels).
/// Determinism: backend_to_backend; voxels add as integers.
/// \param levels  unit of the dose, ascending; at most 2^20
/// \throws iso::invalid_argument  as statistics; levels that are NaN or do not ascend
template <execution_space Exec, real T>
std::vector<double> volumes_at(Exec const& exec,
                               volume_view<T const, typename Exec::memory_space> const& dose,
                               region<T, typename Exec::memory_space> const& where,
                               std::vector<double> const& levels, job const& control = {});

/// Does the same for a dose that is not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
std::vector<double> volumes_at(
    Exec const& exec, volume_view<T, Space> const& dose,
    region<std::type_identity_t<T>, std::type_identity_t<Space>> const& where,
    std::vector<double> const& levels, job const& control = {}) {
  return volumes_at<Exec, T>(exec, volume_view<T const, Space>(dose), where, levels, control);
}

/// Returns, for each volume, the largest dose that it gets: the least dose to the hottest part of
/// that volume. Found from volumes_at to 1e-11 of the dose's range. Allocates as statistics, and
/// waits for `exec`.
/// Determinism: backend_to_backend.
/// \param volumes  mm3. More than the structure's gives NaN, up to 1e-9 of it for rounding
/// \throws iso::invalid_argument  as statistics; volumes that are not finite and positive
template <execution_space Exec, real T>
std::vector<double> doses_at(Exec const& exec,
                             volume_view<T const, typename Exec::memory_space> const& dose,
                             region<T, typename Exec::memory_space> const& where,
                             std::vector<double> const& volumes, job const& control = {});

/// Does the same for a dose that is not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
std::vector<double> doses_at(
    Exec const& exec, volume_view<T, Space> const& dose,
    region<std::type_identity_t<T>, std::type_identity_t<Space>> const& where,
    std::vector<double> const& volumes, job const& control = {}) {
  return doses_at<Exec, T>(exec, volume_view<T const, Space>(dose), where, volumes, control);
}

/// Evaluates every quantity of every structure in every dose: [doses][structures][quantities].
/// NaN where a structure has no volume, or less than a quantity asks for. Per cents are of the
/// volume where there is a dose: look at `outside` too. D100 is the minimum, and with
/// extremes::surface no dose is less than that or more than the maximum. Allocates as statistics,
/// and waits for `exec`. Determinism: backend_to_backend.
/// \param of  of which points the minimum and the maximum are
/// \throws iso::invalid_argument  as statistics; with a conformity, as that
template <execution_space Exec, real T>
std::vector<std::vector<std::vector<double>>> evaluate(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    std::vector<quantity> const& quantities, extremes of = extremes::surface,
    job const& control = {});

/// Does the same for doses that are not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
std::vector<std::vector<std::vector<double>>> evaluate(
    Exec const& exec, std::vector<volume_view<T, Space>> const& doses,
    std::vector<region<std::type_identity_t<T>, std::type_identity_t<Space>>> const& structures,
    std::vector<quantity> const& quantities, extremes of = extremes::surface,
    job const& control = {}) {
  return evaluate<Exec, T>(exec,
                           std::vector<volume_view<T const, Space>>(doses.begin(), doses.end()),
                           structures, quantities, of, control);
}

/// Makes the histograms of every structure in every dose: [doses][structures]. Allocates
/// as statistics, and waits for `exec`.
/// Determinism: backend_to_backend, as volumes_at.
/// \throws iso::invalid_argument  as statistics; bins or an end out of range; no dose above 0
///                                without an end
template <execution_space Exec, real T>
std::vector<std::vector<histogram>> histograms(
    Exec const& exec, std::vector<volume_view<T const, typename Exec::memory_space>> const& doses,
    std::vector<region<T, typename Exec::memory_space>> const& structures,
    histogram_options const& options = {}, job const& control = {});

/// Does the same for doses that are not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
std::vector<std::vector<histogram>> histograms(
    Exec const& exec, std::vector<volume_view<T, Space>> const& doses,
    std::vector<region<std::type_identity_t<T>, std::type_identity_t<Space>>> const& structures,
    histogram_options const& options = {}, job const& control = {}) {
  return histograms<Exec, T>(exec,
                             std::vector<volume_view<T const, Space>>(doses.begin(), doses.end()),
                             structures, options, control);
}

/// Returns Paddick's conformity index of a target: (volume of the target that gets
/// `prescription`)^2 / (volume of the target x volume that gets it anywhere). From 0, where nothing
/// of the target gets it, to 1. Allocates as statistics, and waits for `exec`.
/// Determinism: backend_to_backend.
///
/// All three volumes are of the same interpolant and the same region: the dose's voxels up to their
/// faces, and the rest of the target's voxels that these faces cut.
/// \throws iso::invalid_argument  as statistics; doses that are not finite anywhere; a prescription
///                                that is not finite and positive
/// \par Source  I. Paddick, J. Neurosurg. 93 (suppl. 3), 2000, pages 219-222
template <execution_space Exec, real T>
double conformity(Exec const& exec, volume_view<T const, typename Exec::memory_space> const& dose,
                  region<T, typename Exec::memory_space> const& target, double prescription,
                  job const& control = {});

/// Does the same for a dose that is not const.
template <execution_space Exec, real T, class Space>
  requires std::same_as<Space, typename Exec::memory_space>
double conformity(Exec const& exec, volume_view<T, Space> const& dose,
                  region<std::type_identity_t<T>, std::type_identity_t<Space>> const& target,
                  double prescription, job const& control = {}) {
  return conformity<Exec, T>(exec, volume_view<T const, Space>(dose), target, prescription,
                             control);
}

}  // namespace iso::dvh
