// SPDX-License-Identifier: BSD-3-Clause
//! Descriptions of types and shapes in HDF5 files, of which HDF5 1.10 reads more bytes than there
//! are where they are damaged.
//! Source: HDF5 File Format Specification 3.0, IV.A.2.b (dataspaces), IV.A.2.d (datatypes).
#pragma once

#include "hdf5_bytes.hpp"

#include <cstdint>
#include <optional>

namespace iso::files::detail {

/// Of a value of variable length: its own length, the address of a collection, its number there.
inline constexpr std::uint64_t reference_bytes = 16;

/// Bytes of one value of the type that is described. None where the description ends early, where
/// parts of the type do not fit into it, or where HDF5 1.10 does not know such a type.
std::optional<std::uint64_t> value_bytes(piece description);

/// How many values the shape that is described has, 2^64 - 1 where they are more. None where the
/// description ends early, or HDF5 1.10 does not know such a shape.
std::optional<std::uint64_t> value_count(piece description);

}  // namespace iso::files::detail
