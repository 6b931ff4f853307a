// SPDX-License-Identifier: BSD-3-Clause
// Every small operation of iso/cases on every backend, to the bit. It prints a hash an operation
// and precision: builds of two compilers or presets agree where their outputs do. Exit code 1: a
// bit differs.
//
//   iso_parity [I N]   of every N operations the I-th, from 0: N programs share the work
#include <iso/backend/lane_group.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/cases/catalogue.hpp>

#include <Kokkos_Core.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::test {
namespace {

using namespace cases;

template <class T>
class parity {
 public:
  explicit parity(operation const& what) : what_(what) {}

  /// Returns how many results differ from those of Serial: of each backend, and of the default one
  /// on processors in narrower registers than its own.
  int compare() {
    if (!what_.make<Kokkos::Serial, T>()) {
      return 0;
    }
    std::string const name = what_.name + (sizeof(T) == 4 ? " float" : " double");
    backend::for_each([&](auto tag) {
      using exec_space = typename decltype(tag)::execution_space;
      std::string const where(tag.name);
      // Twice, but for the first: what a call finds in its result must not count.
      check<exec_space>(name, where, expected_.empty() ? 1 : 2);
      if constexpr (std::is_same_v<exec_space, Kokkos::DefaultHostExecutionSpace>) {
        int const widest = backend::host_vector_bytes();
        for (int const bytes : {32, 0}) {
          if (widest > bytes) {
            backend::set_host_vector_bytes(bytes);
            check<exec_space>(name, where + " in registers of " + std::to_string(bytes) + " bytes",
                              1);
          }
        }
        backend::set_host_vector_bytes(widest);
      }
    });
    return differences_;
  }

 private:
  template <class Exec>
  void check(std::string const& name, std::string const& where, int calls) {
    Exec const exec;
    measurable<Exec, T> const call(exec, what_.make<Exec, T>()(exec));
    for (int i = 0; i < calls; ++i) {
      call();
    }
    auto found = call.values();
    if (expected_.empty()) {
      expected_ = std::move(found);
      std::printf("%s %s\n", name.c_str(), hash_text(hash_bits<T>(expected_)).c_str());
      std::fflush(stdout);
    } else if (auto const apart = first_difference<T>(expected_, found)) {
      std::printf("DIFFERS: %s on %s: value %lld: %s and %s\n", name.c_str(), where.c_str(),
                  static_cast<long long>(apart->index), apart->expected.c_str(),
                  apart->found.c_str());
      ++differences_;
    }
  }

  operation const& what_;
  std::vector<T> expected_;
  int differences_ = 0;
};

int compare_all(std::size_t first, std::size_t step) {
  auto const& operations = all_cases().operations;
  int differences = 0;
  for (std::size_t i = first; i < operations.size(); i += step) {
    differences += parity<float>(operations[i]).compare() + parity<double>(operations[i]).compare();
  }
  return differences;
}

}  // namespace
}  // namespace iso::test

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(argc, argv);
  if (argc != 1 && argc != 3) {
    std::fprintf(stderr, "usage: iso_parity [I N]\n");
    return 2;
  }
  auto const number = [&](int i) { return std::strtoul(argv[i], nullptr, 10); };
  std::size_t const first = argc == 3 ? number(1) : 0;
  std::size_t const step = argc == 3 ? number(2) : 1;
  if (first >= step) {
    std::fprintf(stderr, "iso_parity: part %zu of %zu (the first is 0)\n", first, step);
    return 2;
  }
  return iso::test::compare_all(first, step) == 0 ? 0 : 1;
}
