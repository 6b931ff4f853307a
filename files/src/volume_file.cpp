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
#include "voxel_file.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/hdf5_kind.hpp>
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
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
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
  auto const bytes = detail::first_bytes(path);
  if (detail::is_zip(bytes)) {
    refuse(path, detail::zip_sentence);
  }
  if (bytes.starts_with("\x89HDF\r\n\x1a\n")) {
    refuse(path, fmt::format("is a {} in HDF5 (volumes are .mha, .nrrd, .nii.gz or DICOM); name a "
                             "volume",
                             name_of(read_hdf5_kind(path))));
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

/// Calls `f` with a number of the type of the file's.
template <class F>
void with_stored_type(fs::path const& path, itk::ImageIOBase const& io, F const& f) {
  using type = itk::CommonEnums::IOComponent;
  switch (io.GetComponentType()) {
    case type::UCHAR:
      return f(static_cast<unsigned char>(0));
    case type::CHAR:
      return f(static_cast<signed char>(0));
    case type::USHORT:
      return f(static_cast<unsigned short>(0));
    case type::SHORT:
      return f(short(0));
    case type::UINT:
      return f(0U);
    case type::INT:
      return f(0);
    case type::ULONG:
      return f(0UL);
    case type::LONG:
      return f(0L);
    case type::ULONGLONG:
      return f(0ULL);
    case type::LONGLONG:
      return f(0LL);
    case type::FLOAT:
      return f(0.0F);
    case type::DOUBLE:
      return f(0.0);
    default:
      refuse(path,
             "holds voxels of a type that is not a number (whole and floating-point numbers are "
             "read); convert it to float");
  }
}

/// Some of a volume's planes along z.
struct plane_range {
  std::int64_t first;
  std::int64_t count;
};

/// The planes along z that are wanted, as a file of some alignment has them.
struct wanted_planes {
  std::size_t axis;    ///< of the file, that runs along z
  std::int64_t first;  ///< the first on that axis
  std::int64_t count;
};

std::size_t axis_along_z(alignment const& how) {
  return std::size_t(std::ranges::find(how.world, std::size_t(2)) - how.world.begin());
}
wanted_planes all_planes(std::array<std::int64_t, 3> const& extent, alignment const& how) {
  std::size_t const axis = axis_along_z(how);
  return {axis, 0, extent[axis]};
}
wanted_planes some_planes(std::array<std::int64_t, 3> const& extent, alignment const& how,
                          plane_range const& planes) {
  std::size_t const axis = axis_along_z(how);
  bool const turned = how.sign[axis] < 0;
  return {axis, turned ? extent[axis] - planes.first - planes.count : planes.first, planes.count};
}

/// The array that takes the planes of a file, in the file's order, and refuses doubles of which the
/// largest has no float.
template <class T>
class plane_sink {
 public:
  /// Takes of each voxels along z alone that are wanted.
  plane_sink(std::array<std::int64_t, 3> const& extent, alignment const& how,
             wanted_planes const& wanted, float* values)
      : values_(values), plane_(extent[0] * extent[1]) {
    auto part = extent;
    part[wanted.axis] = wanted.count;
    axes_ = detail::axes_along_world(part, how, values_);
    auto const from = last_axis_fastest(extent);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      axes_[axis].from = from[axis].stride;
    }
    skipped_ = wanted.axis < 2 ? wanted.first * axes_[wanted.axis].from : 0;
  }

  void put(std::span<T const> planes) {
    if constexpr (std::is_same_v<T, double>) {
      range_.add_all(planes);
    }
    auto& along = axes_[2];
    along.extent = std::int64_t(planes.size()) / plane_;
    copy_axes(planes.data() + skipped_, values_, axes_);
    values_ += along.extent * along.to;
  }
  void check_range(fs::path const& path) const {
    if (!range_.is_kept()) {
      refuse(path, range_.sentence());
    }
  }

 private:
  float* values_;
  std::int64_t plane_;
  std::array<axis_copy, 3> axes_{};
  std::int64_t skipped_ = 0;  ///< numbers before the first that is wanted of a plane
  detail::float_range range_;
};

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

/// \param first_plane  of the volume, that `values` begin with along z
void check_finite(fs::path const& path, std::span<float const> values,
                  std::array<std::int64_t, 3> const& extent, std::int64_t first_plane = 0) {
  if (auto const at = detail::first_not_finite(values, extent)) {
    refuse(
        path,
        fmt::format("voxel ({}, {}, {}) is {} (every value must be finite); replace it by a number",
                    at->place[0], at->place[1], at->place[2] + first_plane, at->value));
  }
}

