// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

bool is_empty(std::string_view line) { return line.empty(); }

using fields = std::map<std::string, std::string, std::less<>>;

// Names in small letters: the image library takes both.
fields parse_fields(fs::path const& path, text_header const& header) {
  fields result;
  for (std::size_t i = 1; i < header.lines.size(); ++i) {
    auto const& line = header.lines[i];
    if (line.empty() || line.starts_with('#') || line.find(":=") != std::string::npos) {
      continue;
    }
    auto const colon = line.find(':');
    if (colon == std::string::npos) {
      refuse(path,
             fmt::format("header line {} is not 'field: value' (is this an NRRD file?)", i + 1));
    }
    std::string key(trimmed(std::string_view(line).substr(0, colon)));
    std::transform(key.begin(), key.end(), key.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    if (!result.emplace(key, trimmed(std::string_view(line).substr(colon + 1))).second) {
      refuse(path, fmt::format("header field '{}' stands there twice", key));
    }
  }
  return result;
}

std::string value(fields const& all, std::string_view key, std::string_view other = {}) {
  auto found = all.find(key);
  if (found == all.end() && !other.empty()) {
    found = all.find(other);
  }
  return found == all.end() ? "" : found->second;
}

std::int64_t bytes_of(fs::path const& path, std::string const& type) {
  static std::map<std::string_view, std::int64_t> const known = {{"signed char", 1},
                                                                 {"int8", 1},
                                                                 {"int8_t", 1},
                                                                 {"uchar", 1},
                                                                 {"unsigned char", 1},
                                                                 {"uint8", 1},
                                                                 {"uint8_t", 1},
                                                                 {"short", 2},
                                                                 {"short int", 2},
                                                                 {"signed short", 2},
                                                                 {"signed short int", 2},
                                                                 {"int16", 2},
                                                                 {"int16_t", 2},
                                                                 {"ushort", 2},
                                                                 {"unsigned short", 2},
                                                                 {"unsigned short int", 2},
                                                                 {"uint16", 2},
                                                                 {"uint16_t", 2},
                                                                 {"int", 4},
                                                                 {"signed int", 4},
                                                                 {"int32", 4},
                                                                 {"int32_t", 4},
                                                                 {"uint", 4},
                                                                 {"unsigned int", 4},
                                                                 {"uint32", 4},
                                                                 {"uint32_t", 4},
                                                                 {"longlong", 8},
                                                                 {"long long", 8},
                                                                 {"int64", 8},
                                                                 {"int64_t", 8},
                                                                 {"ulonglong", 8},
                                                                 {"unsigned long long", 8},
                                                                 {"uint64", 8},
                                                                 {"uint64_t", 8},
                                                                 {"float", 4},
                                                                 {"double", 8}};
  auto const found = known.find(type);
  if (found == known.end()) {
    refuse(path, fmt::format("header field 'type' is '{}' (expected one number a voxel: int8 ... "
                             "uint64, float, double)",
                             type));
  }
  return found->second;
}

// "(1,0,0) (0,1,0) (0,0,1)": three vectors of three finite numbers.
std::vector<double> parse_vectors(fs::path const& path, std::string_view field, std::string text,
                                  std::size_t count) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '(' || c == ')' || c == ','; }, ' ');
  return parse_numbers(path, field, text, count);
}

// "mm" "mm" "mm": one text an axis; an empty one says nothing.
void check_units(fs::path const& path, std::string_view field, std::string_view text) {
  for (std::size_t begin = text.find('"'); begin != std::string_view::npos;) {
    auto const end = std::min(text.find('"', begin + 1), text.size());
    auto const unit = text.substr(begin + 1, end - begin - 1);
    if (!unit.empty() && unit != "mm") {
      refuse(path, fmt::format("header field '{}' holds '{}' (lengths in mm are expected) write "
                               "spacings and origin in mm",
                               field, unit));
    }
    begin = end < text.size() ? text.find('"', end + 1) : std::string_view::npos;
  }
}

void check_numbers(fs::path const& path, fields const& all) {
  if (auto const text = value(all, "spacings"); !text.empty()) {
    check_spacing(path, "spacings", parse_numbers(path, "spacings", text, 3));
  }
  if (auto const text = value(all, "space directions"); !text.empty()) {
    auto const v = parse_vectors(path, "space directions", text, 9);
    for (std::size_t axis = 0; axis < 9; axis += 3) {
      double const length = std::hypot(v[axis], v[axis + 1], v[axis + 2]);
      check_spacing(path, "space directions", {&length, 1});
    }
  }
  if (auto const text = value(all, "space origin"); !text.empty()) {
    check_coordinates(path, "space origin", parse_vectors(path, "space origin", text, 3));
  }
  for (auto const* key : {"units", "space units"}) {
    check_units(path, key, value(all, key));
  }
}

void place_data(fs::path const& path, fields const& all, text_header const& text,
                image_header& header) {
  std::string const data = value(all, "data file", "datafile");
  if (data.empty()) {
    if (!text.lines.back().empty()) {
      refuse(path,
             "the header does not end in an empty line within 64 KiB (is this an NRRD file?)");
    }
    header.data_file = path;
    header.data_offset = text.bytes;
  } else {
    if (data.starts_with("LIST") || data.find('%') != std::string::npos) {
      refuse(path,
             fmt::format("header field 'data file' is '{}' (one data file is expected)", data));
    }
    header.data_file = path.parent_path() / data;
  }
  for (auto const* key : {"line skip", "lineskip", "byte skip", "byteskip"}) {
    if (auto const skip = value(all, key); !skip.empty() && skip != "0") {
      refuse(path, fmt::format("header field '{}' is '{}' (skipping inside the data is not read) "
                               "write the file without it",
                               key, skip));
    }
  }
}

}  // namespace

image_header read_nrrd_header(fs::path const& path) {
  auto const text = read_text_header(path, is_empty);
  if (text.lines.empty() || !text.lines.front().starts_with("NRRD000")) {
    refuse(path, "does not start with 'NRRD000' (is this an NRRD file?)");
  }
  auto const all = parse_fields(path, text);
  if (auto const dimension = value(all, "dimension"); dimension != "3") {
    refuse(path, fmt::format("header field 'dimension' is '{}' (a volume has 3)", dimension));
  }
  image_header header;
  header.extent = parse_extent(path, "sizes", value(all, "sizes"));
  header.bytes_per_voxel = bytes_of(path, value(all, "type"));
  check_numbers(path, all);
  header.has_spacing = all.contains("spacings") || all.contains("space directions");
  auto const encoding = value(all, "encoding");
  if (encoding == "gzip" || encoding == "gz") {
    header.kind = storage::deflate;
  } else if (encoding != "raw") {
    refuse(path, fmt::format("header field 'encoding' is '{}' (raw and gzip are read)", encoding));
  }
  place_data(path, all, text, header);
  return header;
}

}  // namespace iso::files::detail
