// SPDX-License-Identifier: BSD-3-Clause
//! Parses JSON text to a document, with errors that name the field.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace iso::files::detail {

/// Returns the document of `text`, in time proportional to its length. Throws iso::file_error, with
/// `name` as the file's, where it is not JSON, nests too deep, has a number that is none of a
/// double's, or a field stands twice in one object.
nlohmann::json parse_json(std::string_view text, std::string const& name);

/// Appends a field's name to `pointer` by the rules of RFC 6901: "/" in a name is "~1".
std::string pointer_to(std::string pointer, std::string_view field);

}  // namespace iso::files::detail
