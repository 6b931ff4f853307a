// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/sparse/validate_grouped.hpp
//! What only data can tell about a grouped or paired matrix.
#pragma once

#include <iso/sparse/paired.hpp>
#include <iso/sparse/validate.hpp>

#include <cstdint>
#include <string>

namespace iso::sparse {

/// What `validate` found in a grouped_view or paired_view. Of `fault`, what is said of row offsets
/// is meant of slot offsets. Numbers of groups beyond the slot offsets are there where these are
/// sound.
struct grouped_report {
  fault found = fault::none;
  std::int64_t group = -1;  ///< where it was found first, or the slot offset's index, or the row
  std::int64_t slot = -1;   ///< of that group, or -1
  int place = -1;           ///< in that slot, or -1
  bool in_shared = false;   ///< the shared part of a paired_view is meant
  bool in_pairs = false;    ///< its pairs are meant, and by groups their halves
  int half = -1;            ///< of the group, or -1
  std::int64_t value = 0;   ///< what was found: the offset, column, length, number or extent
  std::int64_t limit = 0;   ///< what it should be, or stay below
  std::int64_t bad_slot_offsets = 0;
  std::int64_t bad_row_scales = 0;
  std::int64_t entries = 0;  ///< counted: values that are not the fill
  // Groups that have:
  std::int64_t bad_columns = 0;  ///< a column out of range, be it that of a place without entries
  std::int64_t skipped = 0;      ///< a place without entries in front of one with entries
  std::int64_t stray = 0;        ///< an entry in a row beyond the last
  std::int64_t descending = 0;   ///< a column below the one before it
  std::int64_t doubled = 0;      ///< a column equal to the one before it
  std::int64_t not_finite = 0;   ///< a value that is not finite

  [[nodiscard]] bool sound() const { return found == fault::none; }
};

/// Looks at all of `a` before any product, as for a csr_view: whether it is what grouped_view is
/// defined to be, and products of it right. Fences `exec`; allocates 8 bytes for 32 slots. Takes
/// one to two products of its own; where something is to be counted (a value that is not finite,
/// a fault), several times that and 16 bytes a group of rows.
/// Determinism: backend_to_backend.
///
/// \param[in] values  finite: infinities and NaN are faults too
/// \throws iso::out_of_memory
template <execution_space Exec, class Value, slot_offset Offset, int R>
grouped_report validate(Exec const& exec,
                        grouped_view<Value, Offset, R, typename Exec::memory_space> const& a,
                        csr_demands::of_values values = csr_demands::of_values::any);

/// The same of a paired_view: first of its shared part, then of its pairs and whether a column is
/// in both. Takes about two products of a csr_view, more where rows are unlike, and 16 bytes for
/// 32 slots; where something is to be counted, or a half has a slot without columns between others,
/// several times that and 32 bytes a group of rows. Determinism: backend_to_backend.
///
/// \param[in] values  finite: infinities and NaN are faults too
/// \throws iso::out_of_memory
template <execution_space Exec, class Value>
grouped_report validate(Exec const& exec, paired_view<Value, typename Exec::memory_space> const& a,
                        csr_demands::of_values values = csr_demands::of_values::any);

/// `problem (why) suggestion`; empty for a sound matrix. Determinism: backend_to_backend.
std::string sentence(grouped_report const& report);

}  // namespace iso::sparse

#include <iso/sparse/detail/validate_grouped_impl.hpp>
