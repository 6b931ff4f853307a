// SPDX-License-Identifier: BSD-3-Clause
#include "gzip.hpp"

#include <iso/files/detail/refuse.hpp>

#include <zlib.h>

#include <fstream>
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

void compress(fs::path const& path, fs::path const& from, fs::path const& to, job const& asked) {
  std::ifstream in(from, std::ios::binary);
  gz_file out(gzopen(to.c_str(), "wb"), &gzclose);
  std::vector<char> piece(std::size_t(1) << 20);
  bool whole = out != nullptr;
  while (whole && in) {
    in.read(piece.data(), std::streamsize(piece.size()));
    auto const count = unsigned(in.gcount());
    whole = count == 0 || gzwrite(out.get(), piece.data(), count) == int(count);
    asked.step(0);
  }
  if (gzclose(out.release()) != Z_OK || !whole || !in.eof()) {
    refuse(path, "cannot be written (its disk may be full); make room on its disk");
  }
}

}  // namespace iso::files::detail