constexpr double max_packed = 1032;  // to 1, by any compression

double nifti_number(itk::ImageIOBase const& io, char const* field) {
  std::string text;
  itk::ExposeMetaData(io.GetMetaDataDictionary(), field, text);
  return std::atof(text.c_str());
}

/// Returns where the voxels of a NRRD lie, as its own library reads the header; nothing where they
/// lie in several files, or at a place that only ITK finds.
std::optional<detail::voxel_layout> nrrd_layout(fs::path const& path, std::uint64_t bytes) {
  std::unique_ptr<Nrrd, decltype(&nrrdNix)> const image(nrrdNew(), &nrrdNix);
  std::unique_ptr<NrrdIoState, decltype(&nrrdIoStateNix)> const state(nrrdIoStateNew(),
                                                                      &nrrdIoStateNix);
  state->skipData = 1;
  if (nrrdLoad(image.get(), path.c_str(), state.get()) != 0) {
    std::free(biffGetDone(NRRD));  // which prints where there is nothing to get
    return std::nullopt;
  }
  detail::voxel_layout layout;
  layout.compressed = state->encoding == nrrdEncodingGzip;
  bool const detached = state->dataFNArr->len > 0;
  if ((!layout.compressed && state->encoding != nrrdEncodingRaw) ||
      state->dataFNFormat != nullptr || state->dataFNArr->len > 1 || state->lineSkip != 0 ||
      (layout.compressed && state->byteSkip != 0)) {
    return std::nullopt;
  }
  layout.file = detached ? path.parent_path() / state->dataFN[0] : path;
  std::ifstream in(layout.file, std::ios::binary);
  if (!detached) {  // behind the first empty line
    for (std::string line; std::getline(in, line) && !line.empty() && line != "\r";) {
    }
  }
  layout.offset = in ? std::uint64_t(in.tellg()) : 0;
  if (state->byteSkip < 0) {  // the last bytes of the file
    std::error_code unknown;
    auto const held = fs::file_size(layout.file, unknown);
    layout.offset = unknown ? 0 : held - std::min<std::uint64_t>(held, bytes);
  } else {
    layout.offset += std::uint64_t(state->byteSkip);
  }
  layout.swapped = state->endian == airEndianBig;
  return layout;
}

/// A volume's file whose header has been read and compared with its length.
struct opened_volume {
  itk::ImageIOBase::Pointer io;
  std::array<std::int64_t, 3> extent{};
  std::optional<detail::voxel_layout> layout{};  ///< none: ITK reads the voxels, all at once

  [[nodiscard]] std::int64_t voxels() const { return extent[0] * extent[1] * extent[2]; }
};

