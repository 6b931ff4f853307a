// SPDX-License-Identifier: BSD-3-Clause
//! \file  dlpack.hpp
//! The memory layout of DLPack's structures, versions 0 and 1, and of its C exchange API, as its
//! specification fixes it: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once

#include <cstdint>

namespace iso::python::dlpack {

enum device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct device {
  std::int32_t type;
  std::int32_t id;
};

struct data_type {
  std::uint8_t code;  ///< 0 integer, 1 unsigned, 2 floating, 6 boolean
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct tensor {
  void* data;
  device where;
  std::int32_t rank;
  data_type type;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: C order
  std::uint64_t byte_offset;
};

struct managed {
  dlpack::tensor tensor;
  void* context;
  void (*deleter)(managed* self);
};

enum flag : std::uint64_t { read_only = 1, is_copied = 2 };

struct version_number {
  std::uint32_t major;
  std::uint32_t minor;
};

struct managed_versioned {
  version_number version;
  void* context;
  void (*deleter)(managed_versioned* self);
  std::uint64_t flags;
  dlpack::tensor tensor;
};

/// What a type of tensors offers in its attribute `__dlpack_c_exchange_api__` since version 1.2:
/// its tensors, and the stream that is current in its framework, without a call of Python.
/// Functions return 0, or -1 with an exception of Python.
struct exchange_api {
  version_number version;
  exchange_api* previous;  ///< of another major version; may be null
  int (*allocate)(tensor* like, managed_versioned** out, void* context,
                  void (*set_error)(void* context, char const* kind, char const* message));
  int (*from_object)(void* object, managed_versioned** out);
  int (*to_object)(managed_versioned* from, void** object);
  int (*describe)(void* object, tensor* out);
  int (*current_stream)(device_type type, std::int32_t id, void** out);
};
inline constexpr char const* exchange_capsule = "dlpack_exchange_api";

}  // namespace iso::python::dlpack
