// SPDX-License-Identifier: BSD-3-Clause
//! Products for every backend; a source for each format and type of values.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/sparse/detail/product_launch.hpp>

#define ISO_INSTANTIATE_PRODUCT(Exec, Rows, T) \
  template void launch_product<Exec, Rows, T>(Exec const&, Rows const&, product_call<T> const&);
#define ISO_INSTANTIATE_ROWS(Exec, Rows)                                                        \
  ISO_INSTANTIATE_PRODUCT(Exec, Rows, double)                                                   \
  template void launch_bounds<Exec, Rows>(Exec const&, Rows const&, std::int64_t, double*,      \
                                          std::int32_t*);                                       \
  template segment_counts launch_count_segments<Exec, Rows>(Exec const&, Rows const&,           \
                                                            std::int64_t);                      \
  template void launch_segments<Exec, Rows>(Exec const&, Rows const&, std::int64_t,             \
                                            segment_counts const&, row_segment*, std::int64_t*, \
                                            std::uint32_t*);
// The backend's name is the list's parameter: value types come by alias.
#define ISO_INSTANTIATE_CSR_ON(Exec)    \
  ISO_INSTANTIATE_ROWS(Exec, wide_rows) \
  ISO_INSTANTIATE_ROWS(Exec, narrow_rows)
#define ISO_INSTANTIATE_CSR_FLOAT_ON(Exec)        \
  ISO_INSTANTIATE_PRODUCT(Exec, wide_rows, float) \
  ISO_INSTANTIATE_PRODUCT(Exec, narrow_rows, float)

#define ISO_INSTANTIATE_CSR(Value)                    \
  using wide_rows = csr_rows<Value, std::int32_t>;    \
  using narrow_rows = csr_rows<Value, std::uint16_t>; \
  ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CSR_ON)
#define ISO_INSTANTIATE_CSR_FLOAT_VECTORS(Value) ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_CSR_FLOAT_ON)

#define ISO_INSTANTIATE_ROW_BLOCKS_ON(Exec) \
  ISO_INSTANTIATE_ROWS(Exec, by_four)       \
  ISO_INSTANTIATE_ROWS(Exec, by_eight)

#define ISO_INSTANTIATE_ROW_BLOCKS(Value)    \
  using by_four = row_block_rows<Value, 4>;  \
  using by_eight = row_block_rows<Value, 8>; \
  ISO_FOR_EACH_BACKEND(ISO_INSTANTIATE_ROW_BLOCKS_ON)
