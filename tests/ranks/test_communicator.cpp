// SPDX-License-Identifier: BSD-3-Clause
// What ranks do together, by MPI and by one process: words, messages in chunks, and what is
// refused.
#include "ranks_support.hpp"

#include <iso/backend/carrier.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace ranks_support;
using iso::backend::communicator;
using iso::backend::parcel;
using iso::test::refusal;

/// Numbers of a rank that no other has.
template <class Word>
std::vector<Word> words_of(int rank, std::size_t count) {
  std::vector<Word> words(count);
  for (std::size_t n = 0; n < count; ++n) {
    words[n] = Word(0x9e3779b97f4a7c15ULL * (n + 1) * std::uint64_t(rank + 1));
  }
  return words;
}

template <class Word>
void check_reductions(communicator& ranks) {
  for (std::size_t const count : {0, 1, 7, 1000}) {
    std::vector<Word> sums(count, 0);
    std::vector<Word> largest(count, 0);
    for (int rank = 0; rank < ranks.size(); ++rank) {
      auto const words = words_of<Word>(rank, count);
      for (std::size_t n = 0; n < count; ++n) {
        sums[n] = Word(sums[n] + words[n]);
        largest[n] = std::max(largest[n], words[n]);
      }
    }
    auto words = words_of<Word>(ranks.rank(), count);
    ranks.sum(std::span<Word>(words));
    CHECK(words == sums);
    words = words_of<Word>(ranks.rank(), count);
    ranks.maximum(std::span<Word>(words));
    CHECK(words == largest);
  }
}

/// Bytes that `from` sends to `to`: their number depends on both.
std::vector<std::byte> letter(int from, int to) {
  std::vector<std::byte> bytes(std::size_t(37 * (from + 1) + 5 * to));
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    bytes[n] = std::byte(n * 7 + std::size_t(from) * 31 + std::size_t(to));
  }
  return bytes;
}

/// Exchanges, or begins, works with all ranks and ends.
void send(communicator& ranks, std::span<parcel const> out, std::span<parcel const> in,
          bool later) {
  if (!later) {
    ranks.exchange(out, in);
    return;
  }
  // In two parts, between which ranks add words; some begin before the words of others are there.
  std::size_t const half = out.size() / 2;
  ranks.begin_exchange(out.first(half), in.first(half));
  std::uint32_t word = 1;
  ranks.sum(std::span<std::uint32_t>(&word, 1));
  CHECK(word == std::uint32_t(ranks.size()));
  ranks.begin_exchange(out.subspan(half), in.subspan(half));
  ranks.end_exchanges();
  ranks.end_exchanges();
}

void check_messages(communicator& ranks, bool later) {
  int const here = ranks.rank();
  std::vector<std::vector<std::byte>> sent;
  std::vector<std::vector<std::byte>> found;
  for (int other = 0; other < ranks.size(); ++other) {
    sent.push_back(letter(here, other));
    found.emplace_back(letter(other, here).size());
  }
  std::vector<parcel> out;
  std::vector<parcel> in;
  for (int other = 0; other < ranks.size(); ++other) {
    auto& s = sent[std::size_t(other)];
    auto& f = found[std::size_t(other)];
    out.push_back({other, s.data(), std::int64_t(s.size())});
    in.push_back({other, f.data(), std::int64_t(f.size())});
  }
  send(ranks, out, in, later);
  for (int other = 0; other < ranks.size(); ++other) {
    CHECK(found[std::size_t(other)] == letter(other, here));
  }

  int const last = ranks.size() - 1;
  auto told = here == last ? letter(3, 4) : std::vector<std::byte>(letter(3, 4).size());
  ranks.broadcast(told, last);
  CHECK(told == letter(3, 4));

  std::vector<std::byte> const mine(23, std::byte(here + 1));
  std::vector<std::byte> all(here == last ? 23 * std::size_t(ranks.size()) : 0);
  ranks.gather(mine, all, last);
  for (std::size_t n = 0; n < all.size(); ++n) {
    CHECK(all[n] == std::byte(n / 23 + 1));
  }
  ranks.barrier();
}

void check_all(communicator& ranks) {
  check_reductions<std::uint32_t>(ranks);
  check_reductions<std::uint64_t>(ranks);
  check_messages(ranks, false);
  check_messages(ranks, true);
  CHECK(iso::backend::carries_well(ranks));
}

/// What a communicator gets wrong.
enum class wrong { sum, long_sum, maximum, long_maximum, parcel };

