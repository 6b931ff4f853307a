// SPDX-License-Identifier: BSD-3-Clause
#include "nifti_header.hpp"

#include "finite.hpp"

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
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

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
template <std::size_t N>
float float_at(std::array<char, N> const& from, std::size_t place, bool swapped) {
  std::array<char, sizeof(float)> bytes{};
  std::copy_n(from.begin() + std::ptrdiff_t(place), bytes.size(), bytes.begin());
  if (swapped) {
    std::reverse(bytes.begin(), bytes.end());
  }
  return std::bit_cast<float>(bytes);
}

// Places in a header, of numbers of 16 bits and of floats.
constexpr std::size_t axes_at = 40;
constexpr std::size_t type_at = 70;
constexpr std::size_t voxels_at = 108;
constexpr std::size_t slope_at = 112;
constexpr std::size_t shift_at = 116;

bool is_possible(int axes) { return axes >= 1 && axes <= 7; }

/// Returns whether a header is in the other byte order. Whole ones are read.
bool is_swapped(header_bytes const& header) {
  return !is_possible(number_at(header, axes_at, false));
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
  bool const swapped = is_swapped(header);
  int const axes = number_at(header, axes_at, swapped);
  int const along_first = number_at(header, axes_at + 2, swapped);
  int const type = number_at(header, type_at, swapped);
  // Of numbers and colours; 0 and 1 are "unknown" and single bits.
  constexpr std::array<int, 16> types = {2,   4,   8,    16,   32,   64,   128,  256,
                                         512, 768, 1024, 1280, 1536, 1792, 2048, 2304};
  bool const known = std::find(types.begin(), types.end(), type) != types.end();
  if (!is_possible(axes) || along_first < 1 || !known) {
    refuse(path, fmt::format("is no NIfTI (its header has {} axes, {} voxels along the first, and "
                             "voxels of type {}); check its ending, or fetch or write it again",
                             axes, along_first, type));
  }
  // ITK multiplies and adds in double, and rounds to float. It takes a slope that is less for none,
  // does not add such an offset alone, and adds others where a slope of 0 says that there are none.
  constexpr double least = DBL_EPSILON;
  float const slope = float_at(header, slope_at, swapped);
  if (slope != 0 && !(std::abs(slope) > least && std::abs(slope) <= FLT_MAX)) {
    refuse(path, fmt::format("has a slope of {} for its values (0, or a number from 2.3e-16 to "
                             "3.4e+38, is expected); scale its values, and write it again",
                             slope));
  }
  float const shift = float_at(header, shift_at, swapped);
  bool const is_added = std::isfinite(shift) && std::abs(shift) > least;
  if (is_added ? slope == 0 : slope == 1 && std::isfinite(shift) && shift != 0) {
    refuse(path,
           fmt::format("has an offset of {} for its values beside a slope of {} (a slope of 0 "
                       "says that values are as they are stored, and an offset is 2.3e-16 at "
                       "least); correct the header",
                       shift, slope));
  }
  check_floats(path, header, swapped, "a spacing", 80, 3);
  if (number_at(header, 252, swapped) > 0) {
    check_floats(path, header, swapped, "a turn or an offset", 256, 6);
  }
  if (number_at(header, 254, swapped) > 0) {
    check_floats(path, header, swapped, "a direction or an offset", 280, 12);
  }
}

nifti_name::nifti_name(std::filesystem::path const& path) : path_(path) {
  auto plain = path;
  plain.replace_extension();
  std::error_code unknown;
  if (ending(path) != ".nii.gz" || !std::filesystem::exists(plain, unknown)) {
    return;
  }
  auto folder = (std::filesystem::temp_directory_path() / "iso-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) {
    refuse(path, fmt::format("lies beside '{}', and no temporary folder can be made (the NIfTI "
                             "library would read the voxels of that one); rename one of the two",
                             plain.filename().string()));
  }
  folder_ = folder;
  path_ = folder_ / "voxels.nii.gz";
  std::filesystem::create_symlink(std::filesystem::absolute(path), path_);
}

nifti_name::~nifti_name() {
  if (!folder_.empty()) {
    std::error_code unknown;
    std::filesystem::remove_all(folder_, unknown);
  }
}

void check_nifti_scale(std::filesystem::path const& path, std::span<float const> values,
                       job const& asked) {
  header_bytes header{};
  read_header(path, header);
  bool const swapped = is_swapped(header);
  constexpr int of_floats = 16;  // whole numbers are 1 at least, and doubles stay doubles
  double const slope = float_at(header, slope_at, swapped);
  float_range read;
  read.add_all(values);
  if (number_at(header, type_at, swapped) != of_floats || slope == 0 || std::abs(slope) >= 1 ||
      !(read.is_zero() || read.is_too_small())) {
    return;
  }
  // Only the file tells zeros from what became 0.
  std::unique_ptr<gzFile_s, decltype(&gzclose)> const file(gzopen(path.c_str(), "rb"), &gzclose);
  if (file == nullptr) {
    return;  // its voxels were read a moment ago
  }
  gzseek(file.get(), z_off_t(float_at(header, voxels_at, swapped)), SEEK_SET);
  double const shift = float_at(header, shift_at, swapped);
  float_range exact;
  std::array<char, std::size_t(1) << 16> some{};
  for (std::size_t left = values.size() * sizeof(float); left > 0;) {
    asked.step(0);
    int const got = gzread(file.get(), some.data(), unsigned(std::min(left, some.size())));
    if (got <= 0) {
      break;
    }
    for (std::size_t at = 0; at + sizeof(float) <= std::size_t(got); at += sizeof(float)) {
      double const value = slope * double(float_at(some, at, swapped)) + shift;
      exact.add(std::isfinite(value) ? value : 0);
    }
    left -= std::size_t(got);
  }
  if (!exact.is_kept()) {
    refuse(path, exact.sentence());
  }
}

}  // namespace iso::files::detail
