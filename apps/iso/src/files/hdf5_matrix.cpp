// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "hdf5_attributes.hpp"
#include "hdf5_header.hpp"
#include "image_header.hpp"
#include "memory.hpp"

#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/matrix_file.hpp>

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;
using handle = detail::hdf5_handle;

// IEEE binary16, as h5py describes float16: HDF5 has no name of its own for it.
handle half_type(fs::path const& path) {
  hid_t const type = H5Tcopy(H5T_IEEE_F32LE);
  bool const made = type >= 0 && H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 &&
                    H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, 15) >= 0;
  return {path, made ? type : -1, H5Tclose, "HDF5 refuses the type of half precision"};
}

using source = detail::hdf5_source;

handle open_dataset(source const& from, char const* name) {
  detail::check_chunks(from, name);
  return {
      from.path, H5Dopen2(from.file, name, H5P_DEFAULT), H5Dclose,
      fmt::format("dataset /{} is missing (data, indices, indptr and shape are expected)", name)};
}

/// The length of a dataset with one axis, of which the file holds every byte.
std::int64_t checked_length(source const& from, hid_t dataset, char const* name) {
  handle const space(from.path, H5Dget_space(dataset), H5Sclose,
                     fmt::format("dataset /{} has no shape", name));
  if (int const axes = H5Sget_simple_extent_ndims(space); axes != 1) {
    refuse(from.path, fmt::format("dataset /{} has {} axes (1 is expected)", name, axes));
  }
  hsize_t length = 0;
  H5Sget_simple_extent_dims(space, &length, nullptr);
  handle const type(from.path, H5Dget_type(dataset), H5Tclose,
                    fmt::format("dataset /{} has no type", name));
  handle const creation(from.path, H5Dget_create_plist(dataset), H5Pclose,
                        fmt::format("dataset /{} is damaged", name));
  __extension__ using wide = unsigned __int128;
  wide const needed = wide(length) * wide(H5Tget_size(type));
  hsize_t const stored = H5Dget_storage_size(dataset);
  bool const chunked = H5Pget_layout(creation) == H5D_CHUNKED;
  std::error_code unknown;
  auto const size = fs::file_size(from.path, unknown);
  // Compression packs 1032 to 1 at the most.
  if (needed > wide(stored) * (chunked ? 1032 : 1) || (!unknown && stored > size)) {
    refuse(from.path,
           fmt::format("dataset /{} claims {} numbers ({} bytes of them are stored) fetch or write "
                       "it again",
                       name, length, stored));
  }
  return std::int64_t(length);
}

// Bits of a floating-point number.
struct float_shape {
  std::size_t exponent = 0;
  std::size_t fraction = 0;
  bool usual = false;  // the exponent's bias is IEEE 754's

  explicit float_shape(hid_t type) {
    std::size_t sign = 0;
    std::size_t exponent_at = 0;
    std::size_t fraction_at = 0;
    usual = H5Tget_fields(type, &sign, &exponent_at, &exponent, &fraction_at, &fraction) >= 0 &&
            exponent > 0 && exponent < 32 &&
            H5Tget_ebias(type) == (std::size_t(1) << (exponent - 1)) - 1;
  }
  // Every number of this shape is one with so many bits.
  [[nodiscard]] bool within(std::size_t exponents, std::size_t fractions) const {
    return usual && exponent <= exponents && fraction <= fractions;
  }
};

// HDF5 makes the nearest that there is of numbers that its reader's type has no place for, and says
// nothing: a type must have the place.
void check_bits(source const& from, hid_t type, char const* name) {
  if (H5Tget_class(type) == H5T_INTEGER && H5Tget_precision(type) > 64) {
    refuse(from.path, fmt::format("dataset /{} holds whole numbers of {} bits (64 are read at the "
                                  "most) store them in fewer",
                                  name, H5Tget_precision(type)));
  }
  if (H5Tget_class(type) == H5T_FLOAT && !float_shape(type).within(15, LDBL_MANT_DIG)) {
    float_shape const shape(type);
    refuse(from.path, fmt::format("dataset /{} holds numbers of a kind of its own ({} bits of "
                                  "exponent, {} of fraction, which no type here has) store them as "
                                  "double",
                                  name, shape.exponent, shape.fraction));
  }
}

void expect_integers(source const& from, hid_t dataset, char const* name) {
  handle const type(from.path, H5Dget_type(dataset), H5Tclose,
                    fmt::format("dataset /{} has no type", name));
  if (H5Tget_class(type) != H5T_INTEGER) {
    refuse(from.path, fmt::format("dataset /{} holds no whole numbers (these are expected)", name));
  }
  check_bits(from, type, name);
}

template <class T>
std::vector<T> array_of(source const& from, char const* name, std::int64_t count) {
  std::vector<T> values;
  detail::with_memory(from.path, fmt::format("dataset /{}", name), std::uint64_t(count) * sizeof(T),
                      [&] { values.resize(std::size_t(count)); });
  return values;
}

