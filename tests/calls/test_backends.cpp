// SPDX-License-Identifier: BSD-3-Clause
#include "calls.hpp"
#include "lane_calls.hpp"

#include <iso/backend/atomic_maximum.hpp>
#include <iso/backend/carrier.hpp>
#include <iso/backend/communicator.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/event.hpp>
#include <iso/backend/for_each_index.hpp>
#include <iso/backend/host_vectors.hpp>
#include <iso/backend/integer_atomics.hpp>
#include <iso/backend/lane_group.hpp>
#include <iso/backend/loads.hpp>
#include <iso/backend/registry.hpp>
#include <iso/backend/saturate.hpp>
#include <iso/backend/team.hpp>
#include <iso/backend/texture_volume.hpp>
#include <iso/backend/unroll.hpp>
#include <iso/backend/widen.hpp>
#include <iso/ceilings/ceilings.hpp>
#include <iso/core/half.hpp>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using namespace calls;

struct put_index {
  float* x;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { x[i] = float(i + 1); }
};

float last_of(Kokkos::View<float*, space> const& x) {
  return Kokkos::create_mirror_view_and_copy(iso::space::host(), x)(x.extent(0) - 1);
}

}  // namespace

TEST_CASE("kernels of one's own") {
  exec_space const exec;
  Kokkos::View<float*, space> const x("x", 32);
  Kokkos::View<float*, space> const out("out", 32);
  iso::backend::for_each_index("put", exec, 32, put_index{x.data()});
  iso::backend::for_each_lane_group("lanes", exec, 1,
                                    lane_calls::every_operation{x.data(), out.data()});
  exec.fence();
  CHECK(last_of(out) == 32);

  Kokkos::View<std::uint32_t*, space> const counts("counts", 1);
  iso::backend::for_each_team<32>("team", exec, 1, lane_calls::lane_count{counts.data()});
  exec.fence();
  CHECK(Kokkos::create_mirror_view_and_copy(iso::space::host(), counts)(0) == 32);
}

TEST_CASE("ranks: alone") {
  exec_space const exec;
  iso::backend::one_rank alone;
  iso::backend::communicator& ranks = alone;
  CHECK(iso::backend::carries_well(ranks));
  iso::backend::device_link* const link = ranks.link_devices(-1);
  CHECK(link == nullptr);
  iso::backend::carrier<exec_space> by(exec, ranks);
  Kokkos::View<std::uint32_t*, space> const words("words", 4);
  by.sum(words.data(), 4);
  by.maximum(words.data(), 4);
  iso::backend::parcel const whole{0, reinterpret_cast<std::byte*>(words.data()), 16};
  by.exchange({&whole, 1}, {&whole, 1});
  by.begin_exchange(exec, {&whole, 1}, {&whole, 1});
  by.end_exchanges(exec);
}

TEST_CASE("copies beside kernels") {
  exec_space const exec;
  exec_space const beside = iso::backend::another_instance(exec, iso::backend::urgency::first);
  Kokkos::View<std::byte*, iso::backend::staging_space<exec_space>> const here("here", 96);
  Kokkos::View<std::byte*, space> const there("there", 64);
  here(33) = std::byte(7);
  // Rows of 32 of 48 bytes there, and the second of them back.
  iso::backend::copy_rows(beside, {there.data(), 32}, {here.data(), 48}, 32, 2);
  iso::backend::event<exec_space> arrived;
  arrived.record(beside);
  arrived.hold(exec);
  iso::backend::copy_rows(exec, {here.data() + 48, 32}, {there.data(), 32}, 32, 1);
  arrived.record(exec);
  arrived.wait();
  CHECK(int(here(33)) == 7);
  CHECK(int(here(48)) == int(here(0)));
  CHECK(iso::backend::is_page_locked(exec, here.data(), here.data()) ==
        iso::backend::is_device<exec_space>);
  std::byte pageable{};
  CHECK(!iso::backend::is_page_locked(exec, &pageable, &pageable));
  // Too small to be locked, and owned by no View.
  Kokkos::View<float*, Kokkos::HostSpace> const few("few", 3);
  CHECK(iso::backend::page_lock(exec, few) == nullptr);
  CHECK(iso::backend::page_lock(exec, Kokkos::View<float*, Kokkos::HostSpace>(few.data(), 3)) ==
        nullptr);
}

TEST_CASE("what kernels call, on the host") {
  std::uint32_t few = 1;
  std::uint64_t many = 1;
  iso::backend::atomic_sum(&few, 2);
  iso::backend::atomic_sum(&many, 2);
  iso::backend::atomic_flags(&few, 4);
  CHECK(few == 7);
  iso::backend::atomic_mark(&many, std::uint64_t(9));
  CHECK(many == 9);
  std::int32_t highest = 1;
  double largest = 1;
  iso::backend::atomic_maximum(&highest, 2);
  iso::backend::atomic_maximum(&largest, 2);
  CHECK(double(highest) == largest);

  CHECK(iso::backend::saturate(2.0F) == 1);
  CHECK(iso::backend::saturate(-1.0) == 0);
  CHECK(iso::backend::widen<float>(iso::half(1.5)) == 1.5F);
  CHECK(iso::backend::widen<double>(1.5F) == 1.5);
  float const number = 3;
  CHECK(iso::backend::streaming_load(&number) == 3);
  CHECK(iso::backend::vector_load(&number) == 3);
  CHECK(*iso::backend::opaque_address(&number) == 3);
  CHECK(iso::backend::streamed<float>(&number).get() == 3);

  int sum = 0;
  iso::backend::unrolled<3>([&](auto i) { sum += int(i); });
  iso::backend::unrolled_by([&](auto i) { sum += int(i); }, std::make_integer_sequence<int, 3>());
  CHECK(sum == 6);
}

TEST_CASE("backends by name, and what they run on") {
  int backends = 0;
  iso::backend::for_each([&](auto) { ++backends; });
  CHECK(backends > 0);
  iso::backend::with_name("serial", [](auto tag) {
    typename decltype(tag)::execution_space const exec;
    CHECK(iso::backend::facts(exec).backend == "serial");
  });
  CHECK_NOTHROW(iso::backend::check_floating_point_environment());
  CHECK(std::is_base_of_v<iso::error, iso::backend::floating_point_error>);
  CHECK(iso::backend::source_revision() == iso::backend::facts(exec_space()).git_revision);
  CHECK(iso::backend::count_devices() >= 0);
  if (iso::backend::count_devices() > 0) {
    CHECK(iso::backend::device_uuid(0).size() == 32);
  }
  CHECK(iso::backend::count_threads() >= iso::backend::count_granted_threads(1));
  CHECK(iso::backend::min_stack() > 0);
  iso::backend::set_host_vector_bytes(iso::backend::host_vector_bytes());
  CHECK(iso::backend::texture_planes(0)(0, 0, 0) == 0);

  auto const measured = iso::ceilings::measure(Kokkos::Serial(), {.bytes = 1 << 20, .repeats = 1});
  CHECK(measured.read > 0);
}
