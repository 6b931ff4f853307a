// SPDX-License-Identifier: BSD-3-Clause
#include "structure_options.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

namespace iso::cli {

namespace {

bool has(std::vector<std::string> const& names, std::string const& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

CLI::Option* add_structure_options(CLI::App& sub, structure_options& options) {
  auto* const file = sub.add_option("--structures", options.file, "RT Structure Set (.dcm)");
  auto* const named = sub.add_option("--structure", options.names,
                                     "names of structures (default: all that have contours)");
  named->needs(file);
  sub.add_option("--skip", options.skipped, "names of structures that are left out of all")
      ->needs(file)
      ->excludes(named);
  return file;
}

std::vector<files::rt_structure> chosen_structures(structure_options const& options,
                                                   files::rt_structure_set const& set,
                                                   std::vector<jobs::refused_structure>* refused) {
  auto names = options.names;
  std::string all;
  for (auto const& s : set.structures) {
    all.append(all.empty() ? "" : ", ").append(s.name);
    bool const is_drawn = !s.contours.empty() || !s.refusal.empty();
    if (options.names.empty() && is_drawn && !has(options.skipped, s.name)) {
      names.push_back(s.name);
    }
  }
  for (auto const& name : options.skipped) {
    if (std::none_of(set.structures.begin(), set.structures.end(),
                     [&](auto const& s) { return s.name == name; })) {
      throw invalid_argument(
          fmt::format("--skip '{}' (no structure has that name; there are {}); choose another name",
                      name, all.empty() ? "none" : files::shortened(all, 1000)));
    }
  }
  std::vector<files::rt_structure> chosen;
  for (auto name = names.begin(); name != names.end(); ++name) {
    bool const is_first = std::find(names.begin(), name, *name) == name;
    try {
      if (is_first || !options.names.empty()) {
        chosen.push_back(files::find_structure(options.file, set, *name));
      }
    } catch (file_error const& refusal) {
      if (refused == nullptr || !options.names.empty()) {
        throw;
      }
      refused->push_back({*name, refusal.what()});
    }
    if (!is_first && !options.names.empty()) {
      throw invalid_argument(
          fmt::format("--structure '{}' is given twice (once is enough); leave one out", *name));
    }
  }
  if (names.empty()) {
    throw file_error(fmt::format(
        "'{}' has no structure with closed contours (there is none to take); name another file",
        options.file));
  }
  return chosen;
}

void tell_left_out(structure_options const& options, files::rt_structure_set const& set) {
  for (auto const& s : set.structures) {
    if (!options.names.empty() || !s.contours.empty() || !s.refusal.empty() ||
        has(options.skipped, s.name)) {
      continue;
    }
    auto const name = files::shortened(s.name, 64);
    // A point marks a place; other contours were meant to bound something.
    if (s.other_geometry.empty() || s.other_geometry == "POINT") {
      spdlog::info("'{}' has no closed contours and is left out", name);
    } else {
      spdlog::warn(
          "'{}' has {} contours and is left out (CLOSED_PLANAR and CLOSEDPLANAR_XOR ones are read)",
          name, s.other_geometry);
    }
  }
}

void check_frame(structure_options const& options,
                 std::vector<files::rt_structure> const& structures, std::string const& volume,
                 std::optional<std::string> const& frame) {
  // A set may have several frames of reference: each structure says its own.
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
