// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint belongs to every field of the options of its method that changes a bit.
#include <iso/ct/detail/checkpoint_belongings.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace {

struct name_reader {
  std::vector<std::string>& all;
  void operator()(auto const&, iso::hidden_field const&) const {}
  template <class T>
  void operator()(T const& x, iso::field const& f) const {
    if constexpr (iso::described<T const>) {
      describe(*this, x);
    } else {
      all.emplace_back(f.name);
    }
  }
};

}  // namespace

TEST_CASE("checkpoint: belongs to every field that a method takes") {
  using namespace iso::ct;
  for (auto const& w : words(iterative_method())) {
    auto const method = w.value;
    CAPTURE(w.text);
    std::vector<std::string> names;
    std::vector<std::pair<std::string, std::string>> told;
    std::visit(
        [&](auto const& options) {
          describe(name_reader{names}, options);
          describe(iso::ct::detail::field_teller{method, told}, options);
        },
        default_options(method, 1));
    for (auto const& name : names) {
      CAPTURE(name);
      auto said = name;
      std::replace(said.begin(), said.end(), '-', ' ');
      bool const is_told = std::any_of(told.begin(), told.end(), [&](auto const& one) {
        return one.first == said || one.first == said + " bound";
      });
      CHECK(is_told == takes_field(method, name));
    }
    CHECK(told.size() > 2);
  }
}