/// Finds where the voxels lie, and refuses a file that is too short for them.
void check_length(fs::path const& path, opened_volume& volume, double voxels, job const& asked) {
  auto& io = *volume.io;
  auto const end = ending(path);
  double const bytes = voxels * io.GetComponentSize();
  double needed = 0;
  double held = 0;
  if (end.starts_with(".nii")) {  // ITK reads zeros where its voxels end early
    needed = voxels * nifti_number(io, "bitpix") / 8 + nifti_number(io, "vox_offset");
    held = double(end == ".nii.gz" ? detail::inflated_size(path, asked) : fs::file_size(path));
  } else if (bytes < 0x1p62) {
    bool const meta = end == ".mha" || end == ".mhd";
    volume.layout = meta ? detail::meta_layout(path, std::uint64_t(bytes))
                         : nrrd_layout(path, std::uint64_t(bytes));
    if (volume.layout) {
      auto const& layout = *volume.layout;
      detail::check_regular(layout.file);
      needed = layout.compressed ? std::max(bytes / max_packed, double(layout.packed)) : bytes;
      held = double(fs::file_size(layout.file)) - double(layout.offset);
    }
  }
  if (needed > held || voxels >= 0x1p60) {
    auto const& n = volume.extent;
    refuse(path,
           fmt::format("the header claims {} x {} x {} voxels of {} bytes, for which the file is "
                       "too short (truncated, or its header is wrong); fetch or write it again",
                       n[0], n[1], n[2], io.GetComponentSize()));
  }
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

opened_volume opened(fs::path const& path, job const& asked = {}) {
  opened_volume volume;
  auto const io = volume.io = image_io(path);
  detail::check_regular(path);
  if (dynamic_cast<itk::MetaImageIO*>(io.GetPointer()) != nullptr) {
    detail::check_meta_header(path);
  } else if (dynamic_cast<itk::NiftiImageIO*>(io.GetPointer()) != nullptr) {
    detail::check_nifti_header(path);
  }
  io->SetFileName(path.string());
  io->ReadImageInformation();
  double voxels = 1;
  bool possible = io->GetNumberOfDimensions() >= 3 && io->GetNumberOfComponents() == 1 &&
                  io->GetFileType() != itk::CommonEnums::IOFile::ASCII;
  for (unsigned axis = 0; possible && axis < io->GetNumberOfDimensions(); ++axis) {
    auto const n = io->GetDimensions(axis);
    possible = n >= 1 && n < std::uint64_t(1) << 40 && (axis < 3 || n == 1);
    if (possible && axis < 3) {
      volume.extent[axis] = std::int64_t(n);
      voxels *= double(n);
    }
  }
  if (!possible) {
    refuse(path,
           "is no volume (three axes and one binary number a voxel are expected); convert it to "
           "such a file");
  }
  check_length(path, volume, voxels, asked);
  return volume;
}

/// Reads voxels block by block. Returns the bytes that it read of the file's voxels.
std::int64_t read_by_blocks(fs::path const& path, opened_volume const& volume, alignment const& how,
                            wanted_planes const& some, float* values, job const& asked) {
  auto const& n = volume.extent;
  auto const& layout = *volume.layout;
  bool const skips = some.axis == 2 && !layout.compressed;
  bool const picks = some.axis == 2 && layout.compressed;  // of the planes that inflate
  std::int64_t const begin = skips ? some.first : 0;
  std::int64_t const end = skips ? some.first + some.count : n[2];
  std::int64_t done = 0;
  with_stored_type(path, *volume.io, [&]<class T>(T) {
    detail::voxel_reader reader(path, layout);
    plane_sink<T> sink(n, how, some, values);
    std::int64_t const plane = n[0] * n[1];
    std::int64_t const step = detail::planes_of_block(plane * std::int64_t(sizeof(T)), n[2]);
    std::vector<T> block(
        std::size_t(std::min(step, std::max<std::int64_t>(end - begin, 1)) * plane));
    reader.skip(begin * plane * std::int64_t(sizeof(T)));
    for (std::int64_t first = begin; first < end; first += step) {
      auto const planes = std::span(block).first(std::size_t(std::min(step, end - first) * plane));
      auto const bytes = std::as_writable_bytes(planes);
      reader.read(bytes);
      for (std::size_t at = 0; layout.swapped && at < bytes.size(); at += sizeof(T)) {
        std::ranges::reverse(bytes.subspan(at, sizeof(T)));
      }
      done += std::int64_t(bytes.size());
      std::int64_t const last = first + std::int64_t(planes.size()) / plane;
      std::int64_t const from = picks ? std::max(first, some.first) : first;
      std::int64_t const to = picks ? std::min(last, some.first + some.count) : last;
      if (from < to) {
        sink.put(
            planes.subspan(std::size_t((from - first) * plane), std::size_t((to - from) * plane)));
      }
      asked.step(0);
    }
    reader.finish();
    sink.check_range(path);
  });
  return done;
}

/// Reads the voxels by ITK, which takes memory for all of them as the file has them.
void read_whole(fs::path const& path, opened_volume const& volume, alignment const& how,
                float* values, job const& asked) {
  auto& io = *volume.io;
  detail::nifti_name const name(path);
  io.SetFileName(name.path().string());
  auto const bytes = read_bytes(path, io);
  asked.step(0);
  with_stored_type(path, io, [&]<class T>(T) {
    plane_sink<T> sink(volume.extent, how, all_planes(volume.extent, how), values);
    sink.put(std::span(reinterpret_cast<T const*>(bytes.data()), std::size_t(volume.voxels())));
    sink.check_range(path);
  });
  if (dynamic_cast<itk::NiftiImageIO*>(&io) != nullptr) {
    detail::check_nifti_scale(path, std::span(values, std::size_t(volume.voxels())), asked);
  }
}

constexpr char const* unit_field = "Unit";

std::string read_unit(itk::ImageIOBase const& io) {
  std::string text;
  itk::ExposeMetaData(io.GetMetaDataDictionary(), unit_field, text);
  return one_line(text);
}

/// An array that is written: `strides` lead along the file's axes, of which the first is fastest.
template <class T>
struct written_image {
  T const* values;
  std::array<std::int64_t, 3> extent;
  std::array<std::int64_t, 3> strides;
  std::array<double, 3> spacing;
  std::array<double, 3> origin;
  std::string unit;
};

/// Returns the header that ITK writes for an image, of which it is given one with few voxels.
template <class T>
std::string header_of(fs::path const& path, written_image<T> const& image) {
  // One voxel along an axis may be told otherwise than several.
  std::array<std::int64_t, 3> small{};
  std::ranges::transform(image.extent, small.begin(),
                         [](std::int64_t n) { return std::min<std::int64_t>(n, 2); });
  auto const io = image_io(path);
  io->SetNumberOfDimensions(3);
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::vector<double> direction(3, 0.0);
    direction[axis] = 1;
    io->SetDimensions(axis, itk::SizeValueType(small[axis]));
    io->SetSpacing(axis, image.spacing[axis]);
    io->SetOrigin(axis, image.origin[axis]);
    io->SetDirection(axis, direction);
  }
  io->SetPixelType(itk::CommonEnums::IOPixel::SCALAR);
  io->SetComponentType(sizeof(T) == 4 ? itk::CommonEnums::IOComponent::FLOAT
                                      : itk::CommonEnums::IOComponent::DOUBLE);
  if (!image.unit.empty()) {  // ITK leaves it out of a NIfTI, which has no field for it
    itk::EncapsulateMetaData(io->GetMetaDataDictionary(), unit_field, image.unit);
  }
  std::array<T, 8> const voxels{};
  std::size_t const bytes = std::size_t(small[0] * small[1] * small[2]) * sizeof(T);
  bool const packed = ending(path) == ".nii.gz";
  atomic_file const file(packed ? fs::path(path).replace_extension() : path, detail::max_overhead);
  detail::write_image(path, file, *io, voxels.data());
  std::ifstream in(file.temporary(), std::ios::binary);
  std::string header(std::istreambuf_iterator<char>(in), {});
  header.resize(header.size() - std::min(header.size(), bytes));
  bool const nifti = ending(path).starts_with(".nii");
  auto const& n = image.extent;
  if (nifti && header.size() == 352 && std::ranges::max(n) <= 32767) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto const count = std::int16_t(n[axis]);
      std::memcpy(header.data() + 42 + 2 * axis, &count, sizeof count);
    }
    return header;
  }
  for (auto const* format : {"DimSize = {} {} {}\n", "\nsizes: {} {} {}\n"}) {
    auto const line = [&](auto const& e) {
      return fmt::format(fmt::runtime(format), e[0], e[1], e[2]);
    };
    auto const at = nifti ? std::string::npos : header.find(line(small));
    if (at != std::string::npos) {
      return header.replace(at, line(small).size(), line(n));
    }
  }
  refuse(path, nifti && std::ranges::max(n) > 32767
                   ? "would have more than 32767 voxels along an axis (a NIfTI has no more); write "
                     ".mha or .nrrd"
                   : "cannot be written (its disk may be full); make room on its disk");
}

