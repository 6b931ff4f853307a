// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "hdf5.hpp"

#include <iso/files/matrix_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::hdf5_dataset;
using detail::refuse;
using handle = detail::hdf5_handle;

// What this program says of a matrix; other attributes are their owner's, and are left.
constexpr std::array note_names = {"rows", "columns", "unit", "source"};

// IEEE binary16, as h5py describes float16: HDF5 has no name of its own for it.
handle half_type(fs::path const& path) {
  hid_t const type = H5Tcopy(H5T_IEEE_F32LE);
  bool const made = type >= 0 && H5Tset_fields(type, 15, 10, 5, 0, 10) >= 0 &&
                    H5Tset_size(type, 2) >= 0 && H5Tset_ebias(type, 15) >= 0;
  return {path, made ? type : -1, H5Tclose,
          "cannot be written (HDF5 refuses the type of half precision); store values as float"};
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
void check_bits(hdf5_dataset const& set) {
  if (set.kind() == H5T_INTEGER && H5Tget_precision(set.type()) > 64) {
    refuse(set.path(), fmt::format("dataset /{} holds whole numbers of {} bits (64 are read at the "
                                   "most); store them in fewer",
                                   set.name(), H5Tget_precision(set.type())));
  }
  float_shape const shape(set.type());
  if (set.kind() == H5T_FLOAT && !shape.within(15, LDBL_MANT_DIG)) {
    refuse(set.path(),
           fmt::format("dataset /{} holds numbers of a kind of its own ({} bits of exponent, {} of "
                       "fraction, which no type here has); store them as double",
                       set.name(), shape.exponent, shape.fraction));
  }
}

bool is_signed(hdf5_dataset const& set) { return H5Tget_sign(set.type()) != H5T_SGN_NONE; }

void expect_integers(hdf5_dataset const& set) {
  if (set.kind() != H5T_INTEGER) {
    refuse(
        set.path(),
        fmt::format("dataset /{} holds no whole numbers (these are expected); store integers in it",
                    set.name()));
  }
  check_bits(set);
}

// HDF5 makes 2^63 - 1 of every number beyond it: those are looked for as they are.
std::vector<std::int64_t> read_wide(hdf5_dataset const& set, job const& asked) {
  expect_integers(set);
  auto values = set.read<std::int64_t>(H5T_NATIVE_INT64, asked);
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  if (!is_signed(set) && std::count(values.begin(), values.end(), most) > 0) {
    auto const all = set.read<std::uint64_t>(H5T_NATIVE_UINT64, asked);
    auto const bad = std::find_if(all.begin(), all.end(),
                                  [](std::uint64_t n) { return n >= std::uint64_t(most); });
    refuse(set.path(), fmt::format("number {} of dataset /{} is {} (less than 2^63 is expected); "
                                   "write it again with offsets of 64 bits",
                                   bad - all.begin(), set.name(), *bad));
  }
  return values;
}

std::vector<std::int32_t> read_columns(hdf5_dataset const& set, std::int64_t columns,
                                       job const& asked) {
  expect_integers(set);
  if (H5Tget_precision(set.type()) < (is_signed(set) ? 33 : 32)) {
    return set.read<std::int32_t>(H5T_NATIVE_INT32, asked);
  }
  auto const wide = read_wide(set, asked);
  auto narrow = set.array<std::int32_t>();
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (wide[i] < 0 || wide[i] >= columns) {
      refuse(set.path(), fmt::format("entry {} is in column {} (must be from 0 to {} of {} "
                                     "columns); write columns counted from 0, or a larger shape",
                                     i, wide[i], columns - 1, columns));
    }
    narrow[i] = std::int32_t(wide[i]);
  }
  return narrow;
}

// Numbers of a type that has more digits than a double, every one of which must be a double.
template <class T>
std::vector<double> read_exactly(hdf5_dataset const& set, hid_t type, job const& asked) {
  auto const wide = set.read<T>(type, asked);
  auto values = set.array<double>();
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (!detail::is_double(wide[i])) {
      refuse(set.path(), fmt::format("number {} of dataset /{} is {} (no double has this value); "
                                     "round the numbers to doubles first",
                                     i, set.name(), wide[i]));
    }
    values[i] = double(wide[i]);
  }
  return values;
}

std::vector<double> read_doubles(hdf5_dataset const& set, job const& asked) {
  if (set.kind() != H5T_FLOAT && set.kind() != H5T_INTEGER) {
    refuse(set.path(), fmt::format("dataset /{} holds no numbers (half, float, double or integers "
                                   "are read); store one of these",
                                   set.name()));
  }
  check_bits(set);
  if (set.kind() == H5T_INTEGER && H5Tget_precision(set.type()) > 53) {
    return is_signed(set) ? read_exactly<std::int64_t>(set, H5T_NATIVE_INT64, asked)
                          : read_exactly<std::uint64_t>(set, H5T_NATIVE_UINT64, asked);
  }
  if (set.kind() == H5T_FLOAT && !float_shape(set.type()).within(11, 52)) {
    return read_exactly<long double>(set, H5T_NATIVE_LDOUBLE, asked);
  }
  return set.read<double>(H5T_NATIVE_DOUBLE, asked);
}

host_matrix::value_array read_values(hdf5_dataset const& set, job const& asked) {
  if (set.kind() == H5T_FLOAT && float_shape(set.type()).within(5, 10)) {
    return set.read<std::uint16_t>(half_type(set.path()), asked);
  }
  if (set.kind() == H5T_FLOAT && float_shape(set.type()).within(8, 23)) {
    return set.read<float>(H5T_NATIVE_FLOAT, asked);
  }
  return read_doubles(set, asked);
}

