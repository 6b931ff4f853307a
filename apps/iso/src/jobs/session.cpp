// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace iso::jobs {

session::session(int threads) {
  // Threads that nothing binds are what this tool wants: several numbers of them share the cores.
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (threads > 0) {
    settings.set_num_threads(threads);
  }
  Kokkos::initialize(settings);
  backend::check_floating_point_environment();
}

session::~session() { Kokkos::finalize(); }

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  backend::for_each([&](auto tag) { names.emplace_back(tag.name); });
  return names;
}

std::vector<std::string> choose_backends(std::string_view choice) {
  auto const all = backend_names();
  if (choice == "all") {
    return all;
  }
  if (choice == "default") {
    return {all.back()};
  }
  std::vector<std::string> chosen;
  for (std::size_t begin = 0; begin <= choice.size();) {
    auto const end = std::min(choice.find(',', begin), choice.size());
    std::string const name(choice.substr(begin, end - begin));
    backend::with_name(name, [](auto) {});
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) {
      chosen.push_back(name);
    }
    begin = end + 1;
  }
  return chosen;
}

void observer::step(double fraction, std::string const& what) const {
  if (progress) {
    progress(fraction, what);
  }
  if (cancelled && cancelled()) {
    throw iso::cancelled("cancelled");
  }
}

std::string hash_text(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

std::string number_text(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%a (%.17g)", value, value);
  return text;
}

std::optional<bool> judge(std::vector<record> const& records, std::size_t backends) {
  if (!std::all_of(records.begin(), records.end(), [](record const& r) {
        return r.agrees && std::isfinite(r.error.value_or(0));
      })) {
    return false;
  }
  return backends > 1 ? std::optional<bool>(true) : std::nullopt;
}

}  // namespace iso::jobs
