// SPDX-License-Identifier: BSD-3-Clause
#include "alignment.hpp"
#include "dicom.hpp"
#include "finite.hpp"
#include "gzip.hpp"
#include "image_io.hpp"
#include "memory.hpp"
#include "meta_header.hpp"
#include "nifti_header.hpp"
#include "regular.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/text.hpp>
#include <iso/files/volume_file.hpp>

#include <NrrdIO.h>
#include <fmt/core.h>
#include <itkMetaDataObject.h>
#include <itkMetaImageIO.h>
#include <itkNiftiImageIO.h>
#include <itkNrrdImageIO.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::alignment;
using detail::refuse;

itk::ImageIOBase::Pointer image_io(fs::path const& path) {
  itk::Object::SetGlobalWarningDisplay(false);
  auto const end = ending(path);
  if (end == ".mha" || end == ".mhd") {
    return itk::MetaImageIO::New().GetPointer();
  }
  if (end == ".nrrd" || end == ".nhdr") {
    return itk::NrrdImageIO::New().GetPointer();
  }
  if (end == ".nii" || end == ".nii.gz") {
    return itk::NiftiImageIO::New().GetPointer();
  }
  if (detail::is_zip(detail::first_bytes(path))) {
    refuse(path, detail::zip_sentence);
  }
  refuse(path,
         fmt::format("ending '{}' is not a volume format (.mha, .mhd, .nrrd, .nhdr, .nii, .nii.gz "
                     "and, of DICOM, folders and files with its mark are); name one of these",
                     end));
}

alignment align(fs::path const& path, itk::ImageIOBase const& io) {
  alignment result;
  std::array<bool, 3> taken{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto const direction = io.GetDirection(axis);
    auto const along = detail::axis_along(direction);
    if (!along || taken[along->first]) {
      refuse(path,
             fmt::format("axis {} of its direction matrix is ({}, {}, {}) (only flips and "
                         "permutations of the axes are read); resample it to an axis-aligned grid",
                         axis, direction[0], direction[1], direction[2]));
    }
    taken[along->first] = true;
    std::tie(result.world[axis], result.sign[axis]) = *along;
  }
  return result;
}

std::vector<float> convert(fs::path const& path, itk::ImageIOBase const& io,
                           std::vector<std::byte> const& bytes,
                           std::array<std::int64_t, 3> const& extent, alignment const& how) {
  auto const count = std::size_t(extent[0] * extent[1] * extent[2]);
  auto const as = [&]<class T>(T) {
    std::span<T const> const stored(reinterpret_cast<T const*>(bytes.data()), count);
    if constexpr (std::is_same_v<T, double>) {
      detail::float_range range;
      range.add_all(stored);
      if (!range.is_kept()) {
        refuse(path, range.sentence());
      }
    }
    return detail::along_world<T>(stored, extent, how);
  };
  using type = itk::CommonEnums::IOComponent;
  switch (io.GetComponentType()) {
    case type::UCHAR:
      return as(static_cast<unsigned char>(0));
    case type::CHAR:
      return as(static_cast<signed char>(0));
    case type::USHORT:
      return as(static_cast<unsigned short>(0));
    case type::SHORT:
      return as(short(0));
    case type::UINT:
      return as(0U);
    case type::INT:
      return as(0);
    case type::ULONG:
      return as(0UL);
    case type::LONG:
      return as(0L);
    case type::ULONGLONG:
      return as(0ULL);
    case type::LONGLONG:
      return as(0LL);
    case type::FLOAT:
      return as(0.0F);
    case type::DOUBLE:
      return as(0.0);
    default:
      refuse(path,
             "holds voxels of a type that is not a number (whole and floating-point numbers are "
             "read); convert it to float");
  }
}

void place(fs::path const& path, itk::ImageIOBase const& io, alignment const& how,
           std::array<std::int64_t, 3> const& extent, host_volume& volume) {
  std::array<double, 3> spacing{};
  std::array<double, 3> first{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    spacing[axis] = io.GetSpacing(axis);
    first[axis] = io.GetOrigin(axis);
    if (!(spacing[axis] >= 1e-6 && spacing[axis] <= 1e9)) {
      refuse(path, fmt::format(
                       "spacing {} is {} (mm, from 1e-6 to 1e9, are expected); correct the header",
                       axis, spacing[axis]));
    }
  }
  detail::place_along_world(how, extent, spacing, first, volume);
  for (auto const world : how.world) {
    if (!(std::abs(volume.origin[world]) <= 1e9)) {
      refuse(path,
             fmt::format(
                 "origin {} is {} (mm, between -1e9 and 1e9, are expected); correct the header",
                 world, volume.origin[world]));
    }
  }
}

