// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/iterative_options.hpp>

#include <algorithm>
#include <variant>

namespace iso::ct {
namespace {

// Finds a field by its name, also within members that lie flat.
struct finder {
  std::string_view name;
  bool* found;

  void operator()(auto const& x, field const& f) const {
    if constexpr (described<decltype(x)>) {
      describe(*this, x);
    } else {
      *found = *found || f.name == name;
    }
  }
};

bool has_blocks(iterative_method method) {
  return method == iterative_method::sart || method == iterative_method::os_sart ||
         method == iterative_method::osem;
}

}  // namespace

iterative_options default_options(iterative_method method, std::int64_t num_views) {
  using enum iterative_method;
  std::int64_t const some = std::min<std::int64_t>(8, num_views);
  switch (method) {
    case sirt:
      return sart_options{};
    case sart:
      return sart_options{.block_views = 1};
    case os_sart:
      return sart_options{.block_views = some};
    case cgls:
      return cgls_options{};
    case lsqr:
      return lsqr_options{};
    case mlem:
      return mlem_options{};
    case osem:
      return mlem_options{.block_views = some};
    case tv:
      return total_variation_options{};
  }
  fail_argument("iso::ct::default_options: method {} (none of the enumeration); choose one of {}",
                int(method), all_words<iterative_method>());
}

stopping_rules default_rules(iterative_method method) {
  stopping_rules rules;
  if (method == iterative_method::tv) {
    rules.iterations = 1000;
    rules.gap = 1e-3;
  }
  return rules;
}

bool takes_field(iterative_method method, std::string_view name) {
  using enum iterative_method;
  if (name == "block") {
    return method == os_sart || method == osem;
  }
  if (name == "order") {
    return has_blocks(method);
  }
  if (name == "column-sums") {
    return method == sart || method == os_sart;
  }
  if (name == "stop-gap") {
    return method == tv;
  }
  bool found = false;
  std::visit([&](auto const& options) { describe(finder{name, &found}, options); },
             default_options(method, 1));
  stopping_rules const rules;
  describe(finder{name, &found}, rules);
  return found;
}

bool tells_residual_before(iterative_method method) {
  using enum iterative_method;
  return method != cgls && method != lsqr && method != tv;
}

}  // namespace iso::ct
