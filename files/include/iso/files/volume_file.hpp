// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/volume_file.hpp
//! Reads and writes volumes as MetaImage (.mha, .mhd), NRRD (.nrrd, .nhdr) and NIfTI (.nii,
//! .nii.gz), and reads those of DICOM: docs/formats.md.
#pragma once

#include <iso/files/atomic_file.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace iso::files {

/// A file in a folder of slices that looks like DICOM and is not read: a slice may be missing.
struct unread_file {
  std::filesystem::path file;  ///< whose name may hold a patient's
  std::string reason;          ///< "empty", "cut short", "damaged or no DICOM", "zip archive", ...
  /// A slice of the series, in a folder within that was not searched.
  bool is_in_subfolder = false;
};

/// Returns how many files have each reason: "2 empty, 1 cut short".
std::string count_reasons(std::vector<unread_file> const& files);

/// A volume on the host, in the library's axis order.
struct host_volume {
  std::array<std::int64_t, 3> extent{};    ///< voxels along x, y, z
  std::array<double, 3> spacing{1, 1, 1};  ///< mm
  std::array<double, 3> origin{};          ///< mm; centre of voxel (0, 0, 0)
  std::vector<float> values;               ///< [nx, ny, nz], z fastest
  std::string unit{};                      ///< of a value: "1/mm", "HU", "Gy"; empty: not known
  std::vector<unread_file> unread{};       ///< of a folder
};

/// What becomes of the folders in a folder of slices.
enum class subfolders {
  left_out,
  searched,  ///< slices in any of them belong to the one series
};

enum class finite_values {
  required,      ///< a NaN or an infinity is refused, and its voxel named
  not_required,  ///< read as it is
};

/// Reads a volume. A folder is a DICOM CT series (read_dicom_series), a file of DICOM
/// (is_dicom_path) an RT Dose (read_rt_dose), whose unit may be another than Gy. Of the others,
/// axis-aligned direction matrices (flips, permutations) are undone exactly: x, y, z of the result
/// run along the world's axes.
///
/// Header and length of the file are compared before any memory is asked for. Beside the values it
/// takes memory for a block of planes, about 32 MiB; for NIfTI and DICOM, for the whole file.
/// The unit is that of the file's field `Unit`, where prepare_volume has put it.
/// \throws iso::file_error     no such file, unknown ending, a header that lies or makes no sense,
///                             a truncated or damaged file, one that is changed while it is read, a
///                             tilted direction matrix, values not finite
/// \throws iso::out_of_memory  more than this machine has
/// \throws iso::cancelled      as job::step; `control` is asked between blocks, and while the
/// length
///                             of a packed NIfTI is found
host_volume read_volume(std::filesystem::path const& path,
                        finite_values values = finite_values::required,
                        subfolders search = subfolders::left_out, job const& control = {});

/// Reads the same, but for DICOM, into memory that is given, such as a mapped_array: one float a
/// voxel, as many as read_volume_grid says. Returns it without values.
/// \param[out] voxels  [nx, ny, nz], z fastest; anything where it throws
/// \throws iso::invalid_argument  another number of floats; else as read_volume
host_volume read_voxels(std::filesystem::path const& path, std::span<float> voxels,
                        finite_values values = finite_values::required, job const& control = {});

/// Reads some planes along z of the same, those from `first_plane` on, and not more of a MetaImage
/// or NRRD that is not compressed and whose voxels lie plane by plane along z. What is compressed,
/// or lies along z in another order, is read to its end, a block at a time; NIfTI, DICOM and what
/// lies in several files as a whole. Returns the bytes of voxels that it read in the file.
/// \param[out] voxels  [nx, ny, planes], z fastest; anything where it throws
/// \throws iso::invalid_argument  no whole planes, or some that the volume has not; else as
///                                read_volume: a voxel that is not finite is named if it is of
///                                these
std::int64_t read_planes(std::filesystem::path const& path, std::int64_t first_plane,
                         std::span<float> voxels, finite_values values = finite_values::required,
                         job const& control = {});

/// Reads the same without values: extent, spacing, origin and unit.
/// \throws iso::file_error  as read_volume, as far as the header and the length of the file tell
host_volume read_volume_grid(std::filesystem::path const& path,
                             subfolders search = subfolders::left_out);

