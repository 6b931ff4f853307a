// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "image_header.hpp"
#include "memory.hpp"

#include <iso/core/error.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/text.hpp>
#include <iso/files/volume_file.hpp>

#include <fmt/core.h>
#include <itkMetaImageIO.h>
#include <itkNiftiImageIO.h>
#include <itkNrrdImageIO.h>

#include <cmath>
#include <cstddef>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

enum class format { metaimage, nrrd, nifti };

format format_of(fs::path const& path) {
  auto const end = detail::ending(path);
  if (end == ".mha" || end == ".mhd") {
    return format::metaimage;
  }
  if (end == ".nrrd" || end == ".nhdr") {
    return format::nrrd;
  }
  if (end == ".nii" || end == ".nii.gz") {
    return format::nifti;
  }
  refuse(path, fmt::format("ending '{}' is not a volume format (.mha, .mhd, .nrrd, .nhdr, .nii and "
                           ".nii.gz are)",
                           end));
}

itk::ImageIOBase::Pointer image_io(format kind) {
  itk::Object::SetGlobalWarningDisplay(false);
  switch (kind) {
    case format::metaimage:
      return itk::MetaImageIO::New().GetPointer();
    case format::nrrd:
      return itk::NrrdImageIO::New().GetPointer();
    default:
      return itk::NiftiImageIO::New().GetPointer();
  }
}

// Runs `step`, which calls the image library; its exceptions become ours, naming the file.
template <class Step>
void guarded(fs::path const& path, char const* what, Step&& step) {
  try {
    step();
  } catch (itk::ExceptionObject const& failure) {
    refuse(path, fmt::format("cannot be {} ({})", what, one_line(failure.GetDescription())));
  }
}

// Which world axis each file axis runs along, and which way.
struct alignment {
  std::array<std::size_t, 3> world{};
  std::array<int, 3> sign{};
};

alignment align(fs::path const& path, itk::ImageIOBase const& io) {
  // Directions stored as 32-bit quaternions come back with errors of this size.
  double const slack = 1e-5;
  alignment result;
  std::array<bool, 3> taken{};
  for (unsigned axis = 0; axis < 3; ++axis) {
    auto const direction = io.GetDirection(axis);
    int along = 0;
    int across = 0;
    for (std::size_t world = 0; world < 3; ++world) {
      double const size = std::abs(direction[world]);
      if (std::abs(size - 1) <= slack && !taken[world]) {
        ++along;
        taken[world] = true;
        result.world[axis] = world;
        result.sign[axis] = direction[world] > 0 ? 1 : -1;
      } else if (size <= slack) {
        ++across;
      }
    }
    if (along != 1 || across != 2) {
      refuse(path, fmt::format("axis {} of its direction matrix is ({}, {}, {}) (only flips and "
                               "permutations of the axes are read) resample it to an axis-aligned "
                               "grid",
                               axis, direction[0], direction[1], direction[2]));
    }
  }
  return result;
}

// Voxels of component type T, axes put along the world's, as float.
template <class T>
std::vector<float> aligned_values(std::vector<std::byte> const& bytes, host_volume const& volume,
                                  std::array<std::int64_t, 3> const& extent, alignment const& how) {
  auto const walk = last_axis_fastest(extent);
  std::array<axis_walk, 3> axes{};
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    axes[how.world[axis]] = {extent[axis], how.sign[axis] * walk[axis].stride};
    offset += how.sign[axis] < 0 ? (extent[axis] - 1) * walk[axis].stride : 0;
  }
  auto const count = std::size_t(volume.extent[0] * volume.extent[1] * volume.extent[2]);
  return reorder<float, T>({reinterpret_cast<T const*>(bytes.data()), count}, offset, axes);
}

std::vector<float> convert(fs::path const& path, itk::ImageIOBase const& io,
                           std::vector<std::byte> const& bytes, host_volume const& volume,
                           std::array<std::int64_t, 3> const& extent, alignment const& how) {
  auto const as = [&]<class T>(T) { return aligned_values<T>(bytes, volume, extent, how); };
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
      refuse(path, "holds voxels of a type that is not a number");
  }
}

detail::image_header checked_header(fs::path const& path, format kind) {
  detail::check_regular(path);
  auto const header = kind == format::metaimage ? detail::read_metaimage_header(path)
                      : kind == format::nrrd    ? detail::read_nrrd_header(path)
                                                : detail::read_nifti_header(path);
  detail::check_length(path, header);
  if (!header.has_spacing) {
    refuse(path, fmt::format("header field '{}' is missing (no spacing is assumed) say it in mm",
                             kind == format::metaimage ? "ElementSpacing" : "spacings"));
  }
  return header;
}

void place(fs::path const& path, itk::ImageIOBase const& io, alignment const& how,
           std::array<std::int64_t, 3> const& extent, host_volume& volume) {
  for (unsigned axis = 0; axis < 3; ++axis) {
    double const spacing = io.GetSpacing(axis);
    detail::check_spacing(path, "spacing", {&spacing, 1});
    auto const world = how.world[axis];
    volume.extent[world] = extent[axis];
    volume.spacing[world] = spacing;
    double const corner = io.GetOrigin(unsigned(world));
    volume.origin[world] =
        how.sign[axis] > 0 ? corner : corner - double(extent[axis] - 1) * spacing;
    detail::check_coordinates(path, "origin", {&volume.origin[world], 1});
  }
}

