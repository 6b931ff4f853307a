// SPDX-License-Identifier: BSD-3-Clause
#include "dicom_header.hpp"
#include "finite.hpp"
#include "memory.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;

// Coordinates of the frames along the axis that they follow, mm, in the order of the file.
std::vector<double> frame_heights(fs::path const& path, DcmItem& set, double first,
                                  alignment const& how, std::int64_t frames) {
  auto heights = decimals_of(set, DCM_GridFrameOffsetVector, path);
  if (frames == 1 && heights.size() <= 1) {
    return {first};
  }
  if (std::int64_t(heights.size()) != frames) {
    refuse(path,
           fmt::format("has {} frame offsets for {} frames (one each is expected); export it again",
                       heights.size(), frames));
  }
  // PS3.3 C.8.8.3.2: relative ones count along the cross product of rows and columns; absolute ones
  // are defined where rows run along x and columns along y.
  bool const is_relative = heights.front() == 0;
  bool const is_plain = how == alignment{{0, 1, 2}, {1, 1, 1}};
  if (!is_relative && (!is_plain || std::abs(heights.front() - first) > 0.01)) {
    refuse(path, fmt::format("has frame offsets from {} mm on ({} is expected); export it again",
                             heights.front(),
                             is_plain ? fmt::format("from 0, relative, or from the first frame's "
                                                    "{} mm, absolute,",
                                                    first)
                                      : "from 0, relative, as its planes lie,"));
  }
  for (double& height : heights) {
    height = is_relative ? first + how.sign[2] * height : height;
  }
  return heights;
}

struct dose_layout {
  std::array<std::int64_t, 3> extent{};  ///< columns, rows, frames
  alignment how{};
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

std::vector<std::string> references(DcmItem& set, DcmTagKey sequence) {
  std::vector<std::string> all;
  for_each_item(set, sequence, [&](DcmItem& item) {
    all.push_back(uid_of(text_of(item, DCM_ReferencedSOPInstanceUID)));
  });
  return all;
}

/// What the dose is, and of which plan, beams and structures.
void read_meaning(fs::path const& path, DcmDataset& set, dose_units units, rt_dose& result) {
  auto const unit = unit_of(text_of(set, DCM_DoseUnits));
  if (unit != "Gy" && units == dose_units::gray) {
    refuse(path, unit.empty() ? "does not say its dose's units (Gy are needed); export it in Gy"
                 : unit == "relative"
                     ? "has a dose in relative units (Gy are needed); export it in Gy"
                     : fmt::format("has a dose in {} (Gy are needed); export it in Gy", unit));
  }
  result.volume.unit = unit;
  result.type = stated_code(text_of(set, DCM_DoseType));
  result.summation = stated_code(text_of(set, DCM_DoseSummationType));
  result.plans = references(set, DCM_ReferencedRTPlanSequence);
  for_each_item(set, DCM_ReferencedRTPlanSequence, [&](DcmItem& plan) {
    for_each_item(plan, DCM_ReferencedFractionGroupSequence, [&](DcmItem& group) {
      for_each_item(group, DCM_ReferencedBeamSequence, [&](DcmItem& beam) {
        if (auto const number = integer_of(beam, DCM_ReferencedBeamNumber, path)) {
          result.beams.push_back(*number);
        }
      });
    });
  });
  result.structure_sets = references(set, DCM_ReferencedStructureSetSequence);
}

/// How numbers stand in the file.
void read_pixels(fs::path const& path, DcmDataset& set, dose_layout& layout) {
  layout.bits = count_of(set, DCM_BitsAllocated, path).value_or(0);
  int const samples = count_of(set, DCM_SamplesPerPixel, path).value_or(1);
  if (layout.bits != 16 && layout.bits != 32) {
    refuse(path,
           fmt::format("has pixels of {} bits (16 or 32 are expected); export it with one of these",
                       layout.bits));
  }
  if (!is_grey(set)) {
    refuse(path,
           "has pixels that stand for colours (its Photometric Interpretation is not MONOCHROME2); "
           "export it without colours");
  }
  if (samples > 1) {
    refuse(path, fmt::format("has {} numbers a pixel (one is expected); export it without colours",
                             samples));
  }
  layout.scaling = decimal_of(set, DCM_DoseGridScaling, path).value_or(0);
  if (!(layout.scaling > 0)) {
    refuse(path,
           fmt::format(
               "has a dose grid scaling of {} (a positive number is expected); export it again",
               layout.scaling));
  }
  // Some programs swap the bytes of 32 bits there, others those of each half.
  if (layout.bits == 32 && DcmXfer(set.getOriginalXfer()).isBigEndian()) {
    refuse(path,
           "has big-endian pixels of 32 bits (programs write their halves in either order, and the "
           "file does not say in which); export it as little endian");
  }
  layout.is_signed = count_of(set, DCM_PixelRepresentation, path) == 1;
}

/// Of frames, mm. That of a single one is its thickness, or what the caller says.
double frame_distance(fs::path const& path, DcmDataset& set, char axis,
                      std::vector<double> const& heights, double slice_thickness, rt_dose& result) {
  if (heights.size() > 1) {
    return even_distance(path, "frame", axis, heights);
  }
  double const stated = decimal_of(set, DCM_SliceThickness, path).value_or(0);
  result.states_thickness = stated > 0;
  double const distance = result.states_thickness ? stated : slice_thickness;
  if (!(distance > 0)) {
    refuse(path,
           "has one frame without a thickness (its voxels have no height); export it with Slice "
           "Thickness or several frames");
  }
  return distance;
}

dose_layout read_layout(fs::path const& path, DcmDataset& set, dose_units units,
                        double slice_thickness, rt_dose& result) {
  read_meaning(path, set, units, result);
  dose_layout layout;
  layout.how = align_planes(path, decimals_of(set, DCM_ImageOrientationPatient, path));
  auto const position = decimals_of(set, DCM_ImagePositionPatient, path);
  auto const pixel = decimals_of(set, DCM_PixelSpacing, path);
  int const rows = count_of(set, DCM_Rows, path).value_or(0);
  int const columns = count_of(set, DCM_Columns, path).value_or(0);
  int const frames = integer_of(set, DCM_NumberOfFrames, path).value_or(1);
  if (position.size() != 3 || pixel.size() != 2 || rows < 1 || columns < 1 || frames < 1) {
    refuse(path,
           fmt::format("states {} coordinates of its position, {} pixel spacings, and {} x {} "
                       "pixels in {} frames (three, two, and at least one of each are expected); "
                       "export it again",
                       position.size(), pixel.size(), columns, rows, frames));
  }
  read_pixels(path, set, layout);

  auto const axis = layout.how.world[2];
  auto heights = frame_heights(path, set, position[axis], layout.how, frames);
  layout.how.sign[2] = heights.back() < heights.front() ? -1 : 1;
  if (layout.how.sign[2] < 0) {
    std::reverse(heights.begin(), heights.end());
  }
  double const distance = frame_distance(path, set, "xyz"[axis], heights, slice_thickness, result);
  layout.extent = {columns, rows, frames};
  place_along_world(layout.how, layout.extent, {pixel[1], pixel[0], distance},
                    {position[0], position[1], position[2]}, result.volume);
  result.volume.origin[axis] = heights.front();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    check_spacing(path, result.volume.spacing[axis]);
    check_coordinate(path, result.volume.origin[axis]);
  }
  return layout;
}

