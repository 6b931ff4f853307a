// SPDX-License-Identifier: BSD-3-Clause
#include "gzip.hpp"

#include <iso/files/detail/refuse.hpp>

#include <zlib.h>

#include <memory>
#include <vector>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

using gz_file = std::unique_ptr<gzFile_s, decltype(&gzclose)>;

}  // namespace

std::uint64_t inflated_size(fs::path const& path, job const& asked) {
  gz_file file(gzopen(path.c_str(), "rb"), &gzclose);
  std::vector<char> piece(std::size_t(1) << 18);
  std::uint64_t size = 0;
  int got = 0;
  while (file && (got = gzread(file.get(), piece.data(), unsigned(piece.size()))) > 0) {
    size += std::uint64_t(got);
    asked.step(0);
  }
  if (gzclose(file.release()) != Z_OK || got < 0) {
    refuse(path, "is truncated or damaged (it does not inflate); fetch or write it again");
  }
  return size;
}

}  // namespace iso::files::detail
