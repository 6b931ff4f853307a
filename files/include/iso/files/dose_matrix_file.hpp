// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/dose_matrix_file.hpp
//! Turns a file into a matrix for products. Programs that include it link iso::iso beside
//! iso::files.
#pragma once

#include <iso/files/matrix_file.hpp>
#include <iso/sparse/dose_matrix.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <filesystem>
#include <type_traits>
#include <variant>
#include <vector>

namespace iso::files {

/// Returns a matrix that was read, ready for products, with values of the type that the file has
/// unless `options` round them. Copies the arrays: `matrix` may end. Fences `exec`.
/// Determinism: backend_to_backend, of one kind of processor.
/// \throws iso::invalid_argument  as the constructor of dose_matrix
/// \throws iso::out_of_memory
/// \throws iso::cancelled         as the constructor of dose_matrix
template <execution_space Exec>
sparse::dose_matrix<typename Exec::memory_space> make_dose_matrix(
    Exec const& exec, host_matrix const& matrix, sparse::dose_matrix_options const& options = {},
    job const& control = {}) {
  return std::visit(
      [&]<class Stored>(std::vector<Stored> const& stored) {
        using value = std::conditional_t<std::is_same_v<Stored, std::uint16_t>, half, Stored>;
        static_assert(sizeof(value) == sizeof(Stored));
        Kokkos::View<value const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const values(
            reinterpret_cast<value const*>(stored.data()), stored.size());
        return sparse::dose_matrix<typename Exec::memory_space>(
            exec,
            sparse::csr_arrays(matrix.rows, matrix.columns, matrix.offsets, matrix.indices, values),
            options, control);
      },
      matrix.values);
}

/// Reads the matrix [rows, columns] of a file by `read_matrix`, ready for products on `exec`. The
/// result owns all of its memory; the arrays of the file stand in host memory until it is made.
/// Determinism: backend_to_backend, of one kind of processor.
/// \throws iso::file_error        as read_matrix
/// \throws iso::invalid_argument  as the constructor of dose_matrix
/// \throws iso::out_of_memory     for the file's arrays or for the matrix
/// \throws iso::cancelled         as the constructor of dose_matrix
template <execution_space Exec>
sparse::dose_matrix<typename Exec::memory_space> read_dose_matrix(
    Exec const& exec, std::filesystem::path const& path,
    sparse::dose_matrix_options const& options = {}, job const& control = {}) {
  return make_dose_matrix(exec, read_matrix(path), options, control);
}

}  // namespace iso::files