void check_finite(fs::path const& path, host_volume const& volume) {
  if (auto const at = detail::first_not_finite(volume.values, volume.extent)) {
    refuse(
        path,
        fmt::format("voxel ({}, {}, {}) is {} (every value must be finite); replace it by a number",
                    at->place[0], at->place[1], at->place[2], at->value));
  }
}

constexpr double max_packed = 1032;  // to 1, by any compression

double nifti_number(itk::ImageIOBase const& io, char const* field) {
  std::string text;
  itk::ExposeMetaData(io.GetMetaDataDictionary(), field, text);
  return std::atof(text.c_str());
}

// ITK does not say whether the voxels of a MetaImage are compressed, how long they then are, nor
// whether they lie in the file itself.
struct meta_image : MetaImage {
  static double min_size(MetaImage& image, double bytes) {
    std::string name = image.ElementDataFileName();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    if (name != "local") {
      return 0;
    }
    auto const packed = &meta_image::m_CompressedDataSize;
    return image.CompressedData() ? std::max(bytes / max_packed, double(image.*packed)) : bytes;
  }
};

// The same of a NRRD, whose header its own library reads.
double min_nrrd_size(fs::path const& path, double bytes) {
  std::unique_ptr<Nrrd, decltype(&nrrdNix)> const image(nrrdNew(), &nrrdNix);
  std::unique_ptr<NrrdIoState, decltype(&nrrdIoStateNix)> const state(nrrdIoStateNew(),
                                                                      &nrrdIoStateNix);
  state->skipData = 1;
  if (nrrdLoad(image.get(), path.c_str(), state.get()) != 0) {
    std::free(biffGetDone(NRRD));  // which prints where there is nothing to get
    return 0;
  }
  if (state->dataFNArr->len > 0) {
    return 0;
  }
  return state->encoding == nrrdEncodingRaw ? bytes : bytes / max_packed;
}

// Bytes that the file must have, and bytes that it has.
std::array<double, 2> sizes(fs::path const& path, itk::ImageIOBase& io, double voxels,
                            job const& asked) {
  auto const end = ending(path);
  auto const held =
      double(end == ".nii.gz" ? detail::inflated_size(path, asked) : fs::file_size(path));
  if (end.starts_with(".nii")) {  // ITK reads zeros where its voxels end early
    return {voxels * nifti_number(io, "bitpix") / 8 + nifti_number(io, "vox_offset"), held};
  }
  double const bytes = voxels * io.GetComponentSize();
  auto* const meta = dynamic_cast<itk::MetaImageIO*>(&io);
  return {meta != nullptr ? meta_image::min_size(*meta->GetMetaImagePointer(), bytes)
                          : min_nrrd_size(path, bytes),
          held};
}

std::array<std::int64_t, 3> checked_extent(fs::path const& path, itk::ImageIOBase& io,
                                           job const& asked) {
  std::array<std::int64_t, 3> extent{};
  double voxels = 1;
  bool possible = io.GetNumberOfDimensions() >= 3 && io.GetNumberOfComponents() == 1 &&
                  io.GetFileType() != itk::CommonEnums::IOFile::ASCII;
  for (unsigned axis = 0; possible && axis < io.GetNumberOfDimensions(); ++axis) {
    auto const n = io.GetDimensions(axis);
    possible = n >= 1 && n < std::uint64_t(1) << 40 && (axis < 3 || n == 1);
    if (possible && axis < 3) {
      extent[axis] = std::int64_t(n);
      voxels *= double(n);
    }
  }
  if (!possible) {
    refuse(path,
           "is no volume (three axes and one binary number a voxel are expected); convert it to "
           "such a file");
  }
  auto const [needed, held] = sizes(path, io, voxels, asked);
  if (needed > held || voxels >= 0x1p60) {
    refuse(path,
           fmt::format("the header claims {} x {} x {} voxels of {} bytes, for which the file is "
                       "too short (truncated, or its header is wrong); fetch or write it again",
                       extent[0], extent[1], extent[2], io.GetComponentSize()));
  }
  return extent;
}

