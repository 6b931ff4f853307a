// SPDX-License-Identifier: BSD-3-Clause
// Layout: NIfTI-1.1, nifti1.h of the NIfTI data format working group: 348 bytes, the byte order
// told by the first field.
#include "image_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <map>
#include <tuple>
#include <utility>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t header_bytes = 348;

class raw_header {
 public:
  explicit raw_header(std::string bytes) : bytes_(std::move(bytes)) {
    swapped_ = number<std::int32_t>(0) != std::int32_t(header_bytes);
  }
  template <class T>
  [[nodiscard]] T number(std::size_t at) const {
    char piece[sizeof(T)];
    std::memcpy(piece, bytes_.data() + at, sizeof(T));
    if (swapped_) {
      std::reverse(piece, piece + sizeof(T));
    }
    T value;
    std::memcpy(&value, piece, sizeof(T));
    return value;
  }

 private:
  std::string bytes_;
  bool swapped_ = false;
};

std::string start_of(fs::path const& path, bool deflated) {
  std::string bytes;
  if (deflated) {
    bytes = inflate_start(path, header_bytes);
  } else {
    std::ifstream in(path, std::ios::binary);
    if (!in || fs::is_directory(path)) {
      refuse(path, "cannot be opened (no such file, or not readable)");
    }
    bytes.resize(header_bytes);
    in.read(bytes.data(), std::streamsize(header_bytes));
    bytes.resize(std::size_t(in.gcount()));
  }
  if (bytes.size() < header_bytes) {
    refuse(path, fmt::format("holds {} bytes of a header of {} (truncated, or not a NIfTI file)",
                             bytes.size(), header_bytes));
  }
  return bytes;
}

std::array<std::int64_t, 3> extent_of(fs::path const& path, raw_header const& raw) {
  int const dimensions = raw.number<std::int16_t>(40);
  if (dimensions < 3 || dimensions > 7) {
    refuse(path, fmt::format("header field 'dim[0]' is {} (a volume has 3)", dimensions));
  }
  std::array<std::int64_t, 3> extent{};
  for (int axis = 1; axis <= dimensions; ++axis) {
    int const n = raw.number<std::int16_t>(40 + 2 * std::size_t(axis));
    if (n < 1 || (axis > 3 && n != 1)) {
      refuse(path, fmt::format("header field 'dim[{}]' is {} ({})", axis, n,
                               axis > 3 ? "one volume is expected, not a series"
                                        : "at least 1 is expected"));
    }
    if (axis <= 3) {
      extent[std::size_t(axis - 1)] = n;
    }
  }
  return extent;
}

std::int64_t bytes_of(fs::path const& path, raw_header const& raw) {
  static std::map<int, std::int64_t> const known = {
      {2, 1}, {4, 2}, {8, 4}, {16, 4}, {64, 8}, {256, 1}, {512, 2}, {768, 4}, {1024, 8}, {1280, 8}};
  int const type = raw.number<std::int16_t>(70);
  auto const found = known.find(type);
  if (found == known.end()) {
    refuse(path,
           fmt::format("header field 'datatype' is {} (one real number a voxel is expected: 2, "
                       "4, 8, 16, 64, 256, 512, 768, 1024 or 1280)",
                       type));
  }
  if (int const bits = raw.number<std::int16_t>(72); bits != 8 * found->second) {
    refuse(path, fmt::format("header field 'bitpix' is {} (datatype {} has {})", bits, type,
                             8 * found->second));
  }
  return found->second;
}

}  // namespace

image_header read_nifti_header(fs::path const& path) {
  image_header header;
  header.whole_file_deflated = ending(path) == ".nii.gz";
  header.kind = header.whole_file_deflated ? storage::deflate : storage::plain;
  header.data_file = path;
  std::string const bytes = start_of(path, header.whole_file_deflated);
  raw_header const raw(bytes);
  if (raw.number<std::int32_t>(0) != std::int32_t(header_bytes) ||
      std::string_view(bytes).substr(344, 3) != "n+1") {
    refuse(path,
           "header fields 'sizeof_hdr' and 'magic' are not 348 and 'n+1' (is this a NIfTI-1 "
           "file in one piece?)");
  }
  header.extent = extent_of(path, raw);
  header.bytes_per_voxel = bytes_of(path, raw);
  for (std::size_t axis = 1; axis <= 3; ++axis) {
    double const step = raw.number<float>(76 + 4 * axis);
    check_spacing(path, fmt::format("pixdim[{}]", axis), {&step, 1});
  }
  float const offset = raw.number<float>(108);
  if (!(offset >= float(header_bytes) && offset < 0x1p30F && offset == std::floor(offset))) {
    refuse(path, fmt::format("header field 'vox_offset' is {} (348 or more is expected)", offset));
  }
  header.data_offset = std::int64_t(offset);
  for (std::size_t at : {std::size_t(112), std::size_t(116)}) {
    if (!std::isfinite(raw.number<float>(at))) {
      refuse(path,
             fmt::format("header field '{}' is not finite", at == 112 ? "scl_slope" : "scl_inter"));
    }
  }
  // quatern_b to qoffset_z, then srow_x to srow_z: where the volume lies.
  for (auto const& [first, end, name] :
       {std::tuple{256, 280, "quatern, qoffset"}, std::tuple{280, 328, "srow"}}) {
    for (int at = first; at < end; at += 4) {
      float const number = raw.number<float>(std::size_t(at));
      if (!std::isfinite(number)) {
        refuse(path, fmt::format("header fields '{}' hold a number that is not finite", name));
      }
      // Larger directions keep ITK's singular value decomposition from ending.
      bool const is_offset = at >= 268 && (at < 280 || (at - 280) % 16 == 12);
      if (!is_offset && !(std::abs(number) <= 1e9F)) {
        refuse(path, fmt::format("header fields '{}' hold {} (a part of a direction, between -1e9 "
                                 "and 1e9, is expected)",
                                 name, number));
      }
    }
  }
  for (auto const& [at, name] :
       {std::pair{268, "qoffset_x"}, std::pair{272, "qoffset_y"}, std::pair{276, "qoffset_z"},
        std::pair{292, "srow_x"}, std::pair{308, "srow_y"}, std::pair{324, "srow_z"}}) {
    double const coordinate = raw.number<float>(std::size_t(at));
    check_coordinates(path, name, {&coordinate, 1});
  }
  return header;
}

}  // namespace iso::files::detail
