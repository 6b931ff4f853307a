// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/synthetic/generate.hpp
//! Dose-deposition matrices without a patient: after a published table, or of proton pencil
//! beams in a phantom.
#pragma once

#include <iso/backend/backends.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/half.hpp>
#include <iso/core/job.hpp>
#include <iso/core/vec3.hpp>
#include <iso/sparse/csr.hpp>
#include <iso/synthetic/matrix_options.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <vector>

namespace iso::synthetic {

template <class Value, class Exec>
using generated = sparse::csr_view<Value, std::int32_t, typename Exec::memory_space>;

/// Returns the figures of one matrix of the table. `factor` scales rows and non-zeros; columns and
/// the lengths of rows stay, so that time over non-zeros can be compared. The table does not say
/// how long the prostate's longest rows are: 1800 here.
/// Determinism: backend_to_backend; made on the host.
/// \throws iso::invalid_argument  a factor that is not positive, or above 100
/// \par Source  Liu, Jansson, Podobas, Fredriksson and Markidis 2021, Accelerating radiation
///              therapy dose calculation with Nvidia GPUs: Table I and figure 2.
matrix_figures table_of(plan_case which, double factor = 1);

/// Throws iso::invalid_argument, naming `function`, where no matrix has the figures.
/// Determinism: backend_to_backend; on the host.
void validate(matrix_figures const& figures, char const* function);

/// Makes a matrix of these figures: lengths of rows and their sums, then the entries.
///
/// Lengths follow a closed distribution: below 32 all powers of two alike, above it
/// 32 (longest / 32)^(t^p), p so that the number of non-zeros comes out. Rows take its quantiles in
/// a random order, one each, so that shares and sums are met, not only expected. Stretches of 32
/// rows share their runs of consecutive columns (20 columns in the mean); from row to row the runs
/// move by about a column, and lengths change slowly: that is how plans look along a grid
/// line. A share 1 - `similarity` of the stretches, evenly spread, has uncorrelated rows instead,
/// empty ones among them. Values are positive, from 1.2e-4 to 8, and normal numbers of half
/// precision whatever `Value` is, so that matrices of half, float and double hold the same numbers.
///
/// Allocates the matrix, and fences `exec`. Rows ascend.
/// Determinism: backend_to_backend; random numbers are hashes of row and run.
/// \param control  asked between batches of rows
/// \throws iso::invalid_argument  figures that no matrix has
/// \throws iso::out_of_memory     it does not fit
/// \throws iso::cancelled         as job::step
template <stored_real Value, execution_space Exec>
generated<Value, Exec> generate(Exec const& exec, matrix_figures const& figures,
                                job const& control = {});

/// One energy layer of a field, as it was planned.
struct layer_facts {
  double energy = 0;      ///< MeV
  double range = 0;       ///< mm of water
  double peak_depth = 0;  ///< mm of water
  std::int64_t spots = 0;
  std::int64_t first_column = 0;
};

/// A spot's place on the lattice: mm along u and v from the target's centre.
struct spot {
  std::int64_t layer = 0;
  double u = 0;
  double v = 0;
};

/// The plan of a field: the layers, deepest first, and the spots, layer by layer: lines along u, v
/// rising, every other line backwards, as the beam is scanned. Column c of the matrix is spot c.
struct field_plan {
  std::vector<layer_facts> layers;
  std::vector<spot> spots;
};

/// Plans a field.
/// Determinism: not_guaranteed between machines (host library functions).
/// \param control  asked after each layer
/// \throws iso::invalid_argument  a field that cannot be planned: the sentence says why
/// \throws iso::cancelled         as job::step
field_plan plan_of(pencil_beams const& field, job const& control = {});

/// Computes the dose matrix of a field: entry (voxel, spot) is the dose in Gy at the voxel's centre
/// for 1e11 protons of the spot: depth dose by Bortfeld's formula at the voxel's water-equivalent
/// depth, times a Gaussian whose variance is that of the beam at the entrance and that of multiple
/// scattering in water at that depth (iso/synthetic/bragg_curve.hpp); both are read from tables by
/// linear interpolation. Density scales no dose: slabs only stretch the depth. Rows are voxels in
/// the grid's own order, z fastest; columns are the spots of `plan_of`.
///
/// Left out: what lies outside a circle that holds all but `lateral_loss` of a spot's dose, radius
/// sigma sqrt(-2 log lateral_loss), and what lies behind the depth where the layer's dose has
/// fallen to `distal_cut` of its peak. Allocates the matrix, and fences `exec`. Rows ascend.
/// Determinism: backend_to_backend, for the tables of one host.
/// \param control  asked after each layer, and between batches of rows
/// \throws iso::invalid_argument  a grid or field that makes no sense
/// \throws iso::out_of_memory     it does not fit
/// \throws iso::cancelled         as job::step
template <stored_real Value, execution_space Exec>
generated<Value, Exec> generate(Exec const& exec, pencil_beams const& field,
                                job const& control = {});

}  // namespace iso::synthetic
