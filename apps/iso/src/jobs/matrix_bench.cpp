// SPDX-License-Identifier: BSD-3-Clause
#include "csr_memory.hpp"
#include "record.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/formats.hpp>
#include <iso/cases/product.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/matrix_product.hpp>
#include <iso/oracle/products.hpp>
#include <iso/sparse/validate.hpp>

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

namespace iso::jobs {

namespace {

/// The columns' order: row blocks want ascending ones, and no stored negative zero, which is
/// their padding.
enum class column_order { ascending, any };

/// Throws unless `a` may be multiplied with; tells whether it may become row blocks.
template <class Exec, class Matrix>
column_order checked_order(Exec const& exec, Matrix const& a, job const& control) {
  sparse::csr_demands demands;
  demands.values = sparse::csr_demands::of_values::finite;
  auto const report = sparse::validate(exec, a, demands, control);
  if (!report.sound()) {
    throw invalid_argument(sparse::to_string(report));
  }
  bool const blocks = report.descending == 0 && report.doubled == 0 && report.negative_zeros == 0;
  return blocks ? column_order::ascending : column_order::any;
}

/// Throws iso::out_of_memory before anything is made: the matrix, of `bytes_per_entry` in all its
/// forms together, and `vectors` of x and y with their copies, those that a product packs, and a
/// result with what it is compared with.
template <class Exec>
void check_products(Exec const& exec, files::host_matrix const& m, matrix_side side,
                    std::int64_t bytes_per_entry, std::int64_t vectors) {
  bool const turned = side == matrix_side::transposed;
  std::int64_t const rows = turned ? m.columns : m.rows;
  std::int64_t const columns = turned ? m.rows : m.columns;
  std::int64_t const offsets = 8 * (turned ? rows + columns : rows) + 16;
  std::int64_t const there =
      bytes_per_entry * m.entries() + offsets + 8 * vectors * (rows + 2 * columns);
  std::int64_t const host = 8 * (columns + rows) + 8 * (vectors + 3) * rows;
  check_free(exec, there, host, "iso matrix: its products");
}

constexpr int max_vectors = 4;

/// From 1 to 2, with all the digits that a double has.
std::vector<double> bench_vector(std::int64_t length) {
  std::vector<double> x;
  for (std::int64_t i = 0; i < length; ++i) {
    double const turned = 0.6180339887498949 * double(i);
    x.push_back(1 + (turned - std::floor(turned)));
  }
  return x;
}

struct bench_state {
  bench_result result;
  std::vector<long double> exact;  ///< the stored values' product; one for all backends
};

/// All variants of one matrix on one backend.
template <class Exec>
class bench {
 public:
  using matrix = sparse::csr_view<double, std::int32_t, typename Exec::memory_space>;

  bench(Exec const& exec, std::string backend, ceilings::rates const& most, bench_request const& r,
        std::function<void()> const& pause, bench_state& state)
      : exec_(exec),
        backend_(std::move(backend)),
        most_(most),
        request_(r),
        pause_(pause),
        asked_{{},
               [this] {
                 pause_();
                 return false;
               }},
        exact_(state.exact),
        result_(state.result) {}

  void run(matrix const& a, column_order order) {
    x_ = bench_vector(a.num_cols);
    if (exact_.empty()) {
      exact_ = oracle::exact_product<long double>(1, host_copy(exec_, a), x_, 0, x_);
    }
    variant<double>(a, matrix_format::csr32, summation::ordered);
    variant<double>(a, matrix_format::csr32, summation::reproducible);
    csr<float>(a);
    auto const narrow = stored_as<half>(a).matrix;
    if (order == column_order::ascending) {
      chosen_ = sparse::choose_format(exec_, narrow, sparse::processor_of<Exec>(), asked_).format;
    }
    csr<half>(a);
    if (order == column_order::any) {
      result_.notes.emplace_back(
          "columns do not ascend in every row, or stand twice, or a zero is stored as -0: no "
          "row blocks");
      return;
    }
    for (auto const& format : block_formats) {
      with_format(exec_, narrow, format, [&](auto const& formatted) { both(formatted, format); });
    }
    with_format(exec_, narrow, *chosen_, [&](auto const& formatted) {
      variant<double>(formatted, *chosen_, summation::ordered, max_vectors);
      variant<double>(formatted, *chosen_, summation::reproducible, max_vectors);
    });
  }

 private:
  /// The matrix in a narrower type; where that cannot hold every value to its full digits, row
  /// by row scaled.
  template <class Value>
  auto stored_as(matrix const& a) {
    auto plain = sparse::convert_values<Value>(exec_, a, sparse::row_scaling::none, asked_);
    if (plain.report.overflowed + plain.report.underflowed + plain.report.lost == 0) {
      return plain;
    }
    plain = {};
    return sparse::convert_values<Value>(exec_, a, sparse::row_scaling::by_largest, asked_);
  }

  template <class Value>
  void csr(matrix const& a) {
    auto const converted = stored_as<Value>(a);
    bool const scaled = converted.matrix.row_scales.extent(0) > 0;
    if (scaled) {
      result_.notes.push_back(message(
          "some values exceed what {} holds, or lose digits in it: it has each row divided by a "
          "power of two{}",
          {to_word(number_type_of<Value>),
           std::string_view(std::is_same_v<Value, float> ? ", and no vectors of float" : "")}));
    }
    if (converted.report.lost > 0) {
      result_.notes.push_back(message("{} values are below what {} holds, and zero in it",
                                      {converted.report.lost, to_word(number_type_of<Value>)}));
    }
    if constexpr (std::is_same_v<Value, float>) {
      if (!scaled) {
        variant<float>(converted.matrix, matrix_format::csr32, summation::ordered);
      }
    }
    both(converted.matrix, matrix_format::csr32);
    try {
      both(sparse::to_relative_columns(exec_, converted.matrix, asked_), matrix_format::csr16);
    } catch (invalid_argument const& wide) {
      result_.notes.emplace_back(wide.what());
    }
  }

