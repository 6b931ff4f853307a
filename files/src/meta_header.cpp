// SPDX-License-Identifier: BSD-3-Clause
#include "meta_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <string_view>

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

}  // namespace

void check_meta_header(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 4096> buffer{};
  std::set<std::string> fields;
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
    fields.insert(name);
    if (name == "ElementDataFile") {
      check_data_file(path, value);
    }
    in.clear(in.rdstate() & ~std::ios::failbit);
  }
  for (auto const* wanted : {"NDims", "DimSize", "ElementType", "ElementDataFile"}) {
    if (!fields.contains(wanted)) {
      refuse(
          path,
          fmt::format("is no whole MetaImage (its header has no field {}); fetch or write it again",
                      wanted));
    }
  }
}

}  // namespace iso::files::detail
