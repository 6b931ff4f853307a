// SPDX-License-Identifier: BSD-3-Clause
// What isocenter.verify() needs to make the inputs of the library's own test of bits.
#include "arrays.hpp"
#include "treatment.hpp"

#include <iso/core/check.hpp>
#include <iso/core/math.hpp>

#include <nanobind/stl/string.h>

#include <string>
#include <vector>

namespace iso::python {

namespace {

/// Returns the library's own function of each number, which is the same everywhere; NumPy's is not.
nb::object elementary(std::string const& function, any_object numbers) {
  lent_array const a = borrow(numbers, {"elementary", "numbers", false, true}, false);
  bool const logarithms = function == "log";
  ISO_VALIDATE(a.rank == 1 && (a.type == element::f32 || a.type == element::f64) &&
                   (logarithms || function == "exp"),
               "elementary: {} of {} axes (exp and log of one are known); give such an array",
               function, a.rank);
  return by_type(a.type == element::f64, [&]<class T>() {
    std::vector<T> values;
    for (std::int64_t i = 0; i < a.size(); ++i) {
      T const x = reinterpret_cast<T const*>(a.data)[i];
      values.push_back(logarithms ? math::log(x) : math::exp(x));
    }
    std::size_t const count = values.size();
    return numpy_of(std::move(values), {count});
  });
}

}  // namespace

void bind_verify(nb::module_& m) { m.def("elementary", elementary); }

}  // namespace iso::python
