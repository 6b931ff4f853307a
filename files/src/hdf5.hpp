// SPDX-License-Identifier: BSD-3-Clause
//! Handles HDF5 files with checks: every array that is read lies whole in the file that is named.
#pragma once

#include "memory.hpp"

#include <iso/core/job.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iso::files::detail {

/// An HDF5 identifier that closes itself; throws iso::file_error where there is none.
class hdf5_handle {
 public:
  hdf5_handle(std::filesystem::path const& path, hid_t id, herr_t (*close)(hid_t),
              std::string_view problem)
      : id_(id), close_(close) {
    if (id < 0) {
      refuse(path, problem);
    }
  }
  hdf5_handle(hdf5_handle const&) = delete;
  hdf5_handle& operator=(hdf5_handle const&) = delete;
  ~hdf5_handle() { static_cast<void>(close()); }
  operator hid_t() const { return id_; }
  /// Closes it before its time; false where HDF5 cannot.
  [[nodiscard]] bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

/// Returns true for .h5 and .hdf5, in capitals too.
bool is_hdf5_path(std::filesystem::path const& path);
/// Opens a file for reading, HDF5's own messages off; throws iso::file_error that says whether it
/// is not there, not readable, not HDF5, or damaged.
hdf5_handle open_hdf5(std::filesystem::path const& path);
/// The two ways by which a file comes to its values: with all else, or later (write_rows).
enum class hdf5_content { whole, frame };
/// Prepares a new file that `fill` writes, at least `bytes` of it unless values come later, and a
/// commit puts in place; throws iso::file_error.
[[nodiscard]] atomic_file prepare_hdf5(std::filesystem::path const& path, std::uintmax_t bytes,
                                       std::function<void(hid_t)> const& fill,
                                       hdf5_content content = hdf5_content::whole);

/// Some rows of a dataset's first axis.
struct hdf5_rows {
  hsize_t first = 0;
  hsize_t count = 0;
};
/// Writes rows of a dataset of a file that prepare_hdf5 made, here or in another process, where
/// nobody else has it open, and has them reach the disk; throws iso::file_error.
/// \param path       named in messages
/// \param temporary  atomic_file::temporary()
void write_rows(std::filesystem::path const& path, std::filesystem::path const& temporary,
                char const* name, hdf5_rows const& rows, hid_t memory, void const* values,
                job const& asked);

/// Returns whether the file has something of this name.
bool has_dataset(hid_t file, char const* name);

/// A dataset that is read.
class hdf5_dataset {
 public:
  /// Throws iso::file_error, naming `name`, unless it is a dataset of this file (no link, no
  /// external or virtual storage) with so many axes, whose numbers the file can hold.
  hdf5_dataset(std::filesystem::path const& path, hid_t file, char const* name, int axes);

  [[nodiscard]] std::filesystem::path const& path() const { return path_; }
  [[nodiscard]] char const* name() const { return name_; }
  [[nodiscard]] hid_t id() const { return dataset_; }
  [[nodiscard]] hid_t type() const { return type_; }
  [[nodiscard]] H5T_class_t kind() const { return H5Tget_class(type_); }
  [[nodiscard]] std::vector<hsize_t> const& extent() const { return extent_; }
  /// Counts all its numbers: the product of the extents.
  [[nodiscard]] std::uint64_t size() const;

  template <class T>
  [[nodiscard]] std::vector<T> array() const {
    std::vector<T> values;
    with_memory(path_, fmt::format("dataset /{}", name_), size() * sizeof(T),
                [&] { values.resize(size()); });
    return values;
  }
  /// Reads all numbers, in parts between which `asked` is, which reports nothing.
  template <class T>
  [[nodiscard]] std::vector<T> read(hid_t memory_type, job const& asked = {}) const {
    auto values = array<T>();
    read_to(memory_type, values.data(), asked);
    return values;
  }
  /// Reads all numbers, or some rows of them, to `values`, which has room for them, likewise.
  void read_to(hid_t memory_type, void* values, job const& asked,
               hdf5_rows const* some = nullptr) const;
  /// Returns how many rows of its first axis lie in a piece that is read as one; 1 where there are
  /// no pieces.
  [[nodiscard]] hsize_t rows_of_piece() const;
  /// Reads a text of fixed or variable length, which h5py writes. Where it bears a checksum, throws
  /// iso::file_error unless that is its own.
  [[nodiscard]] std::string read_text() const;

 private:
  void check_storage() const;

  std::filesystem::path const& path_;
  char const* name_;
  hdf5_handle dataset_;
  hdf5_handle type_;
  std::vector<hsize_t> extent_;
};

/// Writes a dataset of `extent` (none: a scalar), in pieces that bear a checksum each, which HDF5
/// checks where they are read. Between parts `asked` is, which reports nothing. Without `values`
/// these come later (write_rows).
void write_dataset(std::filesystem::path const& path, hid_t file, char const* name,
                   std::span<hsize_t const> extent, hid_t stored, hid_t memory, void const* values,
                   job const& asked = {});
/// Writes a text of any length with its checksum, which hdf5_dataset::read_text checks.
void write_text(std::filesystem::path const& path, hid_t file, char const* name,
                std::string const& text);
/// Returns an attribute that is one text; none where it is missing or something else.
std::optional<std::string> read_attribute(std::filesystem::path const& path, hid_t object,
                                          char const* name);
/// Returns an attribute that is one number; none where it is missing. Throws iso::file_error where
/// it is something else.
std::optional<double> read_number(std::filesystem::path const& path, hid_t object,
                                  char const* name);
/// The two ways by which HDF5 stores an attribute's text. Where its heap, which has no checksum, is
/// damaged, HDF5 1.10 crashes on a variable one.
enum class text_length { variable, fixed };
void write_attribute(std::filesystem::path const& path, hid_t object, char const* name,
                     std::string const& text, text_length length = text_length::variable);
/// Returns the type of a text of so many bytes (H5T_VARIABLE: of any length), UTF-8.
hdf5_handle text_type(std::filesystem::path const& path, std::size_t bytes);

}  // namespace iso::files::detail