template <class T>
atomic_file prepare_image(fs::path const& path, written_image<T> const& image, job const& asked) {
  auto const end = ending(path);
  if (end == ".mhd" || end == ".nhdr") {
    refuse(path, "would be two files (they cannot be replaced in one step); write .mha or .nrrd");
  }
  asked.step(0);
  auto const& n = image.extent;
  std::int64_t const plane = n[0] * n[1];
  std::uintmax_t const bytes = std::uintmax_t(plane * n[2]) * sizeof(T) + detail::max_overhead;
  auto const header = header_of(path, image);
  bool const packed = end == ".nii.gz";
  atomic_file file(path, packed ? 0 : bytes);
  using form = detail::voxel_writer::form;
  detail::voxel_writer writer(path, file.temporary(), packed ? form::gzip : form::plain);
  writer.write(std::as_bytes(std::span(header)), asked);
  std::int64_t const step = detail::planes_of_block(plane * std::int64_t(sizeof(T)), n[2]);
  std::vector<T> block(std::size_t(step * plane));
  for (std::int64_t first = 0; first < n[2]; first += step) {
    std::int64_t const planes = std::min(step, n[2] - first);
    auto const& from = image.strides;
    copy_axes(image.values + first * from[2], block.data(),
              {axis_copy{n[0], from[0], 1}, axis_copy{n[1], from[1], n[0]},
               axis_copy{planes, from[2], plane}});
    writer.write(std::as_bytes(std::span(block).first(std::size_t(planes * plane))), asked);
  }
  writer.close();
  asked.step(0);
  return file;
}