/// A communicator whose last rank gets a bit of it wrong.
class wrong_ranks final : public communicator {
 public:
  explicit wrong_ranks(wrong what) : what_(what) {}

  [[nodiscard]] int rank() const override { return all_ranks().rank(); }
  [[nodiscard]] int size() const override { return all_ranks().size(); }
  [[nodiscard]] std::string name() const override { return "wrong"; }
  void sum(std::span<std::uint32_t> words) override {
    all_ranks().sum(words);
    spoil(words, wrong::sum);
  }
  void sum(std::span<std::uint64_t> words) override {
    all_ranks().sum(words);
    spoil(words, wrong::long_sum);
  }
  void maximum(std::span<std::uint32_t> words) override {
    all_ranks().maximum(words);
    spoil(words, wrong::maximum);
  }
  void maximum(std::span<std::uint64_t> words) override {
    all_ranks().maximum(words);
    spoil(words, wrong::long_maximum);
  }
  void exchange(std::span<parcel const> out, std::span<parcel const> in) override {
    all_ranks().exchange(out, in);
    for (parcel const& came : in) {
      if (came.bytes > 0) {
        spoil(std::span(came.data, std::size_t(came.bytes)), wrong::parcel);
      }
    }
  }
  void broadcast(std::span<std::byte> bytes, int from) override {
    all_ranks().broadcast(bytes, from);
  }
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override {
    all_ranks().gather(bytes, all, to);
  }
  void barrier() override { all_ranks().barrier(); }
  bool meet(double seconds) override { return all_ranks().meet(seconds); }
  [[nodiscard]] iso::backend::device_link* link_devices(int device) override {
    return all_ranks().link_devices(device);
  }
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 private:
  /// Spoils the last of several words: ranks tell each other what they found by one.
  template <class Word>
  void spoil(std::span<Word> words, wrong what) const {
    if (what == what_ && words.size() > 1 && rank() == size() - 1) {
      words.back() ^= Word(4);
    }
  }

  wrong what_;
};

}  // namespace

TEST_CASE("communicator: sums, maxima, messages, broadcast and gather") {
  CHECK(all_ranks().name() == "MPI, host memory");
  check_all(all_ranks());
  iso::backend::one_rank one;
  check_all(one);
}

TEST_CASE("communicator: ranks meet, or those that wait know that they do not") {
  CHECK(all_ranks().meet(60));
  iso::mpi::communicator ranks(MPI_COMM_WORLD);
  bool const alone = ranks.size() > 1 && ranks.rank() == 0;
  if (alone) {
    CHECK(!ranks.meet(0.05));
  }
  all_ranks().barrier();
  if (!alone) {
    CHECK(ranks.meet(60));
  }
  // What the first rank began the others have ended.
  all_ranks().barrier();
}

TEST_CASE("communicator: in chunks, as what is longer than MPI counts") {
  for (std::int64_t const bytes : {8, 24, 100}) {
    iso::mpi::communicator chunks(MPI_COMM_WORLD, {.chunk_bytes = bytes});
    check_all(chunks);
  }
}

TEST_CASE("communicator: of some of the processes, in another order") {
  MPI_Comm turned = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -all_ranks().rank(), &turned);
  {
    iso::mpi::communicator ranks(turned);
    CHECK(ranks.rank() == all_ranks().size() - 1 - all_ranks().rank());
    check_all(ranks);
  }
  MPI_Comm_free(&turned);
  MPI_Comm some = MPI_COMM_NULL;
  bool const odd = all_ranks().rank() % 2 == 1;
  MPI_Comm_split(MPI_COMM_WORLD, odd ? 1 : MPI_UNDEFINED, 0, &some);
  if (odd) {
    iso::mpi::communicator ranks(some);
    check_all(ranks);
  } else {
    CHECK(refusal([&] {
            iso::mpi::communicator const none(some);
          }).starts_with("iso::mpi::communicator: no communicator (MPI_COMM_NULL"));
  }
  if (odd) {
    MPI_Comm_free(&some);
  }
}

TEST_CASE("communicator: its self-test sees a wrong word or byte on every rank") {
  for (wrong const what :
       {wrong::sum, wrong::long_sum, wrong::maximum, wrong::long_maximum, wrong::parcel}) {
    CAPTURE(int(what));
    wrong_ranks ranks(what);
    CHECK(!iso::backend::carries_well(ranks));
  }
  CHECK(iso::backend::carries_well(all_ranks()));
}

