// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/dose_matrix_file.hpp>

#include "matrix_support.hpp"

#include <iso/backend/registry.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace files = iso::files;
namespace sparse = iso::sparse;

namespace {

/// `count` numbers on `exec`, all `value`.
template <class Exec>
auto filled(Exec const& exec, std::int64_t count, double value) {
  Kokkos::View<double*, typename Exec::memory_space> const x("x", std::size_t(count));
  Kokkos::deep_copy(exec, x, value);
  return x;
}

template <class View>
std::vector<double> fetched(View const& view) {
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  return {host.data(), host.data() + host.extent(0)};
}

}  // namespace

TEST_CASE("a file is multiplied by in the type that it has") {
  iso::test::scratch_folder const folder;
  std::vector<double> const wide = {1, 2, -0.5};
  auto const put = [&](std::string const& name, files::host_matrix const& m) {
    files::prepare_matrix(folder / name, m).commit();
    return folder / name;
  };
  std::vector<std::pair<std::filesystem::path, std::string>> const written = {
      {put("half.h5", iso::test::small_half()), "half"},
      {put("float.h5", iso::test::small_matrix(std::vector<float>{1, 2, -0.5F})), "float"},
      {put("double.hdf5", iso::test::small_matrix(wide)), "double"},
      {put("text.mtx", iso::test::small_matrix(wide)), "double"}};
  iso::backend::for_each([&](auto tag) {
    using exec_space = typename decltype(tag)::execution_space;
    exec_space const exec;
    for (auto const& [path, type] : written) {
      CAPTURE(path.string());
      auto const matrix = files::read_dose_matrix(exec, path);
      auto const dose = filled(exec, matrix.num_rows(), 0);
      matrix.apply(exec, filled(exec, matrix.num_cols(), 1), dose);
      auto const gradient = filled(exec, matrix.num_cols(), 0);
      matrix.apply_transposed(exec, dose, gradient);
      exec.fence();
      CHECK(matrix.report().values == type);
      CHECK(fetched(dose) == std::vector<double>{3, 0, -0.5});
      CHECK(fetched(gradient) == std::vector<double>{3, 0.25, 6});
    }
  });
}

TEST_CASE("what a file's matrix is made for can be chosen") {
  iso::test::scratch_folder const folder;
  auto const path = folder / "double.h5";
  files::prepare_matrix(path, iso::test::small_matrix(std::vector<double>{1, 2, -0.5})).commit();
  using options = sparse::dose_matrix_options;
  Kokkos::DefaultExecutionSpace const exec;
  auto const matrix = files::read_dose_matrix(
      exec, path,
      {.products = options::directions::transposed, .values = options::value_storage::half});
  CHECK(matrix.report(options::directions::transposed).values == "half");
  CHECK_THROWS_AS(matrix.apply(exec, filled(exec, 3, 1), filled(exec, 3, 0)),
                  iso::invalid_argument);
  CHECK_THROWS_AS(
      files::read_dose_matrix(exec, path, {.format = sparse::matrix_format::row_block8}),
      iso::invalid_argument);
}

TEST_CASE("a file that is no matrix is refused as read_matrix refuses it") {
  iso::test::scratch_folder const folder;
  Kokkos::Serial const exec;
  iso::test::put(folder / "text.h5", "no matrix");
  for (auto const* const name : {"none.h5", "text.h5", "text.txt"}) {
    auto const of = [&](auto const& read) { return iso::test::refusal(read); };
    auto const said = of([&] { files::read_dose_matrix(exec, folder / name); });
    CHECK(said != "");
    CHECK(said == of([&] { files::read_matrix(folder / name); }));
  }
}
