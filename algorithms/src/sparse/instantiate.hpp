// SPDX-License-Identifier: BSD-3-Clause
//! For the sources that instantiate: the csr_views of every backend.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/sparse/csr.hpp>

/// Calls macro(Exec, Value, further arguments...) for every backend and type of values.
#define ISO_FOR_EACH_VALUE(macro, ...) \
  ISO_FOR_EACH_BACKEND(ISO_VALUES_OF_BACKEND, macro __VA_OPT__(, ) __VA_ARGS__)
#define ISO_VALUES_OF_BACKEND(Exec, macro, ...)                                                 \
  macro(Exec, half __VA_OPT__(, ) __VA_ARGS__) macro(Exec, bfloat16 __VA_OPT__(, ) __VA_ARGS__) \
      macro(Exec, float __VA_OPT__(, ) __VA_ARGS__) macro(Exec, double __VA_OPT__(, ) __VA_ARGS__)
/// Calls macro(Exec, Value, Column) for every csr_view, of const values too.
#define ISO_FOR_EACH_CSR(macro) ISO_FOR_EACH_VALUE(ISO_CSRS_OF_VALUE, macro)
#define ISO_CSRS_OF_VALUE(Exec, Value, macro)                             \
  macro(Exec, Value, std::int32_t) macro(Exec, Value const, std::int32_t) \
      macro(Exec, Value, std::uint16_t) macro(Exec, Value const, std::uint16_t)
#define ISO_CSR(Exec, Value, Column) csr_view<Value, Column, Exec::memory_space>
