// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "json_schema.hpp"
#include "sweep_schema.hpp"

#include <iso/core/detail/fnv1a.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_file.hpp>

#include <fmt/core.h>

#include <cmath>

namespace iso::files {
namespace {

using nlohmann::json;

/// To JSON Schema 1e6 is an integer, to the validator only 1000000 is.
void write_whole_numbers(json& value) {
  if (value.is_structured()) {
    for (auto& one : value) {
      write_whole_numbers(one);
    }
  } else if (value.is_number_float()) {
    auto const number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) < 1e15) {
      value = std::int64_t(number);
    }
  }
}

/// FNV-1a: the same text gives the same digest on every machine.
std::string digest_of(std::string_view text) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  for (char const c : text) {
    hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(c));
  }
  return fmt::format("{:016x}", hash);
}

sweep_set read_set(json const& node) {
  sweep_set set;
  set.operations = node.at("operations").get<std::vector<std::string>>();
  set.sizes = node.at("sizes").get<std::vector<std::int64_t>>();
  set.precisions = node.value("precisions", set.precisions);
  set.backends = node.value("backends", set.backends);
  set.threads = node.value("threads", set.threads);
  set.groups_per_launch = node.value("groups_per_launch", set.groups_per_launch);
  return set;
}

}  // namespace

std::string_view sweep_schema() { return detail::sweep_schema_text; }

sweep_description parse_sweep(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'sets'); write one");
  }
  write_whole_numbers(document);
  detail::check_schema(name, json::parse(sweep_schema()), document);
  document.erase("comment");
  for (auto& set : document.at("sets")) {
    set.erase("comment");
  }
  sweep_description sweep;
  sweep.rounds = document.value("rounds", sweep.rounds);
  sweep.repeats = document.value("repeats", sweep.repeats);
  sweep.seconds = document.value("seconds", sweep.seconds);
  for (auto const& set : document.at("sets")) {
    sweep.sets.push_back(read_set(set));
  }
  sweep.digest = digest_of(document.dump());
  return sweep;
}

sweep_description read_sweep(std::filesystem::path const& path) {
  return parse_sweep(read_text(path, std::size_t(1) << 24), path.string());
}

}  // namespace iso::files
