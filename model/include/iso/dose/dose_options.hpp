// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/dose/dose_options.hpp
//! Holds what a dose calculation may choose.
#pragma once

#include <iso/core/launch_shape.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/spectrum.hpp>
#include <iso/model/describe.hpp>
#include <iso/model/limits.hpp>
#include <iso/ray/path_options.hpp>

#include <array>

namespace iso::dose {

/// The rule for the borders between polar cones.
enum class cone_placing {
  equal_energy,       ///< every cone takes the same share of the released energy
  equal_solid_angle,  ///< every cone has the same solid angle
};

struct cone_options {
  int cones = 8;     ///< polar, 4 to 48
  int azimuths = 8;  ///< of each cone, 4 to 48
  cone_placing placing = cone_placing::equal_energy;
};

/// The method by which energy is carried along the directions of the cones.
enum class dose_engine {
  lattice,        ///< lines on a sheared lattice, each voxel once: the fast one
  voxel_lines,    ///< one line of each direction through the middle of every voxel, exact lengths
  voxel_samples,  ///< the same, by samples at equal steps, interpolated
  non_voxel,      ///< rays and samples of a grid turned into each direction, interpolated twice
};

/// The distribution of the lattice's lines over lane groups. It changes no bit.
enum class lattice_walk {
  fastest,   ///< by_items on a GPU, by_slabs elsewhere
  by_items,  ///< a group takes some rows of a line's rays through all planes
  by_slabs,  ///< a thread takes some lines through a few planes in turn; GPUs refuse it
};

struct convolution_options {
  dose_engine engine = dose_engine::lattice;
  /// The method by which voxel_lines walks a line. It changes no bit.
  ray::traversal traversal = ray::traversal::fastest;
  lattice_walk walk = lattice_walk::fastest;
  double radial_step = 1;   ///< mm, between samples (voxel_samples and non_voxel)
  double ray_spacing = 2;   ///< mm, between rays (non_voxel)
  bool tilt = true;         ///< the kernel's axis follows the diverging rays, else the beam's axis
  launch_shape shape = {};  ///< how it is laid onto the machine; changes no bit
};

struct calculator_options {
  cone_options cones = {};         ///< directions in which energy travels
  terma_options terma = {};        ///< how photons are attenuated
  convolution_options lines = {};  ///< how energy is carried
  double margin = default_margin;  ///< about the field, in the plane of the isocentre, mm
};

constexpr auto words(cone_placing) {
  return std::array{word{cone_placing::equal_energy, "equal_energy"},
                    word{cone_placing::equal_solid_angle, "equal_solid_angle"}};
}
constexpr auto words(dose_engine) {
  return std::array{
      word{dose_engine::lattice, "lattice"}, word{dose_engine::voxel_lines, "voxel_lines"},
      word{dose_engine::voxel_samples, "voxel_samples"}, word{dose_engine::non_voxel, "non_voxel"}};
}
constexpr auto words(lattice_walk) {
  return std::array{word{lattice_walk::fastest, "fastest"},
                    word{lattice_walk::by_items, "by_items"},
                    word{lattice_walk::by_slabs, "by_slabs"}};
}

constexpr void describe(auto&& visit, describes<cone_options> auto& x) {
  visit(x.cones, field{.name = "cones", .says = "polar", .low = 4, .high = 48});
  visit(x.azimuths, field{.name = "azimuths", .says = "of each cone", .low = 4, .high = 48});
  visit(x.placing, field{.name = "placing", .says = "where the borders between the cones lie"});
}

constexpr void describe(auto&& visit, describes<convolution_options> auto& x) {
  visit(x.engine,
        field{.name = "engine",
              .says = "lattice: each direction's lines visit every voxel once; "
                      "voxel_lines: a line of every direction through every voxel, exact "
                      "and slow; voxel_samples: the same by samples at equal steps; "
                      "non_voxel: rays and samples of a grid turned into each direction"});
  visit(x.traversal, hidden_field{{.name = "traversal", .says = "by which voxel_lines walks"}});
  visit(x.walk, hidden_field{{.name = "walk", .says = "of the lattice's lines"}});
  visit(x.radial_step, field{.name = "radial-step",
                             .says = "distance of samples, for voxel_samples and non_voxel",
                             .unit = units::mm,
                             .low = 0.01,
                             .high = 1000});
  visit(x.ray_spacing, field{.name = "ray-spacing",
                             .says = "distance of rays, for non_voxel",
                             .unit = units::mm,
                             .low = 0.01,
                             .high = 1000});
  visit(x.tilt, field{.name = "tilt", .says = "whether the kernel follows the diverging rays"});
  visit(x.shape, hidden_field{{.name = "shape", .says = "of launches"}});
}

constexpr void describe(auto&& visit, describes<terma_options> auto& x) {
  visit(x.hardening_correction,
        field{.name = "hardening-correction",
              .says = "whether the TERMA takes the hardening of the spectrum into account"});
}

constexpr void describe(auto&& visit, describes<calculator_options> auto& x) {
  visit(x.cones, field{.name = "directions", .says = "in how many energy is carried"});
  visit(x.terma, field{.name = "terma", .says = "how photons are attenuated", .flat = true});
  visit(x.lines, field{.name = "lines", .says = "how energy is carried", .flat = true});
  visit(x.margin, field{.name = "margin",
                        .says = "how far beyond the edges of the field dose is calculated",
                        .unit = units::mm,
                        .low = 0,
                        .high = max_distance});
}

}  // namespace iso::dose
