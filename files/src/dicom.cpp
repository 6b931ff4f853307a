// SPDX-License-Identifier: BSD-3-Clause
#include "dicom.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace iso::files {
namespace detail {

std::string first_bytes(std::filesystem::path const& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    return {};
  }
  std::string bytes(4096, '\0');
  std::ifstream stream(path, std::ios::binary);
  stream.read(bytes.data(), std::streamsize(bytes.size()));
  bytes.resize(std::size_t(stream.gcount()));
  return bytes;
}

bool is_marked(std::string_view first_bytes) {
  return first_bytes.size() >= dicom_mark_end &&
         first_bytes.substr(dicom_mark_end - 4, 4) == "DICM";
}

bool is_zip(std::string_view first_bytes) { return first_bytes.starts_with("PK\3\4"); }

void uid_maker::add(std::span<std::byte const> bytes) {
  constexpr wide prime = (wide(1) << 88) | 0x13bU;
  // The length too: neighbours shall not run into each other.
  hash_ = (hash_ ^ bytes.size()) * prime;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(4, bytes.size() - at));
    hash_ = (hash_ ^ word) * prime;
  }
}

std::string uid_maker::uid() const {
  wide number = hash_;
  number = (number & ~(wide(0xf) << 76)) | (wide(8) << 76);  // version
  number = (number & ~(wide(3) << 62)) | (wide(2) << 62);    // variant
  std::string digits;
  for (; number != 0; number /= 10) {
    digits.push_back(char('0' + int(number % 10)));
  }
  std::reverse(digits.begin(), digits.end());
  return "2.25." + digits;
}

std::string decimal_string(double number) {
  auto text = fmt::format("{}", number);
  for (int digits = 15; text.size() > 16 && digits > 0; --digits) {
    text = fmt::format("{:.{}g}", number, digits);
  }
  return text;
}

std::string joined(std::initializer_list<double> numbers) {
  std::string text;
  for (double const number : numbers) {
    text.append(text.empty() ? "" : "\\").append(decimal_string(number));
  }
  return text;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view around(" \0\t\r\n", 5);
  auto const first = text.find_first_not_of(around);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(around) - first + 1);
}

