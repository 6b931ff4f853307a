// SPDX-License-Identifier: BSD-3-Clause
//! Holds the options that choose structures of an RT Structure Set.
#pragma once

#include <iso/files/dicom_rt.hpp>
#include <iso/jobs/dvh.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace iso::cli {

/// Counts the characters of a structure's name that tables and legends show.
inline constexpr std::size_t widest_name = 32;

struct structure_options {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::string> skipped;
};

/// Adds --structures, --structure and --skip, and returns the first.
CLI::Option* add_structure_options(CLI::App& sub, structure_options& options);

/// Returns the structures that are named; where none is, all that have contours and are not to be
/// skipped.
/// \param refused  where no structure is named, those that cannot be taken, each once; null: the
///                 first of them is thrown
/// \throws iso::file_error         as files::find_structure; no structure with closed
///                                 contours
/// \throws iso::invalid_argument   one named twice; one to be skipped that there is not
std::vector<files::rt_structure> chosen_structures(
    structure_options const& options, files::rt_structure_set const& set,
    std::vector<jobs::refused_structure>* refused = nullptr);

/// Says which structures of the set chosen_structures left out.
void tell_left_out(structure_options const& options, files::rt_structure_set const& set);

/// Throws iso::file_error where a structure has another frame of
/// reference than `volume`. Where the volume cannot say its own, all must have one, which is then
/// told to be taken.
/// \param frame  empty where it is no DICOM
void check_frame(structure_options const& options,
                 std::vector<files::rt_structure> const& structures, std::string const& volume,
                 std::optional<std::string> const& frame);

}  // namespace iso::cli
