// SPDX-License-Identifier: BSD-3-Clause
//! Adds --water and --bone: the table between CT numbers and attenuation, the same for both ways.
#pragma once

#include "support.hpp"

#include <iso/files/hounsfield.hpp>

namespace iso::cli {

struct hounsfield_options {
  double water = 0;  ///< 1/mm; 0: not given
  double bone = 0;
};

/// \param wanted  the option without which neither means anything; null: --water stands alone
void add_hounsfield_options(CLI::App& app, hounsfield_options& options, CLI::Option* wanted);

/// \throws iso::invalid_argument  as files::validate
files::attenuation_table table_of(hounsfield_options const& options);

}  // namespace iso::cli
