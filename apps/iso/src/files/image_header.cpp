// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <iso/core/error.hpp>

#include <fmt/core.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>

namespace iso::files::detail {

namespace fs = std::filesystem;

void refuse(fs::path const& path, std::string_view sentence) {
  throw file_error(fmt::format("'{}': {}", path.string(), sentence));
}

void check_regular(fs::path const& path) {
  std::error_code failure;
  auto const status = fs::status(path, failure);
  if (!fs::exists(status)) {
    refuse(path, "cannot be opened (no such file)");
  }
  if (!fs::is_regular_file(status)) {
    refuse(path, "cannot be opened (not a regular file)");
  }
  if (::access(path.c_str(), R_OK) != 0) {
    refuse(path, fmt::format("cannot be opened ({})", std::strerror(errno)));
  }
}

std::string_view trimmed(std::string_view text) {
  auto const blank = " \t\r\n";
  auto const first = text.find_first_not_of(blank);
  return first == std::string_view::npos
             ? std::string_view{}
             : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<double> parse_numbers(fs::path const& path, std::string_view field,
                                  std::string_view text, std::size_t count) {
  std::vector<double> numbers;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    auto const word = rest.substr(0, rest.find_first_of(" \t"));
    double number = 0;
    auto const [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (failure != std::errc{} || end != word.data() + word.size() || !std::isfinite(number)) {
      refuse(path, fmt::format("header field '{}' holds '{}' (a finite number is expected)", field,
                               word));
    }
    numbers.push_back(number);
    rest = trimmed(rest.substr(word.size()));
  }
  if (numbers.size() != count) {
    refuse(path, fmt::format("header field '{}' holds {} numbers ({} are expected)", field,
                             numbers.size(), count));
  }
  return numbers;
}

std::array<std::int64_t, 3> parse_extent(fs::path const& path, std::string_view field,
                                         std::string_view text) {
  auto const numbers = parse_numbers(path, field, text, 3);
  std::array<std::int64_t, 3> extent{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(numbers[axis] >= 1 && numbers[axis] < 0x1p40 &&
          numbers[axis] == std::floor(numbers[axis]))) {
      refuse(path, fmt::format("header field '{}' is '{}' (three whole numbers from 1 to 2^40 are "
                               "expected)",
                               field, trimmed(text)));
    }
    extent[axis] = std::int64_t(numbers[axis]);
  }
  return extent;
}

void check_spacing(fs::path const& path, std::string_view field, std::span<double const> spacing) {
  for (double const step : spacing) {
    if (!(step >= 1e-6 && step <= 1e9)) {
      refuse(path, fmt::format("header field '{}' holds {} (a spacing in mm, from 1e-6 to 1e9, is "
                               "expected)",
                               field, step));
    }
  }
}

void check_coordinates(fs::path const& path, std::string_view field,
                       std::span<double const> coordinates) {
  for (double const coordinate : coordinates) {
    if (!(std::abs(coordinate) <= 1e9)) {
      refuse(path, fmt::format("header field '{}' holds {} (a coordinate in mm, between -1e9 and "
                               "1e9, is expected)",
                               field, coordinate));
    }
  }
}

text_header read_text_header(fs::path const& path, bool (*last)(std::string_view line)) {
  std::ifstream in(path, std::ios::binary);
  if (!in || fs::is_directory(path)) {
    refuse(path, "cannot be opened (no such file, or not readable)");
  }
  std::string start(std::size_t(1) << 16, '\0');
  in.read(start.data(), std::streamsize(start.size()));
  start.resize(std::size_t(in.gcount()));
  text_header header;
  std::size_t position = 0;
  while (position < start.size()) {
    auto const end = start.find('\n', position);
    std::string const line(trimmed(std::string_view(start).substr(position, end - position)));
    position = end == std::string::npos ? start.size() : end + 1;
    header.lines.push_back(line);
    header.bytes = std::int64_t(position);
    if (last(line)) {
      return header;
    }
  }
  return header;
}

namespace {

// An inflating reader over the file from `offset` on; gzip and zlib headers are recognised.
class inflater {
 public:
  inflater(fs::path const& path, std::int64_t offset, streams allowed)
      : path_(path),
        allowed_(allowed),
        in_(path, std::ios::binary),
        input_(1 << 18),
        output_(1 << 18) {
    if (!in_ || fs::is_directory(path)) {
      refuse(path, "cannot be opened (no such file, or not readable)");
    }
    in_.seekg(offset);
    if (inflateInit2(&state_, 15 + 32) != Z_OK) {
      refuse(path, "cannot be inflated (zlib did not start)");
    }
  }
  inflater(inflater const&) = delete;
  inflater& operator=(inflater const&) = delete;
  ~inflater() { inflateEnd(&state_); }

