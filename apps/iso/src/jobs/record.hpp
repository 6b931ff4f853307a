// SPDX-License-Identifier: BSD-3-Clause
//! Describes how the records of `iso verify` and `iso demo` come about.
#pragma once

#include <iso/cases/bits.hpp>
#include <iso/cases/memory.hpp>
#include <iso/cases/work.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace iso::jobs {

using namespace cases;

/// Maps the backend's name to its ceilings.
using ceilings_of_backends = std::map<std::string, ceilings::rates, std::less<>>;

/// Treats the memory of the host as one, whoever asks it: each of these ceilings gets the greatest
/// of all its rates.
void share_memory(std::vector<ceilings::rates*> const& host);

/// Measures the ceilings of every backend in `machine`, and writes them there too. Those of the
/// host share its memory.
ceilings_of_backends measure_ceilings(std::vector<backend_facts>& machine, observer const& watch,
                                      ceilings::measure_options const& options = {});

template <class T>
record new_record(std::string const& operation, std::string const& backend) {
  record result;
  result.operation = operation;
  result.backend = backend;
  result.precision = precision_of<T>;
  return result;
}

/// Keeps the shortest time, and its share of the ceilings.
void add_time(record& result, double seconds, std::optional<min_work> const& least,
              ceilings::rates const& most);

/// The first values that it is given, whose bits all others must have.
template <class T>
class bit_judge {
 public:
  /// Counts `values` as one more run of the record.
  void judge(record& result, std::vector<T> values, std::string const& run);

 private:
  std::vector<T> reference_;
  std::uint64_t hash_ = 0;
};

}  // namespace iso::jobs
