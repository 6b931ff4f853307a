// SPDX-License-Identifier: BSD-3-Clause
// Pixels and planes as other programs lay them out: which are read, and which are refused.
#include "dicom_support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

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

/// One frame, which does not say how thick it is.
dicom_elements plane() {
  auto dose = dose_object();
  dose.erase(0x00280008);
  dose.erase(0x3004000c);
  dose[0x7fe00010].value.resize(12);
  return dose;
}

}  // namespace

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
  for (std::uint32_t const tag : {0x00281052, 0x00281053}) {
    slice = ct_slice(3);
    slice.erase(tag);
    CHECK(names(said_of_slices({slice}), {"without Rescale Slope or Rescale Intercept"}));
  }
}

}  // namespace iso::test
