// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "hdf5_header.hpp"
#include "image_header.hpp"
#include "memory.hpp"

#include <iso/core/error.hpp>
#include <iso/files/stack_file.hpp>

#include <fmt/core.h>
#include <hdf5.h>

#include <algorithm>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

constexpr char const* dataset_name = "projections";

template <class T>
hid_t native_type() {
  return sizeof(T) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

using handle = detail::hdf5_handle;

// One text: its type and its place in an attribute or dataset.
struct text_layout {
  handle type;
  handle space;

  text_layout(fs::path const& path, std::string const& text)
      : type(path, H5Tcopy(H5T_C_S1), H5Tclose, "cannot be written (HDF5 type)"),
        space(path, H5Screate(H5S_SCALAR), H5Sclose, "cannot be written (HDF5 space)") {
    H5Tset_size(type, text.empty() ? 1 : text.size());
    H5Tset_cset(type, H5T_CSET_UTF8);
  }
};

void write_attribute(fs::path const& path, hid_t object, char const* name,
                     std::string const& text) {
  text_layout const as(path, text);
  handle const attribute(path,
                         H5Acreate2(object, name, as.type, as.space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, "cannot be written (HDF5 attribute)");
  if (H5Awrite(attribute, as.type, text.empty() ? "" : text.data()) < 0) {
    refuse(path, fmt::format("cannot be written (attribute '{}')", name));
  }
}

// Text of any length lies in a dataset of its own.
void write_text_dataset(fs::path const& path, hid_t file, char const* name,
                        std::string const& text) {
  text_layout const as(path, text);
  handle const dataset(
      path, H5Dcreate2(file, name, as.type, as.space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
      H5Dclose, "cannot be written (HDF5 dataset)");
  if (H5Dwrite(dataset, as.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, text.empty() ? "" : text.data()) <
      0) {
    refuse(path, fmt::format("cannot be written (dataset '{}')", name));
  }
}

constexpr std::size_t most_text = std::size_t(1) << 28;

std::string text_of(fs::path const& path, char const* name, hid_t type, auto&& read) {
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) {
    refuse(path, fmt::format("'{}' is not a text of fixed length", name));
  }
  std::size_t const length = H5Tget_size(type);
  if (length > most_text) {
    refuse(path,
           fmt::format("'{}' claims {} characters (at most {} are read)", name, length, most_text));
  }
  std::string text(length, '\0');
  if (read(text.data()) < 0) {
    refuse(path, fmt::format("'{}' cannot be read (truncated or damaged)", name));
  }
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

std::string read_unit(fs::path const& path, hid_t file, hid_t dataset) {
  detail::check_attributes({path, file}, dataset);
  handle const attribute(path, H5Aopen(dataset, "unit", H5P_DEFAULT), H5Aclose,
                         "attribute 'unit' of /projections is missing");
  handle const type(path, H5Aget_type(attribute), H5Tclose, "attribute 'unit' has no type");
  return text_of(path, "unit", type, [&](char* to) { return H5Aread(attribute, type, to); });
}

std::string read_geometry_text(fs::path const& path, hid_t file) {
  detail::check_chunks({path, file}, "geometry");
  handle const dataset(path, H5Dopen2(file, "geometry", H5P_DEFAULT), H5Dclose,
                       "dataset /geometry is missing");
  handle const type(path, H5Dget_type(dataset), H5Tclose, "dataset /geometry has no type");
  return text_of(path, "geometry", type, [&](char* to) {
    return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
  });
}

std::array<std::int64_t, 3> read_extent(fs::path const& path, hid_t dataset) {
  handle const space(path, H5Dget_space(dataset), H5Sclose, "dataset /projections has no shape");
  if (int const rank = H5Sget_simple_extent_ndims(space); rank != 3) {
    refuse(path,
           fmt::format("dataset /projections has {} axes (3 are expected: views, u, v)", rank));
  }
  hsize_t n[3];
  H5Sget_simple_extent_dims(space, n, nullptr);
  return {std::int64_t(n[0]), std::int64_t(n[1]), std::int64_t(n[2])};
}

void check_storage(fs::path const& path, hid_t dataset, std::array<std::int64_t, 3> const& extent,
                   std::int64_t element) {
  detail::image_header claim;
  claim.extent = extent;
  claim.bytes_per_voxel = element;
  claim.data_file = path;
  claim.data_offset = -1;
  handle const creation(path, H5Dget_create_plist(dataset), H5Pclose,
                        "dataset /projections is damaged");
  hsize_t const stored = H5Dget_storage_size(dataset);
  __extension__ using wide = unsigned __int128;
  wide const needed = wide(extent[0]) * wide(extent[1]) * wide(extent[2]) * wide(element);
  wide const most = H5Pget_layout(creation) == H5D_CHUNKED ? wide(stored) * 1032 : wide(stored);
  // Extents of 2^40 each keep the product within 128 bits.
  bool const possible = std::all_of(extent.begin(), extent.end(), [](std::int64_t n) {
    return n >= 1 && n < std::int64_t(1) << 40;
  });
  if (!possible || needed > most) {
    refuse(path,
           fmt::format("dataset /projections claims {} x {} x {} values of {} bytes ({} bytes of "
                       "them are stored) fetch or write it again",
                       extent[0], extent[1], extent[2], element, stored));
  }
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS) {
    detail::check_length(path, claim);
  }
}

template <class T>
void check_finite(fs::path const& path, projection_stack<T> const& stack) {
  if (auto const at = detail::first_not_finite(stack.values, stack.extent)) {
    refuse(path,
           fmt::format("value at view {}, u {}, v {} of /projections is {} (every value must be "
                       "finite)",
                       at->place[0], at->place[1], at->place[2], at->value));
  }
}

}  // namespace

template <class T>
atomic_file prepare_stack(fs::path const& path, projection_stack<T> const& stack) {
  return detail::prepare_hdf5(path, stack.values.size() * sizeof(T), [&](hid_t file) {
    hsize_t const n[3] = {hsize_t(stack.extent[0]), hsize_t(stack.extent[1]),
                          hsize_t(stack.extent[2])};
    handle const space(path, H5Screate_simple(3, n, nullptr), H5Sclose,
                       "cannot be written (shape)");
    hid_t const stored = sizeof(T) == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    handle const dataset(
        path, H5Dcreate2(file, dataset_name, stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
        H5Dclose, "cannot be written (HDF5 dataset)");
    if (H5Dwrite(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, stack.values.data()) <
        0) {
      refuse(path, "cannot be written (is the disk full?)");
    }
    write_attribute(path, dataset, "unit", stack.unit);
    write_attribute(path, dataset, "axes", "view, u, v");
    write_text_dataset(path, file, "geometry", stack.geometry);
  });
}

template <class T>
projection_stack<T> read_stack(fs::path const& path) {
  auto const file = detail::open_hdf5(path);
  detail::check_chunks({path, file}, dataset_name);
  handle const dataset(path, H5Dopen2(file, dataset_name, H5P_DEFAULT), H5Dclose,
                       "dataset /projections is missing");
  handle const type(path, H5Dget_type(dataset), H5Tclose, "dataset /projections has no type");
  if (H5Tget_class(type) != H5T_FLOAT) {
    refuse(path,
           "dataset /projections holds no floating-point numbers (32 or 64 bits are expected)");
  }
  projection_stack<T> stack;
  stack.extent = read_extent(path, dataset);
  check_storage(path, dataset, stack.extent, std::int64_t(H5Tget_size(type)));
  stack.unit = read_unit(path, file, dataset);
  stack.geometry = read_geometry_text(path, file);
  auto const count = std::size_t(stack.extent[0] * stack.extent[1] * stack.extent[2]);
  detail::with_memory(path, "dataset /projections", count * sizeof(T),
                      [&] { stack.values.resize(count); });
  if (H5Dread(dataset, native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, stack.values.data()) < 0) {
    refuse(path, "dataset /projections cannot be read (truncated or damaged)");
  }
  check_finite(path, stack);
  return stack;
}

template atomic_file prepare_stack(fs::path const&, projection_stack<float> const&);
template atomic_file prepare_stack(fs::path const&, projection_stack<double> const&);
template projection_stack<float> read_stack(fs::path const&);
template projection_stack<double> read_stack(fs::path const&);

}  // namespace iso::files
