// SPDX-License-Identifier: BSD-3-Clause
#include "verify_plan.hpp"

#include <iso/core/numerics.hpp>

#include <bit>

namespace iso::jobs {
std::string name_of(int threads, variant const& v, int repeat) {
  return message("threads {}, groups a launch {}, slab {}, path {}, layout {}, repetition {}",
                 {std::int64_t(threads), v.groups, std::int64_t(v.slab),
                  std::string_view(v.path == ct::joseph_path::general ? "general" : "automatic"),
                  std::int64_t(v.layout), std::int64_t(repeat)});
}

template <class T>
void comparison<T>::inject(record const& result, std::vector<T>& values) const {
  if (request_.inject == fault::one_bit && result.runs == 1) {
    auto& victim = values[values.size() / 2];
    victim = std::bit_cast<T>(word_of<T>(raw_bits(victim) ^ 1U));
  }
}

template <class T>
void comparison<T>::check_nans(record& result, std::vector<T> const& values,
                               std::string const& run) {
  T const nan = std::bit_cast<T>(word_of<T>(float_bits<T>::canonical_nan));
  std::vector<T> promised = values;
  for (auto& value : promised) {
    value = value == value ? value : nan;
  }
  if (auto const where = first_difference<T>(promised, values)) {
    result.agrees = false;
    result.disagreements.push_back({run + ": not the canonical NaN", *where});
  }
}

template class comparison<float>;
template class comparison<double>;

std::vector<record> plan::run(observer const& watch) const {
  std::vector<record> records;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    watch.step(double(i) / double(steps_.size()), steps_[i].name);
    steps_[i].run(records);
  }
  watch.step(1, "done");
  return records;
}

}  // namespace iso::jobs
