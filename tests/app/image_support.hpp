// SPDX-License-Identifier: BSD-3-Clause
//! A small volume, and the formats' headers written by hand.
#pragma once

#include "file_support.hpp"

#include <iso/files/volume_file.hpp>

#include <zlib.h>

#include <array>
#include <cstdint>

namespace iso::test {

// Value 100 x + 10 y + z: every digit tells where it came from.
inline float digits(std::int64_t x, std::int64_t y, std::int64_t z) {
  return float(100 * x + 10 * y + z);
}

inline files::host_volume small_volume() {
  files::host_volume volume{{2, 3, 4}, {0.5, 1.25, 3}, {-7, 8, 9.5}, {}};
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int z = 0; z < 4; ++z) {
        volume.values.push_back(digits(x, y, z));
      }
    }
  }
  return volume;
}

// The same voxels as a file holds them, x fastest.
template <class T>
std::vector<T> file_values() {
  std::vector<T> values;
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 2; ++x) {
        values.push_back(T(digits(x, y, z)));
      }
    }
  }
  return values;
}

// Spacing 1 mm where `fields` say none.
inline std::string metaimage(std::string const& fields, std::string const& type = "MET_SHORT",
                             std::string const& size = "2 3 4") {
  std::string const spacing =
      fields.find("ElementSpacing") == std::string::npos ? "ElementSpacing = 1 1 1\n" : "";
  return "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\n" +
         spacing + fields + "DimSize = " + size + "\nElementType = " + type +
         "\nElementDataFile = LOCAL\n";
}

// The same.
inline std::string nrrd(std::string const& fields, std::string const& sizes = "2 3 4") {
  std::string const spacing =
      fields.find("spac") == std::string::npos && fields.find("Spac") == std::string::npos
          ? "space directions: (1,0,0) (0,1,0) (0,0,1)\n"
          : "";
  return "NRRD0004\ntype: short\ndimension: 3\nspace: left-posterior-superior\nsizes: " + sizes +
         "\nendian: little\nencoding: raw\n" + spacing + fields + "\n";
}

// A NIfTI-1 header for 2 x 3 x 4 shorts.
inline std::string nifti(std::array<std::int16_t, 8> dim = {3, 2, 3, 4, 1, 1, 1, 1},
                         float spacing = 2) {
  std::string header(352, '\0');
  auto const set = [&](std::size_t at, auto value) {
    std::memcpy(header.data() + at, &value, sizeof value);
  };
  set(0, std::int32_t(348));
  for (std::size_t i = 0; i < 8; ++i) {
    set(40 + 2 * i, dim[i]);
    set(76 + 4 * i, i == 0 ? 1.0F : spacing);
  }
  set(70, std::int16_t(4));
  set(72, std::int16_t(16));
  set(108, 352.0F);
  set(112, 1.0F);
  set(254, std::int16_t(1));  // sform: x to the left and y to the back are negative there
  float const rows[12] = {-spacing, 0, 0, 10, 0, -spacing, 0, 20, 0, 0, spacing, 30};
  for (std::size_t i = 0; i < 12; ++i) {
    set(280 + 4 * i, rows[i]);
  }
  std::memcpy(header.data() + 344, "n+1", 4);
  return header;
}

inline void put_gz(std::filesystem::path const& path, std::string const& bytes) {
  gzFile const file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), unsigned(bytes.size()));
  gzclose(file);
}

}  // namespace iso::test