template <class T>
std::vector<T> read_all(source const& from, hid_t dataset, char const* name, hid_t memory_type) {
  auto values = array_of<T>(from, name, checked_length(from, dataset, name));
  if (H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    refuse(from.path, fmt::format("dataset /{} cannot be read (truncated or damaged)", name));
  }
  return values;
}

// HDF5 makes 2^63 - 1 of every number beyond it: those are looked for as they are.
std::vector<std::int64_t> read_wide(source const& from, hid_t dataset, char const* name) {
  handle const type(from.path, H5Dget_type(dataset), H5Tclose,
                    fmt::format("dataset /{} has no type", name));
  auto values = read_all<std::int64_t>(from, dataset, name, H5T_NATIVE_INT64);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (H5Tget_sign(type) == H5T_SGN_NONE && std::count(values.begin(), values.end(), most) > 0) {
    auto const all = read_all<std::uint64_t>(from, dataset, name, H5T_NATIVE_UINT64);
    auto const bad = std::find_if(all.begin(), all.end(),
                                  [](std::uint64_t n) { return n >= std::uint64_t(most); });
    refuse(from.path, fmt::format("number {} of dataset /{} is {} (less than 2^63 is expected)",
                                  bad - all.begin(), name, *bad));
  }
  return values;
}

std::vector<std::int64_t> read_integers(source const& from, char const* name) {
  handle const dataset = open_dataset(from, name);
  expect_integers(from, dataset, name);
  return read_wide(from, dataset, name);
}

std::vector<std::int32_t> read_columns(source const& from, std::int64_t columns) {
  handle const dataset = open_dataset(from, "indices");
  expect_integers(from, dataset, "indices");
  handle const type(from.path, H5Dget_type(dataset), H5Tclose, "dataset /indices has no type");
  if (H5Tget_precision(type) < (H5Tget_sign(type) == H5T_SGN_NONE ? 32 : 33)) {
    return read_all<std::int32_t>(from, dataset, "indices", H5T_NATIVE_INT32);
  }
  auto const wide = read_wide(from, dataset, "indices");
  auto narrow = array_of<std::int32_t>(from, "indices", std::int64_t(wide.size()));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wide[i] < 0 || wide[i] >= columns) {
      refuse(from.path, fmt::format("entry {} is in column {} (from 0 to {} of {} columns)", i,
                                    wide[i], columns - 1, columns));
    }
    narrow[i] = std::int32_t(wide[i]);
  }
  return narrow;
}

// Numbers of a type that has more digits than a double, every one of which must be a double.
template <class T>
std::vector<double> read_exactly(source const& from, hid_t dataset, char const* name, hid_t type) {
  auto const wide = read_all<T>(from, dataset, name, type);
  auto values = array_of<double>(from, name, std::int64_t(wide.size()));
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (!detail::is_double(wide[i])) {
      refuse(from.path, fmt::format("number {} of dataset /{} is {} (no double has this value) "
                                    "round the numbers first",
                                    i, name, wide[i]));
    }
    values[i] = double(wide[i]);
  }
  return values;
}

std::vector<double> read_doubles(source const& from, hid_t dataset, char const* name) {
  handle const type(from.path, H5Dget_type(dataset), H5Tclose,
                    fmt::format("dataset /{} has no type", name));
  auto const kind = H5Tget_class(type);
  if (kind != H5T_FLOAT && kind != H5T_INTEGER) {
    refuse(from.path,
           fmt::format("dataset /{} holds no numbers (half, float, double or integers)", name));
  }
  check_bits(from, type, name);
  if (kind == H5T_INTEGER && H5Tget_precision(type) > 53) {
    return H5Tget_sign(type) == H5T_SGN_NONE
               ? read_exactly<std::uint64_t>(from, dataset, name, H5T_NATIVE_UINT64)
               : read_exactly<std::int64_t>(from, dataset, name, H5T_NATIVE_INT64);
  }
  if (kind == H5T_FLOAT && !float_shape(type).within(11, 52)) {
    return read_exactly<long double>(from, dataset, name, H5T_NATIVE_LDOUBLE);
  }
  return read_all<double>(from, dataset, name, H5T_NATIVE_DOUBLE);
}

host_matrix::value_array read_values(source const& from) {
  handle const dataset = open_dataset(from, "data");
  handle const type(from.path, H5Dget_type(dataset), H5Tclose, "dataset /data has no type");
  auto const kind = H5Tget_class(type);
  if (kind == H5T_FLOAT && float_shape(type).within(5, 10)) {
    handle const half = half_type(from.path);
    return read_all<std::uint16_t>(from, dataset, "data", half);
  }
  if (kind == H5T_FLOAT && float_shape(type).within(8, 23)) {
    return read_all<float>(from, dataset, "data", H5T_NATIVE_FLOAT);
  }
  return read_doubles(from, dataset, "data");
}

