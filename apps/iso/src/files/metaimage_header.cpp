// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

bool names_the_data(std::string_view line) { return line.starts_with("ElementDataFile"); }

using fields = std::map<std::string, std::string, std::less<>>;

bool is_control(char c) { return (c >= 0 && c < ' ' && c != '\t') || c == 0x7f; }

// The image library copies names and values into 255 bytes, unchecked.
constexpr std::size_t longest_name = 100;
constexpr std::size_t longest_value = 254;

// The image library takes ':' for '=' as well: a name with one in it is a field that we would not
// see. '|' stands in the tags of DICOM.
bool is_plain(std::string_view key) {
  return !key.empty() && key.size() <= longest_name &&
         key.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_|") ==
             std::string_view::npos;
}

std::string printable(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return is_control(c) || c == '\t'; }, '?');
  return text.substr(0, longest_name);
}

fields parse_fields(fs::path const& path, text_header const& header) {
  fields result;
  for (auto const& line : header.lines) {
    auto const equals = line.find('=');
    if (equals == std::string::npos) {
      refuse(path, fmt::format("header line {} is not 'Key = Value' (is this a MetaImage?)",
                               result.size() + 1));
    }
    std::string const key(trimmed(std::string_view(line).substr(0, equals)));
    if (!is_plain(key) || std::any_of(line.begin(), line.end(), is_control)) {
      refuse(path, fmt::format(
                       "header field '{}' is not a plain name (letters, digits, '_' and '|') with "
                       "its value in one line",
                       printable(key)));
    }
    auto const value = trimmed(std::string_view(line).substr(equals + 1));
    if (value.size() > longest_value && key.find('|') == std::string::npos) {
      refuse(path, fmt::format("header field '{}' has {} characters (at most {} are read)", key,
                               value.size(), longest_value));
    }
    if (!result.emplace(key, value).second) {
      refuse(path, fmt::format("header field '{}' stands there twice", key));
    }
  }
  return result;
}

std::string const& required(fs::path const& path, fields const& all, std::string_view key) {
  auto const found = all.find(key);
  if (found == all.end()) {
    refuse(path, fmt::format("header field '{}' is missing", key));
  }
  return found->second;
}

std::int64_t bytes_of(fs::path const& path, std::string_view type) {
  static std::map<std::string_view, std::int64_t> const known = {
      {"MET_CHAR", 1},  {"MET_UCHAR", 1}, {"MET_SHORT", 2},     {"MET_USHORT", 2},
      {"MET_INT", 4},   {"MET_UINT", 4},  {"MET_LONG_LONG", 8}, {"MET_ULONG_LONG", 8},
      {"MET_FLOAT", 4}, {"MET_DOUBLE", 8}};
  auto const found = known.find(type);
  if (found == known.end()) {
    refuse(path,
           fmt::format("header field 'ElementType' is '{}' (expected MET_UCHAR ... MET_DOUBLE, "
                       "one number a voxel)",
                       type));
  }
  return found->second;
}

bool is_true(std::string_view text) {
  return text.starts_with('T') || text.starts_with('t') || text == "1";
}

void check_numbers(fs::path const& path, fields const& all) {
  for (auto const* key : {"ElementSpacing", "ElementSize"}) {
    if (auto const found = all.find(key); found != all.end()) {
      check_spacing(path, key, parse_numbers(path, key, found->second, 3));
    }
  }
  for (auto const* key : {"Offset", "Position", "Origin", "CenterOfRotation"}) {
    if (auto const found = all.find(key); found != all.end()) {
      check_coordinates(path, key, parse_numbers(path, key, found->second, 3));
    }
  }
  for (auto const* key : {"TransformMatrix", "Orientation", "Rotation"}) {
    if (auto const found = all.find(key); found != all.end()) {
      parse_numbers(path, key, found->second, 9);
    }
  }
  if (auto const found = all.find("ElementNumberOfChannels");
      found != all.end() && found->second != "1") {
    refuse(path,
           fmt::format("header field 'ElementNumberOfChannels' is '{}' (one number a voxel is "
                       "expected)",
                       found->second));
  }
  if (auto const found = all.find("BinaryData"); found != all.end() && !is_true(found->second)) {
    refuse(path, "header field 'BinaryData' is not 'True' (voxels as text are not read)");
  }
}

