// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_HOST_TEAM_HPP
#define ISO_BACKEND_DETAIL_HOST_TEAM_HPP

#include <iso/backend/unroll.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace iso::backend::detail {

/// True where a kernel runs by teams (iso/backend/team.hpp).
template <class Kernel>
concept runs_by_teams = requires { Kernel::team_words; };

}  // namespace iso::backend::detail

#define ISO_SET_HEADER <iso/backend/detail/host_team.hpp>
#include <iso/backend/for_each_set.hpp>

#endif
#else

namespace iso::backend::ISO_SET {

/// A team of one lane group, whose words are an array.
template <class Group, int Words>
class host_team {
 public:
  static constexpr bool is_device = false;
  using group = Group;

  class words_of_team {
   public:
    KOKKOS_FUNCTION explicit words_of_team(std::uint32_t* words) : words_(words) {}
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t first() { return 0; }
    KOKKOS_FORCEINLINE_FUNCTION void set(std::uint32_t place, std::uint32_t x) const {
      words_[place / 4] = x;
    }
    [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION std::uint32_t get(std::uint32_t place) const {
      return words_[place / 4];
    }
    template <int Offset>
    KOKKOS_FORCEINLINE_FUNCTION void add(std::uint32_t place, std::uint32_t x) const {
      words_[(place + std::uint32_t(Offset)) / 4] += x;
    }

    /// Adds a value of each lane at a place of its own, one lane after the other.
    template <class Value>
    KOKKOS_FORCEINLINE_FUNCTION void add_each(Value const& place, Value const& x) const {
      using isa = typename Value::isa;
      constexpr int width = Value::shape::width;
      alignas(64) std::uint32_t places[width];
      alignas(64) std::uint32_t values[width];
      for (int n = 0; n < Value::shape::registers; ++n) {
        isa::store_each(places, place.r[n]);
        isa::store_each(values, x.r[n]);
        ISO_EACH_REGISTER(int lane = 0; lane < width; ++lane) {
          words_[places[lane] / 4] += values[lane];
        }
      }
    }
    /// Adds values of lanes at places of their own: `a` and `b` to neighbouring words, `c` and `d`
    /// to those `Offset` further on. The lower word of each pair must stay a number of 32 bits
    /// without a sign as it is added to, or its carry goes to the upper one.
    template <int Offset, class Value>
    KOKKOS_FORCEINLINE_FUNCTION void add_pairs(Value const& place, Value const& a, Value const& b,
                                               Value const& c, Value const& d) const {
      using isa = typename Value::isa;
      constexpr int width = Value::shape::width;
      alignas(64) std::uint32_t places[width];
      alignas(64) std::uint64_t first[width];
      alignas(64) std::uint64_t second[width];
      for (int n = 0; n < Value::shape::registers; ++n) {
        isa::store_each(places, place.r[n]);
        isa::store_pairs(first, a.r[n], b.r[n]);
        isa::store_pairs(second, c.r[n], d.r[n]);
        ISO_EACH_REGISTER(int l = 0; l < width; ++l) {
          char* const at = reinterpret_cast<char*>(words_) + places[isa::pair_lane(l)];
          add_two(at, first[l]);
          add_two(at + Offset, second[l]);
        }
      }
    }
    /// Adds four values of each lane, at a place of its own, `Q` and `P` further on, and both.
    template <int Q, int P, class Value>
    KOKKOS_FORCEINLINE_FUNCTION void add_corners(Value const& place, Value const& a, Value const& b,
                                                 Value const& c, Value const& d) const {
      using isa = typename Value::isa;
      constexpr int width = Value::shape::width;
      alignas(64) std::uint32_t places[width];
      alignas(64) std::uint32_t x[4][width];
      for (int n = 0; n < Value::shape::registers; ++n) {
        isa::store_each(places, place.r[n]);
        isa::store_each(x[0], a.r[n]);
        isa::store_each(x[1], b.r[n]);
        isa::store_each(x[2], c.r[n]);
        isa::store_each(x[3], d.r[n]);
        ISO_EACH_REGISTER(int lane = 0; lane < width; ++lane) {
          std::uint32_t* const at = words_ + places[lane] / 4;
          at[0] += x[0][lane];
          at[Q / 4] += x[1][lane];
          at[P / 4] += x[2][lane];
          at[(P + Q) / 4] += x[3][lane];
        }
      }
    }

   private:
    KOKKOS_FORCEINLINE_FUNCTION static void add_two(char* at, std::uint64_t x) {
      std::uint64_t both;
      __builtin_memcpy(&both, at, sizeof both);
      both += x;
      __builtin_memcpy(at, &both, sizeof both);
    }

    std::uint32_t* words_;
  };

  KOKKOS_FUNCTION host_team() {}
  [[nodiscard]] KOKKOS_FORCEINLINE_FUNCTION words_of_team words() const {
    return words_of_team(words_);
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void each(int count, F const& f) const {
    for (int n = 0; n < count; ++n) {
      f(n);
    }
  }
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void groups(F const& f) const {
    f(Group(), 0, 1);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void sync() {}

 private:
  alignas(64) mutable std::uint32_t words_[std::size_t(Words)];
};

}  // namespace iso::backend::ISO_SET

#endif
