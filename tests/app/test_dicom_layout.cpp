// SPDX-License-Identifier: BSD-3-Clause
// Pixels and planes as other programs lay them out: which are read, and which are refused.
#include "dicom_support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace iso::test {
namespace {

namespace fs = std::filesystem;

files::rt_dose read_dose(dicom_elements const& elements, double slice_thickness = 0) {
  scratch_folder const scratch;
  put(scratch / "dose.dcm", dicom_file(elements));
  return files::read_rt_dose(scratch / "dose.dcm", files::dose_units::gray, slice_thickness);
}

std::string said_of_dose(dicom_elements const& elements) {
  return refusal([&] { read_dose(elements); });
}

files::host_volume read_slices(std::vector<dicom_elements> const& slices) {
  scratch_folder const scratch;
  return files::read_dicom_series(series_folder(scratch, slices)).volume;
}

std::string said_of_slices(std::vector<dicom_elements> const& slices) {
  return refusal([&] { read_slices(slices); });
}

/// Rows and columns along these axes, each either way.
struct planes {
  std::array<std::size_t, 2> axes;
  std::array<int, 2> signs;
  std::string position = "HFS";
};

constexpr std::array<int, 3> extent{2, 3, 4};
constexpr std::array<double, 3> voxel_mm{0.5, 1.25, 3};
constexpr std::array<double, 3> origin{-7, 8, 3};

/// The voxel (x, y, z) of a volume that every orientation shall give.
int voxel(std::array<int, 3> const& at) { return 100 * at[0] + 10 * at[1] + at[2]; }

std::string text_of(std::array<double, 3> const& numbers) {
  return std::to_string(numbers[0]) + "\\" + std::to_string(numbers[1]) + "\\" +
         std::to_string(numbers[2]);
}

/// Gives an object the plane `k`, counted upwards along the third axis: its place and its pixels.
void lay(dicom_elements& e, planes const& p, int k) {
  auto const [a, b] = p.axes;
  std::size_t const c = 3 - a - b;
  std::array<double, 3> row{};
  std::array<double, 3> column{};
  row[a] = p.signs[0];
  column[b] = p.signs[1];
  std::array<double, 3> first = origin;
  first[a] += p.signs[0] < 0 ? voxel_mm[a] * (extent[a] - 1) : 0;
  first[b] += p.signs[1] < 0 ? voxel_mm[b] * (extent[b] - 1) : 0;
  first[c] += voxel_mm[c] * k;
  e[0x00200032] = {"DS", text_of(first)};
  e[0x00200037] = {"DS", text_of(row) + "\\" + text_of(column)};
  e[0x00280010] = us(extent[b]);
  e[0x00280011] = us(extent[a]);
  e[0x00280030] = {"DS", std::to_string(voxel_mm[b]) + "\\" + std::to_string(voxel_mm[a])};
  e[0x7fe00010] = {"OW", e[0x7fe00010].value};
  for (int j = 0; j < extent[b]; ++j) {
    for (int i = 0; i < extent[a]; ++i) {
      std::array<int, 3> at{};
      at[a] = p.signs[0] > 0 ? i : extent[a] - 1 - i;
      at[b] = p.signs[1] > 0 ? j : extent[b] - 1 - j;
      at[c] = k;
      e[0x7fe00010].value += bytes_of_number(std::uint64_t(voxel(at)), 2);
    }
  }
}

/// Head or feet first, supine, prone or on the left side; sagittal and coronal planes.
std::vector<planes> all_planes() {
  return {{{0, 1}, {1, 1}},         {{0, 1}, {-1, -1}, "HFP"}, {{0, 1}, {-1, 1}, "FFS"},
          {{0, 1}, {1, -1}, "FFP"}, {{1, 0}, {1, -1}, "HFDL"}, {{1, 2}, {1, -1}},
          {{0, 2}, {1, -1}},        {{2, 0}, {-1, -1}},        {{2, 1}, {1, 1}}};
}

void check_volume(files::host_volume const& v, double scale, double zero) {
  CHECK(v.extent == std::array<std::int64_t, 3>{2, 3, 4});
  for (std::size_t axis = 0; axis < 3; ++axis) {
    CHECK(v.spacing[axis] == doctest::Approx(voxel_mm[axis]).epsilon(1e-12));
    CHECK(v.origin[axis] == doctest::Approx(origin[axis]).epsilon(1e-12));
  }
  std::size_t n = 0;
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int z = 0; z < 4; ++z) {
        CHECK(v.values[n++] == float(scale * voxel({x, y, z}) + zero));
      }
    }
  }
}

/// One frame, which does not say how thick it is.
dicom_elements plane() {
  auto dose = dose_object();
  dose.erase(0x00280008);
  dose.erase(0x3004000c);
  dose[0x7fe00010].value.resize(12);
  return dose;
}

}  // namespace