/// Makes an image's file at its full size, without values.
template <class T>
volume_frame frame_of(fs::path const& path, written_image<T> const& image) {
  auto const& n = image.extent;
  auto const header = header_of(path, image);
  auto const bytes = std::uintmax_t(n[0] * n[1] * n[2]) * sizeof(T);
  volume_frame frame{atomic_file(path, bytes + header.size()), std::int64_t(header.size())};
  {
    using form = detail::voxel_writer::form;
    detail::voxel_writer writer(path, frame.file.temporary(), form::plain);
    writer.write(std::as_bytes(std::span(header)), {});
    writer.close();
  }
  std::error_code failure;
  fs::resize_file(frame.file.temporary(), header.size() + bytes, failure);
  if (failure) {
    refuse(path, fmt::format("cannot be written ({}); make room on its disk", failure.message()));
  }
  return frame;
}

/// Throws iso::invalid_argument where an array has not one value for each place.
void check_count(fs::path const& path, std::size_t values,
                 std::array<std::int64_t, 3> const& extent) {
  auto const& n = extent;
  if (std::ranges::min(n) < 1 || double(n[0]) * double(n[1]) * double(n[2]) != double(values)) {
    throw invalid_argument(
        fmt::format("'{}': {} values for {} x {} x {} places (each has one); give as many",
                    path.string(), values, n[0], n[1], n[2]));
  }
}

/// Returns the planes that so many voxels are of, from `first` on.
/// \throws iso::invalid_argument  no whole planes, or some that the volume has not
plane_range planes_of(fs::path const& path, std::array<std::int64_t, 3> const& extent,
                      std::int64_t first, std::size_t voxels) {
  std::int64_t const plane = extent[0] * extent[1];
  auto const count = std::int64_t(voxels) / plane;
  if (first < 0 || count * plane != std::int64_t(voxels) || first > extent[2] - count) {
    throw invalid_argument(
        fmt::format("'{}': {} voxels from plane {} on (it has {} planes of {} voxels); give whole "
                    "planes, of those there are",
                    path.string(), voxels, first, extent[2], plane));
  }
  return {first, count};
}

bool is_folder(fs::path const& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

/// Reads the voxels into `given`, or into the volume's values where that is null.
host_volume read_image(fs::path const& path, std::span<float> const* given, finite_values values,
                       job const& asked) {
  host_volume volume;
  std::span<float> to;
  auto const read = [&] {
    auto const file = opened(path, asked);
    auto const& n = file.extent;
    auto const& layout = file.layout;
    auto const how = align(path, *file.io);
    place(path, *file.io, how, n, volume);
    volume.unit = read_unit(*file.io);
    auto const count = std::uint64_t(file.voxels());
    if (given != nullptr && given->size() != count) {
      throw invalid_argument(
          fmt::format("'{}' has {} voxels (memory of {} floats was given); give one a voxel",
                      path.string(), count, given->size()));
    }
    // As the file has them: a block, or all.
    auto const plane = n[0] * n[1] * std::int64_t(file.io->GetComponentSize());
    auto const buffer =
        std::uint64_t(plane * (layout ? detail::planes_of_block(plane, n[2]) : n[2]));
    auto const own = given == nullptr ? count * sizeof(float) : 0;
    detail::with_memory(path, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]),
                        own + buffer, [&] {
                          volume.values.resize(given == nullptr ? count : 0);
                          to = given == nullptr ? std::span<float>(volume.values) : *given;
                          detail::read_unchanged(layout ? layout->file : path, [&] {
                            if (layout) {
                              read_by_blocks(path, file, how, all_planes(n, how), to.data(), asked);
                            } else {
                              read_whole(path, file, how, to.data(), asked);
                            }
                          });
                        });
  };
  detail::read_unchanged(path, [&] { detail::guarded(path, "read", read); });
  if (values == finite_values::required) {
    check_finite(path, to, volume.extent);
  }
  return volume;
}

}  // namespace

