// SPDX-License-Identifier: BSD-3-Clause
#include <iso/jobs/report.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace iso::cases;
using namespace iso::jobs;

TEST_CASE("the hash is FNV-1a") {
  // Published test vectors: "" and the bytes 'f' 'o' 'o' 'b', here as the bits of one float.
  CHECK(hash_bits<float>(std::vector<float>{}) == 0xcbf29ce484222325ULL);
  float const foob = std::bit_cast<float>(0x626f6f66U);
  CHECK(hash_bits<float>(std::vector<float>{foob}) == 0xdd120e790c2512afULL);
  CHECK(hash_text(0x12abU) == "00000000000012ab");
}

TEST_CASE_TEMPLATE("one flipped bit is found, with place, values and distance", T, float, double) {
  std::vector<T> const expected = {T(1), T(-2), T(3), T(-4), T(5)};
  CHECK_FALSE(first_difference<T>(expected, expected));
  auto found = expected;
  found[3] = std::nextafter(T(-4), T(-5));
  found[4] = T(6);
  CHECK(hash_bits<T>(expected) != hash_bits<T>(found));
  auto const where = first_difference<T>(expected, found);
  REQUIRE(where);
  CHECK(where->index == 3);
  CHECK(where->ulps == 1);
  CHECK(where->count == 2);
  CHECK(where->expected.find("-4") != std::string::npos);
  CHECK(where->found.find("-4.0000") != std::string::npos);
}

TEST_CASE_TEMPLATE("distances in ulp", T, float, double) {
  T const infinity = std::numeric_limits<T>::infinity();
  T const tiny = std::numeric_limits<T>::denorm_min();
  CHECK(ulp_distance(T(1), T(1)) == 0);
  CHECK(ulp_distance(T(1), T(1) + std::numeric_limits<T>::epsilon()) == 1);
  CHECK(ulp_distance(T(0), T(-0.0)) == 1);
  CHECK(ulp_distance(tiny, -tiny) == 3);
  CHECK(ulp_distance(std::numeric_limits<T>::max(), infinity) == 1);
  CHECK(ulp_distance(T(1), T(2)) == std::uint64_t(1) << (std::numeric_limits<T>::digits - 1));
}

TEST_CASE("a NaN of another pattern differs, and so does a zero of another sign") {
  float const nan = std::bit_cast<float>(0x7fc00000U);
  for (auto const bits : {0xffc00000U, 0x7fffffffU, 0x7fc00001U}) {
    CAPTURE(bits);
    float const other = std::bit_cast<float>(bits);
    CHECK(hash_bits<float>(std::vector<float>{nan}) != hash_bits<float>(std::vector<float>{other}));
    auto const where =
        first_difference<float>(std::vector<float>{1, nan}, std::vector<float>{1, other});
    REQUIRE(where);
    CHECK(where->index == 1);
    CHECK(where->ulps > 0);
    CHECK(where->expected == "nan, bits 000000007fc00000");
  }
  CHECK(hash_bits<float>(std::vector<float>{nan}) == hash_bits<float>(std::vector<float>{nan}));
  CHECK_FALSE(first_difference<float>(std::vector<float>{nan}, std::vector<float>{nan}));
  CHECK(first_difference<float>(std::vector<float>{0.0F}, std::vector<float>{-0.0F}));
}

TEST_CASE("the verdict is true, false, or nothing where one backend ran") {
  std::vector<record> records(2);
  CHECK(judge(records, 2) == std::optional<bool>(true));
  CHECK(judge(records, 1) == std::nullopt);
  records[1].agrees = false;
  CHECK(judge(records, 2) == std::optional<bool>(false));
  CHECK(judge(records, 1) == std::optional<bool>(false));
}
