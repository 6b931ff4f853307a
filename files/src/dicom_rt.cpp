// SPDX-License-Identifier: BSD-3-Clause
#include "dicom.hpp"
#include "memory.hpp"
#include "regular.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/text.hpp>

#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmrt/drtdose.h>
#include <dcmtk/dcmrt/drtstrct.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <utility>

namespace iso::files {

namespace {

namespace fs = std::filesystem;
using namespace detail;

/// Text of an element that may not be there; of several values, all.
template <class Get>
std::string text_of(Get&& get) {
  OFString text;
  return get(text).good() ? trimmed({text.c_str(), text.length()}) : std::string();
}

std::vector<double> numbers_of(OFVector<Float64> const& numbers) {
  return {numbers.begin(), numbers.end()};
}

void load(fs::path const& path, DcmFileFormat& file, char const* sop_class, char const* what) {
  auto const identity = read_dicom_identity(path);
  if (identity.sop_class != sop_class) {
    refuse(path, fmt::format("is no {} (its modality is {}){}", what,
                             identity.modality.empty() ? "not said" : identity.modality,
                             identity.modality == "CT" ? " of a CT series name the folder" : ""));
  }
  // Long lists of numbers are written as of unknown kind, for want of room in the length.
  dcmEnableUnknownVRConversion.set(OFTrue);
  auto const read = file.loadFile(path.c_str());
  if (read.bad()) {
    refuse(path, fmt::format("is truncated or damaged ({}) fetch or write it again", read.text()));
  }
}

// Heights of the frames, mm, as the file has them.
std::vector<double> frame_heights(fs::path const& path, DRTDoseIOD& dose, double first,
                                  std::int64_t frames) {
  OFVector<Float64> offsets;
  static_cast<void>(dose.getGridFrameOffsetVector(offsets));
  auto heights = numbers_of(offsets);
  if (frames == 1 && heights.size() <= 1) {
    return {first};
  }
  if (std::int64_t(heights.size()) != frames) {
    refuse(path, fmt::format("has {} frame offsets for {} frames (one each is expected)",
                             heights.size(), frames));
  }
  bool const is_relative = heights.front() == 0;
  if (!is_relative && std::abs(heights.front() - first) > 0.01) {
    refuse(path, fmt::format("has frame offsets from {} mm on (from 0, relative, or from the first "
                             "frame's {} mm, absolute, is expected)",
                             heights.front(), first));
  }
  for (double& height : heights) {
    height += is_relative ? first : 0;
  }
  return heights;
}

struct dose_layout {
  bool is_descending = false;
  int bits = 0;
  bool is_signed = false;
  double scaling = 0;
};

dose_layout read_layout(fs::path const& path, DRTDoseIOD& dose, dose_units units, rt_dose& result) {
  dose_layout layout;
  auto const unit = text_of([&](auto& t) { return dose.getDoseUnits(t); });
  if (unit != "GY" && units == dose_units::gray) {
    refuse(path, unit == "RELATIVE" ? "has a dose in relative units (Gy are needed)"
                                    : "does not say the dose's units (Gy are needed)");
  }
  result.volume.unit = unit == "GY" ? "Gy" : "relative";
  result.type = code_of(text_of([&](auto& t) { return dose.getDoseType(t); }));
  result.summation = code_of(text_of([&](auto& t) { return dose.getDoseSummationType(t); }));
  for (std::size_t i = 0; i < dose.getReferencedRTPlanSequence().getNumberOfItems(); ++i) {
    auto& item = dose.getReferencedRTPlanSequence().getItem(i);
    result.plans.push_back(
        uid_of(text_of([&](auto& t) { return item.getReferencedSOPInstanceUID(t); })));
  }
  for (std::size_t i = 0; i < dose.getReferencedStructureSetSequence().getNumberOfItems(); ++i) {
    auto& item = dose.getReferencedStructureSetSequence().getItem(i);
    result.structure_sets.push_back(
        uid_of(text_of([&](auto& t) { return item.getReferencedSOPInstanceUID(t); })));
  }

  OFVector<Float64> numbers;
  static_cast<void>(dose.getImageOrientationPatient(numbers));
  check_axial(path, numbers_of(numbers));
  OFVector<Float64> position;
  OFVector<Float64> pixel;
  static_cast<void>(dose.getImagePositionPatient(position));
  static_cast<void>(dose.getPixelSpacing(pixel));
  Uint16 rows = 0;
  Uint16 columns = 0;
  Uint16 bits = 0;
  Uint16 is_signed = 0;
  Sint32 frames = 1;
  static_cast<void>(dose.getRows(rows));
  static_cast<void>(dose.getColumns(columns));
  static_cast<void>(dose.getBitsAllocated(bits));
  static_cast<void>(dose.getPixelRepresentation(is_signed));
  static_cast<void>(dose.getNumberOfFrames(frames));
  if (position.size() != 3 || pixel.size() != 2 || rows < 1 || columns < 1 || frames < 1) {
    refuse(path, "lacks position, pixel spacing or size (an RT Dose with pixels has all three)");
  }
  if (bits != 16 && bits != 32) {
    refuse(path, fmt::format("has pixels of {} bits (16 or 32 are expected)", bits));
  }
  static_cast<void>(dose.getDoseGridScaling(layout.scaling));
  if (!(layout.scaling > 0 && std::isfinite(layout.scaling))) {
    refuse(path, fmt::format("has a dose grid scaling of {} (a positive number is expected)",
                             layout.scaling));
  }
  layout.bits = bits;
  layout.is_signed = is_signed == 1;

  auto heights = frame_heights(path, dose, position[2], frames);
  layout.is_descending = heights.back() < heights.front();
  if (layout.is_descending) {
    std::reverse(heights.begin(), heights.end());
  }
  double distance = 0;
  if (frames > 1) {
    distance = even_distance(path, "frame", heights);
  } else {
    static_cast<void>(dose.getSliceThickness(distance));
    if (!(distance > 0)) {
      refuse(path, "has one frame without a thickness (its voxels have no height)");
    }
  }
  result.volume.extent = {columns, rows, frames};
  result.volume.spacing = {pixel[1], pixel[0], distance};
  result.volume.origin = {position[0], position[1], heights.front()};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    check_spacing(path, result.volume.spacing[axis]);
    check_coordinate(path, result.volume.origin[axis]);
  }
  return layout;
}

// Words of 16 bits, low ones first, as DCMTK has pixels on this machine.
double stored_number(Uint16 const* words, std::size_t at, dose_layout const& layout) {
  if (layout.bits == 16) {
    return layout.is_signed ? double(std::int16_t(words[at])) : double(words[at]);
  }
  auto const number = std::uint32_t(words[2 * at]) | (std::uint32_t(words[2 * at + 1]) << 16U);
  return layout.is_signed ? double(std::int32_t(number)) : double(number);
}

void read_values(fs::path const& path, DcmFileFormat& file, dose_layout const& layout,
                 host_volume& volume) {
  auto& set = *file.getDataset();
  if (set.chooseRepresentation(EXS_LittleEndianExplicit, nullptr).bad()) {
    refuse(path, "has compressed pixels (only plain ones are read) write it uncompressed");
  }
  auto const& n = volume.extent;
  auto const count = std::uint64_t(n[0] * n[1] * n[2]);
  auto const words = count * std::uint64_t(layout.bits / 16);
  std::error_code unknown;
  if (fs::file_size(path, unknown) < words * 2) {
    refuse(path, "is truncated (it has fewer pixels than its header says) fetch or write it again");
  }
  with_memory(path, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]), words * 2 + count * 8,
              [&] {
                Uint16 const* data = nullptr;
                unsigned long found = 0;
                if (set.findAndGetUint16Array(DCM_PixelData, data, &found).bad() ||
                    data == nullptr || found < words) {
                  refuse(path,
                         "is truncated (it has fewer pixels than its header says) fetch or "
                         "write it again");
                }
                std::vector<float> values(count);
                for (std::size_t i = 0; i < count; ++i) {
                  values[i] = float(layout.scaling * stored_number(data, i, layout));
                }
                auto walk = last_axis_fastest(n);
                auto const offset = layout.is_descending ? (n[2] - 1) * walk[2].stride : 0;
                walk[2].stride *= layout.is_descending ? -1 : 1;
                volume.values = reorder<float, float>(values, offset, walk);
              });
}

