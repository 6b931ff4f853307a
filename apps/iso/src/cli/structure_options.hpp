// SPDX-License-Identifier: BSD-3-Clause
//! Holds the options that choose structures of an RT Structure Set.
#pragma once

#include "support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/jobs/dvh.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
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

/// The structures that a command takes, and those that it refuses and goes on without.
struct structure_choice {
  std::vector<files::rt_structure> taken;
  std::vector<jobs::refused_structure> refused;  ///< none where structures are named
};

/// Returns the structures that are named; where none is, all that have contours and are not to be
/// skipped.
/// \throws iso::file_error         as files::find_structure, of one that is named; no structure
/// with
///                                 closed contours; all are refused
/// \throws iso::invalid_argument   one named twice; one to be skipped that there is not
structure_choice chosen_structures(structure_options const& options,
                                   files::rt_structure_set const& set);

/// Calls `use` with each structure that is taken. One that it throws iso::invalid_argument or
/// iso::file_error of is refused, where none is named.
/// \throws iso::error  as `use`, where structures are named; iso::file_error where none is left
void use_structures(structure_options const& options, structure_choice& choice,
                    std::function<void(files::rt_structure const&)> const& use);

/// Warns of those that are refused.
/// \param done  what is done with the others: "reported"
void tell_refused(std::vector<jobs::refused_structure> const& refused, char const* done);

json json_of(std::vector<jobs::refused_structure> const& refused);

/// Says which structures of the set chosen_structures left out.
void tell_left_out(structure_options const& options, files::rt_structure_set const& set);

/// Refuses structures of another frame of reference than `volume`, as use_structures does. Where
/// the volume cannot say its own, all must have one, which is then told to be taken.
/// \param frame  empty where it is no DICOM
/// \throws iso::file_error  as use_structures; structures of two frames for a volume of none
void check_frame(structure_options const& options, structure_choice& choice,
                 std::string const& volume, std::optional<std::string> const& frame);

}  // namespace iso::cli
