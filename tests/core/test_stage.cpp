// SPDX-License-Identifier: BSD-3-Clause
//! Staging: free where the memory is reachable, a mirror and an explicit way back where it is not.
#include <iso/backend/registry.hpp>
#include <iso/core/stage.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using view_type = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

template <class View>
struct add_one {
  View view;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const { view(i, j) += 1; }
};

template <class View>
struct assign {
  View view;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const {
    view(i, j) = double(10 * i + j);
  }
};

template <class From, class To>
struct copy {
  From from;
  To to;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t j) const { to(i, j) = from(i, j); }
};

template <class Exec, class Body>
void launch(Exec const& exec, Body const& body) {
  using policy = Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2>, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for("stage", policy(exec, {0, 0}, {3, 4}), body);
}

view_type numbers() {
  view_type const v("numbers", 3, 4);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      v(i, j) = 100 + 10 * i + j;
    }
  }
  return v;
}

template <class Exec>
void check_stage(Exec const& exec) {
  constexpr bool reachable =
      Kokkos::SpaceAccessibility<Exec, typename view_type::memory_space>::accessible;
  auto const input = numbers();
  auto const output = view_type("output", 3, 4);
  auto const both = numbers();
  auto const in = iso::stage<iso::access::read>(exec, input);
  auto const out = iso::stage<iso::access::write>(exec, output);
  auto const changed = iso::stage<iso::access::read_write>(exec, both);
  if constexpr (reachable) {
    CHECK(static_cast<void const*>(in.view().data()) == input.data());
    CHECK(static_cast<void const*>(out.view().data()) == output.data());
    CHECK(static_cast<void const*>(changed.view().data()) == both.data());
  } else {
    CHECK(static_cast<void const*>(in.view().data()) != input.data());
  }
  launch(exec, copy<std::decay_t<decltype(in.view())>, std::decay_t<decltype(out.view())>>{
                   in.view(), out.view()});
  launch(exec, add_one<std::decay_t<decltype(changed.view())>>{changed.view()});
  exec.fence();
  if constexpr (!reachable) {
    // Nothing comes back by itself.
    CHECK(output(2, 3) == 0);
    CHECK(both(2, 3) == 123);
  }
  out.commit();
  changed.commit();
  exec.fence();
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      CHECK(output(i, j) == 100 + 10 * i + j);
      CHECK(both(i, j) == 101 + 10 * i + j);
      CHECK(input(i, j) == 100 + 10 * i + j);
    }
  }
  // Written over whatever was there.
  auto const again = iso::stage<iso::access::write>(exec, both);
  launch(exec, assign<std::decay_t<decltype(again.view())>>{again.view()});
  again.commit();
  exec.fence();
  CHECK(both(2, 3) == 23);
}

template <class Staged>
concept can_commit = requires(Staged const& s) { s.commit(); };

}  // namespace

TEST_CASE("stage: read, write, read_write and commit on every backend") {
  iso::backend::for_each([](auto tag) {
    INFO("backend " << std::string(tag.name));
    check_stage(typename decltype(tag)::execution_space());
  });
}

TEST_CASE("stage: what is only read has no way back") {
  using exec = Kokkos::DefaultHostExecutionSpace;
  CHECK_FALSE(can_commit<iso::staged<iso::access::read, exec, view_type>>);
  CHECK(can_commit<iso::staged<iso::access::write, exec, view_type>>);
  CHECK(can_commit<iso::staged<iso::access::read_write, exec, view_type>>);
}