std::int64_t read_planes(fs::path const& path, std::int64_t first_plane, std::span<float> voxels,
                         finite_values values, job const& control) {
  job const asked{{}, control.cancelled};
  std::int64_t done = 0;
  std::array<std::int64_t, 3> part{};
  auto const check = [&](std::array<std::int64_t, 3> const& n) {
    plane_range const planes = planes_of(path, n, first_plane, voxels.size());
    part = {n[0], n[1], planes.count};
    return planes;
  };
  auto const cut = [&] {
    auto const whole = read_volume(path, finite_values::not_required, subfolders::left_out, asked);
    auto const& n = whole.extent;
    plane_range const planes = check(n);
    for (std::int64_t column = 0; column < n[0] * n[1]; ++column) {
      auto const from = whole.values.begin() + column * n[2] + planes.first;
      std::copy(from, from + planes.count, voxels.begin() + column * planes.count);
    }
    done = std::int64_t(whole.values.size() * sizeof(float));
  };
  auto const read = [&] {
    auto const file = opened(path, asked);
    if (!file.layout) {
      cut();
      return;
    }
    host_volume world;
    auto const how = align(path, *file.io);
    place(path, *file.io, how, file.extent, world);
    plane_range const planes = check(world.extent);
    if (planes.count == 0) {
      return;
    }
    auto const plane = file.extent[0] * file.extent[1] * std::int64_t(file.io->GetComponentSize());
    auto const buffer = std::uint64_t(plane * detail::planes_of_block(plane, file.extent[2]));
    detail::with_memory(path, "a block of its voxels", buffer, [&] {
      detail::read_unchanged(file.layout->file, [&] {
        done = read_by_blocks(path, file, how, some_planes(file.extent, how, planes), voxels.data(),
                              asked);
      });
    });
  };
  if (is_dicom_path(path)) {
    cut();
  } else {
    detail::read_unchanged(path, [&] { detail::guarded(path, "read", read); });
  }
  if (values == finite_values::required) {
    check_finite(path, voxels, part, first_plane);
  }
  return done;
}

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
  if (is_dicom_path(path)) {
    return is_folder(path) ? read_dicom_series(path, search).volume
                           : read_rt_dose(path, dose_units::any).volume;
  }
  return read_image(path, nullptr, values, job{{}, control.cancelled});
}

host_volume read_voxels(fs::path const& path, std::span<float> voxels, finite_values values,
                        job const& control) {
  if (is_dicom_path(path)) {
    refuse(path, "is DICOM (its voxels are not read into memory that is given); use read_volume");
  }
  return read_image(path, &voxels, values, job{{}, control.cancelled});
}

host_volume read_volume_grid(fs::path const& path, subfolders search) {
  if (is_dicom_path(path)) {
    return is_folder(path) ? read_dicom_series_grid(path, search).volume
                           : read_rt_dose_grid(path, dose_units::any).volume;
  }
  host_volume volume;
  detail::guarded(path, "read", [&] {
    auto const file = opened(path);
    place(path, *file.io, align(path, *file.io), file.extent, volume);
    volume.unit = read_unit(*file.io);
  });
  return volume;
}

atomic_file prepare_volume(fs::path const& path, host_volume const& volume, job const& control) {
  return prepare_voxels(path, volume, volume.values, control);
}

atomic_file prepare_voxels(fs::path const& path, host_volume const& grid,
                           std::span<float const> voxels, job const& control) {
  auto const& n = grid.extent;
  check_count(path, voxels.size(), n);
  return prepare_image<float>(
      path, {voxels.data(), n, {n[1] * n[2], n[2], 1}, grid.spacing, grid.origin, grid.unit},
      job{{}, control.cancelled});
}

bool takes_planes(fs::path const& path) {
  auto const end = ending(path);
  return end == ".mha" || end == ".nrrd" || end == ".nii";
}

volume_frame prepare_frame(fs::path const& path, host_volume const& grid) {
  auto const& n = grid.extent;
  if (!takes_planes(path)) {
    throw invalid_argument(
        fmt::format("'{}' is not written plane by plane (.mha, .nrrd and .nii are); name one of "
                    "these, or use prepare_volume",
                    path.string()));
  }
  if (std::ranges::min(n) < 1) {
    check_count(path, 0, n);
  }
  return frame_of(path, written_image<float>{nullptr, n, {}, grid.spacing, grid.origin, grid.unit});
}