rt_dose read_dose(fs::path const& path, dose_units units, bool with_values) {
  DcmFileFormat file;
  load(path, file, rt_dose_class, "RT Dose");
  auto const dose = std::make_unique<DRTDoseIOD>();
  rt_dose result;
  result.identity = read_dicom_identity(path);
  if (!file.getDataset()->tagExists(DCM_PixelData)) {
    refuse(path, "has no pixels (an RT Dose of histograms or points alone is not read)");
  }
  // The pixels stay out of the object, which would hold them once more.
  std::unique_ptr<DcmElement> pixels(file.getDataset()->remove(DCM_PixelData));
  auto const read = dose->read(*file.getDataset());
  if (read.bad()) {
    refuse(path, fmt::format("cannot be read as RT Dose ({})", read.text()));
  }
  auto const layout = read_layout(path, *dose, units, result);
  if (with_values) {
    static_cast<void>(file.getDataset()->insert(pixels.release()));
    read_values(path, file, layout, result.volume);
  }
  return result;
}

// The least decimal string whose number is no less than `number`, to 10 digits: what is stored are
// multiples of the number that a reader gets.
std::string decimal_above(double number) {
  for (double more = number;; more *= 1 + 1e-10) {
    auto text = fmt::format("{:.9e}", more);
    if (decimal_numbers(text).front() >= number) {
      return text;
    }
  }
}

