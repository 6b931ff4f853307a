// SPDX-License-Identifier: BSD-3-Clause
#ifndef ISO_SET
#ifndef ISO_BACKEND_DETAIL_HOST_TEAM_HPP
#define ISO_BACKEND_DETAIL_HOST_TEAM_HPP

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

   private:
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
