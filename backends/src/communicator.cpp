// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/communicator.hpp>
#include <iso/core/check.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace iso::backend {
namespace {

/// Returns whether words of all ranks, which are known, add modulo 2^b and have their maximum.
template <class Word>
bool adds_well(communicator& ranks) {
  auto const size = Word(ranks.size());
  Word const most = std::numeric_limits<Word>::max();
  // The second sum goes beyond the word for every number of ranks but one.
  std::array<Word, 3> sums{Word(ranks.rank() + 1), most, Word(Word(1) << (8 * sizeof(Word) - 1))};
  ranks.sum(std::span<Word>(sums));
  // The last two have the top bit on one rank alone.
  Word const top = Word(1) << (8 * sizeof(Word) - 1);
  bool const first = ranks.rank() == 0;
  bool const last = ranks.rank() + 1 == ranks.size();
  std::array<Word, 4> largest{Word(ranks.rank() + 1), Word(most - Word(ranks.rank())),
                              first ? top : Word(1), last ? Word(top + 1) : Word(2)};
  ranks.maximum(std::span<Word>(largest));
  return sums[0] == Word(size * (size + 1) / 2) && sums[1] == Word(Word(0) - size) &&
         sums[2] == Word(size * top) && largest[0] == size && largest[1] == most &&
         largest[2] == top && largest[3] == Word(top + 1);
}

/// Returns whether a word goes from each rank to the next.
bool passes_well(communicator& ranks) {
  int const size = ranks.size();
  auto const next = (ranks.rank() + 1) % size;
  auto const before = (ranks.rank() + size - 1) % size;
  std::uint64_t word = 0x123456789abcdef0ULL + std::uint64_t(ranks.rank());
  std::uint64_t found = 0;
  parcel const out{next, reinterpret_cast<std::byte*>(&word), sizeof(word)};
  parcel const in{before, reinterpret_cast<std::byte*>(&found), sizeof(found)};
  ranks.exchange({&out, 1}, {&in, 1});
  return found == 0x123456789abcdef0ULL + std::uint64_t(before);
}

}  // namespace

namespace detail {

void validate_rank(int rank, int size, char const* function) {
  ISO_VALIDATE(rank >= 0 && rank < size,
               "{}: rank {} (there are {}, counted from 0); name one of them", function, rank,
               size);
}

void validate_parcels(std::span<parcel const> parcels, int size, char const* function) {
  for (parcel const& p : parcels) {
    validate_rank(p.rank, size, function);
    ISO_VALIDATE(p.bytes >= 0 && (p.data != nullptr || p.bytes == 0),
                 "{}: {} bytes for rank {} (a parcel has memory for its bytes); give both",
                 function, p.bytes, p.rank);
  }
}

}  // namespace detail

void communicator::begin_exchange(std::span<parcel const> out, std::span<parcel const> in) {
  begun_.push_back({std::vector<parcel>(out.begin(), out.end()), {in.begin(), in.end()}});
}

void communicator::end_exchanges() {
  // What fails leaves nothing to exchange again.
  std::vector<std::array<std::vector<parcel>, 2>> all;
  all.swap(begun_);
  for (auto const& [out, in] : all) {
    exchange(out, in);
  }
}

void one_rank::exchange(std::span<parcel const> out, std::span<parcel const> in) {
  char const* const function = "iso::backend::one_rank::exchange";
  detail::validate_parcels(out, 1, function);
  detail::validate_parcels(in, 1, function);
  bool same = out.size() == in.size();
  for (std::size_t n = 0; same && n < out.size(); ++n) {
    same = out[n].bytes == in[n].bytes;
  }
  ISO_VALIDATE(same,
               "{}: parcels that go differ from those that come (both are this rank's); give as "
               "many, of the same bytes",
               function);
  for (std::size_t n = 0; n < out.size(); ++n) {
    if (out[n].bytes > 0) {
      std::memmove(in[n].data, out[n].data, std::size_t(out[n].bytes));
    }
  }
}

void one_rank::broadcast(std::span<std::byte>, int from) {
  detail::validate_rank(from, 1, "iso::backend::one_rank::broadcast");
}

void one_rank::gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) {
  char const* const function = "iso::backend::one_rank::gather";
  detail::validate_rank(to, 1, function);
  ISO_VALIDATE(all.size() == bytes.size(),
               "{}: room for {} bytes (1 rank has {}); give room for all ranks' bytes", function,
               all.size(), bytes.size());
  std::copy(bytes.begin(), bytes.end(), all.begin());
}

void one_rank::abort(int exit_code) { std::_Exit(exit_code); }

bool carries_well(communicator& ranks) {
  // Each rank asks all three, whatever one of them finds: the others wait for it.
  bool const words = adds_well<std::uint32_t>(ranks);
  bool const long_words = adds_well<std::uint64_t>(ranks);
  bool const parcels = passes_well(ranks);
  // A rank that saw a wrong word says so twice, once by each way that may be broken.
  std::array<std::uint64_t, 1> wrong{words && long_words && parcels ? 0U : 1U};
  ranks.maximum(std::span<std::uint64_t>(wrong));
  return wrong[0] == 0 && words && long_words && parcels;
}

}  // namespace iso::backend
