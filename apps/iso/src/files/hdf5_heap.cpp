// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5_heap.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace iso::files::detail {
namespace {

using handle = hdf5_handle;

constexpr std::uint64_t most_bytes = std::uint64_t(1) << 28;
constexpr std::size_t reference_bytes = 16;  // length, address of the collection, number in it

/// Numbers of a piece of a file, low bytes first; reading past its end makes it bad, and gives 0.
class piece {
 public:
  explicit piece(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t result = 0;
    auto const taken = text(bytes);
    for (std::size_t i = taken.size(); i-- > 0;) {
      result = result << 8 | static_cast<unsigned char>(taken[i]);
    }
    return result;
  }
  std::string_view text(std::size_t bytes) {
    if (bytes > left()) {
      good_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += bytes;
    return std::string_view(bytes_).substr(at_ - bytes, bytes);
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

class raw_file {
 public:
  raw_file(std::filesystem::path const& path, std::uint64_t base)
      : in_(path, std::ios::binary), base_(base) {
    std::error_code unknown;
    auto const size = std::filesystem::file_size(path, unknown);
    size_ = unknown || size < base ? 0 : size - base;
  }
  /// Bytes at an address; none where the file does not hold them all.
  piece at(std::uint64_t address, std::uint64_t count) {
    if (address > size_ || count > size_ - address || count > most_bytes) {
      return piece({});
    }
    std::string bytes(count, '\0');
    in_.clear();
    in_.seekg(std::streamoff(base_ + address));
    in_.read(bytes.data(), std::streamsize(count));
    return piece(in_ ? std::move(bytes) : std::string());
  }

 private:
  std::ifstream in_;
  std::uint64_t base_;
  std::uint64_t size_ = 0;
};

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

/// An attribute as its message has it.
struct raw_attribute {
  std::string name;
  bool variable = false;  ///< of variable length, and described here; else what follows is empty
  std::uint64_t element = 0;  ///< bytes of one of a value's parts
  piece references{{}};
};

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

/// Attributes in a heap of their own, which files of version 1.8 on have for more than eight. All
/// but the values' own heap is guarded by check sums there.
bool lie_elsewhere(message one) {
  one.body.text(1);
  one.body.text((one.body.number(1) & 1U) != 0 ? 2 : 0);
  auto const address = one.body.number(8);
  return one.kind == elsewhere_kind && one.body.good() &&
         address != std::numeric_limits<std::uint64_t>::max();
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

/// What the header of an object says of its attributes.
struct raw_object {
  raw_file file;
  std::vector<raw_attribute> attributes;
  bool complete = false;  ///< none is kept elsewhere
};

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

}  // namespace

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
