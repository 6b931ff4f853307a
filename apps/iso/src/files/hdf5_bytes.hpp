// SPDX-License-Identifier: BSD-3-Clause
//! The bytes of an HDF5 file, read without HDF5.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace iso::files::detail {

/// Numbers of a piece of a file, low bytes first; reading past its end makes it bad, and gives 0.
class piece {
 public:
  explicit piece(std::string bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t number(std::size_t bytes) {
    std::uint64_t result = 0;
    auto const taken = text(bytes);
    for (std::size_t i = taken.size(); i-- > 0;) {
      result = result << 8 | static_cast<unsigned char>(taken[i]);
    }
    return result;
  }
  std::string_view text(std::size_t bytes) {
    if (bytes > left()) {
      good_ = false;
      at_ = bytes_.size();
      return {};
    }
    at_ += bytes;
    return std::string_view(bytes_).substr(at_ - bytes, bytes);
  }
  /// Up to the next zero, which is passed over.
  std::string_view word() {
    auto const found = text(std::string_view(bytes_).substr(at_).find('\0'));
    text(1);
    return found;
  }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::string bytes_;
  std::size_t at_ = 0;
  bool good_ = true;
};

/// A file whose addresses count from `base`.
class raw_file {
 public:
  raw_file(std::filesystem::path const& path, std::uint64_t base)
      : in_(path, std::ios::binary), base_(base) {
    std::error_code unknown;
    auto const size = std::filesystem::file_size(path, unknown);
    size_ = unknown || size < base ? 0 : size - base;
  }
  /// Bytes at an address; none where the file does not hold them all.
  piece at(std::uint64_t address, std::uint64_t count) {
    if (address > size_ || count > size_ - address || count > most_bytes) {
      return piece({});
    }
    std::string bytes(count, '\0');
    in_.clear();
    in_.seekg(std::streamoff(base_ + address));
    in_.read(bytes.data(), std::streamsize(count));
    return piece(in_ ? std::move(bytes) : std::string());
  }

 private:
  static constexpr std::uint64_t most_bytes = std::uint64_t(1) << 28;

  std::ifstream in_;
  std::uint64_t base_;
  std::uint64_t size_ = 0;
};

}  // namespace iso::files::detail
