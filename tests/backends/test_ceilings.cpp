// SPDX-License-Identifier: BSD-3-Clause
// Measured ceilings: no figure here is a promise of speed, only of order. Bounds are wide, because
// the machine may be busy.
#include <iso/backend/registry.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/ceilings/detail/rounds.hpp>
#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace {

// Slower than any machine this runs on, faster than any that there is.
constexpr double slowest_bytes = 5e7;
constexpr double fastest_bytes = 1e15;
constexpr double slowest_operations = 5e7;
constexpr double fastest_operations = 1e17;

// A disturbed run of the cache may fall this far behind an undisturbed one of the memory.
constexpr double busy = 4;

void check_rate(double rate, double least, double most) {
  CHECK(std::isfinite(rate));
  CHECK(rate > least);
  CHECK(rate < most);
}

// What holds on every backend. A function, not part of the generic lambda below: nvcc rejects a
// list of dependent values in a range-based for there.
void check_common(iso::ceilings::rates const& best) {
  for (double const rate : {best.read, best.copy, best.triad, best.l2}) {
    check_rate(rate, slowest_bytes, fastest_bytes);
  }
  for (double const rate : {best.fp32, best.fp64}) {
    check_rate(rate, slowest_operations, fastest_operations);
  }
  CHECK(best.spread > 0);  // two clocks never agree on every figure
  CHECK(best.spread < 1);
  CHECK(best.copy <= busy * best.l2);
  CHECK(best.read <= busy * best.l2);
  CHECK(best.read >= best.triad * 2 / 3);
  CHECK(best.fp64 <= busy * best.fp32);
}

TEST_CASE("ceilings: every figure is there and of a size that a machine can have") {
  iso::backend::for_each([](auto tag) {
    INFO(std::string(tag.name));
    using exec = typename decltype(tag)::execution_space;
    auto const best = iso::ceilings::measure(exec());
    check_common(best);
    if constexpr (iso::backend::is_device<exec>) {
      CHECK(best.l1 == 0);
      CHECK(best.fp16 >= best.fp64);
    } else {
      check_rate(best.l1, slowest_bytes, fastest_bytes);
      CHECK(best.l2 <= busy * best.l1);
      CHECK(best.fp16 == 0);
    }
  });
}

TEST_CASE("ceilings: small, odd sizes work as well") {
  iso::backend::for_each([](auto tag) {
    INFO(std::string(tag.name));
    using exec = typename decltype(tag)::execution_space;
    for (std::int64_t const bytes : {1, 100000, 3000001}) {
      CAPTURE(bytes);
      auto const best = iso::ceilings::measure(exec(), {.bytes = bytes, .repeats = 1});
      CHECK(best.read > 0);
      CHECK(best.copy > 0);
      CHECK(best.triad > 0);
    }
  });
}

TEST_CASE("ceilings: negative options are refused") {
  iso::backend::for_each([](auto tag) {
    INFO(std::string(tag.name));
    using exec = typename decltype(tag)::execution_space;
    CHECK_THROWS_AS(iso::ceilings::measure(exec(), {.bytes = -1}), iso::invalid_argument);
    CHECK_THROWS_AS(iso::ceilings::measure(exec(), {.repeats = -1}), iso::invalid_argument);
  });
}

// Rounds with these figures for read and fp64, one after another; how many were made.
struct script {
  std::vector<double> read;
  std::vector<double> fp64;
  std::size_t made = 0;

  iso::ceilings::rates operator()() {
    iso::ceilings::rates round;
    round.read = read.at(made);
    round.fp64 = fp64.at(made++);
    return round;
  }
};

TEST_CASE("ceilings: rounds go on until the best two of every figure agree") {
  // The third round is the second good one for read, the fourth for fp64.
  script disturbed{{5, 10, 9.8, 4, 99}, {8, 3, 2, 7.9, 99}};
  auto const best = iso::ceilings::detail::best_of_rounds([&] { return disturbed(); }, 0.05, 60);
  CHECK(disturbed.made == 4);
  CHECK(best.read == 10);
  CHECK(best.fp64 == 8);
  CHECK(best.spread == doctest::Approx(0.02));
  script quiet{{10, 10, 99}, {8, 8, 99}};
  CHECK(iso::ceilings::detail::best_of_rounds([&] { return quiet(); }, 0.05, 60).spread == 0);
  CHECK(quiet.made == 2);
}

TEST_CASE(
    "ceilings: rounds that never agree end with their time, and tell how far apart they are") {
  script doubling{{1, 2, 4, 8}, {1, 1, 1, 1}};
  auto const best = iso::ceilings::detail::best_of_rounds([&] { return doubling(); }, 0.05, 0);
  CHECK(doubling.made == 2);
  CHECK(best.read == 2);
  CHECK(best.spread == 0.5);
}

TEST_CASE("ceilings: a read measured below what triad reads is raised to that") {
  auto const read_of = [](double read, double triad) {
    auto const round = [&] {
      iso::ceilings::rates result;
      result.read = read;
      result.triad = triad;
      return result;
    };
    auto const once = iso::ceilings::detail::measure_in_rounds(round, {.repeats = 1});
    CHECK(iso::ceilings::detail::measure_in_rounds(round, {}).read == once.read);
    CHECK(once.triad == triad);
    return once.read;
  };
  CHECK(read_of(5, 12) == 8);
  CHECK(read_of(9, 12) == 9);
}

}  // namespace
