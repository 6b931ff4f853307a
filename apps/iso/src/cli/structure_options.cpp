// SPDX-License-Identifier: BSD-3-Clause
#include "structure_options.hpp"

#include <iso/core/error.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

namespace iso::cli {

namespace {

bool has(std::vector<std::string> const& names, std::string const& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Throws iso::file_error where every structure is refused.
void check_taken(structure_choice const& choice) {
  if (choice.taken.empty() && !choice.refused.empty()) {
    throw file_error(choice.refused[0].reason);
  }
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

structure_choice chosen_structures(structure_options const& options,
                                   files::rt_structure_set const& set) {
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
  structure_choice choice;
  for (auto name = names.begin(); name != names.end(); ++name) {
    bool const is_first = std::find(names.begin(), name, *name) == name;
    try {
      if (is_first || !options.names.empty()) {
        choice.taken.push_back(files::find_structure(options.file, set, *name));
      }
    } catch (file_error const& refusal) {
      if (!options.names.empty()) {
        throw;
      }
      choice.refused.push_back({*name, refusal.what()});
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
  check_taken(choice);
  return choice;
}

void use_structures(structure_options const& options, structure_choice& choice,
                    std::function<void(files::rt_structure const&)> const& use) {
  std::vector<files::rt_structure> used;
  auto const refuse = [&](files::rt_structure const& s, error const& refusal) {
    if (!options.names.empty()) {
      throw;  // what is being handled
    }
    choice.refused.push_back({s.name, refusal.what()});
  };
  for (auto& s : choice.taken) {
    try {
      use(s);
      used.push_back(std::move(s));
    } catch (invalid_argument const& refusal) {
      refuse(s, refusal);
    } catch (file_error const& refusal) {
      refuse(s, refusal);
    }
  }
  choice.taken = std::move(used);
  check_taken(choice);
}

void tell_refused(std::vector<jobs::refused_structure> const& refused, char const* done) {
  for (auto const& [name, reason] : refused) {
    spdlog::warn("'{}' is refused, and the others are {}: {}", files::shortened(name, 64), done,
                 in_terms_of_options(reason));
  }
}

json json_of(std::vector<jobs::refused_structure> const& refused) {
  json list = json::array();
  for (auto const& [name, reason] : refused) {
    list.push_back({{"name", name}, {"reason", in_terms_of_options(reason)}});
  }
  return list;
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
          "'{}' has {} contours and is left out (CLOSED_PLANAR and CLOSEDPLANAR_XOR ones are "
          "read); export it as one of these",
          name, s.other_geometry);
    }
  }
}

void check_frame(structure_options const& options, structure_choice& choice,
                 std::string const& volume, std::optional<std::string> const& frame) {
  // A set may have several frames of reference: each structure says its own.
  auto const& first = choice.taken.front();
  auto const unlike = std::find_if(choice.taken.begin(), choice.taken.end(), [&](auto const& s) {
    return s.frame_of_reference != first.frame_of_reference;
  });
  bool const is_mixed = unlike != choice.taken.end();
  if (frame) {
    use_structures(options, choice, [&](files::rt_structure const& s) {
      auto const name =
          is_mixed ? fmt::format("{}, structure {}", options.file, files::shortened(s.name, 64))
                   : options.file;
      files::check_same_frame(name, s.frame_of_reference, volume, *frame);
    });
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
