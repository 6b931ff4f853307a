// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/reorder.hpp>

#include <dcmtk/dcmrt/drtdose.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;

// The least decimal string whose number is no less than `number`, to 10 digits: what is stored are
// multiples of the number that a reader gets.
std::string decimal_above(double number) {
  for (double more = number;; more *= 1 + 1e-10) {
    auto text = fmt::format("{:.9e}", more);
    if (*decimal_number(text) >= number) {
      return text;
    }
  }
}

void check_dose(fs::path const& path, host_volume const& v) {
  if (v.unit != "Gy") {
    refuse(path, fmt::format("cannot be an RT Dose (its values are in {}, not in Gy); convert them "
                             "to Gy, or write another format",
                             v.unit.empty() ? "no known unit" : v.unit));
  }
  auto const& n = v.extent;
  if (n[0] < 1 || n[1] < 1 || n[2] < 1 || n[0] > 65535 || n[1] > 65535 ||
      n[0] * n[1] > 1'000'000'000 / n[2]) {
    refuse(path,
           fmt::format("cannot be an RT Dose ({} x {} x {} voxels; DICOM takes 1 to 65535 along x "
                       "and y, and this writer 1e9 in all); crop it, or write another format",
                       n[0], n[1], n[2]));
  }
  for (float const value : v.values) {
    if (!(value >= 0 && value <= std::numeric_limits<float>::max())) {
      refuse(path, fmt::format("cannot be an RT Dose (a value is {}; a physical dose is no less "
                               "than 0 and finite); write another format",
                               value));
    }
  }
}

/// The first failure of many calls.
class all_good {
 public:
  explicit all_good(fs::path path) : path_(std::move(path)) {}
  void operator()(OFCondition const& result) const {
    if (result.bad()) {
      refuse(path_,
             fmt::format("cannot be written as RT Dose ({}); write another format", result.text()));
    }
  }

 private:
  fs::path path_;
};

struct belongings {
  dicom_identity like;
  std::string plan;  ///< UID
};

belongings belongings_of(rt_dose_options const& options) {
  belongings result;
  if (!options.like.empty()) {
    result.like = read_dicom_identity(options.like);
    if (result.like.sop_class == rt_plan_class) {
      result.plan = result.like.sop_instance;
    }
  }
  if (!options.plan.empty()) {
    auto const plan = read_dicom_identity(options.plan);
    if (plan.sop_class != rt_plan_class) {
      refuse(options.plan,
             fmt::format(
                 "is no RT Plan (its modality is {}); name the plan that the dose is of, or none",
                 plan.modality.empty() ? "not said" : plan.modality));
    }
    if (options.like.empty()) {
      result.like = plan;
    } else {
      check_same_frame(options.like, result.like.frame_of_reference, options.plan,
                       plan.frame_of_reference);
    }
    result.plan = plan.sop_instance;
  }
  return result;
}

/// The names that the object is given: its own, and those made from it where there is no other.
class object_names {
 public:
  object_names(host_volume const& v, belongings const& to) {
    uid_maker maker;
    maker.add(to.like.study);
    maker.add(to.like.frame_of_reference);
    maker.add(to.plan);
    maker.add(std::as_bytes(std::span(v.extent)));
    maker.add(std::as_bytes(std::span(v.spacing)));
    maker.add(std::as_bytes(std::span(v.origin)));
    maker.add(std::as_bytes(std::span(v.values)));
    instance_ = maker.uid();
  }
  [[nodiscard]] std::string const& instance() const { return instance_; }
  [[nodiscard]] std::string derived(char const* what) const {
    uid_maker other;
    other.add(instance_);
    other.add(what);
    return other.uid();
  }
  [[nodiscard]] std::string own_or(std::string const& own, char const* what) const {
    return own.empty() ? derived(what) : own;
  }

 private:
  std::string instance_;
};