// DCMTK has put the bytes of words of 16 bits into this machine's order.
double stored_number(Uint16 const* words, std::size_t at, dose_layout const& layout) {
  if (layout.bits == 16) {
    return layout.is_signed ? double(std::int16_t(words[at])) : double(words[at]);
  }
  auto const number = std::uint32_t(words[2 * at]) | (std::uint32_t(words[2 * at + 1]) << 16U);
  return layout.is_signed ? double(std::int32_t(number)) : double(number);
}

void read_values(fs::path const& path, DcmDataset& set, dose_layout const& layout,
                 host_volume& volume) {
  if (DcmXfer(set.getOriginalXfer()).isEncapsulated()) {
    refuse(path, "has compressed pixels (only plain ones are read); export it uncompressed");
  }
  auto const& n = layout.extent;
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
        if (found - words >= words / std::uint64_t(n[2])) {
          refuse(path,
                 fmt::format("holds more pixels than the {} frames that its header says (whose "
                             "they are is not known); export it again",
                             n[2]));
        }
        std::vector<float> values(count);
        float_range range;
        for (std::size_t i = 0; i < count; ++i) {
          double const value = layout.scaling * stored_number(data, i, layout);
          range.add(value);
          values[i] = float(value);
        }
        if (!range.is_kept()) {
          refuse(path, range.sentence());
        }
        volume.values = along_world<float>(values, n, layout.how);
      });
}

rt_dose read_dose(fs::path const& path, dose_units units, double slice_thickness,
                  bool with_values) {
  DcmFileFormat file;
  load_object(path, file, rt_dose_class, "RT Dose");
  auto& set = *file.getDataset();
  rt_dose result;
  result.identity = identity_of(set, path);
  if (!set.tagExists(DCM_PixelData)) {
    refuse(path,
           "has no pixels (an RT Dose of histograms or points alone is not read); export the "
           "dose's grid");
  }
  auto const layout = read_layout(path, set, units, slice_thickness, result);
  if (with_values) {
    read_values(path, set, layout, result.volume);
  }
  return result;
}

}  // namespace

rt_dose read_rt_dose(fs::path const& path, dose_units units, double slice_thickness) {
  return read_dose(path, units, slice_thickness, true);
}

rt_dose read_rt_dose_grid(fs::path const& path, dose_units units, double slice_thickness) {
  return read_dose(path, units, slice_thickness, false);
}

}  // namespace iso::files
