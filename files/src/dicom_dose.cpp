// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"
#include "memory.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/reorder.hpp>

#include <dcmtk/dcmrt/drtdose.h>
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;

std::vector<double> numbers_of(OFVector<Float64> const& numbers) {
  return {numbers.begin(), numbers.end()};
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
    refuse(path,
           fmt::format("has {} frame offsets for {} frames (one each is expected); export it again",
                       heights.size(), frames));
  }
  bool const is_relative = heights.front() == 0;
  if (!is_relative && std::abs(heights.front() - first) > 0.01) {
    refuse(path, fmt::format("has frame offsets from {} mm on (from 0, relative, or from the first "
                             "frame's {} mm, absolute, is expected); export it again",
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

/// As the unit of a volume. The standard knows GY and RELATIVE; another word is told as it is, and
/// what is no word may hold anything.
std::string unit_of(std::string const& text) {
  bool const is_word =
      text.size() <= 16 && std::all_of(text.begin(), text.end(), [](unsigned char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
      });
  return text == "GY" ? "Gy" : text == "RELATIVE" ? "relative" : is_word ? text : "unknown units";
}

dose_layout read_layout(fs::path const& path, DRTDoseIOD& dose, dose_units units, rt_dose& result) {
  dose_layout layout;
  auto const unit = unit_of(text_of([&](auto& t) { return dose.getDoseUnits(t); }));
  if (unit != "Gy" && units == dose_units::gray) {
    refuse(path, unit.empty() ? "does not say its dose's units (Gy are needed); export it in Gy"
                 : unit == "relative"
                     ? "has a dose in relative units (Gy are needed); export it in Gy"
                     : fmt::format("has a dose in {} (Gy are needed); export it in Gy", unit));
  }
  result.volume.unit = unit;
  result.type = stated_code(text_of([&](auto& t) { return dose.getDoseType(t); }));
  result.summation = stated_code(text_of([&](auto& t) { return dose.getDoseSummationType(t); }));
  for (std::size_t i = 0; i < dose.getReferencedRTPlanSequence().getNumberOfItems(); ++i) {
    auto& item = dose.getReferencedRTPlanSequence().getItem(i);
    result.plans.push_back(
        uid_of(text_of([&](auto& t) { return item.getReferencedSOPInstanceUID(t); })));
    auto& groups = item.getReferencedFractionGroupSequence();
    for (std::size_t g = 0; g < groups.getNumberOfItems(); ++g) {
      auto& beams = groups.getItem(g).getReferencedBeamSequence();
      for (std::size_t b = 0; b < beams.getNumberOfItems(); ++b) {
        Sint32 number = 0;
        if (beams.getItem(b).getReferencedBeamNumber(number).good()) {
          result.beams.push_back(number);
        }
      }
    }
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
  Uint16 samples = 0;
  Sint32 frames = 1;
  static_cast<void>(dose.getRows(rows));
  static_cast<void>(dose.getColumns(columns));
  static_cast<void>(dose.getBitsAllocated(bits));
  static_cast<void>(dose.getPixelRepresentation(is_signed));
  static_cast<void>(dose.getSamplesPerPixel(samples));
  static_cast<void>(dose.getNumberOfFrames(frames));
  if (position.size() != 3 || pixel.size() != 2 || rows < 1 || columns < 1 || frames < 1) {
    refuse(path,
           "lacks position, pixel spacing or size (an RT Dose with pixels has all three); export "
           "it again");
  }
  if (bits != 16 && bits != 32) {
    refuse(path,
           fmt::format("has pixels of {} bits (16 or 32 are expected); export it with one of these",
                       bits));
  }
  if (samples > 1) {
    refuse(path, fmt::format("has {} numbers a pixel (one is expected); export it without colours",
                             samples));
  }
  static_cast<void>(dose.getDoseGridScaling(layout.scaling));
  if (!(layout.scaling > 0 && std::isfinite(layout.scaling))) {
    refuse(path,
           fmt::format(
               "has a dose grid scaling of {} (a positive number is expected); export it again",
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
      refuse(path,
             "has one frame without a thickness (its voxels have no height); export it with Slice "
             "Thickness or several frames");
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
    refuse(path, "has compressed pixels (only plain ones are read); export it uncompressed");
  }
  auto const& n = volume.extent;
  auto const count = std::uint64_t(n[0] * n[1] * n[2]);
  auto const words = count * std::uint64_t(layout.bits / 16);
  // Before memory is taken. A deflated file is at least a 1032nd as long as what it holds.
  std::uint64_t const most = set.getOriginalXfer() == EXS_DeflatedLittleEndianExplicit ? 1032 : 1;
  std::error_code unknown;
  if (fs::file_size(path, unknown) < words * 2 / most) {
    refuse(path,
           "is truncated (it has fewer pixels than its header says); fetch or write it again");
  }
  with_memory(
      path, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]), words * 2 + count * 8, [&] {
        Uint16 const* data = nullptr;
        unsigned long found = 0;
        if (set.findAndGetUint16Array(DCM_PixelData, data, &found).bad() || data == nullptr ||
            found < words) {
          refuse(
              path,
              "is truncated (it has fewer pixels than its header says); fetch or write it again");
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
  load_object(path, file, rt_dose_class, "RT Dose");
  auto const dose = std::make_unique<DRTDoseIOD>();
  rt_dose result;
  result.identity = read_dicom_identity(path);
  if (!file.getDataset()->tagExists(DCM_PixelData)) {
    refuse(path,
           "has no pixels (an RT Dose of histograms or points alone is not read); export the "
           "dose's grid");
  }
  // The pixels stay out of the object, which would hold them once more.
  std::unique_ptr<DcmElement> pixels(file.getDataset()->remove(DCM_PixelData));
  auto const read = dose->read(*file.getDataset());
  if (read.bad()) {
    refuse(path, fmt::format("cannot be read as RT Dose ({}); export it again", read.text()));
  }
  auto const layout = read_layout(path, *dose, units, result);
  if (with_values) {
    static_cast<void>(file.getDataset()->insert(pixels.release()));
    read_values(path, file, layout, result.volume);
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

}  // namespace iso::files
