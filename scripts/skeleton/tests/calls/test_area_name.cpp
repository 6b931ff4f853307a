// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"

#include <iso/area_name/area_name.hpp>

TEST_CASE("area_name") {
  calls::exec_space const exec;
  iso::grid const cube = iso::grid::centred({8, 8, 8}, {1, 1, 1});
  iso::area_name::scale(exec, calls::volume_of(cube, 1), calls::volume_of(cube, 0), {.factor = 2});
  exec.fence("calls");
}
