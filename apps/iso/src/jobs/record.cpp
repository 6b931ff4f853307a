// SPDX-License-Identifier: BSD-3-Clause
#include "record.hpp"

#include "machine.hpp"

#include <iso/backend/registry.hpp>

#include <algorithm>

namespace iso::jobs {
namespace {

constexpr std::size_t max_disagreements = 4;  // of one record; the first is what one looks at

}  // namespace

void share_memory(std::vector<ceilings::rates*> const& host) {
  for (auto const rate :
       {&ceilings::rates::read, &ceilings::rates::copy, &ceilings::rates::triad}) {
    double most = 0;
    for (auto const* const one : host) {
      most = std::max(most, one->*rate);
    }
    for (auto* const one : host) {
      one->*rate = most;
    }
  }
}

ceilings_of_backends measure_ceilings(std::vector<backend_facts>& machine, observer const& watch,
                                      ceilings::measure_options const& options) {
  ceilings_of_backends measured;
  std::vector<ceilings::rates*> host;
  for (auto const& one : machine) {
    watch.step(0, "ceilings of " + one.backend);
    backend::with_name(one.backend, [&](auto tag) {
      using exec_space = typename decltype(tag)::execution_space;
      auto& most = measured[one.backend] = ceilings::measure(exec_space(), options);
      if (!backend::is_device<exec_space>) {
        host.push_back(&most);
      }
    });
  }
  share_memory(host);
  for (auto& one : machine) {
    one.ceilings = list_ceilings(measured.at(one.backend));
  }
  return measured;
}

void add_time(record& result, double seconds, std::optional<min_work> const& least,
              ceilings::rates const& most) {
  double const ms = 1e3 * seconds;
  result.time_ms = std::min(result.time_ms.value_or(ms), ms);
  if (least && *result.time_ms > 0) {
    result.share_of_ceiling = 1e3 * min_seconds(*least, most) / *result.time_ms;
  }
}

template <class T>
void bit_judge<T>::judge(record& result, std::vector<T> values, std::string const& run) {
  std::uint64_t const hash = hash_bits<T>(values);
  if (result.runs++ == 0) {
    result.hash = hash_text(hash);
  }
  if (reference_.empty()) {
    reference_ = std::move(values);
    hash_ = hash;
    return;
  }
  if (hash != hash_) {
    result.agrees = false;
    auto const where = first_difference<T>(reference_, values);
    if (where && result.disagreements.size() < max_disagreements) {
      result.disagreements.push_back({run, *where});
    }
  }
}
template class bit_judge<float>;
template class bit_judge<double>;

}  // namespace iso::jobs
