// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/detail/check_speeds.hpp>
#include <iso/sparse/rank_plan.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace iso::sparse {
namespace {

/// Rows of the largest row block: cut between them, blocks stay what they are.
constexpr std::int64_t block = 8;

/// Divides rows by the work before each, which ascends: work(num_rows) is all of it.
template <class Work>
std::vector<row_range> divide(std::int64_t num_rows, int ranks, std::vector<double> const& speeds,
                              Work const& work) {
  char const* const function = "iso::sparse::divide_rows";
  ISO_VALIDATE(num_rows >= 0, "{}: {} rows (must not be negative); give their number", function,
               num_rows);
  double const all = iso::detail::sum_of_speeds(speeds, ranks, "ranks", function);
  std::int64_t const blocks = (num_rows + block - 1) / block;
  auto const begin = [&](std::int64_t b) { return std::min(block * b, num_rows); };
  std::vector<row_range> ranges;
  double before = 0;
  std::int64_t first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    before += speeds.empty() ? 1 : speeds[std::size_t(rank)];
    double const wanted = double(work(num_rows)) * (before / (speeds.empty() ? ranks : all));
    // The first block before which there is so much, or the one before it where that is nearer.
    std::int64_t low = 0;
    std::int64_t high = blocks;
    while (low < high) {
      std::int64_t const middle = (low + high) / 2;
      (double(work(begin(middle))) < wanted ? low : high) =
          double(work(begin(middle))) < wanted ? middle + 1 : middle;
    }
    bool const nearer =
        low > 0 && wanted - double(work(begin(low - 1))) < double(work(begin(low))) - wanted;
    std::int64_t const last =
        rank + 1 == ranks ? num_rows : std::max(first, begin(low - (nearer ? 1 : 0)));
    ranges.push_back({first, last});
    first = last;
  }
  return ranges;
}

void validate_ranges(std::vector<row_range> const& ranges, char const* of) {
  std::int64_t next = 0;
  for (std::size_t n = 0; n < ranges.size(); ++n) {
    row_range const& r = ranges[n];
    ISO_VALIDATE(r.first == next && r.last >= r.first,
                 "iso::sparse::rank_plan: {} {} to {} of rank {} (they must begin at {}, where "
                 "those of the rank before end); take the ranges from iso::sparse::divide_rows",
                 std::string_view(of), r.first, r.last, n, next);
    next = r.last;
  }
}

}  // namespace

std::vector<row_range> divide_rows(std::span<std::int64_t const> row_offsets, int ranks,
                                   std::vector<double> const& speeds) {
  char const* const function = "iso::sparse::divide_rows";
  ISO_VALIDATE(!row_offsets.empty(),
               "{}: no row offsets (there is one more than rows); give those of the whole matrix",
               function);
  auto const fall = std::is_sorted_until(row_offsets.begin(), row_offsets.end());
  ISO_VALIDATE(fall == row_offsets.end(),
               "{}: row offset {} below the one before (rows have no negative lengths); check the "
               "matrix by iso::sparse::validate",
               function, fall - row_offsets.begin());
  return divide(std::int64_t(row_offsets.size()) - 1, ranks, speeds, [&](std::int64_t row) {
    return row_offsets[std::size_t(row)] - row_offsets[0] + row;
  });
}

std::vector<row_range> divide_rows(std::int64_t num_rows, int ranks,
                                   std::vector<double> const& speeds) {
  return divide(num_rows, ranks, speeds, [](std::int64_t row) { return row; });
}

rank_plan::rank_plan(std::vector<row_range> rows, std::vector<row_range> columns)
    : rows_(std::move(rows)), columns_(std::move(columns)) {
  ISO_VALIDATE(!rows_.empty() && rows_.size() == columns_.size(),
               "iso::sparse::rank_plan: rows of {} ranks and columns of {} (each rank has both, "
               "though they may be none); divide both among as many",
               rows_.size(), columns_.size());
  validate_ranges(rows_, "rows");
  validate_ranges(columns_, "columns");
}

row_range const& rank_plan::rows(int rank) const {
  ISO_VALIDATE(
      rank >= 0 && rank < size(),
      "iso::sparse::rank_plan: rank {} (the plan is for {}, counted from 0); name one of them",
      rank, size());
  return rows_[std::size_t(rank)];
}

row_range const& rank_plan::columns(int rank) const {
  static_cast<void>(rows(rank));
  return columns_[std::size_t(rank)];
}

int rank_plan::idle() const {
  int count = 0;
  for (int rank = 0; rank < size(); ++rank) {
    count += rows(rank).count() == 0 && columns(rank).count() == 0 ? 1 : 0;
  }
  return count;
}

}  // namespace iso::sparse
