// SPDX-License-Identifier: BSD-3-Clause
//! \file  support/program.hpp
//! Holds what scripts' programs share: a command line, files of float32, answers in JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace iso::perf {

using json = nlohmann::ordered_json;

/// Calls run() within Kokkos; returns main's status. What run() throws goes to the standard error.
template <class Run>
int status_of(CLI::App const& app, Run const& run) {
  try {
    Kokkos::ScopeGuard const kokkos;
    run();
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), failure.what());
    return 1;
  }
  return 0;
}

/// Is main of `app`: reads the command line, then calls run() within Kokkos.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, Run const& run) {
  CLI11_PARSE(app, argc, argv);
  return status_of(app, run);
}

/// Is main of `app`, whose options are members of `s`. With --lines alone, reads command lines from
/// the standard input, one a line, and answers each before the next: Kokkos and the device are set
/// up once for all.
template <class Settings, class Run>
int run_lines(CLI::App& app, int argc, char** argv, Settings& s, Run const& run) {
  if (argc != 2 || std::string(argv[1]) != "--lines") {
    return run_program(app, argc, argv, run);
  }
  return status_of(app, [&] {
    for (std::string line; std::getline(std::cin, line);) {
      s = {};
      app.parse(line);
      run();
      std::cout.flush();
    }
  });
}

inline std::string read_text(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw std::runtime_error("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Reads `count` float32, which are all of the file.
inline std::vector<float> read_floats(std::string const& path, std::int64_t count) {
  std::vector<float> values(std::size_t(count), 0.0F);
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  auto const bytes = std::streamsize(values.size() * sizeof(float));
  if (!file || std::streamsize(file.tellg()) != bytes) {
    throw std::runtime_error(path + ": not " + std::to_string(bytes) + " bytes that can be read");
  }
  file.seekg(0).read(reinterpret_cast<char*>(values.data()), bytes);
  return values;
}

/// Writes them as float32.
template <class T>
void write_floats(std::string const& path, std::vector<T> const& numbers) {
  std::vector<float> const values(numbers.begin(), numbers.end());
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<char const*>(values.data()),
             std::streamsize(values.size() * sizeof(float)));
  if (!file.flush()) {
    throw std::runtime_error("cannot write " + path);
  }
}

}  // namespace iso::perf
