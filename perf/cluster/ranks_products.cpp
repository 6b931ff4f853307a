// SPDX-License-Identifier: BSD-3-Clause
// Multiplies by a matrix that lies on the ranks that mpirun starts, in turn with the same products
// in the memory of one: how much faster they are together. Half values in row blocks of four rows,
// vectors of double, reproducible sums; the liver of the published table with so many non-zeros.
// The calls of one run on every rank at the same time, each on its own device; the slowest counts.
//
//   mpirun -n 2 iso_ranks_products --backend cuda --nonzeros 1.5e9
//
// Rows: `product`, A x by rows of A; `transposed`, A^T y by rows of A^T; `by_words`, A^T y by the
// columns of A^T, which are the rank's rows of A, whose sums go to the owners. Rank 0 prints a line
// a row: medians of alternating runs in ms, `speedup`, the first over the second, `sent`, the bytes
// of vectors that all ranks send in one call, and whether every rank's part has the bits of the
// whole.
// `--json FILE` has the same.
#include "ranks_rows.hpp"
#include "support/program.hpp"

#include <iso/cases/product.hpp>
#include <iso/cases/times.hpp>
#include <iso/sparse/convert.hpp>
#include <iso/sparse/ranked_product.hpp>
#include <iso/sparse/row_block_csr.hpp>
#include <iso/synthetic/generate.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

struct settings : ranks_settings {
  double nonzeros = 1e6;
  int vectors = 1;

  settings() { rows = {"product", "transposed", "by_words"}; }
};

struct shift_kernel {
  std::int64_t* offsets;
  std::int64_t by;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { offsets[i] -= by; }
};

struct differs {
  double const* a;
  double const* b;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += Kokkos::bit_cast<std::uint64_t>(a[i]) == Kokkos::bit_cast<std::uint64_t>(b[i]) ? 0 : 1;
  }
};

template <execution_space Exec>
class measurement {
 public:
  using space = typename Exec::memory_space;
  using csr = cases::wide_csr<Exec>;
  using array = cases::device_array<Exec>;
  using several = Kokkos::View<double**, Kokkos::LayoutRight, space, Kokkos::MemoryUnmanaged>;

  measurement(settings const& s, backend::communicator& ranks)
      : settings_(s),
        rows_(exec_, ranks, s.repeats),
        whole_(synthetic::generate<half>(
            exec_, synthetic::table_of(synthetic::plan_case::liver_1, s.nonzeros / 1.48e9))),
        turned_(sparse::transpose(exec_, whole_)),
        plan_(sparse::divide_rows(offsets_of(whole_), ranks.size()),
              sparse::divide_rows(offsets_of(turned_), ranks.size())) {}

  json run() {
    auto const own = plan_.rows(ranks().rank());
    for (std::string const& what : settings_.rows) {
      if (what == "product") {
        auto const part = blocks(rows_of(whole_, own));
        sparse::ranked_product<Exec, std::remove_const_t<decltype(part)>> all(
            exec_, ranks(), plan_, part, settings_.vectors);
        row(what, whole_, plan_, all);
      } else if (what == "transposed") {
        auto const part = blocks(rows_of(turned_, plan_.columns(ranks().rank())));
        sparse::ranked_product<Exec, std::remove_const_t<decltype(part)>> all(
            exec_, ranks(), plan_.transposed(), part, settings_.vectors);
        row(what, turned_, plan_.transposed(), all);
      } else if (what == "by_words") {
        auto const part = blocks(sparse::transpose(exec_, rows_of(whole_, own)));
        sparse::ranked_column_product all(exec_, ranks(), plan_.transposed(), part,
                                          settings_.vectors);
        row(what, turned_, plan_.transposed(), all);
      } else {
        throw std::runtime_error("row '" + what + "' (there is none of that name); choose another");
      }
    }
    json said = rows_.said();
    said["num_rows"] = whole_.num_rows;
    said["num_cols"] = whole_.num_cols;
    said["nonzeros"] = whole_.num_entries();
    return said;
  }

