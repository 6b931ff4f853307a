// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/cases/scan_rows.hpp
//! Adds operations on scans at the sizes of sweeps.
#pragma once

#include <iso/cases/catalogue.hpp>
#include <iso/cases/inputs.hpp>
#include <iso/cases/table.hpp>
#include <iso/ct/geometry.hpp>

#include <cstdint>
#include <string_view>

namespace iso::cases {

/// Where a row stands in the table: n^3 voxels, n views of n^2 pixels by `scan`.
struct scan_row {
  std::string_view name;
  std::string_view about;
  ct::geometry (*scan)(std::int64_t n);
};

/// What an operation of n voxels along a side takes.
struct scan_model {
  double (*numbers)(double n);  ///< that it keeps
  double (*steps)(double n);    ///< innermost ones
  double (*extra_bytes)(double n) = [](double n) { return 64 * n * n; };
};

/// Adds an operation in float and in double.
/// \param shape  fixed where it is streamed: its limit of memory divides it
/// \param make   make(T(), n, scan) returns its case
template <class Make>
void add_scan_row(catalogue& all, scan_row const& row, shapes shape, scan_model const& model,
                  Make const& make) {
  all.add_sized({row.name,
                 row.about,
                 "voxels along each side",
                 16,
                 2048,
                 {number_type::f32, number_type::f64},
                 4,
                 shape,
                 model.numbers,
                 model.extra_bytes,
                 model.steps},
                [scan = row.scan, make](auto const& exec, point const& p) {
                  return in_precision(p, [&](auto number) {
                    return ready_of(exec, make(number, p.size, scan(p.size)).prepare(exec), p);
                  });
                });
}

/// How the row of a tilted scan is told, below that of the upright one.
inline constexpr char const* tilted_alike =
    "the same with a detector rolled by one degree and pitched by two";

}  // namespace iso::cases
