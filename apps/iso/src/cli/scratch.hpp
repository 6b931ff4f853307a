// SPDX-License-Identifier: BSD-3-Clause
//! Puts the program's large arrays into files.
#pragma once

#include "support.hpp"

namespace iso::cli {

/// Adds --scratch. From when it is read, every array of a megabyte and more that the program
/// makes, whichever part of it, lies in a mapped file of that folder (iso/files/mapped_array.hpp).
CLI::Option* add_scratch(CLI::App& app);
/// Prints what lay there at most, where --scratch was given and the JSON is not printed, and puts
/// it into the document.
void tell_scratch(common_options const& common, json& document);

}  // namespace iso::cli
