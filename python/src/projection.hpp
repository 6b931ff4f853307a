// SPDX-License-Identifier: BSD-3-Clause
//! \file  projection.hpp
//! Names what projection and its adjoint may choose, as keywords.
#pragma once

#include "call.hpp"
#include "options.hpp"

#include <iso/ct/iterative_options.hpp>
#include <iso/ct/projector_options.hpp>

namespace iso::python {

namespace detail_options {

template <class X>
constexpr void describe_method(auto&& visit, X& x) {
  visit(x.method, field{.name = "projector", .says = "how a line integral is computed"});
  visit(x.edge, field{.name = "edge", .says = "what lies beyond the volume's voxels"});
  visit(x.within, field{.name = "region", .says = "the voxels that count"});
  visit(x.oversampling, field{.name = "oversampling",
                              .says = "exact projectors: rays a pixel along u and along v",
                              .low = 1,
                              .high = 64});
  visit(x.path,
        field{.name = "path",
              .says = "automatic: the fast kernel wherever v runs along z; general: never"});
}

}  // namespace detail_options

/// The keywords of project().
struct project_keywords {
  ct::forward_project_options options;
};
/// The keywords of back_project().
struct back_project_keywords {
  ct::back_project_options options;
};

constexpr void describe(auto&& visit, describes<project_keywords> auto& x) {
  detail_options::describe_method(visit, x.options);
  visit(
      x.options.sum,
      field{.name = "sum", .says = "how the terms of a ray are added; reproducible: in any order"});
  visit(x.options.max_abs,
        field{.name = "max_abs",
              .says = "reproducible sums: the largest size of a voxel (default: it is found)",
              .low = 0});
}

constexpr void describe(auto&& visit, describes<back_project_keywords> auto& x) {
  detail_options::describe_method(visit, x.options);
  visit(x.options.words,
        field{.name = "words",
              .says = "of 32 bits, that a voxel's sum has at least; 0: as few as its error allows",
              .low = 0,
              .high = 3});
  visit(x.options.max_abs,
        field{.name = "max_abs",
              .says = "scatter: the largest size of a reading (default: it is found)",
              .low = 0});
}

/// Returns an instance of the device through whose memory volumes on the host pass: the GPU's where
/// the module has one.
template <class Exec>
auto streaming_instance(Exec const& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  static_cast<void>(exec);
  return Kokkos::Cuda();
#else
  return exec;
#endif
}

inline void refuse_memory_on_gpu(std::int64_t memory, target const& at, char const* function) {
  ISO_VALIDATE(memory == 0 || at.where != place::cuda,
               "{}: memory for arrays on a GPU (only arrays on the host pass through it); leave it "
               "out",
               function);
}

void bind_projection(nb::module_& m);

}  // namespace iso::python
