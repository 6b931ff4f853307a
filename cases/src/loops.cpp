// SPDX-License-Identifier: BSD-3-Clause
#include <iso/cases/catalogue.hpp>
#include <iso/cases/loops.hpp>

namespace iso::cases {
namespace {

void add_stream(catalogue& all, std::string_view name, std::string_view about, stream kind,
                double (*numbers)(double), double (*steps)(double)) {
  all.add_sized({name,
                 about,
                 kibibytes,
                 16,
                 std::int64_t(1) << 28,
                 {number_type::f32},
                 1,
                 shapes::any,
                 numbers,
                 [](double) { return 1e4; },
                 steps},
                [kind](auto const& exec, point const& p) {
                  std::int64_t const elements = p.size * 1024 / std::int64_t(sizeof(float));
                  return ready_of(exec, stream_case{kind, elements / stretch}.prepare(exec), p);
                });
}

}  // namespace

void add_loops(catalogue& all) {
  add_stream(
      all, "memory_read", "sums of 4096 neighbours of an array", stream::read,
      [](double n) { return 256 * n; }, [](double n) { return 256 * n / 16; });
  add_stream(
      all, "memory_copy", "one array copied to another", stream::copy,
      [](double n) { return 512 * n; }, [](double n) { return 512 * n / 16; });
  add_stream(
      all, "memory_triad", "out = b + 0.5 c", stream::triad, [](double n) { return 768 * n; },
      [](double n) { return 768 * n / 16; });
  all.add_sized({"fma",
                 "96 chains of 512 fma a lane group",
                 "lane groups",
                 1,
                 std::int64_t(1) << 24,
                 {number_type::f32, number_type::f64},
                 1,
                 shapes::any,
                 [](double n) { return 96 * n; },
                 [](double) { return 1e4; },
                 [](double n) { return 96 * 512 * n / 16; }},
                [](auto const& exec, point const& p) {
                  return in_precision(p, [&]<class T>(T) {
                    return ready_of(exec, chain_case<T>{p.size}.prepare(exec), p);
                  });
                });
}

}  // namespace iso::cases
