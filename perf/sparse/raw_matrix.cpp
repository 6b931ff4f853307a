// SPDX-License-Identifier: BSD-3-Clause
// Files of raw arrays: no library but the standard one, for machines that have no HDF5.
#include "sparse/raw_matrix.hpp"

#include <iso/core/error.hpp>

#include <array>
#include <fstream>

namespace iso::perf {
namespace {

constexpr std::array<char, 8> magic = {'i', 's', 'o', 'c', 's', 'r', '0', '1'};

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& why) {
  throw file_error(path.string() + ": " + why);
}

template <class Values>
void read(std::ifstream& in, Values& to, std::filesystem::path const& path) {
  in.read(reinterpret_cast<char*>(to.data()), std::streamsize(to.size() * sizeof(to[0])));
  if (!in) {
    fail(path, "cut short (it holds fewer bytes than its head says)");
  }
}

template <class Values>
void write(std::ofstream& out, Values const& from) {
  out.write(reinterpret_cast<char const*>(from.data()),
            std::streamsize(from.size() * sizeof(from[0])));
}

}  // namespace

raw_matrix read_raw_matrix(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    fail(path, "cannot be opened (ISO_BENCH_MATRIX names a file of iso_pack_matrix)");
  }
  std::array<char, 8> head{};
  std::array<std::int64_t, 3> extents{};
  read(in, head, path);
  read(in, extents, path);
  auto const [rows, columns, entries] = extents;
  auto const bytes = std::filesystem::file_size(path);
  if (head != magic || rows < 0 || columns < 0 || entries < 0 || rows > std::int64_t(bytes / 8) ||
      entries > std::int64_t(bytes / 8)) {
    fail(path, "not a file of raw arrays (iso_pack_matrix makes one from HDF5)");
  }
  raw_matrix m{rows, columns, std::vector<std::int64_t>(std::size_t(rows) + 1),
               std::vector<std::int32_t>(std::size_t(entries)),
               std::vector<float>(std::size_t(entries))};
  read(in, m.offsets, path);
  read(in, m.indices, path);
  read(in, m.values, path);
  return m;
}

void write_raw_matrix(std::filesystem::path const& path, raw_matrix const& m) {
  std::ofstream out(path, std::ios::binary);
  std::array<std::int64_t, 3> const extents = {m.rows, m.columns, std::int64_t(m.values.size())};
  write(out, magic);
  write(out, extents);
  write(out, m.offsets);
  write(out, m.indices);
  write(out, m.values);
  if (!out.flush()) {
    fail(path, "could not be written");
  }
}

}  // namespace iso::perf