 private:
  std::vector<std::int64_t> offsets_of(csr const& a) const {
    std::vector<std::int64_t> offsets(std::size_t(a.num_rows) + 1);
    Kokkos::deep_copy(exec_,
                      Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
                          offsets.data(), offsets.size()),
                      a.row_offsets);
    exec_.fence("iso_ranks_products: offsets");
    return offsets;
  }

  /// Copies some rows of a matrix.
  csr rows_of(csr const& a, sparse::row_range const& r) const {
    auto const offsets = offsets_of(a);
    std::int64_t const first = offsets[std::size_t(r.first)];
    std::int64_t const last = offsets[std::size_t(r.last)];
    auto part =
        sparse::make_csr<half, std::int32_t>(exec_, "part", r.count(), a.num_cols, last - first);
    auto const some = [](std::int64_t from, std::int64_t to) {
      return std::pair(std::size_t(from), std::size_t(to));
    };
    Kokkos::deep_copy(exec_, part.row_offsets,
                      Kokkos::subview(a.row_offsets, some(r.first, r.last + 1)));
    Kokkos::deep_copy(exec_, part.columns, Kokkos::subview(a.columns, some(first, last)));
    Kokkos::deep_copy(exec_, part.values, Kokkos::subview(a.values, some(first, last)));
    Kokkos::parallel_for("iso_ranks_products: offsets", cases::flat_range(exec_, r.count() + 1),
                         shift_kernel{part.row_offsets.data(), first});
    exec_.fence("iso_ranks_products: part");
    return part;
  }

  auto blocks(csr const& a) const { return sparse::make_row_blocks<4>(exec_, a); }

  several part_of(array const& all, sparse::row_range const& r) const {
    auto const k = std::size_t(settings_.vectors);
    return several(all.data() + std::size_t(r.first) * k, std::size_t(r.count()), k);
  }

  /// Times the products of a matrix in turn with those of `all`, and prints the row.
  template <class All>
  void row(std::string const& what, csr const& matrix, sparse::rank_plan const& plan, All& all) {
    auto const formatted = blocks(matrix);
    cases::library_product<Exec, std::remove_const_t<decltype(formatted)>, double> const one(
        exec_, formatted, settings_.vectors, {.sum = summation::reproducible});
    auto const x = cases::make_weights<double>(exec_, matrix.num_cols, settings_.vectors);
    auto const y = cases::make_array<double>(exec_, matrix.num_rows * settings_.vectors);
    sparse::row_range const own = plan.rows(ranks().rank());
    auto const together = [&] {
      all.apply(part_of(x, plan.columns(ranks().rank())), part_of(y, own));
    };
    rows_.spoil(y);
    rows_.row(
        what, [&] { one(); }, together,
        [&] {
          std::int64_t count = 0;
          Kokkos::parallel_reduce("iso_ranks_products: bits",
                                  cases::flat_range(exec_, own.count() * settings_.vectors),
                                  differs{one.result() + own.first * settings_.vectors,
                                          y.data() + own.first * settings_.vectors},
                                  count);
          exec_.fence("iso_ranks_products: bits");
          return rows_.none(count);
        },
        // By words the sums of rows go, else what is multiplied.
        std::int64_t(sizeof(double)) * settings_.vectors *
            (what == "by_words" ? matrix.num_rows : matrix.num_cols) * (ranks().size() - 1));
  }

  counting_ranks& ranks() { return rows_.ranks(); }

  settings settings_;
  Exec exec_;
  rank_rows<Exec> rows_;
  csr whole_;
  csr turned_;
  sparse::rank_plan plan_;
};

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Products on ranks beside one memory", "iso_ranks_products");
  app.add_option("--nonzeros", s.nonzeros, "of the matrix, about")->capture_default_str();
  app.add_option("--vectors", s.vectors, "at once")->capture_default_str();
  s.add_to(app, "what to time");
  return iso::perf::run_ranks(app, argc, argv, s, [&]<class Exec>(Exec const&, auto& ranks) {
    iso::perf::json said = iso::perf::measurement<Exec>(s, ranks).run();
    said["vectors"] = s.vectors;
    return said;
  });
}
