// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/atomic_file.hpp
#pragma once

#include <iso/core/job.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// A file that appears whole or not at all: it is written under a temporary name of its own in the
/// same folder (same ending in small letters, for writers that go by it), flushed to the disk,
/// renamed. A run that is killed before leaves what was there untouched, and its temporary file:
/// the next run on the same machine that writes into that folder removes it, since a run that lives
/// holds a lock. A file that is replaced hands on its permission bits. Where the target is a
/// symbolic link, the file that it leads to is replaced. Devices, pipes and descriptors such as
/// /dev/stdout are not replaced: what was written, in the folder for temporary files, is copied
/// into them.
///
/// A folder of files appears in the same way (atomic_file::folder).
class atomic_file {
 public:
  /// Reserves the temporary name; throws iso::file_error where the folder does not allow it, or
  /// where fewer than `bytes` are free: not every format's writer notices a full disk.
  explicit atomic_file(std::filesystem::path target, std::uintmax_t bytes = 0);
  /// Reserves a folder whose files, without folders among them, are written into temporary(). The
  /// target is not there yet, or an empty folder, which hands on its permission bits. An empty
  /// folder that cannot be replaced (a mount, this process' own, one in a folder of somebody else)
  /// gets the files one by one: all of them, or none where one fails, but a kill at that moment
  /// leaves some.
  /// \throws iso::file_error  as the constructor; something else of that name, a folder with files
  static atomic_file folder(std::filesystem::path target, std::uintmax_t bytes = 0);
  /// Throws iso::file_error unless at least `bytes` were written.
  void check_written(std::uintmax_t bytes) const;
  atomic_file(atomic_file&& from) noexcept;
  atomic_file& operator=(atomic_file&&) = delete;
  /// Removes the temporary file or folder unless it was renamed.
  ~atomic_file();

  [[nodiscard]] std::filesystem::path const& temporary() const { return temporary_; }
  /// Flushes and renames onto the target, or copies into it; throws iso::file_error.
  void commit() { commit_all({this, 1}); }
  /// Commits all of `files`, as nearly at once as the system allows: what can run out of room comes
  /// first, then `print`, which may throw, and the renames last. Throws iso::file_error; where that
  /// is before the renames, no file appears.
  static void commit_all(std::span<atomic_file> files, std::function<void()> const& print = {});

 private:
  atomic_file() = default;
  void check_empty() const;
  bool reaches_place();
  void check_space(std::filesystem::path const& folder, std::uintmax_t bytes) const;
  [[nodiscard]] int make_temporary(std::filesystem::path const& folder);
  void flush() const;
  void flush(std::filesystem::path const& path, std::optional<unsigned> mode) const;
  void rename();
  void move_files();
  void unlock();
  void forget_temporary() const;

  std::filesystem::path target_;  ///< as it was named
  std::filesystem::path place_;   ///< where its links lead
  std::filesystem::path temporary_;
  bool replaces_ = false;
  bool is_folder_ = false;
  std::optional<unsigned> mode_;  ///< permission bits of what is replaced
  bool renamed_ = false;
  int lock_ = -1;  ///< a descriptor of the temporary file, with a lock
};

/// Returns the temporary files beside `target` that are an hour old and that no run of this machine
/// can tell to be left: those of other machines.
std::vector<std::filesystem::path> temporaries_of_others(std::filesystem::path const& target);

/// Removes all temporary files and folders of this process, and keeps other threads from making
/// any: for a program that then ends at once, whatever they do. Their commits fail, or wait.
void abandon_temporaries();

/// Prepares `text` as a file that a commit puts in place.
[[nodiscard]] atomic_file prepare_text(std::filesystem::path const& target, std::string_view text);

/// Returns the text of a file of at most `most` bytes. Of a pipe it waits for the writer.
/// \param control  asked ten times a second while a pipe has nothing to read
/// \throws iso::file_error  no such file; a longer one; a pipe that has no writer for a second
/// \throws iso::cancelled   as job::step
std::string read_text(std::filesystem::path const& source, std::size_t most,
                      job const& control = {});

}  // namespace iso::files
