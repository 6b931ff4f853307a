// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <iso/backend/event.hpp>
#include <iso/core/allocate.hpp>
#include <iso/core/concepts.hpp>
#include <iso/core/workspace.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace iso::detail {

/// Copies bytes of the host to `Space` and waits for `exec`: one function for all types of values.
template <class Space, execution_space Exec>
[[gnu::noinline]] void copy_bytes(Exec const& exec, std::string const& label, void* to,
                                  void const* from, std::size_t bytes) {
  using target = Kokkos::View<std::byte*, Space, Kokkos::MemoryUnmanaged>;
  using source = Kokkos::View<std::byte const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, target(static_cast<std::byte*>(to), bytes),
                    source(static_cast<std::byte const*>(from), bytes));
  exec.fence(label + ": the host copy may go");
}

/// Returns `values` in `Space`. Waits for `exec`: no other instance is fenced.
template <class Space, execution_space Exec, class T>
Kokkos::View<T*, Space> copied(Exec const& exec, std::string const& label,
                               std::vector<T> const& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  auto const copy = allocate<Kokkos::View<T*, Space>>(label, {std::int64_t(values.size())}, exec,
                                                      Kokkos::WithoutInitializing);
  copy_bytes<Space>(exec, label, copy.data(), values.data(), values.size() * sizeof(T));
  return copy;
}

/// Arrays of the host that go to a device in one piece: each copy by itself takes an allocation and
/// a wait.
class packed_arrays {
 public:
  /// The place of an array: bytes from the first, and its number of elements.
  template <class T>
  struct place {
    std::size_t first;
    std::size_t count;

    /// Returns the array in a copy of all.
    template <class Space>
    [[nodiscard]] Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged> in(
        Kokkos::View<std::byte*, Space> const& memory) const {
      return Kokkos::View<T*, Space, Kokkos::MemoryUnmanaged>(
          reinterpret_cast<T*>(memory.data() + first), count);
    }
  };

  /// Takes convert(x) of each element.
  template <class T, class From, class Convert>
  place<T> add(std::vector<From> const& values, Convert const& convert) {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr std::size_t aligned = 256;
    std::size_t const first = (bytes_.size() + aligned - 1) / aligned * aligned;
    bytes_.resize(first + values.size() * sizeof(T));
    std::byte* to = bytes_.data() + first;
    for (From const& value : values) {
      T const element = convert(value);
      std::memcpy(to, &element, sizeof(T));
      to += sizeof(T);
    }
    return {first, values.size()};
  }
  template <class T>
  place<T> add(std::vector<T> const& values) {
    return add<T>(values, [](T const& value) { return value; });
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  [[nodiscard]] std::vector<std::byte> const& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Memory that takes arrays of the host, one after the other, and does not wait for what reads the
/// array before: a device copies from page-locked memory, in the order of what else it does.
template <execution_space Exec>
class reused_copy {
 public:
  using space = typename Exec::memory_space;

  /// Returns the bytes where `exec` computes, until the next call. Enqueued; it waits for the copy
  /// of the call before, and for what is enqueued where no call before had as many bytes.
  Kokkos::View<std::byte*, space> take(Exec const& exec, std::vector<std::byte> const& bytes) {
    auto const size = std::int64_t(bytes.size());
    if constexpr (backend::is_device<Exec>) {
      copied_.wait();
      there_.reserve(size);
      here_.reserve(size);
      std::memcpy(here_.data(), bytes.data(), bytes.size());
      backend::copy_rows(exec, {there_.data(), size}, {here_.data(), size}, size, 1);
      copied_.record(exec);
    } else {
      there_.reserve(size);
      std::memcpy(there_.data(), bytes.data(), bytes.size());
    }
    return Kokkos::View<std::byte*, space>(there_.data(), bytes.size());
  }
  /// Returns the bytes that it holds where `exec` computes.
  [[nodiscard]] std::int64_t size() const { return there_.size(); }

 private:
  workspace<space> there_;
  workspace<backend::staging_space<Exec>> here_;  ///< on the way to a device
  backend::event<Exec> copied_;
};

}  // namespace iso::detail
