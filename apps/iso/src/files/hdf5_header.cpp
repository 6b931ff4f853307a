// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_header.hpp"

#include <algorithm>
#include <limits>

namespace iso::files::detail {
namespace {

using handle = hdf5_handle;

struct message {
  std::uint64_t kind;
  std::uint64_t flags;
  piece body;
};

constexpr std::uint64_t continuation_kind = 16;
constexpr std::uint64_t attribute_kind = 12;
constexpr std::uint64_t elsewhere_kind = 21;
constexpr std::uint64_t shared_flag = 2;

struct block {
  std::uint64_t address;
  std::uint64_t bytes;
};

/// How an object header's blocks are laid out: version 1, or 2 whose blocks end in a check sum.
struct header_layout {
  block first{};
  bool second = false;
  bool ordered = false;  ///< version 2: messages have a number of two bytes
};

std::optional<header_layout> read_layout(raw_file& file, std::uint64_t address) {
  auto old = file.at(address, 16);
  if (old.number(1) == 1) {
    old.text(7);
    return header_layout{{address + 16, old.number(4)}, false, false};
  }
  auto head = file.at(address, 6);
  if (head.text(4) != "OHDR" || head.number(1) != 2) {
    return std::nullopt;
  }
  auto const flags = head.number(1);
  std::uint64_t const skipped = 6 + ((flags & 32U) != 0 ? 16 : 0) + ((flags & 16U) != 0 ? 4 : 0);
  std::uint64_t const width = std::uint64_t(1) << (flags & 3U);
  auto size = file.at(address + skipped, width);
  return header_layout{{address + skipped + width, size.number(width)}, true, (flags & 4U) != 0};
}

/// Calls f(message) for the messages of an object's header; stops where it is damaged.
template <class F>
void for_each_message(raw_file& file, std::uint64_t address, F const& f) {
  constexpr std::size_t most_blocks = 4096;
  auto const layout = read_layout(file, address);
  if (!layout) {
    return;
  }
  std::vector<block> blocks = {layout->first};
  std::size_t const head = layout->second ? (layout->ordered ? 6 : 4) : 8;
  for (std::size_t b = 0; b < blocks.size() && b < most_blocks; ++b) {
    auto bytes = file.at(blocks[b].address, blocks[b].bytes);
    while (bytes.left() >= head) {
      auto const kind = bytes.number(layout->second ? 1 : 2);
      auto const size = bytes.number(2);
      auto const flags = bytes.number(1);
      bytes.text(layout->second ? head - 4 : 3);
      message one{kind, flags, piece(std::string(bytes.text(size)))};
      if (!bytes.good()) {
        return;
      }
      if (kind == continuation_kind) {
        auto const next = one.body.number(8);
        auto const length = one.body.number(8);
        bool const summed = layout->second;  // between a signature and a check sum
        blocks.push_back(summed ? block{next + 4, std::max<std::uint64_t>(length, 8) - 8}
                                : block{next, length});
      } else {
        f(one);
      }
    }
  }
}

/// Without a name where the message is damaged.
raw_attribute read_attribute(message one) {
  auto& body = one.body;
  auto const version = body.number(1);
  auto const flags = body.number(1);
  if ((one.flags & shared_flag) != 0 || version < 1 || version > 3) {
    return {};
  }
  auto const padded = [&](std::uint64_t bytes) {
    return version == 1 ? (bytes + 7) / 8 * 8 : bytes;
  };
  auto const name_bytes = body.number(2);
  auto const type_bytes = body.number(2);
  auto const space_bytes = body.number(2);
  body.text(version == 3 ? 1 : 0);
  raw_attribute result;
  result.name = std::string(body.text(padded(name_bytes))).c_str();
  piece type{std::string(body.text(padded(type_bytes)))};
  body.text(padded(space_bytes));
  constexpr std::uint64_t variable_class = 9;
  bool const variable = (type.number(1) & 15U) == variable_class && (version == 1 || flags == 0);
  // A list, or a text (1) that ends in zeros or blanks (16, 32), ASCII or UTF-8 (256).
  auto const form = type.number(3);
  bool const known = form == 0 || ((form & 15U) == 1 && (form >> 4U & 15U) <= 2 && form >> 8U <= 1);
  bool const usual = type.number(4) == reference_bytes && known;
  auto const part = type.number(1) & 15U;
  type.text(3);
  result.element = type.number(4);
  bool const plain = part <= 5 || part == 8;  // of one piece: numbers, times, text, bits, names
  result.variable = body.good() && type.good() && variable && usual && plain;
  result.references = std::move(body);
  return result;
}

/// Attributes in a heap of their own, which files of version 1.8 on have for more than eight. All
/// but the values' own heap is guarded by check sums there.
bool lie_elsewhere(message one) {
  one.body.text(1);
  one.body.text((one.body.number(1) & 1U) != 0 ? 2 : 0);
  auto const address = one.body.number(8);
  return one.kind == elsewhere_kind && one.body.good() &&
         address != std::numeric_limits<std::uint64_t>::max();
}

}  // namespace

raw_object read_object(hdf5_source const& from, hid_t object) {
  auto const damaged = "its attributes cannot be read (damaged)";
  handle const creation(from.path, H5Fget_create_plist(from.file), H5Pclose, damaged);
  H5O_info_t facts;
  hsize_t base = 0;
  std::size_t address_bytes = 0;
  std::size_t length_bytes = 0;
  unsigned shared = 0;  // indices of messages that several objects have in common
  if (H5Oget_info2(object, &facts, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0 ||
      H5Pget_userblock(creation, &base) < 0 || H5Pget_shared_mesg_nindexes(creation, &shared) < 0 ||
      H5Pget_sizes(creation, &address_bytes, &length_bytes) < 0) {
    refuse(from.path, damaged);
  }
  raw_object result{raw_file(from.path, base), {}, false};
  if (address_bytes != 8 || length_bytes != 8) {
    return result;
  }
  result.complete = shared == 0;
  for_each_message(result.file, facts.addr, [&](message const& one) {
    result.complete = result.complete && !lie_elsewhere(one);
    if (one.kind == attribute_kind) {
      result.attributes.push_back(read_attribute(one));
    }
  });
  if (result.complete && result.attributes.size() != facts.num_attrs) {
    refuse(from.path, damaged);
  }
  return result;
}

std::optional<std::set<std::string>> names_in_header(hdf5_source const& from, hid_t object) {
  auto const raw = read_object(from, object);
  if (!raw.complete) {
    return std::nullopt;
  }
  std::set<std::string> names;
  for (auto const& attribute : raw.attributes) {
    names.insert(attribute.name);
  }
  return names;
}

}  // namespace iso::files::detail