void write_array(fs::path const& path, hid_t file, char const* name, hid_t stored, hid_t memory,
                 void const* values, std::size_t count, job const& asked) {
  hsize_t const length = count;
  detail::write_dataset(path, file, name, {&length, 1}, stored, memory, values, asked);
}

void write_values(fs::path const& path, hid_t file, host_matrix const& matrix, job const& asked) {
  if (auto const* const half = std::get_if<host_matrix::half_bits>(&matrix.values)) {
    handle const type = half_type(path);
    write_array(path, file, "data", type, type, half->data(), half->size(), asked);
  } else if (auto const* const single = std::get_if<std::vector<float>>(&matrix.values)) {
    write_array(path, file, "data", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, single->data(),
                single->size(), asked);
  } else {
    auto const& wide = std::get<std::vector<double>>(matrix.values);
    write_array(path, file, "data", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, wide.data(), wide.size(),
                asked);
  }
}

void check_shape(fs::path const& path, std::vector<std::int64_t> const& shape) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most) {
    auto const shown = shape.begin() + std::min<std::ptrdiff_t>(std::ssize(shape), 4);
    refuse(path, fmt::format("dataset /shape holds {} numbers, {} (two, rows and columns, are "
                             "expected, each from 0 to {}); write these two",
                             shape.size(), fmt::join(shape.begin(), shown, ", "), most));
  }
}

}  // namespace

host_matrix read_hdf5_matrix(fs::path const& path, job const& control) {
  job const asked{{}, control.cancelled};
  auto const file = detail::open_hdf5(path);
  handle const root(path, H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose,
                    "has no root group (it is damaged); fetch or write it again");
  auto const format = detail::read_attribute(path, root, "format");
  if (!format) {
    refuse(path,
           "attribute 'format' is missing, or no text ('csr' is expected); write it with the "
           "matrix in that format");
  }
  if (*format != "csr") {
    refuse(path, fmt::format("attribute 'format' is '{}' ('csr' is expected); convert it with "
                             "scipy.sparse.csr_matrix",
                             shortened(*format, 40)));
  }
  host_matrix matrix;
  for (auto const* const name : note_names) {
    if (auto text = detail::read_attribute(path, root, name)) {
      matrix.notes.emplace(name, std::move(*text));
    }
  }
  auto const open = [&](char const* name) { return hdf5_dataset(path, file, name, 1); };
  auto const shape = read_wide(open("shape"), asked);
  check_shape(path, shape);
  matrix.rows = shape[0];
  matrix.columns = shape[1];
  matrix.offsets = read_wide(open("indptr"), asked);
  matrix.indices = read_columns(open("indices"), matrix.columns, asked);
  matrix.values = read_values(open("data"), asked);
  check_matrix(path, matrix, asked);
  return matrix;
}

atomic_file prepare_hdf5_matrix(fs::path const& path, host_matrix const& matrix,
                                job const& control) {
  job const asked{{}, control.cancelled};
  check_matrix(path, matrix, asked);
  auto const value_bytes =
      std::visit([](auto const& all) { return all.size() * sizeof(all[0]); }, matrix.values);
  std::uintmax_t const bytes = 8 * matrix.offsets.size() + 4 * matrix.indices.size() + value_bytes;
  return detail::prepare_hdf5(path, bytes, [&](hid_t file) {
    std::int64_t const shape[2] = {matrix.rows, matrix.columns};
    write_array(path, file, "shape", H5T_STD_I64LE, H5T_NATIVE_INT64, shape, 2, asked);
    write_array(path, file, "indptr", H5T_STD_I64LE, H5T_NATIVE_INT64, matrix.offsets.data(),
                matrix.offsets.size(), asked);
    write_array(path, file, "indices", H5T_STD_I32LE, H5T_NATIVE_INT32, matrix.indices.data(),
                matrix.indices.size(), asked);
    write_values(path, file, matrix, asked);
    for (auto const& [name, text] : matrix.notes) {
      detail::write_attribute(path, file, name.c_str(), text);
    }
    detail::write_attribute(path, file, "format", "csr");
  });
}

void check_vector_ending(fs::path const& path) {
  if (!detail::is_hdf5_path(path)) {
    refuse(
        path,
        fmt::format(
            "ending '{}' is not known for a vector (.h5 and .hdf5 are); name it with one of these",
            path.extension().string()));
  }
}

std::vector<double> read_vector(fs::path const& path, job const& control) {
  check_vector_ending(path);
  auto const file = detail::open_hdf5(path);
  auto values = read_doubles(hdf5_dataset(path, file, "values", 1), job{{}, control.cancelled});
  auto const bad =
      std::find_if(values.begin(), values.end(), [](double x) { return !std::isfinite(x); });
  if (bad != values.end()) {
    refuse(path, fmt::format("number {} of dataset /values is {} (every value must be finite); "
                             "replace it by a number",
                             bad - values.begin(), *bad));
  }
  return values;
}

atomic_file prepare_vector(fs::path const& path, std::vector<double> const& values,
                           job const& control) {
  check_vector_ending(path);
  return detail::prepare_hdf5(path, 8 * values.size(), [&](hid_t file) {
    write_array(path, file, "values", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, values.data(),
                values.size(), job{{}, control.cancelled});
  });
}

}  // namespace iso::files