// ITK says nothing where the voxels of a MetaImage end early: the last one must be the same
// whatever was there before.
std::vector<std::byte> read_bytes(fs::path const& path, itk::ImageIOBase& io) {
  std::vector<std::byte> bytes(std::size_t(io.GetImageSizeInBytes()));
  auto const last = std::span(bytes).last(io.GetComponentSize());
  auto const read_over = [&](std::byte mark) {
    std::fill(last.begin(), last.end(), mark);
    io.Read(bytes.data());
    return std::vector<std::byte>(last.begin(), last.end());
  };
  io.SetIORegion(detail::whole_region(io));
  std::byte const mark{0xd3};
  detail::captured_output const said;  // of voxels that do not inflate, MetaIO prints alone
  auto const first = read_over(mark);
  if (!said.text().empty()) {
    refuse(path,
           "is truncated or damaged (not all of its voxels can be read); fetch or write it "
           "again");
  }
  if (std::count(first.begin(), first.end(), mark) > 0 && first != read_over(~mark)) {
    refuse(path,
           "is truncated or damaged (its last voxel cannot be read); fetch or write it again");
  }
  return bytes;
}

itk::ImageIOBase::Pointer opened(fs::path const& path) {
  auto const io = image_io(path);
  detail::check_regular(path);
  if (dynamic_cast<itk::MetaImageIO*>(io.GetPointer()) != nullptr) {
    detail::check_meta_header(path);
  } else if (dynamic_cast<itk::NiftiImageIO*>(io.GetPointer()) != nullptr) {
    detail::check_nifti_header(path);
  }
  io->SetFileName(path.string());
  io->ReadImageInformation();
  return io;
}

// ITK says nothing where the disk is full.
void check_written(fs::path const& path, fs::path const& written, job const& asked) {
  try {
    detail::guarded(path, "read back", [&] {
      auto const io = opened(written);
      checked_extent(written, *io, asked);
      if (ending(written) != ".nii.gz") {  // whose bytes were all read to find its length
        static_cast<void>(read_bytes(written, *io));
      }
    });
  } catch (file_error const&) {
    refuse(path,
           "was cut short (its disk may be full, and the old file is as it was); make room on its "
           "disk");
  }
}

constexpr char const* unit_field = "Unit";

std::string read_unit(itk::ImageIOBase const& io) {
  std::string text;
  itk::ExposeMetaData(io.GetMetaDataDictionary(), unit_field, text);
  return one_line(text);
}

template <class T>
atomic_file prepare_volume_image(fs::path const& path, std::vector<T> const& values,
                                 std::array<std::int64_t, 3> const& extent,
                                 std::array<double, 3> const& spacing,
                                 std::array<double, 3> const& origin, std::string const& unit,
                                 job const& asked) {
  auto const end = ending(path);
  if (end == ".mhd" || end == ".nhdr") {
    refuse(path, "would be two files (they cannot be replaced in one step); write .mha or .nrrd");
  }
  auto const io = image_io(path);
  io->SetNumberOfDimensions(3);
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::vector<double> direction(3, 0.0);
    direction[axis] = 1;
    io->SetDimensions(axis, itk::SizeValueType(extent[axis]));
    io->SetSpacing(axis, spacing[axis]);
    io->SetOrigin(axis, origin[axis]);
    io->SetDirection(axis, direction);
  }
  io->SetPixelType(itk::CommonEnums::IOPixel::SCALAR);
  io->SetComponentType(sizeof(T) == 4 ? itk::CommonEnums::IOComponent::FLOAT
                                      : itk::CommonEnums::IOComponent::DOUBLE);
  if (!unit.empty()) {  // ITK leaves it out of a NIfTI, which has no field for it
    itk::EncapsulateMetaData(io->GetMetaDataDictionary(), unit_field, unit);
  }
  asked.step(0);
  std::uintmax_t const bytes = values.size() * sizeof(T) + detail::max_overhead;
  atomic_file file(path, bytes);
  if (end == ".nii.gz") {
    // By ourselves: ITK compresses all at once, which takes minutes and cannot be stopped.
    atomic_file const plain(fs::path(file.temporary()).replace_extension(), bytes);
    detail::write_image(path, plain, *io, values.data());
    detail::compress(path, plain.temporary(), file.temporary(), asked);
  } else {
    detail::write_image(path, file, *io, values.data());
  }
  asked.step(0);
  check_written(path, file.temporary(), asked);
  asked.step(0);
  return file;
}

