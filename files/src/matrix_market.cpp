// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "memory.hpp"
#include "regular.hpp"

#include <iso/core/detail/seldom_asked.hpp>
#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <optional>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// Of the format's lines the longest are comments, of 1024 characters.
constexpr std::size_t longest_line = 4096;

/// What a message quotes of a text.
std::string shown(std::string_view text) { return shortened(text, 83); }

/// Without leading and trailing blanks.
std::string_view trimmed(std::string_view text) {
  auto const blank = " \t\r\n";
  auto const first = text.find_first_not_of(blank);
  return first == std::string_view::npos
             ? std::string_view{}
             : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

enum class field { real, integer, pattern };
enum class symmetry { general, symmetric };

struct entry {
  std::int32_t row;
  std::int32_t column;
  double value;
};

/// Lines of a file, with their number; blanks at both ends taken off.
class line_reader {
 public:
  explicit line_reader(fs::path const& path) : path_(path) {
    detail::check_regular(path);
    in_.open(path, std::ios::binary);
    if (!in_) {
      refuse(path,
             "cannot be opened (it went, or is not readable); check its name and permissions");
    }
  }
  /// False at the file's end.
  bool next() {
    in_.getline(buffer_.data(), std::streamsize(buffer_.size()));
    auto const taken = std::size_t(in_.gcount());
    if (!in_ && taken == 0) {
      return false;
    }
    ++number_;
    if (!in_) {
      refuse_line(
          fmt::format("is longer than {} characters (no line of this format is; damaged, or not a "
                      "text); fetch or write it again",
                      longest_line));
    }
    line_ = std::string_view(buffer_.data(), in_.eof() ? taken : taken - 1);
    return true;
  }
  /// The next line that is neither empty nor a comment.
  bool next_data() {
    while (next()) {
      if (!text().empty() && text().front() != '%') {
        return true;
      }
    }
    return false;
  }
  [[nodiscard]] std::string_view text() const { return trimmed(line_); }
  [[noreturn]] void refuse_line(std::string const& sentence) const {
    refuse(path_, fmt::format("line {}: {}", number_, sentence));
  }
  [[nodiscard]] fs::path const& path() const { return path_; }
  [[nodiscard]] std::int64_t bytes_left() {
    auto const at = std::int64_t(in_.tellg());  // -1 at the file's end
    return at < 0 ? 0 : std::int64_t(fs::file_size(path_)) - at;
  }

 private:
  fs::path path_;
  std::ifstream in_;
  std::array<char, longest_line + 1> buffer_{};
  std::string_view line_;
  std::int64_t number_ = 0;
};

std::string_view take_word(std::string_view& rest) {
  rest = trimmed(rest);
  auto const word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return word;
}

template <class T>
std::optional<T> parsed(std::string_view word) {
  if (word.starts_with('+') && !word.starts_with("+-")) {
    word.remove_prefix(1);
  }
  T number{};
  auto const [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (failure != std::errc{} || end != word.data() + word.size() || word.empty()) {
    return std::nullopt;
  }
  return number;
}

struct banner {
  field values = field::real;
  symmetry shape = symmetry::general;
};

banner read_banner(line_reader& lines) {
  if (!lines.next()) {
    refuse(lines.path(), "is empty (a Matrix Market file is expected); fetch or write it again");
  }
  auto rest = lines.text();
  std::string words[5];
  for (auto& word : words) {
    word = lower_case(take_word(rest));
  }
  if (words[0] != "%%matrixmarket" || words[1] != "matrix" || !trimmed(rest).empty()) {
    lines.refuse_line(
        "is not '%%MatrixMarket matrix ...' (another format, or damaged); name a Matrix Market "
        "file");
  }
  if (words[2] != "coordinate") {
    lines.refuse_line(fmt::format(
        "format '{}' (coordinate is read, dense arrays are not); write it as coordinate",
        shown(words[2])));
  }
  banner found;
  if (words[3] == "integer") {
    found.values = field::integer;
  } else if (words[3] == "pattern") {
    found.values = field::pattern;
  } else if (words[3] != "real") {
    lines.refuse_line(
        fmt::format("values '{}' (real, integer and pattern are read); write them as one of these",
                    shown(words[3])));
  }
  if (words[4] == "symmetric") {
    found.shape = symmetry::symmetric;
  } else if (words[4] != "general") {
    lines.refuse_line(fmt::format(
        "symmetry '{}' (general and symmetric are read); write it as general", shown(words[4])));
  }
  return found;
}

// Every row costs memory, empty ones too, of which a line of sizes can claim any number.
std::int64_t max_rows(std::int64_t entries) {
  return std::max(std::int64_t(1) << 24, 64 * std::min(entries, most));
}

std::string rows_sentence(std::int64_t rows, std::int64_t entries) {
  return fmt::format(
      "{} rows for {} entries (Matrix Market is read and written up to 2^24 rows, or 64 an entry); "
      "use HDF5 instead",
      rows, entries);
}

struct size_line {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t entries = 0;
};

size_line read_size(line_reader& lines, banner const& head) {
  if (!lines.next_data()) {
    refuse(lines.path(), "ends before the line of sizes (truncated); fetch or write it again");
  }
  auto rest = lines.text();
  auto const rows = parsed<std::int64_t>(take_word(rest));
  auto const columns = parsed<std::int64_t>(take_word(rest));
  auto const entries = parsed<std::int64_t>(take_word(rest));
  if (!rows || !columns || !entries || !trimmed(rest).empty()) {
    lines.refuse_line(fmt::format(
        "'{}' is not 'rows columns entries' (three whole numbers are expected); write these three",
        shown(lines.text())));
  }
  if (*rows < 0 || *columns < 0 || *rows > most || *columns > most || *entries < 0) {
    lines.refuse_line(
        fmt::format("a matrix of {} x {} with {} entries (rows and columns must be from 0 to {}, "
                    "entries not negative); check this line",
                    *rows, *columns, *entries, most));
  }
  // The shortest entry is "1 1" or "1 1 0" and its end of line.
  auto const bytes = lines.bytes_left();
  if (*entries > (bytes + 1) / (head.values == field::pattern ? 4 : 6)) {
    lines.refuse_line(
        fmt::format("{} entries are claimed (the {} bytes that follow cannot hold them: truncated, "
                    "or the claim is wrong); fetch or write it again",
                    *entries, bytes));
  }
  if (*rows > max_rows(*entries)) {
    lines.refuse_line(rows_sentence(*rows, *entries));
  }
  if (head.shape == symmetry::symmetric && *rows != *columns) {
    lines.refuse_line(fmt::format(
        "a symmetric matrix of {} x {} (must be square); write it as general", *rows, *columns));
  }
  return {*rows, *columns, *entries};
}

std::int64_t parse_index(line_reader const& lines, std::string_view word, char const* what,
                         std::int64_t count) {
  auto const index = parsed<std::int64_t>(word);
  if (!index) {
    lines.refuse_line(fmt::format(
        "'{}' is not the number of a {} (a whole number is expected); write it without a point",
        shown(word), what));
  }
  if (*index < 1 || *index > count) {
    lines.refuse_line(
        fmt::format("{} {} (the file has {}, counted from 1); count from 1, or give a larger size",
                    what, *index, count));
  }
  return *index - 1;
}

// A number, all of it, whose size no double has.
bool out_of_range(std::string_view word) {
  word.remove_prefix(word.starts_with('+') ? 1 : 0);
  double ignored = 0;
  auto const [end, failure] = std::from_chars(word.data(), word.data() + word.size(), ignored);
  return failure == std::errc::result_out_of_range && end == word.data() + word.size();
}

double parse_value(line_reader const& lines, std::string_view word, field kind) {
  if (kind == field::integer) {
    auto const value = parsed<std::int64_t>(word);
    if (!value) {
      lines.refuse_line(fmt::format(
          "'{}' is not a whole number (the file says that its values are); write values as real",
          shown(word)));
    }
    if (!detail::is_double(*value)) {
      lines.refuse_line(fmt::format(
          "'{}' is no double (it has too many digits); round it, or write values as real",
          shown(word)));
    }
    return double(*value);
  }
  auto const value = parsed<double>(word);
  if (!value && out_of_range(word)) {
    bool const small = std::abs(std::strtod(std::string(word).c_str(), nullptr)) < 1;
    lines.refuse_line(
        small ? fmt::format("'{}' is too small for a double (less than 4.9e-324 is none); write 0, "
                            "or scale the matrix",
                            shown(word))
              : fmt::format(
                    "'{}' is too large for a double (more than 1.8e308 is none); scale the matrix",
                    shown(word)));
  }
  if (!value || !std::isfinite(*value)) {
    lines.refuse_line(fmt::format(
        "'{}' is not a finite number (every value must be); replace it by a number", shown(word)));
  }
  return *value;
}

entry parse_entry(line_reader const& lines, banner const& head, size_line const& size) {
  auto rest = lines.text();
  auto const row = parse_index(lines, take_word(rest), "row", size.rows);
  auto const column = parse_index(lines, take_word(rest), "column", size.columns);
  double const value =
      head.values == field::pattern ? 1.0 : parse_value(lines, take_word(rest), head.values);
  if (!trimmed(rest).empty()) {
    lines.refuse_line(fmt::format(
        "'{}' follows the entry (a line holds one); write each entry in a line of its own",
        shown(trimmed(rest))));
  }
  if (head.shape == symmetry::symmetric && column > row) {
    lines.refuse_line(
        fmt::format("entry ({}, {}) lies above the diagonal (a symmetric file holds the others "
                    "alone); leave it out, or write the matrix as general",
                    row + 1, column + 1));
  }
  return {std::int32_t(row), std::int32_t(column), value};
}

std::vector<entry> read_entries(line_reader& lines, banner const& head, size_line const& size,
                                iso::detail::seldom_asked& ask) {
  std::vector<entry> entries;
  std::size_t const factor = head.shape == symmetry::symmetric ? 2 : 1;
  auto const count = std::size_t(size.entries) * factor;
  // Sorted first, then as a column and a value each.
  std::uint64_t const bytes = count * (sizeof(entry) + 12) + 8 * std::uint64_t(size.rows + 1);
  detail::with_memory(lines.path(), fmt::format("its {} entries", count), bytes,
                      [&] { entries.reserve(count); });
  for (std::int64_t n = 0; n < size.entries; ++n) {
    ask();
    if (!lines.next_data()) {
      refuse(lines.path(),
             fmt::format("ends after {} of {} entries (truncated); fetch or write it again", n,
                         size.entries));
    }
    entries.push_back(parse_entry(lines, head, size));
    entry const last = entries.back();
    if (factor == 2 && last.row != last.column) {
      entries.push_back({last.column, last.row, last.value});
    }
  }
  if (lines.next_data()) {
    lines.refuse_line(
        fmt::format("holds more than the {} entries that are claimed (the claim is wrong, or two "
                    "files were joined); correct the line of sizes",
                    size.entries));
  }
  return entries;
}

// Throws where read_matrix_market would refuse the file.
void check_readable(fs::path const& path, host_matrix const& matrix,
                    iso::detail::seldom_asked& ask) {
  if (matrix.rows > max_rows(matrix.entries())) {
    refuse(path, rows_sentence(matrix.rows, matrix.entries()));
  }
  std::vector<std::int32_t> columns;
  for (std::size_t r = 0; r + 1 < matrix.offsets.size(); ++r) {
    columns.assign(matrix.indices.begin() + matrix.offsets[r],
                   matrix.indices.begin() + matrix.offsets[r + 1]);
    std::sort(columns.begin(), columns.end(), [&](std::int32_t a, std::int32_t b) {
      ask();
      return a < b;
    });
    if (auto const twice = std::adjacent_find(columns.begin(), columns.end());
        twice != columns.end()) {
      refuse(path, fmt::format("entry ({}, {}) stands there twice (Matrix Market holds each once); "
                               "add them up first, or use HDF5",
                               r, *twice));
    }
  }
}

}  // namespace

host_matrix read_matrix_market(fs::path const& path, job const& control) {
  iso::detail::seldom_asked ask(control);
  line_reader lines(path);
  auto const head = read_banner(lines);
  auto const size = read_size(lines, head);
  auto entries = read_entries(lines, head, size, ask);
  std::sort(entries.begin(), entries.end(), [&](entry const& a, entry const& b) {
    ask();
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  host_matrix matrix{size.rows, size.columns, {}, {}, std::vector<double>{}, {}};
  auto& values = std::get<std::vector<double>>(matrix.values);
  matrix.offsets.assign(std::size_t(size.rows) + 1, 0);
  matrix.indices.reserve(entries.size());
  values.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto const& e = entries[i];
    ask();
    if (i > 0 && entries[i - 1].row == e.row && entries[i - 1].column == e.column) {
      refuse(path, fmt::format("entry ({}, {}) stands there twice (each may once); add them up",
                               e.row + 1, e.column + 1));
    }
    ++matrix.offsets[std::size_t(e.row) + 1];
    matrix.indices.push_back(e.column);
    values.push_back(e.value);
  }
  std::partial_sum(matrix.offsets.begin(), matrix.offsets.end(), matrix.offsets.begin());
  return matrix;
}

atomic_file prepare_matrix_market(fs::path const& path, host_matrix const& matrix,
                                  job const& control) {
  iso::detail::seldom_asked ask(control);
  check_matrix(path, matrix, control);
  check_readable(path, matrix, ask);
  atomic_file whole(path, std::uintmax_t(matrix.entries()) * 6);
  std::ofstream out(whole.temporary(), std::ios::binary);
  out << fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", matrix.rows,
                     matrix.columns, matrix.entries());
  // As doubles, which is what they are read as: the shortest decimals of a float are another
  // double.
  auto const value = [&](std::size_t i) {
    if (auto const* const half = std::get_if<host_matrix::half_bits>(&matrix.values)) {
      return double(from_half((*half)[i]));
    }
    if (auto const* const single = std::get_if<std::vector<float>>(&matrix.values)) {
      return double((*single)[i]);
    }
    return std::get<std::vector<double>>(matrix.values)[i];
  };
  fmt::memory_buffer buffer;
  for (std::size_t r = 0; r + 1 < matrix.offsets.size(); ++r) {
    for (auto i = std::size_t(matrix.offsets[r]); i < std::size_t(matrix.offsets[r + 1]); ++i) {
      ask();
      fmt::format_to(std::back_inserter(buffer), "{} {} {}\n", r + 1,
                     std::int64_t(matrix.indices[i]) + 1, value(i));
    }
    if (buffer.size() > 1 << 20 || r + 2 == matrix.offsets.size()) {
      out.write(buffer.data(), std::streamsize(buffer.size()));
      buffer.clear();
    }
  }
  out.close();
  if (!out) {
    refuse(path, "cannot be written (its disk may be full); make room on its disk");
  }
  return whole;
}

}  // namespace iso::files
