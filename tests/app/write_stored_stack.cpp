// SPDX-License-Identifier: BSD-3-Clause
// write_stored_stack FROM STORED CONVERTED: writes the readings of a stack as integers of 16 bits
// with scale and offset, and the floats that these stand for. For test_memory.sh.
#include <hdf5.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

void write(char const* path, hsize_t const (&extent)[3], hid_t type, void const* values,
           double const* scale_and_offset) {
  hid_t const file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hid_t const space = H5Screate_simple(3, extent, nullptr);
  hid_t const set =
      H5Dcreate2(file, "projections", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  if (scale_and_offset != nullptr) {
    hid_t const one = H5Screate(H5S_SCALAR);
    for (int i = 0; i < 2; ++i) {
      hid_t const attribute = H5Acreate2(set, i == 0 ? "scale" : "offset", H5T_IEEE_F64LE, one,
                                         H5P_DEFAULT, H5P_DEFAULT);
      H5Awrite(attribute, H5T_NATIVE_DOUBLE, scale_and_offset + i);
      H5Aclose(attribute);
    }
    H5Sclose(one);
  }
  H5Dclose(set);
  H5Sclose(space);
  H5Fclose(file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    return 2;
  }
  hid_t const file = H5Fopen(argv[1], H5F_ACC_RDONLY, H5P_DEFAULT);
  hid_t const set = H5Dopen2(file, "projections", H5P_DEFAULT);
  hsize_t extent[3] = {};
  hid_t const space = H5Dget_space(set);
  H5Sget_simple_extent_dims(space, extent, nullptr);
  std::vector<float> values(extent[0] * extent[1] * extent[2]);
  bool const read =
      H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) >= 0;
  H5Sclose(space);
  H5Dclose(set);
  H5Fclose(file);
  if (!read || values.empty()) {
    std::fputs("write_stored_stack: no readings\n", stderr);
    return 1;
  }
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  double const how[2] = {(double(*most) - double(*least)) / 65535, double(*least)};
  std::vector<std::uint16_t> integers(values.size());
  std::transform(values.begin(), values.end(), integers.begin(), [&](float x) {
    return std::uint16_t(std::lround(std::clamp((double(x) - how[1]) / how[0], 0.0, 65535.0)));
  });
  std::transform(integers.begin(), integers.end(), values.begin(),
                 [&](std::uint16_t n) { return float(std::fma(how[0], double(n), how[1])); });
  write(argv[2], extent, H5T_NATIVE_UINT16, integers.data(), how);
  write(argv[3], extent, H5T_NATIVE_FLOAT, values.data(), nullptr);
}