bool is_folder(fs::path const& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

}  // namespace

std::string count_reasons(std::vector<unread_file> const& files) {
  std::map<std::string, int> counts;
  for (auto const& file : files) {
    ++counts[file.reason];
  }
  std::string text;
  for (auto const& [reason, count] : counts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reason);
  }
  return text;
}

host_volume read_volume(fs::path const& path, finite_values values, subfolders search,
                        job const& control) {
  job const asked{{}, control.cancelled};
  if (is_dicom_path(path)) {
    return is_folder(path) ? read_dicom_series(path, search).volume
                           : read_rt_dose(path, dose_units::any).volume;
  }
  host_volume volume;
  detail::guarded(path, "read", [&] {
    auto const io = opened(path);
    auto const n = checked_extent(path, *io, asked);
    auto const how = align(path, *io);
    place(path, *io, how, n, volume);
    volume.unit = read_unit(*io);
    detail::nifti_name const name(path);
    io->SetFileName(name.path().string());
    if (dynamic_cast<itk::MetaImageIO*>(io.GetPointer()) != nullptr) {
      detail::check_meta_voxels(path);
    }
    // As the file has them, and as float.
    auto const count = std::uint64_t(n[0] * n[1] * n[2]);
    detail::with_memory(path, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]),
                        count * (io->GetComponentSize() + 4), [&] {
                          auto const bytes = read_bytes(path, *io);
                          asked.step(0);
                          volume.values = convert(path, *io, bytes, n, how);
                        });
    if (dynamic_cast<itk::NiftiImageIO*>(io.GetPointer()) != nullptr) {
      detail::check_nifti_scale(path, volume.values, asked);
    }
  });
  if (values == finite_values::required) {
    check_finite(path, volume);
  }
  return volume;
}

host_volume read_volume_grid(fs::path const& path, subfolders search) {
  if (is_dicom_path(path)) {
    return is_folder(path) ? read_dicom_series_grid(path, search).volume
                           : read_rt_dose_grid(path, dose_units::any).volume;
  }
  host_volume volume;
  detail::guarded(path, "read", [&] {
    auto const io = opened(path);
    auto const n = checked_extent(path, *io, {});
    place(path, *io, align(path, *io), n, volume);
    volume.unit = read_unit(*io);
  });
  return volume;
}

atomic_file prepare_volume(fs::path const& path, host_volume const& volume, job const& control) {
  auto const& n = volume.extent;
  auto const file_order =
      reorder<float, float>(volume.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  return prepare_volume_image(path, file_order, n, volume.spacing, volume.origin, volume.unit,
                              job{{}, control.cancelled});
}

template <class T>
atomic_file prepare_projection_image(fs::path const& path, std::vector<T> const& values,
                                     std::array<std::int64_t, 3> const& extent,
                                     std::array<double, 2> const& pitch, job const& control) {
  auto const [views, nu, nv] = extent;
  auto const image =
      reorder<T, T>(values, 0, {axis_walk{views, nu * nv}, axis_walk{nv, 1}, axis_walk{nu, nv}});
  return prepare_volume_image(path, image, {nu, nv, views}, {pitch[0], pitch[1], 1}, {}, "1",
                              job{{}, control.cancelled});
}
template atomic_file prepare_projection_image(fs::path const&, std::vector<float> const&,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&, job const&);
template atomic_file prepare_projection_image(fs::path const&, std::vector<double> const&,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&, job const&);

bool is_image_path(fs::path const& path) {
  auto const end = ending(path);
  return end == ".mha" || end == ".mhd" || end == ".nrrd" || end == ".nhdr" || end == ".nii" ||
         end == ".nii.gz";
}

}  // namespace iso::files