void check_dose(fs::path const& path, host_volume const& v) {
  if (v.unit != "Gy") {
    refuse(path, fmt::format("cannot be an RT Dose (its values are in {}, not in Gy)",
                             v.unit.empty() ? "no known unit" : v.unit));
  }
  auto const& n = v.extent;
  if (n[0] < 1 || n[1] < 1 || n[2] < 1 || n[0] > 65535 || n[1] > 65535 ||
      n[0] * n[1] > 1'000'000'000 / n[2]) {
    refuse(path, fmt::format("cannot be an RT Dose ({} x {} x {} voxels; DICOM takes 1 to 65535 "
                             "along x and y, and this writer 1e9 in all)",
                             n[0], n[1], n[2]));
  }
  for (float const value : v.values) {
    if (!(value >= 0 && value <= std::numeric_limits<float>::max())) {
      refuse(path,
             fmt::format("cannot be an RT Dose (a value is {}; a physical dose is no less than "
                         "0 and finite)",
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
      refuse(path_, fmt::format("cannot be written as RT Dose ({})", result.text()));
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
      refuse(options.plan, fmt::format("is no RT Plan (its modality is {})",
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

}  // namespace

rt_dose read_rt_dose(fs::path const& path, dose_units units) {
  return read_dose(path, units, true);
}

rt_dose read_rt_dose_grid(fs::path const& path, dose_units units) {
  return read_dose(path, units, false);
}

atomic_file prepare_rt_dose(fs::path const& path, host_volume const& v,
                            rt_dose_options const& options) {
  check_dose(path, v);
  auto const& n = v.extent;
  auto const to = belongings_of(options);
  uid_maker maker;
  maker.add(to.like.study);
  maker.add(to.like.frame_of_reference);
  maker.add(to.plan);
  maker.add(std::as_bytes(std::span(n)));
  maker.add(std::as_bytes(std::span(v.spacing)));
  maker.add(std::as_bytes(std::span(v.origin)));
  maker.add(std::as_bytes(std::span(v.values)));
  auto const instance = maker.uid();
  auto const derived = [&](char const* what) {
    uid_maker other;
    other.add(instance);
    other.add(what);
    return other.uid();
  };
  auto const own_or = [&](std::string const& own, char const* what) {
    return own.empty() ? derived(what) : own;
  };

  silence_dcmtk(path);
  all_good const good(path);
  auto const dose = std::make_unique<DRTDoseIOD>();
  if (!to.like.file.empty()) {
    DcmFileFormat like;
    good(like.loadFile(to.like.file.c_str()));
    good(dose->readStudyData(*like.getDataset()));
    OFString letters;  // that the patient's name is in
    if (like.getDataset()->findAndGetOFStringArray(DCM_SpecificCharacterSet, letters).good()) {
      good(dose->setSpecificCharacterSet(letters));
    }
  }
  auto const frame = own_or(to.like.frame_of_reference, "frame of reference");
  good(dose->setSOPInstanceUID(instance.c_str()));
  good(dose->setStudyInstanceUID(own_or(to.like.study, "study").c_str()));
  good(dose->setSeriesInstanceUID(derived("series").c_str()));
  good(dose->setFrameOfReferenceUID(frame.c_str()));
  good(dose->setModality("RTDOSE"));
  good(dose->setManufacturer("Isocenter"));
  good(dose->setSeriesDescription("Isocenter"));
  good(dose->setInstanceNumber("1"));
  good(dose->setSliceThickness(decimal_string(v.spacing[2]).c_str()));
  good(dose->setImagePositionPatient(joined({v.origin[0], v.origin[1], v.origin[2]}).c_str()));
  good(dose->setImageOrientationPatient("1\\0\\0\\0\\1\\0"));
  good(dose->setPixelSpacing(joined({v.spacing[1], v.spacing[0]}).c_str()));
  good(dose->setSamplesPerPixel(1));
  good(dose->setPhotometricInterpretation("MONOCHROME2"));
  good(dose->setRows(Uint16(n[1])));
  good(dose->setColumns(Uint16(n[0])));
  good(dose->setBitsAllocated(32));
  good(dose->setBitsStored(32));
  good(dose->setHighBit(31));
  good(dose->setPixelRepresentation(0));
  good(dose->setDoseUnits("GY"));
  good(dose->setDoseType("PHYSICAL"));
  good(dose->setDoseSummationType("PLAN"));
  good(dose->setTissueHeterogeneityCorrection("IMAGE"));
  std::string offsets;
  for (std::int64_t k = 0; k < n[2]; ++k) {
    offsets.append(k == 0 ? "" : "\\").append(decimal_string(double(k) * v.spacing[2]));
  }
  if (offsets.size() > 65534) {
    refuse(path, fmt::format("cannot be an RT Dose ({} frames; the list of their offsets has room "
                             "for 65534 characters)",
                             n[2]));
  }
  if (n[2] > 1) {  // one frame has no increment
    good(dose->setNumberOfFrames(std::to_string(n[2]).c_str()));
    good(dose->setFrameIncrementPointer("(3004,000c)"));
    good(dose->setGridFrameOffsetVector(offsets.c_str()));
  }
  auto& plans = dose->getReferencedRTPlanSequence();
  DRTReferencedRTPlanSequence::Item* plan = nullptr;
  good(plans.addItem(plan));
  good(plan->setReferencedSOPClassUID(rt_plan_class));
  good(plan->setReferencedSOPInstanceUID(own_or(to.plan, "plan").c_str()));

  auto const most = v.values.empty() ? 0 : *std::max_element(v.values.begin(), v.values.end());
  auto const scaling = most > 0 ? decimal_above(double(most) / 4294967295.0) : std::string("1");
  double const step = decimal_numbers(scaling).front();
  good(dose->setDoseGridScaling(scaling.c_str()));

  DcmFileFormat file;
  auto& set = *file.getDataset();
  auto const ordered = reorder<float, float>(v.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  std::vector<Uint16> words;
  words.reserve(2 * ordered.size());
  for (float const value : ordered) {
    auto const number = std::uint32_t(std::llround(double(value) / step));
    words.push_back(Uint16(number & 0xffffU));
    words.push_back(Uint16(number >> 16U));
  }
  good(dose->getPixelData().putUint16Array(words.data(), static_cast<unsigned long>(words.size())));
  good(dose->write(set));
  atomic_file result(path, words.size() * 2);
  if (file.saveFile(result.temporary().c_str(), EXS_LittleEndianExplicit).bad()) {
    refuse(path, "cannot be written (is the disk full?)");
  }
  result.check_written(words.size() * 2);
  return result;
}

rt_structure_set read_rt_structure_set(fs::path const& path) {
  DcmFileFormat file;
  load(path, file, rt_structure_set_class, "RT Structure Set");
  auto const set = std::make_unique<DRTStructureSetIOD>();
  auto const read = set->read(*file.getDataset());
  if (read.bad()) {
    refuse(path, fmt::format("cannot be read as RT Structure Set ({})", read.text()));
  }
  rt_structure_set result{read_dicom_identity(path), {}};
  std::map<int, std::size_t> at;
  auto& structures = set->getStructureSetROISequence();
  for (std::size_t i = 0; i < structures.getNumberOfItems(); ++i) {
    auto& item = structures.getItem(i);
    rt_structure s;
    Sint32 number = 0;
    if (item.getROINumber(number).bad() || !at.emplace(number, i).second) {
      refuse(path, "has structures without a number of their own (contours cannot be told apart)");
    }
    s.number = number;
    s.name = one_line(text_of([&](auto& t) { return item.getROIName(t); }));
    s.frame_of_reference =
        uid_of(text_of([&](auto& t) { return item.getReferencedFrameOfReferenceUID(t); }));
    result.structures.push_back(std::move(s));
  }
  auto const place = [&](Sint32 number) {
    auto const found = at.find(number);
    if (found == at.end()) {
      refuse(path, fmt::format("has contours of a structure {} that it does not name", number));
    }
    return &result.structures[found->second];
  };
  auto& contours = set->getROIContourSequence();
  for (std::size_t i = 0; i < contours.getNumberOfItems(); ++i) {
    auto& item = contours.getItem(i);
    Sint32 number = 0;
    static_cast<void>(item.getReferencedROINumber(number));
    auto& s = *place(number);
    std::array<Sint32, 3> colour{};
    if (item.getROIDisplayColor(colour[0], 0).good() &&
        item.getROIDisplayColor(colour[1], 1).good() &&
        item.getROIDisplayColor(colour[2], 2).good()) {
      s.colour = {int(colour[0]), int(colour[1]), int(colour[2])};
    }
    auto& list = item.getContourSequence();
    for (std::size_t c = 0; c < list.getNumberOfItems(); ++c) {
      auto& contour = list.getItem(c);
      auto const kind =
          code_of(text_of([&](auto& t) { return contour.getContourGeometricType(t); }));
      if (kind != "CLOSED_PLANAR") {
        s.other_geometry = kind.empty() ? "no" : kind;
        continue;
      }
      OFVector<Float64> numbers;
      if (contour.getContourData(numbers).bad() || numbers.empty() || numbers.size() % 3 != 0) {
        refuse(path, fmt::format("has a contour of '{}' of {} numbers (three a point are expected)",
                                 shortened(s.name, 64), numbers.size()));
      }
      Sint32 told = 0;
      if (contour.getNumberOfContourPoints(told).good() &&
          std::size_t(told) != numbers.size() / 3) {
        refuse(path,
               fmt::format("has a contour of '{}' of {} points where {} are told (it was cut) "
                           "export it again",
                           shortened(s.name, 64), numbers.size() / 3, told));
      }
      auto& points = s.contours.emplace_back();
      for (std::size_t p = 0; p < numbers.size(); p += 3) {
        points.push_back({numbers[p], numbers[p + 1], numbers[p + 2]});
      }
    }
  }
  auto& observations = set->getRTROIObservationsSequence();
  for (std::size_t i = 0; i < observations.getNumberOfItems(); ++i) {
    auto& item = observations.getItem(i);
    Sint32 number = 0;
    static_cast<void>(item.getReferencedROINumber(number));
    if (auto const found = at.find(number); found != at.end()) {
      result.structures[found->second].type =
          code_of(text_of([&](auto& t) { return item.getRTROIInterpretedType(t); }));
    }
  }
  return result;
}

}  // namespace iso::files
