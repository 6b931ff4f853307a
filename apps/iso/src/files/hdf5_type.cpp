// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_type.hpp"

#include <limits>

namespace iso::files::detail {
namespace {

constexpr std::uint64_t most_axes = 32;

/// 2^64 - 1 where it is more.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::uint64_t>::max() : result;
}

struct type_head {
  std::uint64_t kind;
  std::uint64_t version;
  std::uint64_t form;
  std::uint64_t size;
  int depth;  ///< types around it
};

std::optional<std::uint64_t> read_type(piece& from, int depth);

/// Up to version 2 names are filled up to eight bytes.
void skip_name(piece& from, type_head const& head) {
  auto const bytes = from.word().size() + 1;
  from.text(head.version < 3 ? (8 - bytes % 8) % 8 : 0);
}

bool read_member(piece& from, type_head const& head) {
  skip_name(from, head);
  std::size_t width = 1;
  while (width < 4 && head.size >> (8 * width) != 0) {
    ++width;
  }
  auto const offset = from.number(head.version < 3 ? 4 : width);
  std::uint64_t count = 1;
  if (head.version == 1) {
    auto const axes = from.number(1);
    from.text(11);  // nothing, and an order of the axes
    for (std::uint64_t i = 0; i < 4; ++i) {
      auto const length = from.number(4);
      count = product(count, i < axes ? length : 1);
    }
  }
  auto const size = read_type(from, head.depth + 1);
  return size && offset <= head.size && product(count, *size) <= head.size - offset;
}

bool read_enumeration(piece& from, type_head const& head) {
  bool const fits = read_type(from, head.depth + 1) == head.size;
  auto const count = head.form & 0xffffU;
  for (std::uint64_t i = 0; i < count && from.good(); ++i) {
    skip_name(from, head);
  }
  from.text(product(count, head.size));
  return fits;
}

bool read_array(piece& from, type_head const& head) {
  auto const axes = from.number(1);
  from.text(head.version < 3 ? 3 : 0);
  std::uint64_t count = 1;
  for (std::uint64_t i = 0; i < axes; ++i) {
    count = product(count, from.number(4));
  }
  from.text(head.version < 3 ? 4 * axes : 0);
  auto const size = read_type(from, head.depth + 1);
  return axes <= most_axes && size && product(count, *size) == head.size;
}

/// What follows the head of a type.
bool read_parts(piece& from, type_head const& head) {
  switch (head.kind) {
    case 0:  // whole numbers
    case 4:  // bits
      from.text(4);
      return true;
    case 1:  // floating-point numbers
      from.text(12);
      return true;
    case 2:  // times
      from.text(2);
      return true;
    case 3:  // text
    case 7:  // references
      return true;
    case 5:  // bytes, with a name
      from.text(head.form & 0xffU);
      return true;
    case 6: {  // members, each at its place
      auto const count = head.form & 0xffffU;
      std::uint64_t i = 0;
      while (i < count && read_member(from, head)) {
        ++i;
      }
      return count > 0 && i == count;
    }
    case 8:
      return read_enumeration(from, head);
    case 9:  // of variable length: where it lies in a heap
      return head.size == reference_bytes && read_type(from, head.depth + 1);
    case 10:
      return read_array(from, head);
    default:
      return false;
  }
}

std::optional<std::uint64_t> read_type(piece& from, int depth) {
  constexpr int deepest = 32;
  auto const kind = from.number(1);
  auto const form = from.number(3);
  auto const size = from.number(4);
  type_head const head{kind & 15U, kind >> 4U, form, size, depth};
  bool const known = depth < deepest && head.version >= 1 && head.version <= 4 && size > 0;
  return known && read_parts(from, head) && from.good() ? std::optional(size) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> value_bytes(piece description) { return read_type(description, 0); }

std::optional<std::uint64_t> value_count(piece description) {
  auto const version = description.number(1);
  auto const axes = description.number(1);
  auto const flags = description.number(1);
  auto const kind = description.number(1);  // in version 2: one value, axes, nothing
  description.text(version == 1 ? 4 : 0);
  std::uint64_t count = version == 2 && kind == 2 ? 0 : 1;
  for (std::uint64_t i = 0; i < axes; ++i) {
    count = product(count, description.number(8));
  }
  description.text((flags & 1U) != 0 ? 8 * axes : 0);  // how far the axes may grow
  bool const known = (version == 1 || (version == 2 && kind <= 2 && (kind == 1 || axes == 0))) &&
                     axes <= most_axes;
  return known && description.good() ? std::optional(count) : std::nullopt;
}

}  // namespace iso::files::detail
