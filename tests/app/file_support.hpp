// SPDX-License-Identifier: BSD-3-Clause
//! What the tests of the file formats share.
#pragma once

#include <iso/core/error.hpp>

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace iso::test {

/// Copies a file, or those of a folder, of at most 64 kB into the folder that ISO_KEEP_FILES names,
/// under the next number, for the tests of the Python package. Without that variable it does
/// nothing.
inline void keep(std::filesystem::path const& path) {
  namespace fs = std::filesystem;
  static int number = 0;
  char const* const to = std::getenv("ISO_KEEP_FILES");
  if (to == nullptr) {
    return;
  }
  fs::path const folder = fs::path(to) / std::to_string(number++);
  std::error_code unknown;
  auto const copy = [&](fs::path const& from, fs::path const& name) {
    if (fs::is_regular_file(from, unknown) && fs::file_size(from, unknown) <= 65536) {
      fs::create_directories((folder / name).parent_path(), unknown);
      fs::copy_file(from, folder / name, unknown);
    }
  };
  copy(path, path.filename());
  for (fs::recursive_directory_iterator at(path, unknown), end; at != end; at.increment(unknown)) {
    copy(at->path(), path.filename() / fs::relative(at->path(), path, unknown));
  }
}

/// An empty folder of this test's own, removed with it.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "iso-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  scratch_folder(scratch_folder const&) = delete;
  scratch_folder& operator=(scratch_folder const&) = delete;
  ~scratch_folder() {
    keep(path_);
    std::filesystem::remove_all(path_);
  }
  [[nodiscard]] std::filesystem::path operator/(std::string const& name) const {
    return path_ / name;
  }
  [[nodiscard]] std::filesystem::path const& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Entries of the folder.
inline std::size_t files_in(std::filesystem::path const& folder) {
  return std::size_t(std::distance(std::filesystem::directory_iterator(folder), {}));
}

inline void put(std::filesystem::path const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  keep(path);
}

inline std::string get(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
std::string bytes_of(std::vector<T> const& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// The sentence of the file_error that `action` throws; empty where it throws none.
template <class Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (file_error const& failure) {
    return failure.what();
  }
  return "";
}

/// The sentence of the out_of_memory that `action` throws, where it asks for `least` bytes at least
/// and says how many are free; empty otherwise.
template <class Action>
std::string shortage(std::uint64_t least, Action&& action) {
  try {
    action();
  } catch (out_of_memory const& failure) {
    bool const both = failure.requested() >= least && failure.available() > 0 &&
                      failure.available() < failure.requested();
    return both ? failure.what() : "";
  }
  return "";
}

/// `text` names everything in `parts`.
inline bool names(std::string const& text, std::vector<std::string> const& parts) {
  for (auto const& part : parts) {
    if (text.find(part) == std::string::npos) {
      return false;
    }
  }
  return true;
}

}  // namespace iso::test
