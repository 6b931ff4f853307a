// SPDX-License-Identifier: BSD-3-Clause
#include "peers/cusparse_spmv.hpp"

#include <iso/core/error.hpp>

#include <cusparse.h>

#include <cstring>

namespace iso::perf {
namespace {

cudaDataType of(number n) {
  switch (n) {
    case number::half:
      return CUDA_R_16F;
    case number::bfloat16:
      return CUDA_R_16BF;
    case number::single:
      return CUDA_R_32F;
    case number::twice:
      break;
  }
  return CUDA_R_64F;
}

void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) {
    throw error(std::string("cuSPARSE: ") + cusparseGetErrorString(status));
  }
}

constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

}  // namespace

struct cusparse_product::state {
  cusparseHandle_t handle = nullptr;
  cusparseConstSpMatDescr_t matrix = nullptr;
  cusparseConstDnVecDescr_t x = nullptr;
  cusparseDnVecDescr_t y = nullptr;
  cusparseConstDnMatDescr_t xs = nullptr;
  cusparseDnMatDescr_t ys = nullptr;
  void* buffer = nullptr;
  int vectors = 1;
  cudaDataType compute = CUDA_R_32F;
  cusparseSpMVAlg_t spmv = CUSPARSE_SPMV_CSR_ALG1;
  cusparseSpMMAlg_t spmm = CUSPARSE_SPMM_CSR_ALG2;
  double one[2] = {};   // the bits of 1 in the type of the sums
  double zero[2] = {};  // all types share these bits

  ~state() {
    cusparseDestroyDnVec(x);
    cusparseDestroyDnVec(y);
    cusparseDestroyDnMat(xs);
    cusparseDestroyDnMat(ys);
    cusparseDestroySpMat(matrix);
    cusparseDestroy(handle);
    cudaFree(buffer);
  }

  void prepare(cudaStream_t stream, cusparse_arrays const& a, cusparse_types const& types) {
    check(cusparseCreate(&handle));
    check(cusparseSetStream(handle, stream));
    check(cusparseCreateConstCsr(&matrix, a.rows, a.columns, a.entries, a.offsets, a.indices,
                                 a.values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, of(types.matrix)));
    std::size_t bytes = 0;
    if (vectors == 1) {
      check(cusparseCreateConstDnVec(&x, a.columns, a.x, of(types.x)));
      check(cusparseCreateDnVec(&y, a.rows, a.y, of(types.y)));
      check(cusparseSpMV_bufferSize(handle, plain, one, matrix, x, zero, y, compute, spmv, &bytes));
      allocate(bytes);
      check(cusparseSpMV_preprocess(handle, plain, one, matrix, x, zero, y, compute, spmv, buffer));
    } else {
      check(cusparseCreateConstDnMat(&xs, a.columns, vectors, vectors, a.x, of(types.x),
                                     CUSPARSE_ORDER_ROW));
      check(
          cusparseCreateDnMat(&ys, a.rows, vectors, vectors, a.y, of(types.y), CUSPARSE_ORDER_ROW));
      check(cusparseSpMM_bufferSize(handle, plain, plain, one, matrix, xs, zero, ys, compute, spmm,
                                    &bytes));
      allocate(bytes);
      check(cusparseSpMM_preprocess(handle, plain, plain, one, matrix, xs, zero, ys, compute, spmm,
                                    buffer));
    }
    multiply();
  }
  void allocate(std::size_t bytes) {
    if (cudaMalloc(&buffer, bytes + 1) != cudaSuccess) {
      check(CUSPARSE_STATUS_ALLOC_FAILED);
    }
  }
  void multiply() const {
    check(vectors == 1 ? cusparseSpMV(handle, plain, one, matrix, x, zero, y, compute, spmv, buffer)
                       : cusparseSpMM(handle, plain, plain, one, matrix, xs, zero, ys, compute,
                                      spmm, buffer));
  }
};

cusparse_product::cusparse_product(cudaStream_t stream, cusparse_arrays const& arrays,
                                   cusparse_types const& types, cusparse_algorithm algorithm,
                                   int vectors)
    : state_(std::make_unique<state>()) {
  auto& s = *state_;
  s.vectors = vectors;
  s.compute = of(types.compute);
  if (algorithm == cusparse_algorithm::second) {
    s.spmv = CUSPARSE_SPMV_CSR_ALG2;
    s.spmm = CUSPARSE_SPMM_CSR_ALG3;
  }
  if (types.compute == number::twice) {
    s.one[0] = 1;
  } else {
    float const one = 1;
    std::memcpy(s.one, &one, sizeof one);
  }
  try {
    s.prepare(stream, arrays, types);
  } catch (error const& failure) {
    refusal_ = failure.what();
  }
}

cusparse_product::~cusparse_product() = default;

void cusparse_product::multiply() const { state_->multiply(); }

}  // namespace iso::perf
