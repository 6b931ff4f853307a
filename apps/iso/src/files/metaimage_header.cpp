// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <fmt/core.h>

#include <map>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

bool names_the_data(std::string_view line) { return line.starts_with("ElementDataFile"); }

using fields = std::map<std::string, std::string, std::less<>>;

fields parse_fields(fs::path const& path, text_header const& header) {
  fields result;
  for (auto const& line : header.lines) {
    auto const equals = line.find('=');
    if (equals == std::string::npos) {
      refuse(path, fmt::format("header line {} is not 'Key = Value' (is this a MetaImage?)",
                               result.size() + 1));
    }
    std::string const key(trimmed(std::string_view(line).substr(0, equals)));
    if (!result.emplace(key, trimmed(std::string_view(line).substr(equals + 1))).second) {
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
      parse_numbers(path, key, found->second, 3);
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
  if (auto const found = all.find("CompressedData"); found != all.end() && is_true(found->second)) {
    header.kind = storage::deflate;
  }
  auto const& data = required(path, all, "ElementDataFile");
  if (data == "LOCAL" || data == "Local" || data == "local") {
    header.data_file = path;
    header.data_offset = text.bytes;
    return header;
  }
  if (data.starts_with("LIST") || data.find('%') != std::string::npos || data.empty()) {
    refuse(path,
           fmt::format("header field 'ElementDataFile' is '{}' (one data file is expected)", data));
  }
  header.data_file = path.parent_path() / data;
  if (auto const found = all.find("HeaderSize"); found != all.end()) {
    double const bytes = parse_numbers(path, "HeaderSize", found->second, 1)[0];
    if (!(bytes >= -1 && bytes < 0x1p40)) {
      refuse(path, fmt::format("header field 'HeaderSize' is '{}' (-1 or more is expected)",
                               found->second));
    }
    header.data_offset = std::int64_t(bytes);
  }
  return header;
}

}  // namespace iso::files::detail
