// SPDX-License-Identifier: BSD-3-Clause
#include "structure_options.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace iso::cli {

CLI::Option* add_structure_options(CLI::App& sub, structure_options& options) {
  auto* const file = sub.add_option("--structures", options.file, "RT Structure Set (.dcm)");
  sub.add_option("--structure", options.names,
                 "names of structures (default: all that have contours)")
      ->needs(file);
  return file;
}

std::vector<files::rt_structure> chosen_structures(structure_options const& options,
                                                   files::rt_structure_set const& set) {
  auto names = options.names;
  for (auto const& s : set.structures) {
    if (options.names.empty() && !s.contours.empty()) {
      names.push_back(s.name);
    }
  }
  std::vector<files::rt_structure> chosen;
  for (auto name = names.begin(); name != names.end(); ++name) {
    chosen.push_back(files::find_structure(options.file, set, *name));
    if (std::find(names.begin(), name, *name) != name) {
      throw invalid_argument(
          fmt::format("--structure '{}' is given twice (once is enough); leave one out", *name));
    }
  }
  if (names.empty()) {
    throw file_error(fmt::format(
        "'{}' has no structure with contours (there is none to take); name another file",
        options.file));
  }
  return chosen;
}

void tell_left_out(structure_options const& options, files::rt_structure_set const& set) {
  for (auto const& s : set.structures) {
    if (!options.names.empty() || !s.contours.empty()) {
      continue;
    }
    auto const name = files::shortened(s.name, 64);
    // A point marks a place; other contours were meant to bound something.
    if (s.other_geometry.empty() || s.other_geometry == "POINT") {
      spdlog::info("'{}' has no closed contours and is left out", name);
    } else {
      spdlog::warn("'{}' has {} contours and is left out (only CLOSED_PLANAR ones bound a volume)",
                   name, s.other_geometry);
    }
  }
}

void check_frame(structure_options const& options, files::rt_structure_set const& set,
                 std::string const& volume, std::optional<std::string> const& frame) {
  // A set may have several frames of reference: each structure says its own.
  auto const structures = chosen_structures(options, set);
  auto const& first = structures.front();
  auto const in_other = [&](std::string const& wanted) {
    return std::find_if(structures.begin(), structures.end(),
                        [&](auto const& s) { return s.frame_of_reference != wanted; });
  };
  auto const unlike = in_other(first.frame_of_reference);
  bool const is_mixed = unlike != structures.end();
  if (frame) {
    auto const other = in_other(*frame);
    auto const& s = other == structures.end() ? first : *other;
    auto const name =
        is_mixed ? fmt::format("{}, structure {}", options.file, files::shortened(s.name, 64))
                 : options.file;
    files::check_same_frame(name, s.frame_of_reference, volume, *frame);
    return;
  }
  if (is_mixed) {
    throw file_error(fmt::format(
        "'{}' has structures '{}' and '{}' in two frames of reference ('{}' does not say in which "
        "it lies); name those of one frame by --structure",
        options.file, files::shortened(first.name, 64), files::shortened(unlike->name, 64),
        volume));
  }
  spdlog::info("'{}' does not say its frame of reference: it is taken for the structures' own",
               volume);
}

}  // namespace iso::cli
