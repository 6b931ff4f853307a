// SPDX-License-Identifier: BSD-3-Clause
// check_report FILE WANTED [TABLE]: does the JSON of `iso verify` or `iso demo` hold what its
// readers rely on? WANTED is what bits_agree must be: true, false, null, or any. TABLE is
// docs/determinism.md: every function that promises the same bits on every backend must have been
// run.
#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <set>
#include <string>

namespace {

using nlohmann::json;

int failures = 0;

void expect(bool condition, std::string const& what) {
  if (!condition) {
    std::fprintf(stderr, "check_report: %s\n", what.c_str());
    ++failures;
  }
}

bool number_or_null(json const& value) {
  return value.is_null() || (value.is_number() && value >= 0);
}

void check_record(json const& record, std::size_t index, std::set<std::string>& seen) {
  std::string const name = "record " + std::to_string(index);
  for (auto const* key : {"operation", "backend", "precision", "hash"}) {
    expect(record.contains(key) && record[key].is_string(),
           name + ": text '" + key + "' is missing");
  }
  expect(record.contains("has_model") && record["has_model"].is_boolean(),
         name + ": 'has_model' is missing");
  expect(record.contains("functions") && record["functions"].is_array(),
         name + ": list 'functions' is missing");
  for (auto const* key : {"error", "largest_error", "time_ms", "share_of_ceiling"}) {
    expect(record.contains(key) && number_or_null(record[key]),
           name + ": '" + key + "' is neither a number from 0 nor null");
  }
  if (failures == 0) {
    std::string const hash = record["hash"];
    expect(hash.size() == 16 && hash.find_first_not_of("0123456789abcdef") == std::string::npos,
           name + ": hash is not 16 hexadecimal digits");
    expect(record["precision"] == "float" || record["precision"] == "double", name + ": precision");
    auto const id = record["operation"].get<std::string>() + "/" +
                    record["backend"].get<std::string>() + "/" +
                    record["precision"].get<std::string>();
    expect(seen.insert(id).second, name + ": " + id + " stands there twice");
  }
}

void check_figures(json const& record) {
  auto const operation = record["operation"].get<std::string>();
  auto const id = operation + " " + record["backend"].get<std::string>() + " " +
                  record["precision"].get<std::string>();
  expect(record["time_ms"].is_number(), id + ": no time");
  expect(record["share_of_ceiling"].is_number() == record["has_model"].get<bool>(),
         id + ": share_of_ceiling is missing, or there without a model");
  auto const& most = record["largest_error"];
  expect(record["error"].is_number() == most.is_number(),
         id + ": error is missing, or there where nothing has one");
  if (record["error"].is_number() && most.is_number()) {
    expect(record["error"] <= most, id + ": error " + record["error"].dump());
  }
}

/// "| `name` | `backend_to_backend` | remark |": is it something that runs on a backend?
bool promises_bits(std::string const& line) {
  return line.find("`backend_to_backend` |") != std::string::npos && line.starts_with("| `iso::") &&
         line.find("_bytes_needed`") == std::string::npos &&
         line.find("made on the host") == std::string::npos;
}

void check_complete(json const& document, char const* table) {
  std::set<std::string> run;
  for (auto const& record : document["records"]) {
    for (auto const& function : record["functions"]) {
      run.insert(function.get<std::string>());
    }
  }
  std::ifstream lines(table);
  int promised = 0;
  bool optional = false;  // a header that verify is built without: its own test looks at it
  for (std::string line; std::getline(lines, line);) {
    optional =
        line.starts_with("## ") ? line.find("kokkos_kernels.hpp") != std::string::npos : optional;
    if (promises_bits(line) && !optional) {
      auto const name = line.substr(3, line.find('`', 3) - 3);
      expect(run.contains(name), "no operation runs " + name + " (add one to verify's table)");
      ++promised;
    }
  }
  expect(promised > 10, "the table of promises is not there or not understood");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: check_report FILE true|false|null|any [TABLE]\n");
    return 2;
  }
  auto const document = json::parse(std::ifstream(argv[1]), nullptr, false);
  expect(document.is_object(), "not a JSON object");
  if (failures == 0) {
    expect(document.contains("bits_agree"), "'bits_agree' is missing");
    expect(document.contains("machine") && !document["machine"].empty(),
           "'machine' is missing or empty");
    expect(document.contains("records") && document["records"].is_array() &&
               !document["records"].empty(),
           "'records' is missing or empty");
  }
  if (failures == 0) {
    std::string const wanted = argv[2];
    expect(wanted == "any" || document["bits_agree"].dump() == wanted,
           "bits_agree is " + document["bits_agree"].dump() + ", not " + wanted);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < document["records"].size(); ++i) {
      check_record(document["records"][i], i, seen);
      if (failures == 0) {
        check_figures(document["records"][i]);
      }
    }
  }
  if (failures == 0 && argc == 4) {
    check_complete(document, argv[3]);
  }
  return failures == 0 ? 0 : 1;
}
