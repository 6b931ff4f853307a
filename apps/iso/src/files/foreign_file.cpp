// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/foreign_file.hpp>
#include <iso/files/hdf5_kind.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <array>
#include <fstream>
#include <string>
#include <string_view>

namespace iso::files {
namespace {

namespace fs = std::filesystem;

/// Returns as many bytes as tell the kinds of files apart.
std::string first_bytes(fs::path const& path) {
  std::array<char, 132> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  return {bytes.data(), std::size_t(file.gcount())};
}

}  // namespace

void refuse_foreign(fs::path const& path, char const* wanted) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) {
    return;
  }
  auto const bytes = first_bytes(path);
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) {
    auto const kind = read_hdf5_kind(path);
    detail::refuse(
        path, fmt::format("is a {} in HDF5 ({} is JSON); {}", name_of(kind), wanted,
                          kind == hdf5_kind::stack && std::string_view(wanted) == "a geometry"
                              ? "name it as projections where a command takes them: they bring "
                                "their geometry"
                              : "write a file as docs/formats.md describes it"));
  }
  if (bytes.size() == 132 && bytes.ends_with("DICM")) {
    auto const modality = has_dicom ? read_dicom_identity(path).modality : std::string();
    auto const what = modality == "RTPLAN" ? std::string("an RT Plan of DICOM")
                      : modality.empty()   ? std::string("a DICOM file")
                                           : fmt::format("a DICOM file of modality {}", modality);
    detail::refuse(
        path,
        fmt::format("is {} ({} is JSON{}); write a file as docs/formats.md describes it", what,
                    wanted, modality == "RTPLAN" ? ", and no beam of an RT Plan is read" : ""));
  }
}

json_kind kind_of_json(std::string const& text) {
  auto const file = nlohmann::json::parse(text, nullptr, false);
  auto const has = [&](char const* field) { return file.is_object() && file.contains(field); };
  return has("beams")       ? json_kind::plan
         : has("sets")      ? json_kind::sweep
         : has("isocenter") ? json_kind::results
         : has("type")      ? json_kind::geometry
                            : json_kind::other;
}

void refuse_other_json(fs::path const& path, json_kind wanted) {
  std::error_code unknown;
  if (!fs::is_regular_file(path, unknown)) {
    return;
  }
  constexpr std::array names{"a geometry of a scan", "a plan of beams", "a sweep",
                             "a file of results that iso wrote"};
  auto const found = kind_of_json(read_text(path, std::size_t(1) << 28));
  if (found != wanted && found != json_kind::other) {
    detail::refuse(path, fmt::format("is {} ({} is expected); name such a file",
                                     names.at(std::size_t(found)), names.at(std::size_t(wanted))));
  }
}

}  // namespace iso::files