  template <class Matrix>
  void both(Matrix const& a, matrix_format format) {
    variant<double>(a, format, summation::ordered);
    variant<double>(a, format, summation::reproducible);
  }

  template <class T, class Matrix>
  void variant(Matrix const& a, matrix_format format, summation sum, int count = 1) {
    measurable<Exec, T> const product(exec_, product_of<T>(exec_, a, x_, sum, count));
    bench_row row;
    row.backend = backend_;
    row.values = number_type_of<typename Matrix::value_type>;
    row.format = format;
    row.sum = sum;
    row.vectors = number_type_of<T>;
    row.count = count;
    row.chosen = sizeof(typename Matrix::value_type) == 2 && format == chosen_ && count == 1;
    row.time_ms = 1e3 * best_of(product);
    auto const work = product.work();
    row.bytes = work.bytes;
    row.flops = work.flops;
    row.bytes_per_entry =
        double(sparse::shape_of(a).bytes) / double(std::max<std::int64_t>(1, a.num_entries()));
    row.share_of_ceiling = 1e3 * min_seconds(work, most_) / row.time_ms;
    auto const all = product.values();
    std::vector<T> y;  // of the first vector
    for (std::size_t i = 0; i < all.size(); i += std::size_t(count)) {
      y.push_back(all[i]);
    }
    row.hash = hash_text(hash_bits<T>(y));
    row.error = oracle::relative_l1(y, exact_);
    result_.rows.push_back(std::move(row));
  }

  template <class Product>
  double best_of(Product const& product) const {
    double best = 1e30;
    double spent = 0;
    for (int run = 0; run < 5 || (spent < request_.seconds && run < 1000); ++run) {
      pause_();
      double const seconds = seconds_of(exec_, product);
      best = std::min(best, seconds);
      spent += seconds;
    }
    return best;
  }

  Exec exec_;
  std::string backend_;
  ceilings::rates most_;
  bench_request const& request_;
  std::function<void()> const& pause_;  ///< throws where a stop is wanted
  job asked_;                           ///< does so too
  std::vector<long double>& exact_;
  bench_result& result_;
  std::optional<matrix_format> chosen_;
  std::vector<double> x_;
};

/// Equal variants on all backends, and reproducible sums of one type of values in all formats: the
/// result is of the first of several vectors, so their number changes no bit either.
bool bits_agree(std::vector<bench_row> const& rows) {
  std::map<std::tuple<number_type, number_type, std::optional<matrix_format>>, std::string> first;
  bool agree = true;
  for (auto const& row : rows) {
    bool const ordered = row.sum == summation::ordered;
    std::tuple const key{row.values, row.vectors,
                         ordered ? std::optional(row.format) : std::nullopt};
    agree = agree && first.try_emplace(key, row.hash).first->second == row.hash;
  }
  return agree;
}

template <class Exec>
void bench_on(Exec const& exec, std::string const& name, files::host_matrix const& matrix,
              bench_request const& request, ceilings::rates const& most,
              std::function<void()> const& pause, bench_state& state) {
  with_values_of(matrix, [&](auto value) {
    job const asked{{}, [&] {
                      pause();
                      return false;
                    }};
    auto const loaded = load_matrix<decltype(value)>(exec, matrix, asked);
    auto const order = checked_order(exec, loaded, asked);
    // Half its own type, double and back is exact.
    auto const wide =
        sparse::convert_values<double>(exec, loaded, sparse::row_scaling::none, asked).matrix;
    bench<Exec> all(exec, name, most, request, pause, state);
    if (request.side == matrix_side::forward) {
      all.run(wide, order);
    } else {
      auto const turned = sparse::transpose(exec, wide, asked);
      all.run(turned, checked_order(exec, turned, asked));
    }
  });
}

}  // namespace

bench_result bench_matrix(files::host_matrix const& matrix, bench_request const& request,
                          observer const& watch) {
  ISO_VALIDATE(!request.backends.empty(),
               "bench: no backend (at least one is needed); choose one by --backend");
  bench_state state;
  auto& result = state.result;
  for (auto const& name : request.backends) {
    backend::with_name(name, [&](auto tag) {
      // As it is stored, in double (twice where it is transposed), in half, in row blocks.
      bool const turned = request.side == matrix_side::transposed;
      check_products(typename decltype(tag)::execution_space(), matrix, request.side,
                     turned ? 48 : 36, max_vectors);
    });
  }
  result.machine = info(request.backends, ceilings_wanted::no, {});
  // Where variants take no time, the ceilings take little.
  auto const ceilings =
      measure_ceilings(result.machine, watch, {.repeats = request.seconds > 0 ? 0 : 3});
  for (std::size_t i = 0; i < request.backends.size(); ++i) {
    auto const& name = request.backends[i];
    auto const pause = [&] {
      watch.step(double(i) / double(request.backends.size()), "products on " + name);
    };
    backend::with_name(name, [&](auto tag) {
      typename decltype(tag)::execution_space const exec;
      bench_on(exec, name, matrix, request, ceilings.at(name), pause, state);
    });
  }
  result.bits_agree = bits_agree(result.rows);
  std::sort(result.notes.begin(), result.notes.end());
  result.notes.erase(std::unique(result.notes.begin(), result.notes.end()), result.notes.end());
  watch.step(1, "done");
  return std::move(state.result);
}

}  // namespace iso::jobs
