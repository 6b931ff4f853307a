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
#include <stdexcept>
#include <string>
#include <vector>

namespace iso::perf {

using json = nlohmann::ordered_json;

/// Is main of `app`: reads the command line, then calls run() within Kokkos. What it throws goes to
/// the standard error.
template <class Run>
int run_program(CLI::App& app, int argc, char** argv, Run const& run) {
  CLI11_PARSE(app, argc, argv);
  try {
    Kokkos::ScopeGuard const kokkos;
    run();
  } catch (std::exception const& failure) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), failure.what());
    return 1;
  }
  return 0;
}

/// Writes numbers as float32.
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
