// SPDX-License-Identifier: BSD-3-Clause
//! \file  peers/cusparse_spmv.hpp
//! Runs cuSPARSE's products of a CSR matrix; present in a CUDA build that finds cuSPARSE.
#pragma once

#include "peers/number.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>

namespace iso::perf {

/// The types of the matrix, of both vectors, and of the sums.
struct cusparse_types {
  number matrix;
  number x;
  number y;
  number compute;
};

/// Arrays on the device; offsets and columns of 32 bits.
struct cusparse_arrays {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t entries;
  std::int32_t const* offsets;
  std::int32_t const* indices;
  void const* values;
  void const* x;
  void* y;
};

enum class cusparse_algorithm { first, second };

/// The product y = A x, or for several vectors (the vector's number fastest) Y = A X.
class cusparse_product {
 public:
  cusparse_product(cudaStream_t stream, cusparse_arrays const& arrays, cusparse_types const& types,
                   cusparse_algorithm algorithm, int vectors = 1);
  ~cusparse_product();
  cusparse_product(cusparse_product const&) = delete;
  cusparse_product& operator=(cusparse_product const&) = delete;

  /// Returns why cuSPARSE does not take these types; empty where it does.
  [[nodiscard]] std::string const& refusal() const { return refusal_; }
  /// Enqueues. Only where there is no refusal.
  void multiply() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
  std::string refusal_;
};

}  // namespace iso::perf
