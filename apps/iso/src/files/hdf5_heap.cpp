// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_heap.hpp"
#include "hdf5_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

namespace iso::files::detail {
namespace {

using handle = hdf5_handle;

/// Sizes of a collection's objects by their number; none where anything of it is wrong.
std::map<std::uint64_t, std::uint64_t> read_collection(raw_file& file, std::uint64_t address) {
  auto head = file.at(address, 16);
  bool const begins = head.text(4) == "GCOL" && head.number(1) == 1;
  head.text(3);
  auto const size = head.number(8);
  if (!begins || size < 16) {
    return {};
  }
  auto body = file.at(address, size);
  body.text(16);
  std::map<std::uint64_t, std::uint64_t> sizes;
  // Less than a header's bytes at the end are free.
  while (body.left() >= 16) {
    auto const number = body.number(2);
    body.text(6);
    auto const bytes = body.number(8);
    bool const free = number == 0;
    if (bytes > size || (free && bytes < 16) || !sizes.try_emplace(number, bytes).second) {
      return {};
    }
    body.text(free ? bytes - 16 : (bytes + 7) / 8 * 8);
  }
  sizes.erase(0);
  return body.good() ? sizes : decltype(sizes)();
}

/// How many of the attribute's first values lie in a sound heap, at their full length.
std::uint64_t sound_values(raw_file& file, raw_attribute& attribute) {
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> collections;
  std::uint64_t count = 0;
  for (; attribute.references.left() >= reference_bytes; ++count) {
    auto const length = attribute.references.number(4);
    auto const address = attribute.references.number(8);
    auto const number = attribute.references.number(4);
    if (address == 0) {
      continue;  // empty
    }
    if (!collections.contains(address)) {
      collections[address] = read_collection(file, address);
    }
    auto const& sizes = collections[address];
    auto const found = sizes.find(number);
    if (found == sizes.end() || found->second != length * attribute.element) {
      break;
    }
  }
  return count;
}

bool is_variable(hid_t type) {
  auto const kind = H5Tget_class(type);
  if (kind == H5T_COMPOUND) {
    int const members = H5Tget_nmembers(type);
    for (int i = 0; i < members; ++i) {
      hid_t const member = H5Tget_member_type(type, unsigned(i));
      bool const variable = member < 0 || is_variable(member);
      H5Tclose(member);
      if (variable) {
        return true;
      }
    }
    return false;
  }
  if (kind == H5T_ARRAY) {
    hid_t const part = H5Tget_super(type);
    bool const variable = part < 0 || is_variable(part);
    H5Tclose(part);
    return variable;
  }
  return kind == H5T_VLEN || H5Tis_variable_str(type) > 0;
}

}  // namespace

void check_in_heap(hdf5_source const& from, hdf5_attribute const& attribute) {
  auto const damaged = fmt::format("attribute '{}' is damaged", attribute.name);
  handle const type(from.path, H5Aget_type(attribute.id), H5Tclose, damaged);
  if (!is_variable(type)) {
    return;
  }
  handle const space(from.path, H5Aget_space(attribute.id), H5Sclose, damaged);
  auto const count = H5Sget_simple_extent_npoints(space);
  auto raw = read_object(from, attribute.object);
  auto sound = std::numeric_limits<std::uint64_t>::max();
  bool found = false;
  bool described = true;
  for (auto& one : raw.attributes) {
    if (one.name == attribute.name) {
      found = true;
      described = described && one.variable;
      sound = std::min(sound, sound_values(raw.file, one));
    }
  }
  if (!found && !raw.complete) {
    return;
  }
  if (!found || !described) {
    refuse(from.path, fmt::format("attribute '{}' has values of variable length in another type "
                                  "(which cannot be checked) store them with a fixed length",
                                  attribute.name));
  }
  if (count < 0 || sound < std::uint64_t(count)) {
    refuse(from.path, fmt::format("attribute '{}' has values of variable length that the file does "
                                  "not hold whole (damaged) fetch or write it again",
                                  attribute.name));
  }
}

}  // namespace iso::files::detail
