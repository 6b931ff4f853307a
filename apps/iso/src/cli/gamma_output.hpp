// SPDX-License-Identifier: BSD-3-Clause
//! Makes what a comparison of doses is shown by: tables, JSON, and slices of gamma.
#pragma once

#include "slice_picture.hpp"
#include "support.hpp"

#include <iso/files/png_file.hpp>
#include <iso/jobs/gamma.hpp>

#include <array>
#include <string>

namespace iso::cli {

/// The colour of points outside of the evaluated dose.
inline constexpr colour gamma_outside_colour = {0.9, 0.2, 0.9};

/// Prints a row for each criterion.
void print_gamma_table(jobs::gamma_request const& request, jobs::gamma_result const& result);

json gamma_document(jobs::gamma_request const& request, jobs::gamma_result const& result);

/// Returns the histograms as a table in CSV.
std::string gamma_histogram(jobs::gamma_request const& request, jobs::gamma_result const& result);

/// Returns slices through `point` (mm) with gamma of the first criterion in colours.
/// \param frames_differ  the title says so
files::rgb_image gamma_picture(jobs::gamma_request const& request, jobs::gamma_result const& result,
                               std::array<double, 3> const& point, bool frames_differ);

}  // namespace iso::cli
