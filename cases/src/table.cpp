// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/catalogue.hpp>

#include <iso/core/check.hpp>

#include <algorithm>

namespace iso::cases {
namespace {

double bytes_of(number_type precision) {
  return precision == number_type::f64 ? 8 : precision == number_type::f32 ? 4 : 2;
}

std::string list(std::vector<std::string_view> const& names) {
  std::string text;
  for (auto const& name : names) {
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

}  // namespace

catalogue const& all_cases() {
  static catalogue const all = [] {
    catalogue made;
    for (auto const add : {add_loops, add_core, add_projections, add_back_projections, add_readings,
                           add_reconstructions, add_iterations, add_dose, add_dvh, add_gamma,
                           add_rays, add_matrices, add_products}) {
      add(made);
    }
    return made;
  }();
  return all;
}

std::vector<sized_operation> const& sized_operations() { return all_cases().sized; }

sized_operation const& sized_operation_named(std::string_view name) {
  auto const& all = sized_operations();
  auto const found = std::find_if(all.begin(), all.end(),
                                  [&](sized_operation const& o) { return o.name == name; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (auto const& o : all) {
      names.push_back(o.name);
    }
    fail_argument("operation '{}' is not known (there are {}); choose one of those", name,
                  list(names));
  }
  return *found;
}

void validate(point const& p) {
  auto const& o = sized_operation_named(p.operation);
  std::vector<std::string_view> precisions;
  for (auto const precision : o.precisions) {
    precisions.push_back(to_word(precision));
  }
  ISO_VALIDATE(
      std::find(o.precisions.begin(), o.precisions.end(), p.precision) != o.precisions.end(),
      "{} in {} cannot be measured (it runs in {}); choose one of those", p.operation,
      to_word(p.precision), list(precisions));
  bool const in_steps = o.size != kibibytes || p.size % 16 == 0;
  ISO_VALIDATE(
      p.size >= o.smallest && p.size <= o.largest && in_steps,
      "{} of size {} cannot be measured (its size counts {}, from {} to {}); choose another",
      p.operation, p.size, o.size, o.smallest, o.largest);
  ISO_VALIDATE(
      p.groups_per_launch >= 0 && (p.groups_per_launch == 0 || o.shape == shapes::any),
      "{} with {} groups a launch cannot be measured (it has one launch shape); leave it at 0",
      p.operation, p.groups_per_launch);
}

double bytes_needed(point const& p) {
  auto const& o = sized_operation_named(p.operation);
  return bytes_of(p.precision) * o.numbers(double(p.size)) + o.extra_bytes(double(p.size));
}

double num_steps(point const& p) {
  return sized_operation_named(p.operation).steps(double(p.size));
}

}  // namespace iso::cases
