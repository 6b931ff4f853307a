// SPDX-License-Identifier: BSD-3-Clause
//! \file  checkpoint.hpp
//! Says what an iterative method's checkpoint belongs to, in the words of the tool: each resumes
//! what the other has written (docs/formats.md).
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
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::python {

/// Names and values, in the order in which they are compared.
using belongings = std::vector<std::pair<std::string, std::string>>;

/// A hash of numbers that iterations depend on.
class fingerprint {
 public:
  void add(double value) { values_.push_back(value); }
  void add(vec3<double> const& v) {
    for (double const x : {v.x, v.y, v.z}) {
      add(x);
    }
  }
  template <class T>
  void add(std::span<T const> numbers) {
    add(std::bit_cast<double>(hash_of(numbers)));
  }
  [[nodiscard]] std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx",
                  static_cast<unsigned long long>(hash_of(std::span<double const>(values_))));
    return digits;
  }

 private:
  template <class T>
  static std::uint64_t hash_of(std::span<T const> numbers) {
    std::uint64_t hash = iso::detail::fnv1a_of_nothing;
    for (auto const byte : std::as_bytes(numbers)) {
      hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(byte));
    }
    return hash;
  }

  std::vector<double> values_;
};

inline ct::iterative_method method_named(ct::sart_options const& o) {
  using method = ct::iterative_method;
  return o.block_views == 0 ? method::sirt : o.block_views == 1 ? method::sart : method::os_sart;
}
inline ct::iterative_method method_named(ct::mlem_options const& o) {
  return o.block_views == 0 ? ct::iterative_method::mlem : ct::iterative_method::osem;
}
inline ct::iterative_method method_named(ct::cgls_options const& /*unused*/) {
  return ct::iterative_method::cgls;
}
inline ct::iterative_method method_named(ct::lsqr_options const& /*unused*/) {
  return ct::iterative_method::lsqr;
}
inline ct::iterative_method method_named(ct::total_variation_options const& /*unused*/) {
  return ct::iterative_method::tv;
}

namespace detail_checkpoint {

/// The visitor of `describe` that tells every field that a method takes.
struct field_teller {
  ct::iterative_method method;
  belongings& all;
  char const* suffix = "";

  void operator()(auto const&, hidden_field const&) const {}
  template <class T>
  void operator()(T const& x, field const& f) const {
    if constexpr (described<T const>) {
      describe(field_teller{method, all, std::is_same_v<T, ct::value_range> ? " bound" : ""}, x);
    } else if (ct::takes_field(method, f.name)) {
      std::string name(f.name);
      std::ranges::replace(name, '-', ' ');
      name += suffix;
      if constexpr (worded<T>) {
        all.emplace_back(name, to_word(x));
      } else if (std::isfinite(double(x))) {
        all.emplace_back(name, message("{}", {iso::detail::as_message_arg(x)}));
      } else {
        // A side of the box that is not given.
        all.emplace_back(name, method == ct::iterative_method::tv ? "from the data" : "none");
      }
    }
  }
};

}  // namespace detail_checkpoint

/// The arrays that a method was given. Those of the tool's files are floats.
template <class T>
struct given_arrays {
  std::span<T const> readings;
  std::span<T const> reading_mask;
  std::span<T const> start;
  std::span<T const> voxel_mask;
};

/// Returns what a checkpoint belongs to.
template <class T, class Options>
belongings belongings_of(Options const& options, ct::geometry const& g, grid const& box,
                         given_arrays<T> const& given) {
  auto const add_floats = [](fingerprint& print, std::span<T const> numbers) {
    std::vector<float> const floats(numbers.begin(), numbers.end());
    print.add(std::span<float const>(floats));
  };
  fingerprint scan;
  scan.add(g.kind() == ct::beam::cone ? 0 : 1);
  for (auto const& view : g.views()) {
    for (auto const& v : {view.source, view.detector_origin, view.u_step, view.v_step}) {
      scan.add(v);
    }
  }
  scan.add(double(g.num_u()));
  scan.add(double(g.num_v()));
  scan.add(given.readings);
  add_floats(scan, given.reading_mask);
  fingerprint volume;
  for (auto const n : box.extent) {
    volume.add(double(n));
  }
  volume.add(box.spacing);
  volume.add(box.origin);
  add_floats(volume, given.start);
  add_floats(volume, given.voxel_mask);
  auto const method = method_named(options);
  belongings all{{"method", std::string(to_word(method))},
                 {"precision", std::string(to_word(precision_of<T>))},
                 {"scan", scan.text()},
                 {"volume", volume.text()}};
  describe(detail_checkpoint::field_teller{method, all}, options);
  return all;
}

}  // namespace iso::python
