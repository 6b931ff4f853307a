// SPDX-License-Identifier: BSD-3-Clause
//! Holds what CT series and RT objects share, of either library's.
#pragma once

#include "alignment.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files::detail {

constexpr char const* dicomdir_class = "1.2.840.10008.1.3.10";
constexpr char const* ct_image_class = "1.2.840.10008.5.1.4.1.1.2";
constexpr char const* rt_dose_class = "1.2.840.10008.5.1.4.1.1.481.2";
constexpr char const* rt_structure_set_class = "1.2.840.10008.5.1.4.1.1.481.3";
constexpr char const* rt_plan_class = "1.2.840.10008.5.1.4.1.1.481.5";

/// Returns as many of a file's bytes as tell whether it was meant to be DICOM: its mark and the
/// class of its object lie there. None of what is no regular file: a pipe may never begin.
std::string first_bytes(std::filesystem::path const& path);
/// Where the mark of a DICOM file ends; some have none.
constexpr std::size_t dicom_mark_end = 132;
bool is_marked(std::string_view first_bytes);
bool is_zip(std::string_view first_bytes);
constexpr char const* zip_sentence =
    "is a zip archive (files in it are not read); unpack it, and name a file or a folder of it";

/// The maker of a UID from what it names: 128 bits of a hash (FNV-1a, a word of 4 bytes at a time),
/// as the UUID of RFC 9562, version 8, under the root 2.25 that DICOM has for UUIDs (PS3.5 B.2).
class uid_maker {
 public:
  void add(std::span<std::byte const> bytes);
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  [[nodiscard]] std::string uid() const;

 private:
  __extension__ using wide = unsigned __int128;
  wide hash_ = (wide(0x6c62272e07bb0142U) << 64) | 0x62b821756295c58dU;
};

/// Makes DCMTK print nothing (what it meets has the values of patients), and read elements of
/// unknown kind by its dictionary. Throws iso::file_error, of `path`, where that is not there.
void silence_dcmtk(std::filesystem::path const& path);

/// Returns the number as a decimal string of at most 16 characters, to 10 digits or more.
std::string decimal_string(double number);

/// Returns the same of several, "\\" between them.
std::string joined(std::initializer_list<double> numbers);

/// Returns the number of one value of a decimal string (DS, PS3.5 6.2); nothing where it is none:
/// "1,5", "10.x", "1 2", "inf". Blanks and zero bytes around it do not matter, nor does its length.
std::optional<double> decimal_number(std::string_view text);
/// The same of an integer string (IS).
std::optional<std::int32_t> integer_number(std::string_view text);

/// Returns the text without blanks and zero bytes around it.
std::string_view trim(std::string_view text);
inline std::string trimmed(std::string_view text) { return std::string(trim(text)); }
/// Returns what of `text` is an UID, all of it or nothing: nothing else shall be printed.
std::string uid_of(std::string_view text);
/// Returns what of `text` is a code string of capitals, digits, blanks and "_", all or nothing.
std::string code_of(std::string_view text);

/// The result of stated_code for a text that is no code.
constexpr char const* unknown_code = "unknown";
/// As code_of, but a text that is no code is not taken for an absent one.
std::string stated_code(std::string_view text);

/// Returns along which of the patient's axes rows, columns and, by the cross product of both,
/// frames run. Throws iso::file_error where one is oblique.
alignment align_planes(std::filesystem::path const& path, std::vector<double> const& orientation);

/// Throws iso::file_error unless a spacing or a coordinate lies within the limits of volumes.
void check_spacing(std::filesystem::path const& path, double spacing);
void check_coordinate(std::filesystem::path const& path, double coordinate);

/// Returns the mean distance of ascending `positions`, at least two; throws iso::file_error, with
/// `what` lies there along `axis`, 'x', 'y' or 'z', where two are one, one is missing, or distances
/// differ by more than 1 % and 0.01 mm from the median.
double even_distance(std::filesystem::path const& path, char const* what, char axis,
                     std::vector<double> const& positions);

}  // namespace iso::files::detail
