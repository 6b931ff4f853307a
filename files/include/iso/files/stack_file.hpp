// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/stack_file.hpp
//! Reads and writes stacks of projections as HDF5: docs/formats.md.
#pragma once

#include <iso/files/atomic_file.hpp>
#include <iso/files/volume_file.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::files {

/// Projections with their unit and geometry.
template <class T>
struct projection_stack {
  std::array<std::int64_t, 3> extent{};  ///< views, u, v
  std::vector<T> values;                 ///< [views, u, v], v fastest
  std::string unit = "1";                ///< of a value: "1" for line integrals of attenuation
  std::string geometry{};                ///< the geometry file's JSON text; may be empty
};

/// Readings of 16 bits as files store them: each stands for offset + scale times the integer, by
/// one fma in double that is rounded once, as iso::ct::stored_readings::number.
struct stored_stack {
  std::array<std::int64_t, 3> extent{};  ///< views, u, v
  std::vector<std::uint16_t> values;     ///< [views, u, v], v fastest
  double scale = 1;
  double offset = 0;
};

/// Returns true for the endings of stacks: .h5 and .hdf5, in capitals too.
bool is_stack_path(std::filesystem::path const& path);

/// Prepares a file, which a commit puts in place, with dataset /projections [views, u, v], its
/// attribute `unit`, and dataset /geometry; T is float or double and is kept.
/// \param control  asked between parts
/// \throws iso::file_error
/// \throws iso::cancelled  as job::step; nothing is left
template <class T>
[[nodiscard]] atomic_file prepare_stack(std::filesystem::path const& path,
                                        projection_stack<T> const& stack, job const& control = {});

/// Does the same for readings in memory of the caller.
/// \param[in] stack     whose values are not looked at
/// \param[in] readings  [views, u, v], v fastest
/// \throws iso::invalid_argument  another number of readings than the extent's; else as
/// prepare_stack
template <class T>
[[nodiscard]] atomic_file prepare_readings(std::filesystem::path const& path,
                                           projection_stack<T> const& stack,
                                           std::span<std::type_identity_t<T> const> readings,
                                           job const& control = {});

/// Makes the file of a stack, whose values are not looked at, under its temporary name and without
/// them. Processes put views in, one process after the other (write_stack_views), and who made it
/// commits it.
/// \throws iso::invalid_argument  an extent below 1
/// \throws iso::file_error
template <class T>
[[nodiscard]] atomic_file prepare_stack_frame(std::filesystem::path const& path,
                                              projection_stack<T> const& stack);

/// Writes some views, those from `first_view` on, into a file that prepare_stack_frame made, here
/// or in another process, while no other has it open, and has them reach the disk.
/// \param path       of the stack, for messages
/// \param temporary  atomic_file::temporary()
/// \param extent     of the stack: views, u, v
/// \param readings   [views, u, v], v fastest
/// \throws iso::invalid_argument  no whole views, or some that the stack has not
/// \throws iso::file_error        the file is not there, or the disk does not take them
/// \throws iso::cancelled         as job::step; the file is then of no use
template <class T>
void write_stack_views(std::filesystem::path const& path, std::filesystem::path const& temporary,
                       std::array<std::int64_t, 3> const& extent, std::int64_t first_view,
                       std::span<T const> readings, job const& control = {});

/// The treatment of a stack's /geometry: it is read, or, where another geometry is known, left
/// alone whatever it is.
enum class stack_geometry { read, leave };

/// Reads it back; a file in the other precision is converted. Integers of 16 bits without sign
/// become offset + scale times the integer by the attributes of these names, 0 and 1 where there is
/// none: one fma in double, rounded once, as iso::ct::decode_readings. `unit` and `geometry` are
/// empty where the file has none, or `geometry` is left. Text may be of fixed or variable length.
/// Values where `mask` is 0 are not looked at and become 0; a mask of another size than the file's
/// masks none.
/// \throws iso::file_error     not HDF5, truncated, changed while it is read, no such dataset,
/// wrong
///                             rank or type, a value that is not finite, unless it need not be
/// \throws iso::out_of_memory  more than this machine has
/// \throws iso::cancelled      as job::step; `control` is asked between parts
template <class T>
projection_stack<T> read_stack(std::filesystem::path const& path,
                               stack_geometry geometry = stack_geometry::read,
                               std::vector<float> const& mask = {},
                               finite_values values = finite_values::required,
                               job const& control = {});

/// Reads the same into memory that is given, such as a mapped_array: one number a reading, as many
/// as read_stack_header says. Returns it without values.
/// \param[out] readings  [views, u, v], v fastest; anything where it throws
/// \throws iso::invalid_argument  another number of readings; else as read_stack
template <class T>
projection_stack<T> read_readings(std::filesystem::path const& path, std::span<T> readings,
                                  stack_geometry geometry = stack_geometry::read,
                                  finite_values values = finite_values::required,
                                  job const& control = {});

/// Reads integers of 16 bits as they are stored: half the memory of floats. Nothing where the file
/// has other numbers, or some integer stands for no finite float.
/// \throws iso::file_error     as read_stack, but for what values are
/// \throws iso::out_of_memory  more than this machine has
/// \throws iso::cancelled      as job::step; `control` is asked between parts
std::optional<stored_stack> read_stored_stack(std::filesystem::path const& path,
                                              job const& control = {});

/// Reads some views of the same, those from `first_view` on, and of the file the pieces in which
/// they lie (views_of_piece). Returns the bytes of readings that these have.
/// \param[out] readings  [views, u, v], v fastest; anything where it throws
/// \throws iso::invalid_argument  no whole views, or some that the stack has not; else as
///                                read_stack, of these views: that the largest of doubles is too
///                                small for floats is not found
template <class T>
std::int64_t read_views(std::filesystem::path const& path, std::int64_t first_view,
                        std::span<T> readings, finite_values values = finite_values::required,
                        job const& control = {});

/// Returns how many views lie in a piece of the file, which is read, and unpacked, as one; 1 where
/// readings do not lie in pieces.
/// \throws iso::file_error  as read_stack_header
std::int64_t views_of_piece(std::filesystem::path const& path);

/// Reads the same without values: extent, unit and geometry.
/// \throws iso::file_error  as read_stack, but for what values are
projection_stack<float> read_stack_header(std::filesystem::path const& path,
                                          stack_geometry geometry = stack_geometry::read);

}  // namespace iso::files