void write_array(fs::path const& path, hid_t file, char const* name, hid_t stored, hid_t memory,
                 void const* values, std::size_t count) {
  hsize_t const length = count;
  handle const space(path, H5Screate_simple(1, &length, nullptr), H5Sclose,
                     "cannot be written (shape)");
  handle const dataset(path,
                       H5Dcreate2(file, name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                       H5Dclose, "cannot be written (HDF5 dataset)");
  if (count > 0 && H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) {
    refuse(path, fmt::format("dataset /{} cannot be written (is the disk full?)", name));
  }
}

void write_values(fs::path const& path, hid_t file, host_matrix const& matrix) {
  if (auto const* const half = std::get_if<host_matrix::half_bits>(&matrix.values)) {
    handle const type = half_type(path);
    write_array(path, file, "data", type, type, half->data(), half->size());
  } else if (auto const* const single = std::get_if<std::vector<float>>(&matrix.values)) {
    write_array(path, file, "data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, single->data(),
                single->size());
  } else {
    auto const& wide = std::get<std::vector<double>>(matrix.values);
    write_array(path, file, "data", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, wide.data(), wide.size());
  }
}

void check_shape(source const& from, std::vector<std::int64_t> const& shape) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most) {
    auto const shown = shape.begin() + std::min<std::ptrdiff_t>(std::ssize(shape), 4);
    refuse(from.path, fmt::format("dataset /shape holds {} numbers, {} (two, rows and columns, are "
                                  "expected, each from 0 to {})",
                                  shape.size(), fmt::join(shape.begin(), shown, ", "), most));
  }
}

}  // namespace

host_matrix read_hdf5_matrix(fs::path const& path) {
  auto const file = detail::open_hdf5(path);
  source const from{path, file};
  host_matrix matrix;
  matrix.notes = detail::read_notes(from);
  matrix.origin = path;
  auto const format = matrix.notes.find("format");
  if (format == matrix.notes.end()) {
    refuse(path, "attribute 'format' is missing, or no text ('csr' is expected)");
  }
  if (format->second != "csr") {
    refuse(path, fmt::format("attribute 'format' is '{}' ('csr' is expected) convert it with "
                             "scipy.sparse.csr_matrix",
                             format->second));
  }
  matrix.notes.erase("format");
  auto const shape = read_integers(from, "shape");
  check_shape(from, shape);
  matrix.rows = shape[0];
  matrix.columns = shape[1];
  matrix.offsets = read_integers(from, "indptr");
  matrix.indices = read_columns(from, matrix.columns);
  matrix.values = read_values(from);
  check_matrix(path, matrix);
  return matrix;
}

atomic_file prepare_hdf5_matrix(fs::path const& path, host_matrix const& matrix) {
  check_matrix(path, matrix);
  auto const value_bytes =
      std::visit([](auto const& all) { return all.size() * sizeof(all[0]); }, matrix.values);
  std::uintmax_t const bytes = 8 * matrix.offsets.size() + 4 * matrix.indices.size() + value_bytes;
  return detail::prepare_hdf5(path, bytes, [&](hid_t file) {
    std::int64_t const shape[2] = {matrix.rows, matrix.columns};
    write_array(path, file, "shape", H5T_STD_I64LE, H5T_NATIVE_INT64, shape, 2);
    write_array(path, file, "indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, matrix.offsets.data(),
                matrix.offsets.size());
    write_array(path, file, "indices", H5T_STD_I32LE, H5T_NATIVE_INT32, matrix.indices.data(),
                matrix.indices.size());
    write_values(path, file, matrix);
    source const to{path, file};
    for (auto const& [name, text] : matrix.notes) {
      if (name != "format") {
        detail::write_note(to, name, text);
      }
    }
    detail::write_note(to, "format", "csr");
    if (!matrix.origin.empty()) {
      auto const origin = detail::open_hdf5(matrix.origin);
      detail::copy_attributes({matrix.origin, origin}, to);
    }
  });
}

void check_vector_ending(fs::path const& path) {
  if (!detail::is_hdf5_path(path)) {
    refuse(path, fmt::format("ending '{}' is not known for a vector (.h5, .hdf5)",
                             path.extension().string()));
  }
}

std::vector<double> read_vector(fs::path const& path) {
  check_vector_ending(path);
  auto const file = detail::open_hdf5(path);
  source const from{path, file};
  detail::check_chunks(from, "values");
  handle const dataset(path, H5Dopen2(file, "values", H5P_DEFAULT), H5Dclose,
                       "dataset /values is missing (a vector is expected)");
  auto values = read_doubles(from, dataset, "values");
  auto const bad =
      std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    refuse(path, fmt::format("number {} of dataset /values is {} (finite ones are expected)",
                             bad - values.begin(), *bad));
  }
  return values;
}

atomic_file prepare_vector(fs::path const& path, std::vector<double> const& values) {
  check_vector_ending(path);
  return detail::prepare_hdf5(path, 8 * values.size(), [&](hid_t file) {
    write_array(path, file, "values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(),
                values.size());
  });
}

}  // namespace iso::files