namespace {

// What the standard library reads, which knows no leading plus but an infinity, is narrower and
// wider than what DICOM has.
template <class T>
std::optional<T> number_in(std::string_view text, std::string_view letters) {
  auto word = trim(text);
  bool const has_plus = word.starts_with('+');
  word.remove_prefix(has_plus ? 1 : 0);
  T number{};
  auto const* const end = word.data() + word.size();
  if (word.find_first_not_of(letters) != std::string_view::npos ||
      (has_plus && word.starts_with('-'))) {
    return {};
  }
  auto const read = std::from_chars(word.data(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<double> decimal_number(std::string_view text) {
  return number_in<double>(text, "0123456789+-.Ee");
}

std::optional<std::int32_t> integer_number(std::string_view text) {
  return number_in<std::int32_t>(text, "0123456789-");
}

std::string uid_of(std::string_view text) {
  auto const uid = trimmed(text);
  bool const is_uid = uid.size() <= 64 && std::all_of(uid.begin(), uid.end(), [](char c) {
                        return (c >= '0' && c <= '9') || c == '.';
                      });
  return is_uid ? uid : std::string();
}

std::string code_of(std::string_view text) {
  auto const code = trimmed(text);
  bool const is_code =
      code.size() <= 16 && std::all_of(code.begin(), code.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '_';
      });
  return is_code ? code : std::string();
}

std::string stated_code(std::string_view text) {
  auto const code = code_of(text);
  return code.empty() && !trimmed(text).empty() ? unknown_code : code;
}

alignment align_planes(std::filesystem::path const& path, std::vector<double> const& o) {
  if (o.size() != 6) {
    refuse(path, fmt::format("has {} numbers of Image Orientation (Patient) (six are expected); "
                             "export it again",
                             o.size()));
  }
  auto const row = axis_along(std::span(o).first(3));
  auto const column = axis_along(std::span(o).last(3));
  if (!row || !column || row->first == column->first) {
    refuse(path, fmt::format("has rows along ({}, {}, {}) and columns along ({}, {}, {}) (only "
                             "planes whose sides run along the patient's axes are read); resample "
                             "it to such planes",
                             o[0], o[1], o[2], o[3], o[4], o[5]));
  }
  auto const [x, x_sign] = *row;
  auto const [y, y_sign] = *column;
  // Of axes in their cyclic order the product is the third, else its opposite.
  int const turn = (x + 1) % 3 == y ? 1 : -1;
  return {{x, y, 3 - x - y}, {x_sign, y_sign, turn * x_sign * y_sign}};
}

void check_spacing(std::filesystem::path const& path, double spacing) {
  if (!(spacing >= 1e-6 && spacing <= 1e9)) {
    refuse(path,
           fmt::format("has a spacing of {} (mm, from 1e-6 to 1e9, are expected); export it again",
                       spacing));
  }
}

void check_coordinate(std::filesystem::path const& path, double coordinate) {
  if (!(std::abs(coordinate) <= 1e9)) {
    refuse(path,
           fmt::format(
               "has a position of {} (mm, between -1e9 and 1e9, are expected); export it again",
               coordinate));
  }
}

double even_distance(std::filesystem::path const& path, char const* what, char axis,
                     std::vector<double> const& positions) {
  std::vector<double> distances;
  for (std::size_t i = 1; i < positions.size(); ++i) {
    distances.push_back(positions[i] - positions[i - 1]);
    if (!(distances.back() >= 1e-4)) {
      refuse(path, fmt::format(
                       "has two {}s at {} = {} mm (each position may have one); remove one of them",
                       what, axis, positions[i]));
    }
  }
  auto sorted = distances;
  auto const middle = sorted.begin() + std::ptrdiff_t(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  double const median = *middle;
  for (std::size_t i = 0; i < distances.size(); ++i) {
    if (std::abs(distances[i] - median) <= 0.01 * median + 0.01) {
      continue;
    }
    if (distances[i] > 1.5 * median) {
      refuse(path, fmt::format("lacks a {} between {} = {} and {} mm (the others are {:.6g} mm "
                               "apart); find it, or resample the rest",
                               what, axis, positions[i], positions[i + 1], median));
    }
    refuse(path, fmt::format("has {}s {:.6g} mm apart at {} = {} mm (the others are {:.6g} mm "
                             "apart); resample it to even distances",
                             what, distances[i], axis, positions[i], median));
  }
  return (positions.back() - positions.front()) / double(distances.size());
}

}  // namespace detail

bool is_dicom_path(std::filesystem::path const& path) {
  std::error_code unknown;
  return std::filesystem::is_directory(path, unknown) || ending(path) == ".dcm" ||
         (!is_image_path(path) && detail::is_marked(detail::first_bytes(path)));
}

void check_same_frame(std::filesystem::path const& a, std::string const& frame_a,
                      std::filesystem::path const& b, std::string const& frame_b) {
  auto const said = [](std::string const& frame) { return frame.empty() ? "none" : frame; };
  if (frame_a.empty() || frame_a != frame_b) {
    throw file_error(fmt::format(
        "'{}' and '{}' have frames of reference {} and {} (positions of one mean nothing in the "
        "other: another patient or another scan); register one to the other first",
        a.string(), b.string(), said(frame_a), said(frame_b)));
  }
}

dvh::structure make_structure(rt_structure const& from) {
  if (!from.refusal.empty()) {
    throw file_error(from.refusal);
  }
  return from;
}

rt_structure const& find_structure(std::filesystem::path const& path, rt_structure_set const& set,
                                   std::string const& name) {
  rt_structure const* found = nullptr;
  std::string all;
  for (auto const& s : set.structures) {
    all.append(all.empty() ? "" : ", ").append(s.name);
    if (s.name == name) {
      if (found != nullptr) {
        detail::refuse(
            path, fmt::format(
                      "has two structures of the name '{}' (numbers {} and {}); rename one of them",
                      shortened(name, 64), found->number, s.number));
      }
      found = &s;
    }
  }
  if (found == nullptr) {
    detail::refuse(path,
                   fmt::format("has no structure '{}' (it has {}); choose another name",
                               shortened(name, 64), all.empty() ? "none" : shortened(all, 1000)));
  }
  if (!found->refusal.empty()) {
    throw file_error(found->refusal);
  }
  auto const refuse_it = [&](std::string const& why) {
    detail::refuse(path, fmt::format("has a structure '{}' {}", shortened(name, 64), why));
  };
  if (!found->other_geometry.empty()) {
    refuse_it(fmt::format(
        "with {} contours (CLOSED_PLANAR and CLOSEDPLANAR_XOR ones are read); choose another "
        "structure",
        found->other_geometry));
  }
  if (found->contours.empty()) {
    refuse_it("without contours (it bounds no volume); choose another structure");
  }
  return *found;
}

}  // namespace iso::files