void write_planes(fs::path const& path, fs::path const& temporary, std::int64_t offset,
                  host_volume const& grid, std::int64_t first_plane, std::span<float const> voxels,
                  job const& control) {
  auto const& n = grid.extent;
  plane_range const planes = planes_of(path, n, first_plane, voxels.size());
  std::int64_t const plane = n[0] * n[1];
  auto const block_bytes = plane * std::int64_t(sizeof(float));
  detail::placed_writer writer(path, temporary, offset + first_plane * block_bytes);
  std::int64_t const step = detail::planes_of_block(block_bytes, planes.count);
  std::vector<float> block(std::size_t(std::min(step, planes.count) * plane));
  for (std::int64_t first = 0; first < planes.count; first += step) {
    std::int64_t const some = std::min(step, planes.count - first);
    copy_axes(voxels.data() + first, block.data(),
              {axis_copy{n[0], n[1] * planes.count, 1}, axis_copy{n[1], planes.count, n[0]},
               axis_copy{some, 1, plane}});
    writer.write(std::as_bytes(std::span(block).first(std::size_t(some * plane))));
    job{{}, control.cancelled}.step(0);
  }
  writer.close();
}

template <class T>
atomic_file prepare_projection_image(fs::path const& path, std::span<T const> values,
                                     std::array<std::int64_t, 3> const& extent,
                                     std::array<double, 2> const& pitch, job const& control) {
  auto const [views, nu, nv] = extent;
  check_count(path, values.size(), extent);
  return prepare_image<T>(
      path, {values.data(), {nu, nv, views}, {nv, 1, nu * nv}, {pitch[0], pitch[1], 1}, {}, "1"},
      job{{}, control.cancelled});
}
template <class T>
volume_frame prepare_projection_frame(fs::path const& path,
                                      std::array<std::int64_t, 3> const& extent,
                                      std::array<double, 2> const& pitch) {
  auto const [views, nu, nv] = extent;
  if (std::ranges::min(extent) < 1) {
    check_count(path, 0, extent);
  }
  return frame_of(
      path, written_image<T>{
                nullptr, {nu, nv, views}, {nv, 1, nu * nv}, {pitch[0], pitch[1], 1}, {}, "1"});
}

template <class T>
void write_projection_views(fs::path const& path, fs::path const& temporary, std::int64_t offset,
                            std::array<std::int64_t, 3> const& extent, std::int64_t first_view,
                            std::span<T const> readings, job const& control) {
  auto const [views, nu, nv] = extent;
  std::int64_t const image = nu * nv;
  plane_range const some = planes_of(path, {nu, nv, views}, first_view, readings.size());
  detail::placed_writer writer(path, temporary,
                               offset + first_view * image * std::int64_t(sizeof(T)));
  std::vector<T> block(std::size_t(some.count > 0 ? image : 0));
  for (std::int64_t view = 0; view < some.count; ++view) {
    copy_axes(readings.data() + view * image, block.data(),
              {axis_copy{nu, nv, 1}, axis_copy{nv, 1, nu}, axis_copy{1, image, image}});
    writer.write(std::as_bytes(std::span(block)));
    job{{}, control.cancelled}.step(0);
  }
  writer.close();
}
template volume_frame prepare_projection_frame<float>(fs::path const&,
                                                      std::array<std::int64_t, 3> const&,
                                                      std::array<double, 2> const&);
template volume_frame prepare_projection_frame<double>(fs::path const&,
                                                       std::array<std::int64_t, 3> const&,
                                                       std::array<double, 2> const&);
template void write_projection_views(fs::path const&, fs::path const&, std::int64_t,
                                     std::array<std::int64_t, 3> const&, std::int64_t,
                                     std::span<float const>, job const&);
template void write_projection_views(fs::path const&, fs::path const&, std::int64_t,
                                     std::array<std::int64_t, 3> const&, std::int64_t,
                                     std::span<double const>, job const&);
template atomic_file prepare_projection_image(fs::path const&, std::span<float const>,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&, job const&);
template atomic_file prepare_projection_image(fs::path const&, std::span<double const>,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&, job const&);

bool is_image_path(fs::path const& path) {
  auto const end = ending(path);
  return end == ".mha" || end == ".mhd" || end == ".nrrd" || end == ".nhdr" || end == ".nii" ||
         end == ".nii.gz";
}

}  // namespace iso::files
