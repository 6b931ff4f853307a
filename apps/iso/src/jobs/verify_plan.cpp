// SPDX-License-Identifier: BSD-3-Clause
#include "verify_plan.hpp"

#include <bit>

namespace iso::jobs {
namespace {

constexpr std::size_t most_disagreements = 4;  // of one record; the first is what one looks at

}  // namespace

std::string name_of(int threads, variant const& v, int repeat) {
  return message("threads {}, groups a launch {}, slab {}, path {}, layout {}, repetition {}",
                 {std::int64_t(threads), v.groups, std::int64_t(v.slab),
                  std::string_view(v.path == ct::joseph_path::general ? "general" : "automatic"),
                  std::int64_t(v.layout), std::int64_t(repeat)});
}

template <class T>
void comparison<T>::judge_run(record& result, std::vector<T> values, std::string const& name) {
  if (request_.inject == fault::one_bit && result.runs == 1) {
    auto& victim = values[values.size() / 2];
    victim = std::bit_cast<T>(word_of<T>(std::bit_cast<word_of<T>>(victim) ^ 1U));
  }
  std::uint64_t const hash = hash_bits<T>(values);
  if (result.runs++ == 0) {
    result.hash = hash_text(hash);
  }
  if (reference_.empty()) {
    reference_ = std::move(values);
    reference_hash_ = hash;
    return;
  }
  if (hash != reference_hash_) {
    result.agrees = false;
    auto const where = first_difference<T>(reference_, values);
    if (where && result.disagreements.size() < most_disagreements) {
      result.disagreements.push_back({name, *where});
    }
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
