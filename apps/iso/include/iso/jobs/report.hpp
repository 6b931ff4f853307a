// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/report.hpp
//! Holds what the jobs hand to whoever prints or writes it.
#pragma once

#include <iso/cases/bits.hpp>
#include <iso/model/number_type.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace iso::jobs {

/// One figure or name about a machine; `unit` is empty for names and counts.
struct fact {
  std::string name;
  std::variant<std::string, std::int64_t, double> value;
  std::string unit;
};

/// What one backend runs on.
struct backend_facts {
  std::string backend;
  std::vector<fact> facts;
  std::vector<fact> ceilings;  ///< measured; empty where they were not asked for
};

/// A run whose bits are not those of the reference run.
struct disagreement {
  std::string run;  ///< threads, launch shape and repetition
  cases::difference where;
};

/// One operation on one backend in one precision.
struct record {
  std::string operation;
  std::vector<std::string> functions;  ///< public ones that it runs; of verify alone
  std::string backend;
  iso::precision precision = iso::precision::f32;
  std::string hash;             ///< of the first run
  std::int64_t runs = 0;        ///< that were compared
  bool agrees = true;           ///< with the reference: the first backend's first run
  std::optional<double> error;  ///< l1 of difference over l1 of an independent answer; empty
                                ///< where arrays or counts come out, right or wrong
  std::optional<double> largest_error;     ///< that it may have; empty where it has none
  bool has_model = true;                   ///< of its least bytes and operations
  std::optional<double> time_ms;           ///< of one call: the fastest
  std::optional<double> share_of_ceiling;  ///< least time at the measured ceilings over time; empty
                                           ///< without a model or without ceilings
  std::vector<disagreement> disagreements;
};

struct report {
  std::optional<bool> bits_agree;  ///< empty where one backend ran, and agreed with itself
  std::vector<record> records;
  std::vector<backend_facts> machine;
  std::vector<std::string> figures;  ///< files written, in the output folder
  std::vector<std::string> notes;    ///< what was left out, and why
};

/// Returns true, false or empty, from the records; false too where an error is not finite: agreeing
/// on what is no number proves nothing.
std::optional<bool> judge(std::vector<record> const& records, std::size_t backends);

}  // namespace iso::jobs
