// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/ct/detail/checkpoint_belongings.hpp
//! Says what an iterative method's checkpoint belongs to: the tool and the Python package resume
//! each other's (docs/formats.md).
#pragma once

#include <iso/core/check.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/grid.hpp>
#include <iso/ct/geometry.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/model/describe.hpp>
#include <iso/model/number_type.hpp>
#include <iso/model/word.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::ct::detail {

/// Names and values, in the order in which they are compared.
using belongings = std::vector<std::pair<std::string, std::string>>;

/// A hash of numbers that iterations depend on: a checkpoint of others is refused.
class number_print {
 public:
  void add(double value) { values_.push_back(value); }
  void add(vec3<double> const& v) {
    for (double const x : {v.x, v.y, v.z}) {
      add(x);
    }
  }
  /// Adds an array by its hash.
  void add_hash(std::uint64_t hash) { add(std::bit_cast<double>(hash)); }
  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(hash_of(std::span<double const>(values_))));
    return digits;
  }

  template <class T>
  static std::uint64_t hash_of(std::span<T const> numbers) {
    std::uint64_t hash = iso::detail::fnv1a_of_nothing;
    for (std::byte const byte : std::as_bytes(numbers)) {
      hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(byte));
    }
    return hash;
  }

 private:
  std::vector<double> values_;
};

/// The visitor of `describe` that tells every field that a method takes.
struct field_teller {
  iterative_method method;
  belongings& all;
  char const* suffix = "";

  void operator()(auto const&, hidden_field const&) const {}
  template <class T>
  void operator()(T const& x, field const& f) const {
    if constexpr (described<T const>) {
      describe(field_teller{method, all, std::is_same_v<T, value_range> ? " bound" : ""}, x);
    } else if (takes_field(method, f.name)) {
      std::string name(f.name);
      std::replace(name.begin(), name.end(), '-', ' ');
      name += suffix;
      if constexpr (worded<T>) {
        all.emplace_back(name, to_word(x));
      } else if (std::isfinite(double(x))) {
        all.emplace_back(name, message("{}", {iso::detail::as_message_arg(x)}));
      } else {
        // A side of the box that is not given.
        all.emplace_back(name, method == iterative_method::tv ? "from the data" : "none");
      }
    }
  }
};

/// The arrays that a method was given; masks and start are empty where there are none. Those of
/// files are floats.
template <class T>
struct given_arrays {
  std::span<T const> readings;
  std::span<float const> reading_mask;
  std::span<float const> start;
  std::span<float const> voxel_mask;
};

/// The hashes of the same arrays by number_print::hash_of, where no process has the whole ones.
struct given_hashes {
  std::uint64_t readings = iso::detail::fnv1a_of_nothing;
  std::uint64_t reading_mask = iso::detail::fnv1a_of_nothing;
  std::uint64_t start = iso::detail::fnv1a_of_nothing;
  std::uint64_t voxel_mask = iso::detail::fnv1a_of_nothing;
};

/// Returns what a checkpoint belongs to. How often an iteration runs, and where, changes no bit.
template <class T, class Options>
belongings belongings_of(iterative_method method, Options const& options, geometry const& g,
                         iso::grid const& box, given_hashes const& given) {
  number_print scan;
  scan.add(g.kind() == beam::cone ? 0.0 : 1.0);
  for (view_vectors const& view : g.views()) {
    for (vec3<double> const& v : {view.source, view.detector_origin, view.u_step, view.v_step}) {
      scan.add(v);
    }
  }
  scan.add(double(g.num_u()));
  scan.add(double(g.num_v()));
  scan.add_hash(given.readings);
  scan.add_hash(given.reading_mask);
  number_print volume;
  for (auto const n : box.extent) {
    volume.add(double(n));
  }
  volume.add(box.spacing);
  volume.add(box.origin);
  volume.add_hash(given.start);
  volume.add_hash(given.voxel_mask);
  belongings all{{"method", std::string(to_word(method))},
                 {"precision", std::string(to_word(precision_of<T>))},
                 {"scan", scan.text()},
                 {"volume", volume.text()}};
  describe(field_teller{method, all}, options);
  return all;
}
template <class T, class Options>
belongings belongings_of(iterative_method method, Options const& options, geometry const& g,
                         iso::grid const& box, given_arrays<T> const& given) {
  return belongings_of<T>(
      method, options, g, box,
      given_hashes{number_print::hash_of(given.readings), number_print::hash_of(given.reading_mask),
                   number_print::hash_of(given.start), number_print::hash_of(given.voxel_mask)});
}

}  // namespace iso::ct::detail
