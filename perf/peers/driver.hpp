// SPDX-License-Identifier: BSD-3-Clause
//! \file  peers/driver.hpp
//! What Isocenter's sides of the comparisons share: their command line, and what they say to the
//! scripts, as worker.py describes.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace iso::perf {

/// `--name value` pairs.
class arguments {
 public:
  /// `program` stands in the messages.
  arguments(std::string program, int count, char** values) : program_(std::move(program)) {
    for (int i = 1; i + 1 < count; i += 2) {
      std::string const name = values[i];
      if (name.rfind("--", 0) == 0) {
        given_[name.substr(2)] = values[i + 1];
      }
    }
  }
  [[nodiscard]] std::string const& program() const { return program_; }
  [[nodiscard]] std::string text(std::string const& name) const {
    auto const at = given_.find(name);
    if (at == given_.end()) {
      throw std::invalid_argument(program_ + ": --" + name + " is missing");
    }
    return at->second;
  }
  /// One of the names in `from`.
  template <class Value>
  [[nodiscard]] Value one_of(std::string const& name,
                             std::map<std::string, Value> const& from) const {
    auto const at = from.find(text(name));
    if (at == from.end()) {
      std::string known;
      for (auto const& each : from) {
        known += (known.empty() ? "" : ", ") + each.first;
      }
      throw std::invalid_argument(program_ + ": --" + name + " " + text(name) + " (one of " +
                                  known + ")");
    }
    return at->second;
  }
  [[nodiscard]] std::int64_t integer(std::string const& name) const {
    return std::stoll(text(name));
  }
  [[nodiscard]] double number(std::string const& name) const { return std::stod(text(name)); }
  [[nodiscard]] std::vector<std::int64_t> integers(std::string const& name) const {
    std::vector<std::int64_t> all;
    std::istringstream list(text(name));
    for (std::string one; std::getline(list, one, ',');) {
      all.push_back(std::stoll(one));
    }
    return all;
  }

 private:
  std::string program_;
  std::map<std::string, std::string> given_;
};

/// As JSON.
inline std::string list_of(std::vector<double> const& all) {
  std::ostringstream text;
  text.precision(9);
  for (auto const& one : all) {
    text << (&one == all.data() ? "[" : ", ") << one;
  }
  return text.str() + "]";
}

inline void write_floats(std::ofstream& file, float const* from, std::size_t count) {
  file.write(reinterpret_cast<char const*>(from), std::streamsize(count * sizeof(float)));
}

/// Says that the work is ready, and obeys the lines of the standard input: `write PATH` by
/// work.write(path), which returns a count, `time K` by timed(work, k), which returns JSON.
/// \param more  of the first answer, as JSON behind a comma
template <class Work, class Timed>
void serve(arguments const& given, Work const& work, std::string const& more, Timed const& timed) {
  std::cout << R"({"ready": true, "name": "Isocenter", "version": "0.1.0")" << more << "}"
            << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    auto const space = line.find(' ');
    auto const order = line.substr(0, space);
    auto const argument = space == std::string::npos ? std::string{} : line.substr(space + 1);
    if (order == "write") {
      std::cout << "{\"written\": " << work.write(argument) << "}" << std::endl;
    } else if (order == "time") {
      std::cout << timed(work, std::stoll(argument)) << std::endl;
    } else {
      throw std::invalid_argument(given.program() + ": order '" + order + "' (one of write, time)");
    }
  }
}

/// main: `run(given)` within Kokkos; what it throws goes to the standard error.
template <class Run>
int drive(std::string const& program, int argc, char** argv, Run const& run) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  try {
    run(arguments(program, argc, argv));
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace iso::perf
