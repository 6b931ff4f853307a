// SPDX-License-Identifier: BSD-3-Clause
//! \file  peers/serve.hpp
//! Holds what Isocenter's sides of the comparisons say to the scripts, as worker.py describes.
#pragma once

#include "support/program.hpp"

#include <iostream>
#include <stdexcept>
#include <string>

namespace iso::perf {

/// Says that the work is ready, with `more`, and obeys the lines of the standard input: `write
/// PATH` by write(path), which returns a count, `time K` by timed(k), which returns JSON.
template <class Write, class Timed>
void serve(json const& more, Write const& write, Timed const& timed) {
  json ready{{"ready", true}, {"name", "Isocenter"}, {"version", "0.1.0"}};
  ready.update(more);
  std::cout << ready << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    auto const space = line.find(' ');
    auto const order = line.substr(0, space);
    auto const argument = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (order == "write") {
      std::cout << json{{"written", write(argument)}} << std::endl;
    } else if (order == "time") {
      std::cout << timed(std::stoi(argument)) << std::endl;
    } else {
      throw std::invalid_argument("order '" + order + "' (one of write, time)");
    }
  }
}

}  // namespace iso::perf
