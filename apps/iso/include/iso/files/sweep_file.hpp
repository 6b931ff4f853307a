// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/files/sweep_file.hpp
//! Describes what `iso sweep` is to measure, in JSON: docs/sweep.md.
#pragma once

#include <iso/model/list_field.hpp>
#include <iso/model/number_type.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace iso::files {

/// The backends that a sweep may name; those that a build has not are left out.
enum class sweep_backend { serial, openmp, threads, cuda };

constexpr auto words(sweep_backend) {
  return std::array{word{sweep_backend::serial, "serial"}, word{sweep_backend::openmp, "openmp"},
                    word{sweep_backend::threads, "threads"}, word{sweep_backend::cuda, "cuda"}};
}

/// Every combination of what its lists hold.
struct sweep_set {
  std::string comment;
  std::vector<std::string> operations;
  std::vector<std::int64_t> sizes;
  std::vector<number_type> precisions;                ///< empty: float, for products half
  std::vector<sweep_backend> backends;                ///< empty: all of the build
  std::vector<int> threads = {0};                     ///< of OpenMP; 0: all that the process has
  std::vector<std::int64_t> groups_per_launch = {0};  ///< 0: all groups
};

struct sweep_description {
  std::string comment;
  int rounds = 3;        ///< through all points
  int repeats = 5;       ///< samples of a point in a round, at least
  double seconds = 0.1;  ///< that these take, at least
  std::vector<sweep_set> sets;
  std::string digest;  ///< of all but comments: files of one sweep have one
};

void describe(auto&& visit, describes<sweep_set> auto& x) {
  visit(x.comment, field{.name = "comment", .says = "free text, for people"});
  visit(x.operations, required{list_field{{.name = "operations", .says = "what is measured"},
                                          1,
                                          100,
                                          "an operation, as iso sweep --list names it"}});
  visit(x.sizes, required{list_field{{.name = "sizes",
                                      .says = "iso sweep --list says what an operation's counts",
                                      .low = 1,
                                      .high = 1e12},
                                     1,
                                     100}});
  visit(x.precisions,
        list_field{{.name = "precisions", .says = "float when absent, for products half"}, 1, 3});
  visit(x.backends, list_field{{.name = "backends", .says = "all of the build when absent"}, 1, 4});
  visit(x.threads, list_field{{.name = "threads",
                               .says = "of OpenMP, for the backend openmp alone; 0 is as many as "
                                       "the process has",
                               .low = 0,
                               .high = 512},
                              1,
                              64});
  visit(x.groups_per_launch,
        list_field{{.name = "groups-per-launch",
                    .says = "how many lane groups go into one launch; 0 is all. Operations with "
                            "one launch shape are measured once",
                    .low = 0,
                    .high = 1e9},
                   1,
                   32});
}

void describe(auto&& visit, describes<sweep_description> auto& x) {
  visit(x.comment, field{.name = "comment", .says = "free text, for people"});
  visit(x.rounds, field{.name = "rounds",
                        .says = "how many times all points are gone through, each time with the "
                                "ceilings measured anew",
                        .low = 1,
                        .high = 31});
  visit(x.repeats, field{.name = "repeats",
                         .says = "how many samples a point has in a round, at least",
                         .low = 3,
                         .high = 31});
  visit(x.seconds, field{.name = "seconds",
                         .says = "how long a point is sampled in a round, at least, in seconds",
                         .low = 0,
                         .high = 600});
  visit(x.sets,
        required{list_field{
            {.name = "sets", .says = "of points, each every combination of what its lists hold"},
            1,
            1000}});
  visit(x.digest, hidden_field{{.name = "digest", .says = "of all but comments"}});
}

/// Returns the JSON schema.
std::string sweep_schema();

/// Parses the text of file `name`. Operations and sizes are not checked against what there is.
/// \throws iso::file_error  with the field that does not fit, and what was expected
sweep_description parse_sweep(std::string_view text, std::string const& name);
sweep_description read_sweep(std::filesystem::path const& path);

}  // namespace iso::files
