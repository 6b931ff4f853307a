// SPDX-License-Identifier: BSD-3-Clause
//! Matrices with one byte changed.
#pragma once

#include "file_support.hpp"

#include <iso/files/matrix_file.hpp>

#include <doctest/doctest.h>

namespace iso::test {

/// Reads the matrix at `path`, and prepares to write it again, with each byte from `begin` on
/// changed to each of changes(bytes, place of the byte). How often it was refused, by its name.
template <class Changes>
int damage_bytes(std::filesystem::path const& path, std::size_t begin, Changes const& changes) {
  std::string const whole = get(path);
  int refused = 0;
  for (std::size_t i = begin; i < whole.size(); ++i) {
    for (char const value : changes(whole, i)) {
      auto bytes = whole;
      bytes[i] = value;
      std::filesystem::remove(path);  // some file systems flush what is written over an old file
      put(path, bytes);
      try {
        auto const copy =
            files::prepare_matrix(path.parent_path() / "to.h5", files::read_matrix(path));
      } catch (error const& failure) {
        ++refused;
        CHECK(names(failure.what(), {path.filename().string()}));
      }
    }
  }
  return refused;
}

}  // namespace iso::test
