// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/reorder.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <system_error>
#include <vector>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;

// Patient, study and frame of reference: of `like`, or empty.
std::array<DcmTagKey, 13> const& inherited() {
  static std::array<DcmTagKey, 13> const all{DCM_SpecificCharacterSet,
                                             DCM_PatientName,
                                             DCM_PatientID,
                                             DCM_PatientBirthDate,
                                             DCM_PatientSex,
                                             DCM_StudyInstanceUID,
                                             DCM_StudyDate,
                                             DCM_StudyTime,
                                             DCM_AccessionNumber,
                                             DCM_ReferringPhysicianName,
                                             DCM_StudyID,
                                             DCM_FrameOfReferenceUID,
                                             DCM_PositionReferenceIndicator};
  return all;
}

void put(DcmItem& set, DcmTagKey tag, std::string const& value) {
  static_cast<void>(set.putAndInsertString(tag, value.c_str()));
}

void put(DcmItem& set, DcmTagKey tag, Uint16 number) {
  static_cast<void>(set.putAndInsertUint16(tag, number));
}

// What all slices share.
void put_series(DcmItem& set, host_volume const& v, fs::path const& like, std::string const& uid) {
  for (auto const& tag : inherited()) {
    put(set, tag, "");
  }
  if (!like.empty()) {
    auto const identity = read_dicom_identity(like);
    with_header(identity.file, [&](DcmDataset& from) {
      for (auto const& tag : inherited()) {
        put(set, tag, text_of(from, tag));
      }
    });
    put(set, DCM_FrameOfReferenceUID, identity.frame_of_reference);
  }
  if (text_of(set, DCM_SpecificCharacterSet).empty()) {
    put(set, DCM_SpecificCharacterSet, "ISO_IR 192");
  }
  for (auto const& tag : {DCM_StudyInstanceUID, DCM_FrameOfReferenceUID}) {
    if (text_of(set, tag).empty()) {
      uid_maker maker;
      maker.add(uid);
      maker.add(tag == DCM_StudyInstanceUID ? "study" : "frame of reference");
      put(set, tag, maker.uid());
    }
  }
  put(set, DCM_ImageType, "DERIVED\\SECONDARY\\AXIAL");
  put(set, DCM_SOPClassUID, ct_image_class);
  put(set, DCM_Modality, "CT");
  put(set, DCM_Manufacturer, "Isocenter");
  put(set, DCM_SeriesDescription, "Isocenter");
  put(set, DCM_SliceThickness, decimal_string(v.spacing[2]));
  put(set, DCM_KVP, "");
  put(set, DCM_PatientPosition, "HFS");
  put(set, DCM_SeriesInstanceUID, uid);
  put(set, DCM_SeriesNumber, "");
  put(set, DCM_AcquisitionNumber, "");
  put(set, DCM_ImageOrientationPatient, "1\\0\\0\\0\\1\\0");
  put(set, DCM_Laterality, "");  // of no paired organ
  put(set, DCM_SamplesPerPixel, Uint16(1));
  put(set, DCM_PhotometricInterpretation, "MONOCHROME2");
  put(set, DCM_Rows, Uint16(v.extent[1]));
  put(set, DCM_Columns, Uint16(v.extent[0]));
  put(set, DCM_PixelSpacing, joined({v.spacing[1], v.spacing[0]}));
  put(set, DCM_BitsAllocated, Uint16(16));
  put(set, DCM_BitsStored, Uint16(16));
  put(set, DCM_HighBit, Uint16(15));
  put(set, DCM_PixelRepresentation, Uint16(1));
  put(set, DCM_RescaleIntercept, "0");
  put(set, DCM_RescaleSlope, "1");
  put(set, DCM_RescaleType, "HU");
}

void check_series(fs::path const& folder, host_volume const& v) {
  if (v.unit != "HU") {
    refuse(folder, fmt::format("cannot be a CT series (its values are in {}, not in Hounsfield "
                               "units); convert them to HU, or write another format",
                               v.unit.empty() ? "no known unit" : v.unit));
  }
  for (auto const n : v.extent) {
    if (n < 1 || n > 65535) {
      refuse(folder, fmt::format("cannot be a CT series ({} x {} x {} voxels; DICOM takes 1 to "
                                 "65535 along each axis); crop it, or write another format",
                                 v.extent[0], v.extent[1], v.extent[2]));
    }
  }
  for (float const value : v.values) {
    if (!(value >= -32768.0F && value <= 32767.0F)) {
      refuse(folder, fmt::format("cannot be a CT series (a value is {} HU; DICOM's 16 bits hold "
                                 "-32768 to 32767); write another format",
                                 value));
    }
  }
}

}  // namespace

atomic_file prepare_dicom_series(fs::path const& folder, host_volume const& volume,
                                 fs::path const& like, job const& control) {
  silence_dcmtk(folder);
  check_series(folder, volume);
  auto const& n = volume.extent;
  uid_maker series;
  if (!like.empty()) {
    auto const identity = read_dicom_identity(like);
    series.add(identity.study);
    series.add(identity.frame_of_reference);
  }
  series.add(joined({double(n[0]), double(n[1]), double(n[2])}));
  series.add(std::as_bytes(std::span(volume.spacing)));
  series.add(std::as_bytes(std::span(volume.origin)));
  series.add(std::as_bytes(std::span(volume.values)));
  auto const uid = series.uid();
  DcmFileFormat file;
  auto& set = *file.getDataset();
  put_series(set, volume, like, uid);
  auto const values =
      reorder<float, float>(volume.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  auto const pixels = std::size_t(n[0] * n[1]);
  std::vector<Uint16> stored(pixels);
  auto result = atomic_file::folder(folder, std::uintmax_t(pixels) * 2 * std::uintmax_t(n[2]));
  for (std::int64_t k = 0; k < n[2]; ++k) {
    job{{}, control.cancelled}.step(double(k) / double(n[2]));
    std::transform(values.begin() + k * std::int64_t(pixels),
                   values.begin() + (k + 1) * std::int64_t(pixels), stored.begin(),
                   [](float value) { return Uint16(std::int16_t(std::lrint(value))); });
    uid_maker instance;
    instance.add(uid);
    instance.add(std::to_string(k));
    put(set, DCM_SOPInstanceUID, instance.uid());
    put(set, DCM_InstanceNumber, std::to_string(k + 1));
    put(set, DCM_ImagePositionPatient,
        joined({volume.origin[0], volume.origin[1],
                volume.origin[2] + double(k) * volume.spacing[2]}));
    static_cast<void>(set.putAndInsertUint16Array(DCM_PixelData, stored.data(),
                                                  static_cast<unsigned long>(pixels)));
    auto const slice = result.temporary() / fmt::format("ct.{:05}.dcm", k + 1);
    std::error_code unknown;
    if (file.saveFile(slice.c_str(), EXS_LittleEndianExplicit).bad() ||
        fs::file_size(slice, unknown) < pixels * 2 || unknown) {
      refuse(folder, "cannot be written (its disk may be full); make room on its disk");
    }
  }
  return result;
}

}  // namespace iso::files
