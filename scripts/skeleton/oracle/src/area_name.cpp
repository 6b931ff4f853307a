// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/area_name.hpp>

namespace iso::oracle {

std::vector<double> scaled(std::vector<double> numbers, double factor) {
  for (double& x : numbers) {
    x *= factor;
  }
  return numbers;
}

}  // namespace iso::oracle
