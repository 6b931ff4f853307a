// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/communicator.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/fnv1a.hpp>
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
#include <string_view>
#include <vector>

#include <unistd.h>

namespace iso::jobs {
namespace {

backend::one_rank alone;
backend::communicator* sharing = &alone;
int idle = 0;
std::vector<double> rank_speeds;
bool speeds_known = false;

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

void learn_speeds(std::vector<std::uint64_t> const& speeds) {
  rank_speeds.assign(speeds.begin(), speeds.end());
  speeds_known = true;
}
bool knows_speeds() { return speeds_known; }
std::vector<double> const& speeds_of_ranks() { return rank_speeds; }

std::vector<slab> share_planes(grid const& g) {
  auto planes = divide_planes(g, num_ranks(), rank_speeds);
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

std::uint64_t number_of_text(std::string_view text) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  for (char const c : text) {
    hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

std::uint64_t number_of_machine() {
  std::array<char, 256> name{};
  static_cast<void>(gethostname(name.data(), name.size() - 1));
  return number_of_text({name.data(), name.size()});
}

std::uint64_t number_of_device(int device) { return number_of_text(backend::device_uuid(device)); }

std::pair<int, int> find_same(std::vector<std::uint64_t> const& numbers) {
  for (std::size_t rank = 0; rank < numbers.size(); ++rank) {
    for (std::size_t before = 0; before < rank && numbers[rank] != 0; ++before) {
      if (numbers[before] == numbers[rank]) {
        return {int(before), int(rank)};
      }
    }
  }
  return {-1, -1};
}

std::vector<std::uint64_t> numbers_of_ranks(std::uint64_t mine) {
  std::vector<std::uint64_t> all(std::size_t(num_ranks()), 0);
  all[std::size_t(sharing->rank())] = mine;
  sharing->sum(std::span<std::uint64_t>(all));
  return all;
}

lacking_memory find_lacking(std::vector<rank_need> const& needs) {
  for (std::size_t rank = 0; rank < needs.size(); ++rank) {
    rank_need const& mine = needs[rank];
    if (mine.alone > 0 && mine.bytes > mine.alone) {
      return {int(rank), mine.bytes, mine.alone, true};
    }
    lacking_memory found{int(rank), 0, mine.free};
    for (rank_need const& other : needs) {
      if (other.memory == mine.memory) {
        found.bytes += other.bytes;
        found.free = std::min(found.free, other.free);
      }
    }
    if (found.free > 0 && found.bytes > found.free) {
      return found;
    }
  }
  return {};
}

void check_memory_of_ranks(rank_need const& mine, std::string const& bound,
                           std::string const& bound_alone, char const* what, bool streams) {
  struct told {
    rank_need need;
    std::array<char, 104> bound;
    std::array<char, 104> bound_alone;
  };
  told const here = [&] {
    told all{mine, {}, {}};
    std::copy_n(bound.begin(), std::min(bound.size(), all.bound.size() - 1), all.bound.begin());
    std::copy_n(bound_alone.begin(), std::min(bound_alone.size(), all.bound_alone.size() - 1),
                all.bound_alone.begin());
    return all;
  }();
  auto all = std::vector<told>(std::size_t(num_ranks()));
  sharing->gather(std::as_bytes(std::span(&here, 1)),
                  is_first_rank() ? std::as_writable_bytes(std::span(all)) : std::span<std::byte>(),
                  0);
  sharing->broadcast(std::as_writable_bytes(std::span(all)), 0);
  std::vector<rank_need> needs;
  for (told const& one : all) {
    needs.push_back(one.need);
  }
  auto const lacking = find_lacking(needs);
  if (lacking.rank >= 0 && lacking.alone) {
    throw out_of_memory(
        message("{}: rank {} needs {} bytes ({} bytes are free{}, which is the limit of that "
                "process alone); ask for less, raise the limit, {}",
                {std::string_view(what), lacking.rank, lacking.bytes, lacking.free,
                 std::string_view(all[std::size_t(lacking.rank)].bound_alone.data()),
                 std::string_view(streams ? "start more processes, or give --memory"
                                          : "or start more processes")}),
        std::uint64_t(lacking.bytes), std::uint64_t(lacking.free));
  }
  if (lacking.rank >= 0) {
    auto const& of_rank = all[std::size_t(lacking.rank)];
    throw out_of_memory(
        message(
            "{}: rank {} needs {} bytes, and the ranks that share its memory {} ({} bytes are "
            "free{}); ask for less, {}",
            {std::string_view(what), lacking.rank, of_rank.need.bytes, lacking.bytes, lacking.free,
             std::string_view(of_rank.bound.data()),
             std::string_view(streams ? "start more processes on other machines, or give --memory"
                                      : "or start more processes on other machines")}),
        std::uint64_t(lacking.bytes), std::uint64_t(lacking.free));
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
