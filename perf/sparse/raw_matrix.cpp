// SPDX-License-Identifier: BSD-3-Clause
// Files of raw arrays: no library but the standard one, for machines that have no HDF5.
#include "sparse/raw_matrix.hpp"

#include <iso/core/error.hpp>

#include <array>
#include <cstring>
#include <fstream>

namespace iso::perf {
namespace {

constexpr std::array<char, 8> magic = {'i', 's', 'o', 'c', 's', 'r', '0', '1'};

[[noreturn]] void fail(std::filesystem::path const& path, std::string const& why) {
  throw file_error(path.string() + ": " + why);
}

template <class T>
void read(std::ifstream& in, T* to, std::size_t count, std::filesystem::path const& path) {
  in.read(reinterpret_cast<char*>(to), std::streamsize(count * sizeof(T)));
  if (!in) {
    fail(path, "cut short (it holds fewer bytes than its head says)");
  }
}

template <class T>
void write(std::ofstream& out, T const* from, std::size_t count) {
  out.write(reinterpret_cast<char const*>(from), std::streamsize(count * sizeof(T)));
}

}  // namespace

raw_matrix read_raw_matrix(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    fail(path, "cannot be opened (ISO_BENCH_MATRIX names a file of iso_pack_matrix)");
  }
  std::array<char, 8> head{};
  std::array<std::int64_t, 3> extents{};
  read(in, head.data(), head.size(), path);
  read(in, extents.data(), extents.size(), path);
  auto const [rows, columns, entries] = extents;
  auto const bytes = std::filesystem::file_size(path);
  if (head != magic || rows < 0 || columns < 0 || entries < 0 || rows > std::int64_t(bytes / 8) ||
      entries > std::int64_t(bytes / 8)) {
    fail(path, "not a file of raw arrays (iso_pack_matrix makes one from HDF5)");
  }
  raw_matrix m{rows, columns, {}, {}, {}};
  m.offsets.resize(std::size_t(rows) + 1);
  m.indices.resize(std::size_t(entries));
  m.values.resize(std::size_t(entries));
  read(in, m.offsets.data(), m.offsets.size(), path);
  read(in, m.indices.data(), m.indices.size(), path);
  read(in, m.values.data(), m.values.size(), path);
  return m;
}

void write_raw_matrix(std::filesystem::path const& path, raw_matrix const& m) {
  std::ofstream out(path, std::ios::binary);
  std::array<std::int64_t, 3> const extents = {m.rows, m.columns, std::int64_t(m.values.size())};
  write(out, magic.data(), magic.size());
  write(out, extents.data(), extents.size());
  write(out, m.offsets.data(), m.offsets.size());
  write(out, m.indices.data(), m.indices.size());
  write(out, m.values.data(), m.values.size());
  if (!out.flush()) {
    fail(path, "could not be written");
  }
}

}  // namespace iso::perf
