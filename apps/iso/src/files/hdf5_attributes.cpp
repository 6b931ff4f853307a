// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_attributes.hpp"
#include "hdf5_header.hpp"
#include "hdf5_heap.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

namespace iso::files::detail {
namespace {

using handle = hdf5_handle;

constexpr std::size_t most_bytes = std::size_t(1) << 28;

std::string name_of(hid_t attribute) {
  auto const length = H5Aget_name(attribute, 0, nullptr);
  std::string name(std::size_t(std::max<ssize_t>(length, 0)), '\0');
  H5Aget_name(attribute, name.size() + 1, name.data());
  return name;
}

/// Calls f(attribute, its name) for every attribute of `object`.
template <class F>
void for_each_attribute(hdf5_source const& from, hid_t object, F const& f) {
  if (auto const names = names_in_header(from, object)) {
    for (auto const& name : *names) {
      handle const attribute(from.path, H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose,
                             "an attribute cannot be opened (damaged)");
      f(attribute, name);
    }
    return;
  }
  H5O_info_t facts;
  if (H5Oget_info2(object, &facts, H5O_INFO_NUM_ATTRS) < 0) {
    refuse(from.path, "its attributes cannot be read (damaged)");
  }
  for (hsize_t i = 0; i < facts.num_attrs; ++i) {
    handle const attribute(
        from.path,
        H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
        H5Aclose, "an attribute cannot be opened (damaged)");
    f(attribute, name_of(attribute));
  }
}

std::string read_text(hdf5_source const& from, hdf5_attribute const& source) {
  auto const& [object, attribute, name] = source;
  handle const type(from.path, H5Aget_type(attribute), H5Tclose,
                    fmt::format("attribute '{}' has no type", name));
  if (H5Tget_class(type) != H5T_STRING) {
    return {};
  }
  if (H5Tis_variable_str(type) > 0) {
    check_in_heap(from, source);
    char* text = nullptr;
    handle const memory(from.path, H5Tcopy(type), H5Tclose, "HDF5 refuses a type of text");
    if (H5Aread(attribute, memory, &text) < 0) {
      refuse(from.path, fmt::format("attribute '{}' cannot be read (damaged)", name));
    }
    std::string result(text == nullptr ? "" : text);
    H5free_memory(text);
    return result;
  }
  std::size_t const length = H5Tget_size(type);
  if (length > std::size_t(1) << 20) {
    refuse(from.path, fmt::format("attribute '{}' claims {} characters (damaged)", name, length));
  }
  std::string text(length, '\0');
  if (H5Aread(attribute, type, text.data()) < 0) {
    refuse(from.path, fmt::format("attribute '{}' cannot be read (damaged)", name));
  }
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

void copy_attribute(hdf5_source const& from, hdf5_attribute const& source, hdf5_source const& to,
                    hid_t object) {
  auto const& [owner, attribute, name] = source;
  auto const damaged = fmt::format("attribute '{}' is damaged", name);
  handle const type(from.path, H5Aget_type(attribute), H5Tclose, damaged);
  handle const space(from.path, H5Aget_space(attribute), H5Sclose, damaged);
  if (H5Tdetect_class(type, H5T_REFERENCE) > 0) {
    return;
  }
  auto const count = H5Sget_simple_extent_npoints(space);
  auto const size = H5Tget_size(type);
  if (count < 0 || size == 0 || std::uint64_t(count) > most_bytes / size) {
    refuse(from.path, damaged);
  }
  handle const made(to.path,
                    H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                    H5Aclose, "cannot be written (HDF5 attribute)");
  check_in_heap(from, source);
  std::vector<char> bytes(std::size_t(count) * size);
  if (bytes.empty()) {
    return;
  }
  if (H5Aread(attribute, type, bytes.data()) < 0) {
    refuse(from.path, damaged);
  }
  auto const written = H5Awrite(made, type, bytes.data());
  H5Dvlen_reclaim(type, space, H5P_DEFAULT, bytes.data());
  if (written < 0) {
    refuse(to.path, fmt::format("cannot be written (attribute '{}')", name));
  }
}

}  // namespace

std::map<std::string, std::string> read_notes(hdf5_source const& from) {
  std::map<std::string, std::string> notes;
  handle const root(from.path, H5Gopen2(from.file, "/", H5P_DEFAULT), H5Gclose,
                    "has no root group (damaged)");
  for_each_attribute(from, root, [&](hid_t attribute, std::string const& name) {
    handle const space(from.path, H5Aget_space(attribute), H5Sclose, "an attribute is damaged");
    if (H5Sget_simple_extent_npoints(space) == 1) {
      auto const text = read_text(from, {root, attribute, name});
      if (!text.empty()) {
        notes[name] = text;
      }
    }
  });
  return notes;
}

void write_note(hdf5_source const& to, std::string const& name, std::string const& text) {
  handle const type(to.path, H5Tcopy(H5T_C_S1), H5Tclose, "cannot be written (HDF5 type)");
  H5Tset_size(type, H5T_VARIABLE);  // what h5py reads as str, not bytes
  H5Tset_cset(type, H5T_CSET_UTF8);
  handle const space(to.path, H5Screate(H5S_SCALAR), H5Sclose, "cannot be written (HDF5 space)");
  handle const attribute(to.path,
                         H5Acreate2(to.file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, "cannot be written (HDF5 attribute)");
  char const* const start = text.c_str();
  if (H5Awrite(attribute, type, &start) < 0) {
    refuse(to.path, fmt::format("cannot be written (attribute '{}')", name));
  }
}

void copy_attributes(hdf5_source const& from, hdf5_source const& to) {
  for (auto const* const name : {"/", "/data", "/indices", "/indptr", "/shape"}) {
    handle const source(from.path, H5Oopen(from.file, name, H5P_DEFAULT), H5Oclose,
                        fmt::format("{} is missing", name));
    handle const object(to.path, H5Oopen(to.file, name, H5P_DEFAULT), H5Oclose,
                        "cannot be written (HDF5 object)");
    for_each_attribute(from, source, [&](hid_t attribute, std::string const& title) {
      if (H5Aexists(object, title.c_str()) == 0) {
        copy_attribute(from, {source, attribute, title}, to, object);
      }
    });
  }
}

}  // namespace iso::files::detail
