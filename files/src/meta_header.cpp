// SPDX-License-Identifier: BSD-3-Clause
#include "meta_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace iso::files::detail {
namespace {

constexpr std::size_t max_characters = 254;  // of a name or value: ITK ends the program beyond

struct field {
  std::string name;
  std::string value;
};

/// Refuses a name or value that is too long.
field field_of(std::filesystem::path const& path, std::string_view line, std::int64_t number,
               std::size_t separator) {
  field const f{one_line(line.substr(0, separator)),
                separator < line.size() ? one_line(line.substr(separator + 1)) : ""};
  auto const longest = std::max(f.name.size(), f.value.size());
  if (longest > max_characters) {
    refuse(path,
           fmt::format("line {} of its header has a name or value of {} characters (a MetaImage "
                       "has at most {}); shorten it, or check that this is a MetaImage",
                       number, longest, max_characters));
  }
  return f;
}

/// Refuses a header whose voxels are to lie in one other file that is not there.
void check_data_file(std::filesystem::path const& path, std::string const& name) {
  auto const lower = lower_case(name);
  std::error_code unknown;
  if (lower != "local" && !lower.starts_with("list") && lower.find('%') == std::string::npos &&
      !std::filesystem::exists(path.parent_path() / name, unknown)) {
    refuse(
        path,
        fmt::format(
            "its data file '{}' is not there (ElementDataFile names it); put it beside the header",
            shortened(name, 80)));
  }
}

/// Returns the fields of a header, behind which `in` then stands, and refuses lines that are none.
std::map<std::string, std::string> read_fields(std::filesystem::path const& path,
                                               std::ifstream& in) {
  std::array<char, 4096> buffer{};
  std::map<std::string, std::string> fields;
  for (std::int64_t number = 1; !fields.contains("ElementDataFile"); ++number) {
    in.getline(buffer.data(), buffer.size());
    bool const too_long = in.fail() && in.gcount() == std::streamsize(buffer.size() - 1);
    if (in.fail() && !too_long) {
      break;
    }
    std::string_view const line(buffer.data());
    auto const separator = line.find_first_of("=:");
    if (fields.empty() && (too_long || separator == std::string_view::npos)) {
      refuse(path, fmt::format("is no MetaImage (line {} of its header is not of the form 'name = "
                               "value'); check its ending",
                               number));
    }
    auto const [name, value] = field_of(path, line, number, separator);
    fields.insert_or_assign(name, value);
    if (name == "ElementDataFile") {
      check_data_file(path, value);
    }
    in.clear(in.rdstate() & ~std::ios::failbit);
  }
  return fields;
}

/// Refuses values that are to be scaled: ITK leaves them as they are stored.
void check_meta_scale(std::filesystem::path const& path,
                      std::map<std::string, std::string> const& fields) {
  for (auto const& [name, neutral] : {std::pair("ElementToIntensityFunctionSlope", 1.0),
                                      std::pair("ElementToIntensityFunctionOffset", 0.0)}) {
    auto const found = fields.find(name);
    if (found != fields.end() && std::strtod(found->second.c_str(), nullptr) != neutral) {
      refuse(path, fmt::format("has {} = {} in its header (values are read as they are stored); "
                               "scale them, and write it with {}",
                               name, shortened(found->second, 24), neutral));
    }
  }
}

}  // namespace

void check_meta_header(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  auto const fields = read_fields(path, in);
  for (auto const* wanted : {"NDims", "DimSize", "ElementType", "ElementDataFile"}) {
    if (!fields.contains(wanted)) {
      refuse(
          path,
          fmt::format("is no whole MetaImage (its header has no field {}); fetch or write it again",
                      wanted));
    }
  }
  check_meta_scale(path, fields);
}

std::optional<voxel_layout> meta_layout(std::filesystem::path const& path, std::uint64_t bytes) {
  std::ifstream in(path, std::ios::binary);
  auto fields = read_fields(path, in);
  auto const is_true = [&](char const* name) {
    auto const value = lower_case(fields[name]);
    return value.starts_with("t") || value.starts_with("1");
  };
  auto const name = fields["ElementDataFile"];
  auto const lower = lower_case(name);
  voxel_layout layout;
  layout.compressed = is_true("CompressedData");
  auto const skipped = std::atoll(fields["HeaderSize"].c_str());
  if (lower.starts_with("list") || lower.find('%') != std::string::npos ||
      (layout.compressed && skipped < 0)) {
    return std::nullopt;
  }
  bool const local = lower == "local";
  layout.file = local ? path : path.parent_path() / name;
  layout.offset = local && in ? std::uint64_t(in.tellg()) : 0;
  if (skipped > 0) {
    layout.offset = std::uint64_t(skipped);
  } else if (skipped < 0) {  // the last bytes of the file
    auto const held = std::filesystem::file_size(layout.file);
    layout.offset = held - std::min<std::uint64_t>(held, bytes);
  }
  layout.packed = std::strtoull(fields["CompressedDataSize"].c_str(), nullptr, 10);
  layout.swapped = is_true(fields.contains("ElementByteOrderMSB") ? "ElementByteOrderMSB"
                                                                  : "BinaryDataByteOrderMSB");
  return layout;
}

}  // namespace iso::files::detail
