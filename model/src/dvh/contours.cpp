// SPDX-License-Identifier: BSD-3-Clause
#include <iso/dvh/contours.hpp>

#include <iso/core/check.hpp>

namespace iso::dvh {

structure const& structure_named(std::vector<structure> const& all, std::string_view name) {
  char const* const function = "iso::dvh::structure_named";
  structure const* found = nullptr;
  std::string names;
  for (auto const& s : all) {
    names += (names.empty() ? "'" : ", '") + s.name + "'";
    if (s.name == name) {
      ISO_VALIDATE(found == nullptr,
                   "{}: two structures are called '{}' (which one is meant?); rename one of them",
                   function, name);
      found = &s;
    }
  }
  ISO_VALIDATE(found != nullptr, "{}: there is no structure '{}' ({}); choose another name",
               function, name, names.empty() ? "there are none" : "there are " + names);
  return *found;
}

}  // namespace iso::dvh
