// SPDX-License-Identifier: BSD-3-Clause
//! The parts of `iso demo`.
#pragma once

#include "record.hpp"
#include "scan.hpp"

#include <iso/files/png_file.hpp>
#include <iso/jobs/demo.hpp>
#include <iso/oracle/products.hpp>
#include <iso/oracle/projections.hpp>

#include <map>
#include <numbers>
#include <string>
#include <vector>

namespace iso::jobs {

using namespace oracle;

struct demo_plan {
  grid volume;
  ct::geometry scan;
  ct::geometry reconstruction;  ///< the same with views enough for it
  double width;                 ///< mm, of the phantom's cube
};

/// What the parts share while the demo runs.
class demo_state {
 public:
  demo_state(demo_request const& request, observer const& watch, demo_plan plan);

  /// Adds a record of `values`; the first backend's bits are what later ones are compared with.
  template <class T>
  void add(std::string const& operation, std::string const& backend, std::vector<T> values,
           double seconds, double error, least_work const& least);

  /// Tells that the next of the planned operations starts.
  void next(std::string const& what);

  demo_request const& request;
  observer const& watch;
  demo_plan plan;
  report result;
  std::vector<files::atomic_file> figures;
  ceilings_of_backends ceilings;

 private:
  std::map<std::string, bit_judge<float>> float_judges_;
  std::map<std::string, bit_judge<double>> double_judges_;
  int started_ = 0;
};

/// Phantom, its exact projections, and every projection method, in one precision on every backend.
template <class T>
void run_phantom(demo_state& state);

/// The CT by two methods on every backend.
void run_ct(demo_state& state, files::host_volume const& volume);

/// The phantom from its exact projections by FDK, on every backend.
template <class T>
void run_reconstruction(demo_state& state);

/// The CT, projected and reconstructed by FDK, on every backend.
void run_ct_reconstruction(demo_state& state, files::host_volume const& volume);

/// A photon field's dose on the slab phantom, on every backend, against lines summed by hand.
void run_dose(demo_state& state);

/// A matrix of proton pencil beams times weights, in double and in half, on every backend.
void run_matrix(demo_state& state);

/// A larger projection for its time, on GPUs alone.
void run_large(demo_state& state);

/// Pictures of the first backend's results in float.
void draw_slice(demo_state& state, std::string const& name, grid const& box,
                std::vector<float> const& volume, files::gray_window window);
void draw_dose(demo_state& state, grid const& voxels, std::vector<double> const& dose);
void draw_depths(demo_state& state, std::string const& name, grid const& voxels,
                 std::vector<float> const& dose);
void draw_projection(demo_state& state, std::string const& name, ct::geometry const& scan,
                     std::vector<float> const& projections);

}  // namespace iso::jobs