void check_finite(fs::path const& path, host_volume const& volume) {
  if (auto const at = detail::first_not_finite(volume.values, volume.extent)) {
    refuse(path,
           fmt::format("voxel ({}, {}, {}) is {} (every value must be finite) mend the volume "
                       "first",
                       at->place[0], at->place[1], at->place[2], at->value));
  }
}

// The image library says nothing where the disk is full: what it wrote is looked at again.
void check_image_written(fs::path const& path, fs::path const& written) {
  try {
    checked_header(written, format_of(path));
  } catch (file_error const&) {
    refuse(path,
           "was cut short (it does not hold what was written) is the disk full? The old file "
           "is as it was");
  }
}

template <class T>
atomic_file prepare_image(fs::path const& path, std::vector<T> const& values,
                          std::array<std::int64_t, 3> const& extent,
                          std::array<double, 3> const& spacing,
                          std::array<double, 3> const& origin) {
  auto const end = detail::ending(path);
  if (end == ".mhd" || end == ".nhdr") {
    refuse(path, "would be two files (they cannot be replaced in one step) write .mha or .nrrd");
  }
  auto const io = image_io(format_of(path));
  atomic_file file(path, values.size() * sizeof(T) + 65536);
  guarded(path, "written", [&] {
    io->SetNumberOfDimensions(3);
    itk::ImageIORegion region(3);
    for (unsigned axis = 0; axis < 3; ++axis) {
      std::vector<double> direction(3, 0.0);
      direction[axis] = 1;
      io->SetDimensions(axis, itk::SizeValueType(extent[axis]));
      io->SetSpacing(axis, spacing[axis]);
      io->SetOrigin(axis, origin[axis]);
      io->SetDirection(axis, direction);
      region.SetSize(axis, itk::SizeValueType(extent[axis]));
    }
    io->SetIORegion(region);
    io->SetPixelType(itk::CommonEnums::IOPixel::SCALAR);
    io->SetComponentType(sizeof(T) == 4 ? itk::CommonEnums::IOComponent::FLOAT
                                        : itk::CommonEnums::IOComponent::DOUBLE);
    io->SetNumberOfComponents(1);
    io->SetFileName(file.temporary().string());
    io->Write(values.data());
  });
  check_image_written(path, file.temporary());
  return file;
}

host_volume read_through_library(fs::path const& path, format kind,
                                 std::array<std::int64_t, 3> const& extent) {
  auto const io = image_io(kind);
  io->SetFileName(path.string());
  io->ReadImageInformation();
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (io->GetNumberOfDimensions() < 3 || io->GetNumberOfComponents() != 1 ||
        std::int64_t(io->GetDimensions(axis)) != extent[axis]) {
      refuse(path,
             "its header reads differently at second sight (one number a voxel, three axes "
             "are expected)");
    }
  }
  host_volume volume;
  auto const how = align(path, *io);
  place(path, *io, how, extent, volume);
  std::vector<std::byte> bytes(std::size_t(io->GetImageSizeInBytes()));
  itk::ImageIORegion region(io->GetNumberOfDimensions());
  for (unsigned axis = 0; axis < io->GetNumberOfDimensions(); ++axis) {
    region.SetSize(axis, io->GetDimensions(axis));
  }
  io->SetIORegion(region);
  io->Read(bytes.data());
  volume.values = convert(path, *io, bytes, volume, extent, how);
  return volume;
}

}  // namespace

host_volume read_volume(fs::path const& path, finite_values values) {
  auto const kind = format_of(path);
  auto const header = checked_header(path, kind);
  auto const& n = header.extent;
  // As the file has them, and as float.
  auto const bytes = std::uint64_t(n[0] * n[1] * n[2] * (header.bytes_per_voxel + 4));
  host_volume volume;
  detail::with_memory(path, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]), bytes, [&] {
    guarded(path, "read", [&] { volume = read_through_library(path, kind, n); });
  });
  if (values == finite_values::required) {
    check_finite(path, volume);
  }
  return volume;
}

atomic_file prepare_volume(fs::path const& path, host_volume const& volume) {
  auto const& n = volume.extent;
  auto const file_order =
      reorder<float, float>(volume.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  return prepare_image(path, file_order, n, volume.spacing, volume.origin);
}

template <class T>
atomic_file prepare_projection_image(fs::path const& path, std::vector<T> const& values,
                                     std::array<std::int64_t, 3> const& extent,
                                     std::array<double, 2> const& pitch) {
  auto const [views, nu, nv] = extent;
  auto const image =
      reorder<T, T>(values, 0, {axis_walk{views, nu * nv}, axis_walk{nv, 1}, axis_walk{nu, nv}});
  return prepare_image(path, image, {nu, nv, views}, {pitch[0], pitch[1], 1}, {});
}
template atomic_file prepare_projection_image(fs::path const&, std::vector<float> const&,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&);
template atomic_file prepare_projection_image(fs::path const&, std::vector<double> const&,
                                              std::array<std::int64_t, 3> const&,
                                              std::array<double, 2> const&);

bool is_image_path(fs::path const& path) {
  auto const end = detail::ending(path);
  return end == ".mha" || end == ".mhd" || end == ".nrrd" || end == ".nhdr" || end == ".nii" ||
         end == ".nii.gz";
}

}  // namespace iso::files