TEST_CASE("communicator: what cannot be is refused in a sentence") {
  CHECK(said_before_mpi() ==
        "iso::mpi::communicator: MPI is not running (it was not initialised, or was finalised); "
        "make an iso::mpi::scope first, or call MPI_Init_thread");
  CHECK(refusal([] { iso::mpi::communicator const of(MPI_COMM_WORLD, {.chunk_bytes = 4}); }) ==
        "iso::mpi::communicator: chunks of 4 bytes (8 to 2147483647 are taken); leave the default");
  auto& ranks = all_ranks();
  std::byte byte{};
  parcel const nowhere{ranks.size(), &byte, 1};
  CHECK(refusal([&] { ranks.exchange({&nowhere, 1}, {}); }) ==
        "iso::mpi::communicator::exchange: rank " + std::to_string(ranks.size()) + " (there are " +
            std::to_string(ranks.size()) + ", counted from 0); name one of them");
  parcel const nothing{0, nullptr, 1};
  CHECK(refusal([&] {
          ranks.exchange({}, {&nothing, 1});
        }).starts_with("iso::mpi::communicator::exchange: 1 bytes for rank 0"));
  CHECK(refusal([&] {
          ranks.broadcast({&byte, 1}, -1);
        }).starts_with("iso::mpi::communicator::broadcast: rank -1"));
  std::vector<std::byte> all(std::size_t(ranks.size()) + 1);
  CHECK(refusal([&] {
          ranks.gather({&byte, 1}, all, 0);
        }).starts_with("iso::mpi::communicator::gather: room for"));
}

TEST_CASE("scope: MPI that runs is left running") {
  {
    int argc = 0;
    char** argv = nullptr;
    iso::mpi::scope const again(argc, argv);
  }
  int ended = 0;
  MPI_Finalized(&ended);
  CHECK(ended == 0);
  check_reductions<std::uint32_t>(all_ranks());
}

TEST_CASE("carrier: words and parcels where each rank's backend computes, in chunks") {
  for (std::int64_t const chunk : {std::int64_t(8), std::int64_t(64), std::int64_t(1) << 24}) {
    with_backend_of_rank(0, [&](auto const& exec) {
      using exec_space = std::decay_t<decltype(exec)>;
      using space = typename exec_space::memory_space;
      iso::backend::carrier<exec_space> by(exec, all_ranks(), chunk);
      int const size = all_ranks().size();
      Kokkos::View<std::uint64_t*, space> const words("words", 21);
      Kokkos::deep_copy(exec, words, std::uint64_t(all_ranks().rank() + 1) << 61);
      by.sum(words.data(), 21);
      auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, words);
      CHECK(found(20) == std::uint64_t(size * (size + 1) / 2) << 61);
      Kokkos::deep_copy(exec, words, std::uint64_t(all_ranks().rank() + 1));
      by.maximum(words.data(), 21);
      found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, words);
      CHECK(found(20) == std::uint64_t(size));

      int const next = (all_ranks().rank() + 1) % size;
      int const before = (all_ranks().rank() + size - 1) % size;
      Kokkos::View<std::uint64_t*, space> const sent("sent", 30);
      Kokkos::deep_copy(exec, sent, std::uint64_t(1000 + all_ranks().rank()));
      // Numbers of bytes that depend on the rank.
      parcel const out{next, reinterpret_cast<std::byte*>(sent.data()),
                       8 * (10 + all_ranks().rank())};
      parcel const in{before, reinterpret_cast<std::byte*>(words.data()), 8 * (10 + before)};
      by.exchange({&out, 1}, {&in, 1});
      found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, words);
      CHECK(found(9 + std::int64_t(before)) == std::uint64_t(1000 + before));
      CHECK(found(20) == std::uint64_t(before == 10 ? 1010 : size));

      // Begun here, ended behind what is enqueued elsewhere.
      auto const beside = iso::backend::another_instance(exec, iso::backend::urgency::first);
      Kokkos::deep_copy(exec, sent, std::uint64_t(2000 + all_ranks().rank()));
      iso::backend::event<exec_space> there;
      there.record(exec);
      there.hold(beside);
      by.begin_exchange(beside, {&out, 1}, {&in, 1});
      Kokkos::View<std::uint64_t*, space> const others("others", 3);
      Kokkos::deep_copy(exec, others, std::uint64_t(1));
      by.end_exchanges(beside);
      beside.fence();
      found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, words);
      CHECK(found(9 + std::int64_t(before)) == std::uint64_t(2000 + before));
    });
  }
}