void set_identity(DRTDoseIOD& dose, all_good const& good, belongings const& to,
                  object_names const& names) {
  if (!to.like.file.empty()) {
    DcmFileFormat like;
    good(like.loadFile(to.like.file.c_str()));
    good(dose.readStudyData(*like.getDataset()));
    OFString letters;  // that the patient's name is in
    if (like.getDataset()->findAndGetOFStringArray(DCM_SpecificCharacterSet, letters).good()) {
      good(dose.setSpecificCharacterSet(letters));
    }
  }
  auto const frame = names.own_or(to.like.frame_of_reference, "frame of reference");
  good(dose.setSOPInstanceUID(names.instance().c_str()));
  good(dose.setStudyInstanceUID(names.own_or(to.like.study, "study").c_str()));
  good(dose.setSeriesInstanceUID(names.derived("series").c_str()));
  good(dose.setFrameOfReferenceUID(frame.c_str()));
  good(dose.setModality("RTDOSE"));
  good(dose.setManufacturer("Isocenter"));
  good(dose.setSeriesDescription("Isocenter"));
  good(dose.setInstanceNumber("1"));
  auto& plans = dose.getReferencedRTPlanSequence();
  DRTReferencedRTPlanSequence::Item* plan = nullptr;
  good(plans.addItem(plan));
  good(plan->setReferencedSOPClassUID(rt_plan_class));
  good(plan->setReferencedSOPInstanceUID(names.own_or(to.plan, "plan").c_str()));
}

void set_frames(DRTDoseIOD& dose, all_good const& good, fs::path const& path,
                host_volume const& v) {
  auto const& n = v.extent;
  good(dose.setSliceThickness(decimal_string(v.spacing[2]).c_str()));
  good(dose.setImagePositionPatient(joined({v.origin[0], v.origin[1], v.origin[2]}).c_str()));
  good(dose.setImageOrientationPatient("1\\0\\0\\0\\1\\0"));
  good(dose.setPixelSpacing(joined({v.spacing[1], v.spacing[0]}).c_str()));
  good(dose.setRows(Uint16(n[1])));
  good(dose.setColumns(Uint16(n[0])));
  std::string offsets;
  for (std::int64_t k = 0; k < n[2]; ++k) {
    offsets.append(k == 0 ? "" : "\\").append(decimal_string(double(k) * v.spacing[2]));
  }
  if (offsets.size() > 65534) {
    refuse(path, fmt::format("cannot be an RT Dose ({} frames; the list of their offsets has room "
                             "for 65534 characters); crop it, or write another format",
                             n[2]));
  }
  if (n[2] > 1) {  // one frame has no increment
    good(dose.setNumberOfFrames(std::to_string(n[2]).c_str()));
    good(dose.setFrameIncrementPointer("(3004,000c)"));
    good(dose.setGridFrameOffsetVector(offsets.c_str()));
  }
}

/// Pixels of 32 bits without a sign.
void set_values(DRTDoseIOD& dose, all_good const& good, host_volume const& v) {
  good(dose.setSamplesPerPixel(1));
  good(dose.setPhotometricInterpretation("MONOCHROME2"));
  good(dose.setBitsAllocated(32));
  good(dose.setBitsStored(32));
  good(dose.setHighBit(31));
  good(dose.setPixelRepresentation(0));
  good(dose.setDoseUnits("GY"));
  good(dose.setDoseType("PHYSICAL"));
  good(dose.setDoseSummationType("PLAN"));
  good(dose.setTissueHeterogeneityCorrection("IMAGE"));
  auto const most = v.values.empty() ? 0 : *std::max_element(v.values.begin(), v.values.end());
  auto const scaling = most > 0 ? decimal_above(double(most) / 4294967295.0) : std::string("1");
  double const step = *decimal_number(scaling);
  good(dose.setDoseGridScaling(scaling.c_str()));
  auto const& n = v.extent;
  auto const ordered = reorder<float, float>(v.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  std::vector<Uint16> words;
  words.reserve(2 * ordered.size());
  for (float const value : ordered) {
    auto const number = std::uint32_t(std::llround(double(value) / step));
    words.push_back(Uint16(number & 0xffffU));
    words.push_back(Uint16(number >> 16U));
  }
  good(dose.getPixelData().putUint16Array(words.data(), static_cast<unsigned long>(words.size())));
}

}  // namespace

atomic_file prepare_rt_dose(fs::path const& path, host_volume const& v,
                            rt_dose_options const& options) {
  check_dose(path, v);
  auto const to = belongings_of(options);
  silence_dcmtk(path);
  all_good const good(path);
  auto const dose = std::make_unique<DRTDoseIOD>();
  set_identity(*dose, good, to, object_names(v, to));
  set_frames(*dose, good, path, v);
  set_values(*dose, good, v);
  DcmFileFormat file;
  good(dose->write(*file.getDataset()));
  std::size_t const bytes = v.values.size() * 4;
  atomic_file result(path, bytes);
  if (file.saveFile(result.temporary().c_str(), EXS_LittleEndianExplicit).bad()) {
    refuse(path, "cannot be written (its disk may be full); make room on its disk");
  }
  result.check_written(bytes);
  return result;
}

}  // namespace iso::files
