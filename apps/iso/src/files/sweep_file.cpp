// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"
#include "json_schema.hpp"

#include <iso/core/detail/fnv1a.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/sweep_file.hpp>

#include <fmt/core.h>

namespace iso::files {
namespace {

using nlohmann::json;

/// FNV-1a: the same text gives the same digest on every machine.
std::string digest_of(std::string_view text) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  for (char const c : text) {
    hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(c));
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace

std::string sweep_schema() {
  sweep_description const nothing;
  return detail::make_schema(nothing, "Isocenter sweep", "What iso sweep measures.").dump(2);
}

sweep_description parse_sweep(std::string_view text, std::string const& name) {
  json document = detail::parse_json(text, name);
  if (!document.is_object()) {
    detail::refuse(
        name, "field / is not an object (expected: a JSON object with a field 'sets'); write one");
  }
  auto const schema = json::parse(sweep_schema());
  detail::write_integers(document, schema);
  detail::check_schema(name, schema, document);
  sweep_description sweep;
  get_fields(document, sweep);
  json said = json::object();
  put_fields(said, sweep, [](field const& f) { return f.name != "comment"; });
  sweep.digest = digest_of(said.dump());
  return sweep;
}

sweep_description read_sweep(std::filesystem::path const& path) {
  return parse_sweep(read_text(path, std::size_t(1) << 24), path.string());
}

}  // namespace iso::files