/// Prepares a volume's file for a commit; the ending of `path` (.mha, .nrrd, .nii, .nii.gz)
/// chooses the format. A unit becomes the field `Unit` of a MetaImage or NRRD; NIfTI has none.
/// Takes memory for a block of planes, about 32 MiB.
/// \param control  asked between blocks, and several times a second while numbers are compressed
/// \throws iso::file_error
/// \throws iso::cancelled  as job::step; nothing is left
[[nodiscard]] atomic_file prepare_volume(std::filesystem::path const& path,
                                         host_volume const& volume, job const& control = {});

/// Does the same for voxels in memory of the caller.
/// \param[in] grid    whose values are not looked at
/// \param[in] voxels  [nx, ny, nz], z fastest
/// \throws iso::invalid_argument  another number of voxels than the grid's; else as prepare_volume
[[nodiscard]] atomic_file prepare_voxels(std::filesystem::path const& path, host_volume const& grid,
                                         std::span<float const> voxels, job const& control = {});

/// A volume's file under its temporary name, at its full size and without its voxels, which several
/// processes put in plane by plane (write_planes). Who made it commits it.
struct volume_frame {
  atomic_file file;
  std::int64_t offset = 0;  ///< bytes before the first voxel
};

/// Returns true where volumes of this ending are written plane by plane: .mha, .nrrd and .nii.
bool takes_planes(std::filesystem::path const& path);

/// Makes the file of a volume whose values are not looked at, as prepare_volume.
/// \throws iso::invalid_argument  an ending that takes_planes() refuses, an extent below 1
/// \throws iso::file_error
[[nodiscard]] volume_frame prepare_frame(std::filesystem::path const& path,
                                         host_volume const& grid);

/// Writes some planes along z, those from `first_plane` on, into a file that prepare_frame made,
/// here or in another process, and has them reach the disk.
/// \param path       of the volume, for messages
/// \param temporary  volume_frame::file.temporary()
/// \param voxels     [nx, ny, planes], z fastest
/// \throws iso::invalid_argument  no whole planes, or some that the grid has not
/// \throws iso::file_error        the file is not there, or the disk does not take them
/// \throws iso::cancelled         as job::step; the file is then of no use
void write_planes(std::filesystem::path const& path, std::filesystem::path const& temporary,
                  std::int64_t offset, host_volume const& grid, std::int64_t first_plane,
                  std::span<float const> voxels, job const& control = {});

/// Prepares projections [views, u, v], v fastest, as an image with u along x, v along y and the
/// views along z
/// (.mha, .nrrd), in their own precision and with the unit "1", which a commit puts in place.
/// \param[in] pitch    distance of pixel centres along u and v, mm
/// \param     control  asked between blocks
/// \throws iso::invalid_argument  another number of values than the extent's
/// \throws iso::file_error
/// \throws iso::cancelled  as job::step; nothing is left
template <class T>
[[nodiscard]] atomic_file prepare_projection_image(std::filesystem::path const& path,
                                                   std::span<T const> values,
                                                   std::array<std::int64_t, 3> const& extent,
                                                   std::array<double, 2> const& pitch,
                                                   job const& control = {});
template <class T>
[[nodiscard]] atomic_file prepare_projection_image(std::filesystem::path const& path,
                                                   std::vector<T> const& values,
                                                   std::array<std::int64_t, 3> const& extent,
                                                   std::array<double, 2> const& pitch,
                                                   job const& control = {}) {
  return prepare_projection_image<T>(path, std::span<T const>(values), extent, pitch, control);
}

/// Makes the file of projections as prepare_projection_image does, at its full size and without
/// their values, which several processes put in view by view (write_projection_views).
/// \throws iso::invalid_argument  an extent below 1
/// \throws iso::file_error
template <class T>
[[nodiscard]] volume_frame prepare_projection_frame(std::filesystem::path const& path,
                                                    std::array<std::int64_t, 3> const& extent,
                                                    std::array<double, 2> const& pitch);

/// Writes some views, those from `first_view` on, into a file that prepare_projection_frame made,
/// here or in another process, and has them reach the disk.
/// \param extent    of all: views, u, v
/// \param readings  [views, u, v], v fastest
/// \throws iso::invalid_argument  no whole views, or some that there are not; else as write_planes
template <class T>
void write_projection_views(std::filesystem::path const& path,
                            std::filesystem::path const& temporary, std::int64_t offset,
                            std::array<std::int64_t, 3> const& extent, std::int64_t first_view,
                            std::span<T const> readings, job const& control = {});

/// Returns true where the ending is one that read_volume and prepare_volume know.
bool is_image_path(std::filesystem::path const& path);

}  // namespace iso::files
