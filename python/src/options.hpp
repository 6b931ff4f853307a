// SPDX-License-Identifier: BSD-3-Clause
//! \file  options.hpp
//! Reads options of model/ from keyword arguments, by their `describe`: what is described there is
//! a keyword here, in the library's unit (mm, rad, 1/mm).
#pragma once

#include <iso/core/check.hpp>
#include <iso/model/describe.hpp>
#include <iso/model/word.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::python {

namespace nb = nanobind;

/// Returns the keyword of a field.
inline std::string keyword_of(field const& f) {
  std::string name(f.name);
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Reads a value of one field. The GIL is held.
/// \throws iso::invalid_argument  a word that is none of the enumeration
/// \throws nb::python_error       TypeError
template <class T>
void read_value(nb::handle from, T& value, std::string const& keyword, char const* function) {
  auto const refuse = [&](char const* wanted) {
    auto const type = nb::cast<std::string>(nb::handle(from.type()).attr("__name__"));
    std::string const text = iso::message("{}: {} is of type {} ({} is needed); give one",
                                          {std::string_view(function), std::string_view(keyword),
                                           std::string_view(type), std::string_view(wanted)});
    PyErr_SetString(PyExc_TypeError, text.c_str());
    throw nb::python_error();
  };
  if constexpr (requires { value.has_value(); }) {
    if (from.is_none()) {
      value.reset();
      return;
    }
    typename T::value_type some{};
    read_value(from, some, keyword, function);
    value = some;
  } else if constexpr (worded<T>) {
    std::string_view word;
    if (!nb::try_cast(from, word)) {
      refuse("a word");
    }
    auto const found = from_word<T>(word);
    ISO_VALIDATE(found.has_value(), "{}: {} is '{}' (there are: {}); choose one of those", function,
                 keyword, word, all_words<T>());
    value = *found;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (PyBool_Check(from.ptr()) == 0) {
      refuse("True or False");
    }
    value = from.ptr() == Py_True;
  } else if constexpr (std::is_integral_v<T>) {
    if (PyBool_Check(from.ptr()) != 0 || PyIndex_Check(from.ptr()) == 0) {
      refuse("an integer");
    }
    nb::object const number = nb::steal(PyNumber_Index(from.ptr()));
    if (!number.is_valid() || !nb::try_cast(number, value)) {
      PyErr_Clear();
      fail_argument("{}: {} does not fit (it is beyond {} bits); give a smaller number", function,
                    keyword, int(8 * sizeof(T)));
    }
  } else {
    double const number = PyFloat_AsDouble(from.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      refuse("a number");
    }
    value = T(number);
  }
}

namespace detail_options {

/// The visitor of `describe` that reads fields whose keywords are given.
struct reader {
  nb::dict left;
  char const* function;
  std::vector<std::string>* known;

  template <class T>
  void operator()(T& value, hidden_field const&) const {
    static_cast<void>(value);
  }
  template <class T>
  void operator()(T& value, field const& f) const {
    if constexpr (described<T>) {
      describe(*this, value);
    } else if constexpr (requires { read_value(nb::handle(), value, std::string(), ""); }) {
      std::string const keyword = keyword_of(f);
      known->push_back(keyword);
      nb::str const key(keyword.c_str());
      if (left.contains(key)) {
        read_value(nb::handle(left[key]), value, keyword, function);
        PyDict_DelItem(left.ptr(), key.ptr());
      }
    }
  }
};

}  // namespace detail_options

/// Reads what is given of the options `x` and takes it out of `left`; appends the keywords to
/// `known`. The GIL is held.
template <described T>
void read_options(T& x, nb::dict left, char const* function, std::vector<std::string>& known) {
  detail_options::reader const visit{left, function, &known};
  describe(visit, x);
}

/// Raises TypeError where keywords are left that nothing knows.
void refuse_unknown(nb::dict left, char const* function, std::vector<std::string> const& known);

/// Reads options from a dictionary of keywords, which is copied, and refuses unknown ones. `others`
/// is called with the copy, for keywords beside the described ones.
template <described T>
T options_of(nb::dict keywords, char const* function, T x = {}) {
  nb::dict const left = nb::steal<nb::dict>(PyDict_Copy(keywords.ptr()));
  std::vector<std::string> known;
  read_options(x, left, function, known);
  refuse_unknown(left, function, known);
  return x;
}

/// Returns the fields of options for the generator of Python's typed dictionaries: (keyword, type,
/// words, default, what it says).
template <described T>
nb::list fields_of();

namespace detail_options {

/// The visitor of `describe` that lists fields.
struct lister {
  mutable nb::list list;

  template <class T>
  void operator()(T&, hidden_field const&) const {}
  template <class T>
  void operator()(T& value, field const& f) const {
    if constexpr (described<T>) {
      describe(*this, value);
    } else {
      add(value, f);
    }
  }

  template <class T>
  void add(T const& value, field const& f) const {
    nb::dict entry;
    entry["keyword"] = keyword_of(f);
    entry["says"] = std::string(f.says);
    entry["none"] = false;
    put(entry, value);
    list.append(entry);
  }

  template <class T>
  static void put(nb::dict entry, T const& value) {
    if constexpr (requires { value.has_value(); }) {
      put(entry, typename T::value_type{});
      entry["none"] = true;
      entry["default"] = nb::none();
    } else if constexpr (worded<T>) {
      entry["type"] = "word";
      nb::list words;
      for (auto const& text : texts_of<T>()) {
        words.append(text);
      }
      entry["words"] = words;
      entry["default"] = std::string(to_word(value));
    } else if constexpr (std::is_same_v<T, bool>) {
      entry["type"] = "bool";
      entry["default"] = value;
    } else if constexpr (std::is_integral_v<T>) {
      entry["type"] = "int";
      entry["default"] = std::int64_t(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      entry["type"] = "float";
      entry["default"] = double(value);
    }
  }
};

}  // namespace detail_options

template <described T>
nb::list fields_of() {
  detail_options::lister const visit{};
  T x{};
  describe(visit, x);
  return visit.list;
}

}  // namespace iso::python
