// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_header.hpp"

#include <iso/files/text.hpp>

#include <fmt/core.h>

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

constexpr std::uint64_t type_kind = 3;
constexpr std::uint64_t continuation_kind = 16;
constexpr std::uint64_t layout_kind = 8;
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

/// The description of a type that is an object of its own.
piece named_type(raw_file& file, piece reference) {
  auto const version = reference.number(1);
  reference.text(version == 1 ? 15 : 1);
  auto const address = reference.number(8);
  piece description{{}};
  if (reference.good()) {
    for_each_message(file, address, [&](message const& one) {
      if (one.kind == type_kind && (one.flags & shared_flag) == 0 && description.left() == 0) {
        description = one.body;
      }
    });
  }
  return description;
}

/// Whether values of variable length are described so that a heap's collection tells their bytes.
void read_variable(piece type, raw_attribute& to) {
  constexpr std::uint64_t variable_class = 9;
  bool const variable = (type.number(1) & 15U) == variable_class;
  // A list, or a text (1) that ends in zeros or blanks (16, 32), ASCII or UTF-8 (256).
  auto const form = type.number(3);
  bool const known = form == 0 || ((form & 15U) == 1 && (form >> 4U & 15U) <= 2 && form >> 8U <= 1);
  bool const usual = type.number(4) == reference_bytes && known;
  auto const part = type.number(1) & 15U;
  type.text(3);
  to.element = type.number(4);
  bool const plain = part <= 5 || part == 8;  // of one piece: numbers, times, text, bits, names
  to.variable = type.good() && variable && usual && plain;
}

raw_attribute read_attribute(raw_file& file, message one) {
  raw_attribute result;
  result.shared = (one.flags & shared_flag) != 0;
  auto& body = one.body;
  auto const version = body.number(1);
  auto const flags = body.number(1) * (version > 1 ? 1 : 0);
  if (result.shared || version < 1 || version > 3) {
    return result;
  }
  result.shared = flags != 0;
  auto const name_bytes = body.number(2);
  auto const type_bytes = body.number(2);
  auto const space_bytes = body.number(2);
  body.text(version == 3 ? 1 : 0);
  auto const part = [&](std::uint64_t bytes) {
    auto const padded = version == 1 ? (bytes + 7) / 8 * 8 : bytes;
    return piece(std::string(body.text(padded).substr(0, bytes)));
  };
  auto name = part(name_bytes);
  auto const type = part(type_bytes);
  auto const space = part(space_bytes);
  result.name = name.word();
  auto const bytes = value_bytes((flags & 1U) != 0 ? named_type(file, type) : type);
  auto const count = (flags & 2U) != 0 ? std::nullopt : value_count(space);
  auto const number = count.value_or(0);
  result.sound = body.good() && name.good() && name.left() == 0 && bytes && count &&
                 (number == 0 || *bytes <= body.left() / number);
  if (result.sound && flags == 0) {
    read_variable(type, result);
  }
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

/// Whether HDF5 can divide by the sizes of a dataset's chunks, where its layout message has such
/// (format specification, IV.A.2.i).
bool has_sound_chunks(message one) {
  constexpr std::uint64_t chunked = 2;
  auto& body = one.body;
  auto const version = body.number(1);
  auto const before_kind = version < 3 ? body.number(1) : 0;
  if (version < 1 || version > 4 || body.number(1) != chunked) {
    return true;
  }
  body.text(version < 3 ? 13 : (version == 4 ? 1 : 0));
  auto const axes = version < 3 ? before_kind : body.number(1);
  body.text(version == 3 ? 8 : 0);
  auto const bytes = version == 4 ? body.number(1) : 4;
  bool sound = axes > 1 && bytes > 0 && bytes <= 8;
  for (std::uint64_t axis = 0; axis < axes && sound; ++axis) {
    sound = body.number(bytes) > 0;
  }
  return sound && body.good();
}

/// How a file is laid out as a whole.
struct file_facts {
  hsize_t base = 0;     ///< where addresses count from: the end of the user's own bytes
  bool usual = false;   ///< addresses and lengths have eight bytes
  unsigned shared = 0;  ///< indices of messages that several objects have in common
};

/// Refuses the file by `damaged` where HDF5 does not tell.
file_facts read_facts(hdf5_source const& from, std::string const& damaged) {
  handle const creation(from.path, H5Fget_create_plist(from.file), H5Pclose, damaged);
  file_facts facts;
  std::size_t address_bytes = 0;
  std::size_t length_bytes = 0;
  if (H5Pget_userblock(creation, &facts.base) < 0 ||
      H5Pget_shared_mesg_nindexes(creation, &facts.shared) < 0 ||
      H5Pget_sizes(creation, &address_bytes, &length_bytes) < 0) {
    refuse(from.path, damaged);
  }
  facts.usual = address_bytes == 8 && length_bytes == 8;
  return facts;
}

}  // namespace

void check_chunks(hdf5_source const& from, char const* dataset) {
  auto const damaged = fmt::format("the chunks of dataset /{} have no sizes (damaged)", dataset);
  auto const facts = read_facts(from, damaged);
  H5O_info_t info;
  if (!facts.usual ||
      H5Oget_info_by_name2(from.file, dataset, &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
    return;
  }
  raw_file file(from.path, facts.base);
  for_each_message(file, info.addr, [&](message const& one) {
    if (one.kind == layout_kind && !has_sound_chunks(one)) {
      refuse(from.path, damaged);
    }
  });
}

raw_object read_object(hdf5_source const& from, hid_t object) {
  auto const damaged = "its attributes cannot be read (damaged)";
  auto const facts = read_facts(from, damaged);
  H5O_info_t info;
  if (H5Oget_info2(object, &info, H5O_INFO_BASIC | H5O_INFO_NUM_ATTRS) < 0) {
    refuse(from.path, damaged);
  }
  raw_object result{raw_file(from.path, facts.base), {}, false};
  if (!facts.usual) {
    return result;
  }
  result.complete = facts.shared == 0;
  for_each_message(result.file, info.addr, [&](message const& one) {
    result.complete = result.complete && !lie_elsewhere(one);
    if (one.kind == attribute_kind) {
      result.attributes.push_back(read_attribute(result.file, one));
      auto const& last = result.attributes.back();
      if (!last.sound && (facts.shared == 0 || !last.shared)) {
        refuse(from.path, fmt::format("name, type, shape and values of attribute '{}' do not fit "
                                      "into the {} bytes that it has in the file (damaged) fetch "
                                      "or write it again",
                                      shortened(one_line(last.name), 80), one.body.left()));
      }
    }
  });
  if (result.complete && result.attributes.size() != info.num_attrs) {
    refuse(from.path, damaged);
  }
  return result;
}

void check_attributes(hdf5_source const& from, hid_t object) {
  static_cast<void>(read_object(from, object));
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
