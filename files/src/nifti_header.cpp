// SPDX-License-Identifier: BSD-3-Clause
#include "nifti_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace iso::files::detail {
namespace {

/// The bytes of a NIfTI-1 header, in the order of the file.
using header_bytes = std::array<char, 348>;

/// Returns how many bytes of a header there are.
std::size_t read_header(std::filesystem::path const& path, header_bytes& to) {
  if (ending(path) == ".nii.gz") {
    gzFile const file = gzopen(path.c_str(), "rb");
    int const got = file != nullptr ? gzread(file, to.data(), unsigned(to.size())) : 0;
    gzclose(file);
    return got > 0 ? std::size_t(got) : 0;
  }
  std::ifstream in(path, std::ios::binary);
  in.read(to.data(), std::streamsize(to.size()));
  return std::size_t(in.gcount());
}

/// Returns the number of 16 bits at a place, its bytes swapped or not.
std::int16_t number_at(header_bytes const& header, std::size_t place, bool swapped) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, header.data() + place, sizeof bits);
  return std::int16_t(swapped ? std::uint16_t(bits << 8 | bits >> 8) : bits);
}

/// Returns the float at a place, its bytes swapped or not.
float float_at(header_bytes const& header, std::size_t place, bool swapped) {
  std::array<char, sizeof(float)> bytes{};
  std::copy_n(header.begin() + std::ptrdiff_t(place), bytes.size(), bytes.begin());
  if (swapped) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<float>(bytes);
}

/// Refuses `count` numbers from a place on of which one is no number of millimetres.
void check_floats(std::filesystem::path const& path, header_bytes const& header, bool swapped,
                  char const* what, std::size_t place, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    float const number = float_at(header, place + i * sizeof(float), swapped);
    if (!(std::abs(number) <= 1e9F)) {
      refuse(path, fmt::format("has {} of {} in its header (numbers between -1e9 and 1e9 are "
                               "expected); correct the header",
                               what, number));
    }
  }
}

}  // namespace

void check_nifti_header(std::filesystem::path const& path) {
  header_bytes header{};
  if (read_header(path, header) < header.size()) {
    return;  // ITK says so
  }
  constexpr std::size_t axes_at = 40;
  constexpr std::size_t type_at = 70;
  auto const possible = [](int axes) { return axes >= 1 && axes <= 7; };
  // Whole headers of the other byte order are read.
  bool const swapped = !possible(number_at(header, axes_at, false));
  int const axes = number_at(header, axes_at, swapped);
  int const along_first = number_at(header, axes_at + 2, swapped);
  int const type = number_at(header, type_at, swapped);
  // Of numbers and colours; 0 and 1 are "unknown" and single bits.
  constexpr std::array<int, 16> types = {2,   4,   8,    16,   32,   64,   128,  256,
                                         512, 768, 1024, 1280, 1536, 1792, 2048, 2304};
  bool const known = std::find(types.begin(), types.end(), type) != types.end();
  if (!possible(axes) || along_first < 1 || !known) {
    refuse(path, fmt::format("is no NIfTI (its header has {} axes, {} voxels along the first, and "
                             "voxels of type {}); check its ending, or fetch or write it again",
                             axes, along_first, type));
  }
  // ITK multiplies and adds in double, and rounds to float. A slope of 0 is none.
  float const slope = float_at(header, 112, swapped);
  if (slope != 0 && !(std::abs(slope) >= FLT_MIN && std::abs(slope) <= FLT_MAX)) {
    refuse(path, fmt::format("has a slope of {} for its values (0, or a number that float holds "
                             "with all digits, from 1.2e-38 to 3.4e+38, is expected); correct the "
                             "header",
                             slope));
  }
  check_floats(path, header, swapped, "a spacing", 80, 3);
  if (number_at(header, 252, swapped) > 0) {
    check_floats(path, header, swapped, "a turn or an offset", 256, 6);
  }
  if (number_at(header, 254, swapped) > 0) {
    check_floats(path, header, swapped, "a direction or an offset", 280, 12);
  }
}

}  // namespace iso::files::detail
