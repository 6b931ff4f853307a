// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/model/word.hpp
//! Names the values of an enumeration once, for options of a command line, files and messages.
//!
//! An enumeration has a function beside it, found by its argument, with its words in the order of
//! its values: `constexpr auto words(interpolation)`, a std::array of `word`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace iso {

/// A word of an enumeration.
template <class E>
struct word {
  E value;
  std::string_view text;
};
template <class E>
word(E, char const*) -> word<E>;

template <class E>
concept worded = std::is_enum_v<E> && requires { words(E{}); };

/// Returns the word of `value`; empty where it is none of its enumeration.
/// Determinism: backend_to_backend; made on the host.
template <worded E>
constexpr std::string_view to_word(E value) {
  for (auto const& w : words(E{})) {
    if (w.value == value) {
      return w.text;
    }
  }
  return {};
}

/// Returns the value that `text` names, in any case.
/// Determinism: backend_to_backend; made on the host.
template <worded E>
constexpr std::optional<E> from_word(std::string_view text) {
  auto const small = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  for (auto const& w : words(E{})) {
    bool same = w.text.size() == text.size();
    for (std::size_t i = 0; same && i < text.size(); ++i) {
      same = small(w.text[i]) == small(text[i]);
    }
    if (same) {
      return w.value;
    }
  }
  return {};
}

/// Returns the words of an enumeration, in the order of its values.
/// Determinism: backend_to_backend; made on the host.
template <worded E>
std::vector<std::string> texts_of() {
  std::vector<std::string> texts;
  for (auto const& w : words(E{})) {
    texts.emplace_back(w.text);
  }
  return texts;
}

/// Returns all words of an enumeration, with ", " between them.
/// Determinism: backend_to_backend; made on the host.
template <worded E>
std::string all_words() {
  std::string all;
  for (auto const& w : words(E{})) {
    all.append(all.empty() ? "" : ", ").append(w.text);
  }
  return all;
}

}  // namespace iso
