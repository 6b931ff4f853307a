// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"
#include "call.hpp"
#include "geometry.hpp"
#include "options.hpp"
#include "projection.hpp"
#include "ranks.hpp"
#include "reconstruction.hpp"
#include "treatment.hpp"

namespace iso::python {

void refuse_unknown(nb::dict left, char const* function, std::vector<std::string> const& known) {
  if (left.size() == 0) {
    return;
  }
  std::string all;
  for (auto const& name : known) {
    all += (all.empty() ? "" : ", ") + name;
  }
  std::string const first = nb::cast<std::string>(nb::str((*left.begin()).first));
  std::string const text =
      iso::message("{}: {} is no option (there are: {}); choose one of those",
                   {std::string_view(function), std::string_view(first), std::string_view(all)});
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

}  // namespace iso::python

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);
  m.attr("fields") = nanobind::dict();
  iso::python::bind_call(m);
  iso::python::bind_arrays(m);
  iso::python::bind_geometry(m);
  iso::python::bind_projection(m);
  iso::python::bind_fdk(m);
  iso::python::bind_ranks(m);
  iso::python::bind_iterative(m);
  iso::python::bind_readings(m);
  iso::python::bind_gamma(m);
  iso::python::bind_dvh(m);
  iso::python::bind_matrix(m);
  iso::python::bind_dose(m);
  iso::python::bind_verify(m);
}
