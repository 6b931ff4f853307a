// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/foreign_file.hpp>
#include <iso/files/hdf5_kind.hpp>

#include <fmt/core.h>

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

}  // namespace iso::files