  /// The next piece; empty after the checked end of the stream.
  std::string_view next() {
    state_.next_out = output_.data();
    state_.avail_out = uInt(output_.size());
    while (!ended_ && state_.avail_out > 0) {
      if (!has_input()) {
        refuse(path_, "is truncated (its compressed data ends early) fetch or write it again");
      }
      int const status = inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        finish_stream();
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        refuse(path_,
               "is damaged (its compressed data does not inflate, or its check sum is wrong)");
      }
    }
    return {reinterpret_cast<char const*>(output_.data()), output_.size() - state_.avail_out};
  }

 private:
  bool has_input() {
    if (state_.avail_in == 0) {
      in_.read(reinterpret_cast<char*>(input_.data()), std::streamsize(input_.size()));
      state_.next_in = input_.data();
      state_.avail_in = uInt(in_.gcount());
    }
    return state_.avail_in > 0;
  }

  // A gzip file may hold several streams, as parallel compressors write them.
  void finish_stream() {
    ended_ = !has_input();
    if (!ended_ && allowed_ == streams::one && state_.next_in[0] == 0x1f) {
      refuse(path_,
             "holds a second compressed stream (this format has one) compress it in one piece");
    }
    if (!ended_ && (state_.next_in[0] != 0x1f || inflateReset(&state_) != Z_OK)) {
      refuse(path_,
             "holds bytes after its compressed data (they belong to nothing) fetch or write "
             "it again");
    }
  }

  fs::path path_;
  streams allowed_;
  std::ifstream in_;
  std::vector<unsigned char> input_;
  std::vector<unsigned char> output_;
  z_stream state_{};
  bool ended_ = false;
};

}  // namespace

std::string inflate_start(fs::path const& path, std::size_t count) {
  inflater stream(path, 0, streams::several);
  return std::string(stream.next().substr(0, count));
}

std::int64_t inflated_length(fs::path const& path, std::int64_t offset, std::int64_t most,
                             streams allowed) {
  inflater stream(path, offset, allowed);
  std::int64_t length = 0;
  for (auto piece = stream.next(); !piece.empty() && length <= most; piece = stream.next()) {
    length += std::int64_t(piece.size());
  }
  return length;
}

void check_length(fs::path const& path, image_header const& header) {
  auto const& n = header.extent;
  __extension__ using wide = unsigned __int128;
  wide const claimed = wide(n[0]) * wide(n[1]) * wide(n[2]) * wide(header.bytes_per_voxel);
  std::error_code failure;
  auto const size = fs::file_size(header.data_file, failure);
  if (failure) {
    refuse(path, fmt::format("its data file '{}' cannot be opened ({})", header.data_file.string(),
                             failure.message()));
  }
  auto const offset = std::uint64_t(std::max<std::int64_t>(header.data_offset, 0));
  std::uint64_t const stored = size > offset || header.whole_file_deflated ? size : offset;
  std::uint64_t held = header.whole_file_deflated ? stored : stored - offset;
  auto const shape =
      fmt::format("{} x {} x {} voxels of {} bytes", n[0], n[1], n[2], header.bytes_per_voxel);
  if (header.kind == storage::deflate) {
    // Deflate never packs more than 1032 to 1: a claim beyond it needs no reading.
    if (claimed > wide(held) * 1032 + 1032) {
      refuse(path,
             fmt::format("the header claims {} (its {} compressed bytes cannot hold that many)",
                         shape, held));
    }
    std::int64_t const before = header.whole_file_deflated ? header.data_offset : 0;
    std::int64_t const skip = header.whole_file_deflated ? 0 : header.data_offset;
    held = std::uint64_t(std::max<std::int64_t>(
        inflated_length(header.data_file, skip, std::int64_t(claimed) + before, header.most) -
            before,
        0));
  }
  bool const from_end = header.data_offset < 0;
  if (wide(held) != claimed && !(from_end && wide(held) > claimed)) {
    refuse(path, fmt::format("the header claims {}, the file holds {}{} bytes of them (it is {}) "
                             "fetch or write it again",
                             shape, held,
                             header.kind == storage::deflate && held > claimed ? " or more" : "",
                             wide(held) < claimed ? "truncated, or its size is wrong"
                                                  : "longer than its header says"));
  }
}

}  // namespace iso::files::detail