TEST_CASE("planes along the axes give one volume, however the patient lay" *
          doctest::skip(!files::has_dicom)) {
  for (auto const& p : all_planes()) {
    CAPTURE(p.axes[0]);
    CAPTURE(p.axes[1]);
    CAPTURE(p.signs[0]);
    CAPTURE(p.signs[1]);
    std::size_t const c = 3 - p.axes[0] - p.axes[1];
    std::vector<dicom_elements> slices;
    for (int k = 0; k < extent[c]; ++k) {
      auto slice = with(ct_slice(k), 0x00185100, {"CS", p.position});
      slice[0x7fe00010].value.clear();
      lay(slice, p, k);
      slices.push_back(slice);
    }
    scratch_folder const scratch;
    auto const series = files::read_dicom_series(series_folder(scratch, slices));
    check_volume(series.volume, 0.5, -1000);
    CHECK(series.identity.patient_position == p.position);

    // Offsets of frames count along the cross product of rows and columns.
    int const along = ((p.axes[0] + 1) % 3 == p.axes[1] ? 1 : -1) * p.signs[0] * p.signs[1];
    for (bool const ascending : {true, false}) {
      bool const upwards = ascending == (along > 0);
      dicom_elements dose = dose_object();
      dose[0x7fe00010].value.clear();
      std::string offsets;
      for (int k = 0; k < extent[c]; ++k) {
        lay(dose, p, upwards ? k : extent[c] - 1 - k);
        offsets += (k > 0 ? "\\" : "") + std::to_string((ascending ? 1 : -1) * k * voxel_mm[c]);
      }
      auto frame = dose;
      lay(frame, p, upwards ? 0 : extent[c] - 1);
      dose[0x00200032] = frame[0x00200032];
      dose[0x00280008] = {"IS", std::to_string(extent[c])};
      dose[0x3004000c] = {"DS", offsets};
      check_volume(read_dose(dose).volume, 0.25, 0);
    }
  }
}

TEST_CASE("absolute offsets are read where rows run along x and columns along y alone" *
          doctest::skip(!files::has_dicom)) {
  auto const flipped = with(dose_object("9\\12"), 0x00200037, {"DS", "-1\\0\\0\\0\\1\\0"});
  CHECK(names(said_of_dose(flipped),
              {"offsets from 9 mm on (from 0, relative, as its planes lie, is"}));
  auto const a = ct_slice(3);
  CHECK(names(said_of_slices({a, with(ct_slice(6), 0x00200037, {"DS", "-1\\0\\0\\0\\1\\0"})}),
              {"run along different axes"}));
}

TEST_CASE("one frame without a thickness has that which the caller gives" *
          doctest::skip(!files::has_dicom)) {
  CHECK(names(said_of_dose(plane()), {"has one frame without a thickness"}));
  auto const dose = read_dose(plane(), 2.5);
  CHECK_FALSE(dose.states_thickness);
  CHECK(dose.volume.extent == std::array<std::int64_t, 3>{2, 3, 1});
  CHECK(dose.volume.spacing[2] == 2.5);
  auto const thick = read_dose(with(plane(), 0x00180050, {"DS", "4"}), 2.5);
  CHECK(thick.states_thickness);
  CHECK(thick.volume.spacing[2] == 4);
}

TEST_CASE("pixels of more frames or of several numbers, and numbers without a scale, are refused" *
          doctest::skip(!files::has_dicom)) {
  auto dose = dose_object();
  dose[0x7fe00010].value += std::string(10, '\0');
  CHECK(said_of_dose(dose).empty());  // less than a frame more: padding
  dose[0x7fe00010].value += std::string(2, '\0');
  CHECK(names(said_of_dose(dose), {"holds more pixels than the 2 frames"}));
  auto slice = ct_slice(3);
  slice[0x7fe00010].value += std::string(12, '\0');
  CHECK(names(said_of_slices({slice}), {"z = 3 mm", "more pixels than its header says"}));
  slice = with(ct_slice(3), 0x00280002, us(3));
  slice[0x7fe00010].value += std::string(24, '\0');
  CHECK(names(said_of_slices({slice}), {"3 numbers a pixel"}));
  slice = with(ct_slice(3), 0x00280004, {"CS", "PALETTE COLOR"});
  CHECK(names(said_of_slices({slice}), {"an image in colours"}));
  for (std::uint32_t const tag : {0x00281052, 0x00281053}) {
    slice = ct_slice(3);
    slice.erase(tag);
    CHECK(names(said_of_slices({slice}), {"without Rescale Slope or Rescale Intercept"}));
  }
}

}  // namespace iso::test
