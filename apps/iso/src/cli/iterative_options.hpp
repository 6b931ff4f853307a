// SPDX-License-Identifier: BSD-3-Clause
//! Adds the options of iterative methods.
#pragma once

#include "described.hpp"
#include "grid_options.hpp"
#include "support.hpp"

#include <iso/jobs/reconstruct.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace iso::cli {

struct iterative_options {
  jobs::iterative_request request;
  /// What methods may choose; that of the projector's name aside.
  shared_fields<ct::stopping_rules, ct::sart_options, ct::mlem_options, ct::lsqr_options,
                ct::total_variation_options>
      fields{{}, {}, {}, {}, {}};
  ct::projector_options projector;  ///< that the name stands for
  std::string start;
  std::string mask;
  std::string reading_mask;
  std::string history;
  std::uint64_t bytes_read = 0;  ///< of these files, where ranks read their parts
};

/// Returns the options added, none of which filtered backprojection has.
std::vector<CLI::Option*> add_iterative_options(CLI::App& sub, iterative_options& options);

/// Makes the request that of `method`. Throws iso::invalid_argument naming an option that was given
/// and that the method has not, or that it must have.
void choose_method(iterative_options& options, ct::iterative_method method);

/// Throws iso::file_error where a file that is written has another ending than its kind's, or
/// cannot be written.
void check_iterative_outputs(iterative_options const& options);

/// Makes `request` iterate, and reads start and masks, once their headers fit the shapes of its
/// scan and of its result, or prepares that ranks read their parts. Their coordinates are those of
/// `place`.
/// \param by_views  ranks read their parts of the mask of readings too
/// \throws iso::file_error, iso::invalid_argument, iso::out_of_memory
void read_iterative_inputs(iterative_options& options, placement const& place, bool by_views,
                           jobs::reconstruct_request& request);

/// Prepares the table of the iterations: a line each; a number that the method does not know is
/// left empty.
files::atomic_file prepare_history(std::filesystem::path const& file,
                                   std::vector<ct::iteration> const& history);

}  // namespace iso::cli
