// SPDX-License-Identifier: BSD-3-Clause
// Memory that runs out while a matrix is made: iso::out_of_memory with both figures, nothing lost,
// and the next call works.
#include "sparse_support.hpp"

#include <iso/sparse/convert.hpp>
#include <iso/synthetic/generate.hpp>

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

namespace {

using exec_space = Kokkos::Serial;
namespace sparse = iso::sparse;
namespace synthetic = iso::synthetic;

/// While it lives this process gets `bytes` more address space than it has.
class room {
 public:
  explicit room(std::int64_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    std::int64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    rlimit now = before_;
    now.rlim_cur = rlim_t(pages * ::sysconf(_SC_PAGESIZE) + bytes);
    ::setrlimit(RLIMIT_AS, &now);
  }
  room(room const&) = delete;
  room& operator=(room const&) = delete;
  ~room() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

/// Bytes that `f` was refused; 0 where it was not.
template <class F>
std::uint64_t refused(std::int64_t bytes_left, F const& f) {
  room const limit(bytes_left);
  try {
    f();
  } catch (iso::out_of_memory const& e) {
    CHECK(std::string(e.what()).find(std::to_string(e.requested()) + " bytes do not fit Host (") !=
          std::string::npos);
    return e.requested();
  }
  return 0;
}

}  // namespace

TEST_CASE("making, transposing, converting a matrix and its row blocks say what did not fit") {
  exec_space const exec;
  // Rows of one length, each the columns from 0 on; arrays larger than what an allocator keeps.
  std::int64_t const rows = 1 << 14;
  std::int64_t const length = 1 << 10;
  std::int64_t const entries = rows * length;
  auto const a = sparse::make_csr<iso::half, std::int32_t>(exec, "a", rows, length, entries);
  for (std::int64_t r = 0; r <= rows; ++r) {
    a.row_offsets(r) = r * length;
  }
  for (std::int64_t i = 0; i < entries; ++i) {
    a.columns(i) = std::int32_t(i % length);
    a.values(i) = iso::half(1.0F);
  }
  std::int64_t const some = 1 << 24;  // less than the smallest array of entries
  auto const most = std::uint64_t(entries);
  CHECK(refused(some, [&] {
          sparse::make_csr<double, std::int32_t>(exec, "b", rows, length, entries);
        }) >= 4 * most);
  CHECK(refused(some, [&] { sparse::transpose(exec, a); }) >= 2 * most);
  CHECK(refused(some, [&] { sparse::convert_values<double>(exec, a); }) >= 4 * most);
  CHECK(refused(some, [&] { sparse::make_row_blocks<4>(exec, a); }) >= most);
  auto figures = synthetic::table_of(synthetic::plan_case::prostate_1, 0.2);
  CHECK(refused(some, [&] { synthetic::generate<iso::half>(exec, figures); }) > 0);
  // More bytes than a number holds.
  auto const huge = std::int64_t(1) << 62;
  CHECK(refused(some, [&] { sparse::make_csr<double, std::int32_t>(exec, "c", 1, 1, huge); }) >=
        std::uint64_t(huge));
  CHECK(sparse::transpose(exec, a).num_entries() == entries);
}
