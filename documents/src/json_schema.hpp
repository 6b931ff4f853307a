// SPDX-License-Identifier: BSD-3-Clause
//! Checks JSON documents against a JSON schema, with errors that name the field.
#pragma once

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>

namespace iso::files::detail {

/// Returns what a part of a schema says of itself.
std::string description(nlohmann::json const& schema);

/// Throws iso::file_error, with `name` as the file's, at the first place of `document` that does
/// not fit: its field, what stands there, and the schema's description of what was expected.
/// `schema` has its parts under /definitions.
void check_schema(std::string const& name, nlohmann::json const& schema,
                  nlohmann::json const& document);

/// Makes 4.0 an integer, as it is to JSON Schema but not to the validator, where `pointers` lead.
void write_integers(nlohmann::json& document, std::initializer_list<char const*> pointers);

}  // namespace iso::files::detail