std::optional<std::int64_t> whole_number(fs::path const& path, fields const& all,
                                         std::string_view key, std::int64_t least) {
  auto const found = all.find(key);
  if (found == all.end()) {
    return std::nullopt;
  }
  double const number = parse_numbers(path, key, found->second, 1)[0];
  if (!(number >= double(least) && number < 0x1p40 && number == std::floor(number))) {
    refuse(path, fmt::format("header field '{}' is '{}' (a whole number from {} is expected)", key,
                             found->second, least));
  }
  return std::int64_t(number);
}

// The image library believes 'CompressedDataSize', and without it takes the whole data file for
// compressed data: what it would read elsewhere than the stream lies is refused.
void check_compressed(fs::path const& path, fields const& all, image_header const& header) {
  auto const claimed = whole_number(path, all, "CompressedDataSize", 0);
  if (header.kind != storage::deflate) {
    return;
  }
  if (header.data_offset < 0) {
    refuse(path,
           "header field 'HeaderSize' is -1 (compressed data have no length that would tell "
           "where they begin) give the number of bytes");
  }
  std::error_code failure;
  auto const size = std::int64_t(fs::file_size(header.data_file, failure));
  std::int64_t const held = failure ? 0 : std::max<std::int64_t>(0, size - header.data_offset);
  if (claimed.value_or(0) == 0 && header.data_offset > 0) {
    refuse(path,
           fmt::format("header field 'CompressedDataSize' is missing (it says how many of the "
                       "file's bytes are voxels: {})",
                       held));
  }
  if (!failure && claimed.value_or(0) != 0 && *claimed != held) {
    refuse(path,
           fmt::format("header field 'CompressedDataSize' is {} ({} bytes follow: {})", *claimed,
                       held, held < *claimed ? "truncated" : "longer than its header says"));
  }
}

}  // namespace

image_header read_metaimage_header(fs::path const& path) {
  auto const text = read_text_header(path, names_the_data);
  if (text.lines.empty() || !names_the_data(text.lines.back())) {
    refuse(path,
           "header field 'ElementDataFile' is missing in its first 64 KiB (is this a "
           "MetaImage?)");
  }
  auto const all = parse_fields(path, text);
  if (auto const& dimensions = required(path, all, "NDims"); dimensions != "3") {
    refuse(path, fmt::format("header field 'NDims' is '{}' (a volume has 3)", dimensions));
  }
  image_header header;
  header.extent = parse_extent(path, "DimSize", required(path, all, "DimSize"));
  header.bytes_per_voxel = bytes_of(path, required(path, all, "ElementType"));
  check_numbers(path, all);
  header.most = streams::one;
  header.has_spacing = all.contains("ElementSpacing") || all.contains("ElementSize");
  if (auto const found = all.find("CompressedData"); found != all.end() && is_true(found->second)) {
    header.kind = storage::deflate;
  }
  auto const header_size = whole_number(path, all, "HeaderSize", -1);
  auto const& data = required(path, all, "ElementDataFile");
  if (data == "LOCAL" || data == "Local" || data == "local") {
    // The image library skips so many bytes of the whole file: it must be this header's length.
    if (header_size.value_or(0) != 0 && header_size != text.bytes &&
        (header_size != -1 || header.kind == storage::deflate)) {
      refuse(path,
             fmt::format("header field 'HeaderSize' is {} (the voxels follow the header, which "
                         "has {} bytes) leave the field out",
                         *header_size, text.bytes));
    }
    header.data_file = path;
    header.data_offset = text.bytes;
    check_compressed(path, all, header);
    return header;
  }
  if (data.starts_with("LIST") || data.find('%') != std::string::npos || data.empty()) {
    refuse(path,
           fmt::format("header field 'ElementDataFile' is '{}' (one data file is expected)", data));
  }
  header.data_file = path.parent_path() / data;
  header.data_offset = header_size.value_or(0);
  check_compressed(path, all, header);
  return header;
}

}  // namespace iso::files::detail
