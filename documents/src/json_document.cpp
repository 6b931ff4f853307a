// SPDX-License-Identifier: BSD-3-Clause
#include "json_document.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <limits>
#include <utility>
#include <vector>

namespace iso::files::detail {
namespace {

using nlohmann::json;

// Reading, printing and freeing what is nested take the stack.
constexpr std::size_t deepest_nesting = 32;
constexpr std::size_t max_shown = 200;  // bytes of a name or value in a message

// "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while parsing
// value
// - ...": without the prefix of the parser's own, and without its grammar.
std::string plain_sentence(std::string text) {
  auto const drop = [&](std::string_view from, std::string_view to) {
    auto const begin = text.find(from);
    auto const end = begin == std::string::npos ? begin : text.find(to, begin);
    if (end != std::string::npos) {
      text.erase(begin, end + to.size() - begin);
    }
  };
  drop("[json.exception.", "] ");
  drop("parse error at ", " at ");
  drop("syntax error ", " - ");
  return text;
}

// A taker of what the parser reads, piece by piece. The library's own builder with a callback looks
// through a whole list after each of its objects.
class builder final : public nlohmann::json_sax<json> {
 public:
  explicit builder(std::string const& name) : name_(name) {}
  json take() { return std::move(document_); }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(std::int64_t value) override { return put(value); }
  bool number_unsigned(std::uint64_t value) override {
    // The validator holds whole numbers in 64 bits with a sign.
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    return value <= most ? put(value) : put(double(value));
  }
  bool number_float(double value, std::string const& /*digits*/) override { return put(value); }
  bool string(std::string& value) override { return put(std::move(value)); }
  bool binary(json::binary_t& value) override { return put(std::move(value)); }
  bool start_object(std::size_t /*members*/) override { return open(json::object()); }
  bool start_array(std::size_t /*elements*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& field) override {
    auto& innermost = open_.back();
    innermost.field = field;
    if (innermost.value->contains(field)) {
      refuse(name_,
             fmt::format("field {} stands there twice (which one counts is not known); leave one",
                         pointer()));
    }
    return true;
  }

  bool parse_error(std::size_t /*position*/, std::string const& /*token*/,
                   json::exception const& failure) override {
    auto const sentence = shortened(plain_sentence(failure.what()), max_shown);
    if (dynamic_cast<json::out_of_range const*>(&failure) != nullptr) {
      refuse(name_,
             fmt::format("field {} is no number that a computer can hold ({}); write a smaller one",
                         pointer(), sentence));
    }
    refuse(name_, fmt::format("is not JSON ({}); correct it there", sentence));
  }

 private:
  // An object or a list around the present place.
  struct level {
    json* value;
    std::string field;  ///< of an object: the one being read
  };

  json& place(json value) {
    if (open_.empty()) {
      return document_ = std::move(value);
    }
    auto& [around, field] = open_.back();
    if (around->is_array()) {
      around->push_back(std::move(value));
      return around->back();
    }
    return (*around)[field] = std::move(value);
  }
  bool put(json value) {
    place(std::move(value));
    return true;
  }
  bool open(json empty) {
    if (open_.size() >= deepest_nesting) {
      refuse(name_, fmt::format("nests deeper than {} objects and lists (no file of this program "
                                "does); check that this is the file you mean",
                                deepest_nesting));
    }
    open_.push_back({&place(std::move(empty)), {}});
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  [[nodiscard]] std::string pointer() const {
    std::string text;
    for (auto const& one : open_) {
      // A list holds the level within it already, the value that is being read not yet.
      auto const index = one.value->size() - (&one == &open_.back() ? 0 : 1);
      text = pointer_to(std::move(text), one.value->is_array() ? std::to_string(index) : one.field);
    }
    return shortened(text, max_shown);
  }

  std::string const& name_;
  json document_;
  std::vector<level> open_;
};

}  // namespace

std::string pointer_to(std::string pointer, std::string_view field) {
  pointer += '/';
  for (char const letter : field) {
    letter == '~' ? pointer += "~0" : letter == '/' ? pointer += "~1" : pointer += letter;
  }
  return pointer;
}

json parse_json(std::string_view text, std::string const& name) {
  // The parser takes a zero byte for the end.
  if (auto const at = text.find('\0'); at != std::string_view::npos) {
    refuse(name, fmt::format("is not JSON (byte {} is zero); write it again as text", at));
  }
  builder document(name);
  json::sax_parse(text, &document);
  return document.take();
}

}  // namespace iso::files::detail
