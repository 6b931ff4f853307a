// SPDX-License-Identifier: BSD-3-Clause
// The functions of CUDA's driver that Kokkos calls, asked of the driver when they are called: with
// the runtime linked statically the module then needs no libcuda.so, and loads where there is none.
#include <cuda.h>
#include <cuda_runtime_api.h>

#undef cuCtxPushCurrent

namespace {

/// Returns a function of the driver, of version 12.0 of its interface; null without a driver.
template <class F>
F* driver(char const* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status{};
  bool const is_there = cudaGetDriverEntryPointByVersion(name, &found, 12000, cudaEnableDefault,
                                                         &status) == cudaSuccess &&
                        status == cudaDriverEntryPointSuccess;
  return is_there ? reinterpret_cast<F*>(found) : nullptr;
}

}  // namespace

extern "C" {

CUresult CUDAAPI cuCtxGetDevice(CUdevice* device) {
  static auto* const call = driver<CUresult(CUdevice*)>("cuCtxGetDevice");
  return call == nullptr ? CUDA_ERROR_NOT_INITIALIZED : call(device);
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext context) {
  static auto* const call = driver<CUresult(CUcontext)>("cuCtxPushCurrent");
  return call == nullptr ? CUDA_ERROR_NOT_INITIALIZED : call(context);
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext* context) {
  static auto* const call = driver<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx");
  return call == nullptr ? CUDA_ERROR_NOT_INITIALIZED : call(stream, context);
}
}
