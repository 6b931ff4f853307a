// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/mapped_array.hpp
//! Arrays that lie in files, for those that memory does not hold: docs/algorithms/streaming.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

namespace iso::files {

/// What becomes of the file of a mapped array.
enum class mapped_file {
  removed,  ///< it has no name, and goes with the array, or with the process
  kept,     ///< it stays, with the array's numbers in this machine's order of bytes
};

namespace detail {

/// Bytes of a new file, which is as long and full of zeros, mapped into memory.
class mapped_bytes {
 public:
  /// \throws iso::file_error
  mapped_bytes(std::filesystem::path const& place, std::uint64_t bytes, mapped_file file);
  mapped_bytes(mapped_bytes&& from) noexcept
      : begin_(std::exchange(from.begin_, nullptr)), bytes_(std::exchange(from.bytes_, 0)) {}
  mapped_bytes& operator=(mapped_bytes&&) = delete;
  ~mapped_bytes() { unmap(begin_, bytes_); }

  [[nodiscard]] void* begin() const { return begin_; }

  /// Returns so many bytes of a file, or null and why in `reason`. Both take no memory.
  static void* map(char const* place, std::uint64_t bytes, mapped_file file, int& reason) noexcept;
  static void unmap(void* begin, std::uint64_t bytes) noexcept;

 private:
  void* begin_;
  std::uint64_t bytes_;
};

}  // namespace detail

/// An array of `count` numbers in a file, 0 at first. The system holds in memory what is used, as
/// far as there is room, and the disk the rest: the array may be larger than the memory. Its place
/// on the disk is taken when it is made. `iso::wrap_volume<space::host>(array.data(), grid)` is a
/// view of it (iso/core/wrap.hpp); the array must live longer.
template <class T>
  requires std::is_trivially_copyable_v<T>
class mapped_array {
 public:
  /// \param place  a folder, where the file is removed; the file's name, where it is kept
  /// \throws iso::file_error  no such folder, not writable, or a file of that name; a disk that
  ///                          does not hold the array; a file system without mapped files
  mapped_array(std::filesystem::path const& place, std::int64_t count,
               mapped_file file = mapped_file::removed)
      : bytes_(place, bytes_of(count), file), count_(count) {}

  [[nodiscard]] T* data() { return static_cast<T*>(bytes_.begin()); }
  [[nodiscard]] T const* data() const { return static_cast<T const*>(bytes_.begin()); }
  [[nodiscard]] std::int64_t size() const { return count_; }
  [[nodiscard]] std::span<T> values() { return {data(), std::size_t(count_)}; }
  [[nodiscard]] std::span<T const> values() const { return {data(), std::size_t(count_)}; }

 private:
  static std::uint64_t bytes_of(std::int64_t count) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    return count >= 0 && std::uint64_t(count) <= most / sizeof(T) ? std::uint64_t(count) * sizeof(T)
                                                                  : most;  // which no disk holds
  }

  detail::mapped_bytes bytes_;
  std::int64_t count_;
};

}  // namespace iso::files
