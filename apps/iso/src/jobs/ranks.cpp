// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/communicator.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/core/error.hpp>
#include <iso/jobs/ranks.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace iso::jobs {
namespace {

backend::one_rank alone;
backend::communicator* sharing = &alone;
int idle = 0;

constexpr double seconds_to_wait = 2;

/// How a rank ended.
struct ending {
  std::int32_t code = 0;
  std::int32_t after_another = 0;  ///< it stopped because another rank did
  std::array<char, 2040> sentence{};
};

}  // namespace

void share_jobs(backend::communicator& ranks) { sharing = &ranks; }
backend::communicator& sharing_ranks() { return *sharing; }
int num_ranks() { return sharing->size(); }
std::string carried_by() { return sharing->name(); }
bool is_first_rank() { return sharing->rank() == 0; }

std::vector<slab> share_planes(grid const& g) {
  auto planes = divide_planes(g, num_ranks());
  idle = int(
      std::count_if(planes.begin(), planes.end(), [](slab const& s) { return s.count() == 0; }));
  return planes;
}
int idle_ranks() { return idle; }

void check_alike(std::uint64_t hash, std::string const& sentence) {
  // The largest and, inverted, the least.
  std::array<std::uint64_t, 2> ends{hash, ~hash};
  sharing->maximum(std::span<std::uint64_t>(ends));
  if (ends[0] != ~ends[1]) {
    throw invalid_argument(sentence);
  }
}

int end_together(int code, std::string const& sentence,
                 std::function<void(std::string const&)> const& tell) {
  if (num_ranks() == 1) {
    if (code != 0) {
      tell(sentence);
    }
    return code;
  }
  if (!sharing->meet(code == 0 ? std::numeric_limits<double>::infinity() : seconds_to_wait)) {
    tell("rank " + std::to_string(sharing->rank()) + ": " + sentence);
    sharing->abort(code);
  }
  ending mine;
  mine.code = code;
  mine.after_another = sentence.find("another rank stopped here") != std::string::npos ? 1 : 0;
  std::copy_n(sentence.begin(), std::min(sentence.size(), mine.sentence.size() - 1),
              mine.sentence.begin());
  std::vector<ending> all(is_first_rank() ? std::size_t(num_ranks()) : 0);
  sharing->gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)), 0);
  ending chosen = mine;
  if (is_first_rank()) {
    auto const failed = [](ending const& one) { return one.code != 0; };
    auto const by_itself = [&](ending const& one) { return failed(one) && one.after_another == 0; };
    auto found = std::find_if(all.begin(), all.end(), by_itself);
    found = found != all.end() ? found : std::find_if(all.begin(), all.end(), failed);
    if (found != all.end()) {
      chosen = *found;
      bool const others = found != all.begin();
      if (chosen.sentence[0] != '\0') {  // else it has said what there is
        tell((others ? "rank " + std::to_string(found - all.begin()) + ": " : std::string()) +
             chosen.sentence.data());
      }
    }
  }
  sharing->broadcast(std::as_writable_bytes(std::span(&chosen, 1)), 0);
  return chosen.code;
}

}  // namespace iso::jobs
