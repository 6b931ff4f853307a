// SPDX-License-Identifier: BSD-3-Clause
//! \file  arrays.hpp
//! Takes arrays of NumPy and of whatever speaks DLPack, and makes arrays for results. Here alone is
//! decided which memory the library may use.
//!
//! Shapes are Python's, (z, y, x) and (view, v, u), or with axes "xyz" (x, y, z) and (view, u, v).
//! The library's order of axes is the latter, with the last one fastest in memory.
#pragma once

#include "call.hpp"

#include <iso/core/allocate.hpp>
#include <iso/core/array.hpp>
#include <iso/core/wrap.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::python {

/// The element types that calls know.
enum class element { f32, f64, i8, i32, i64, u8, boolean, other };

/// Memory that another owner lends: a buffer of Python's protocol, or a tensor of DLPack.
class lent {
 public:
  lent() = default;
  lent(lent&& other) noexcept : owner_(other.owner_), give_back_(other.give_back_) {
    other.owner_ = nullptr;
  }
  lent& operator=(lent&& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(give_back_, other.give_back_);
    return *this;
  }
  lent(lent const&) = delete;
  lent& operator=(lent const&) = delete;
  lent(void* owner, void (*give_back)(void*)) : owner_(owner), give_back_(give_back) {}
  /// Gives it back; the GIL is held.
  ~lent() {
    if (owner_ != nullptr) {
      give_back_(owner_);
    }
  }

 private:
  void* owner_ = nullptr;
  void (*give_back_)(void*) = nullptr;
};

/// The most axes that an array has.
inline constexpr int max_axes = 4;

/// An array in memory of the host or a GPU as its owner describes it. Strides are in elements.
struct lent_array {
  std::byte* data = nullptr;
  element type = element::other;
  std::int64_t item_bytes = 0;
  int rank = 0;
  std::array<std::int64_t, max_axes> extent{};
  std::array<std::int64_t, max_axes> stride{};
  bool read_only = false;
  int device = -1;            ///< number of the GPU; -1: on the host
  std::uintptr_t stream = 0;  ///< that is current in its framework
  lent memory;

  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (int axis = 0; axis < rank; ++axis) {
      n *= extent[std::size_t(axis)];
    }
    return n;
  }
};

/// What an argument is, for messages: the function and the argument's name.
struct argument {
  char const* function;
  char const* name;
  bool written = false;    ///< the result is written into it
  bool host_only = false;  ///< it must not lie on a GPU
};

/// Returns an advice: to call something with the argument, whose name stands between these words.
/// Where the argument is written, that would write into an array that is then lost: the advice is
/// to make it anew.
std::string advice(argument const& what, std::string_view before, std::string_view after = "");

/// The place of an argument in memory: which of Python's axes each of the library's is, and whether
/// another order of the memory may be copied.
struct placement {
  std::array<int, max_axes> axis{0, 1, 2, 3};
  bool may_copy = true;
};

/// Returns whether the axes are Python's usual (z, y, x).
/// \throws iso::invalid_argument  neither "zyx" nor "xyz"
bool is_zyx(std::string_view axes, char const* function);
placement volume_placement(bool zyx, bool may_copy);
placement projection_placement(bool zyx, bool may_copy);

/// Borrows the memory of an array, with every check that does not depend on its shape. The GIL is
/// held.
/// \throws nb::type_error, iso::invalid_argument  a sentence that says what to call
lent_array borrow(nb::handle x, argument const& what, bool written);

/// Frees a copy: on the host, in the order of a stream of a GPU, or, where it was kept longer than
/// its call, behind all that the GPU does: the stream may be gone by then. What a framework has
/// made is waited for likewise, and the framework frees it.
struct copy_deleter {
  int device = -1;  ///< number of the GPU; -1: on the host
  std::uintptr_t stream = 0;
  bool of_framework = false;
  bool kept = false;
  void operator()(std::byte* p) const;
};

/// An array in the library's order of axes, the last fastest, without gaps: the lent memory itself,
/// or a copy of it in that order.
class native_array {
 public:
  /// Takes an array of float or double of these extents, which are the library's. The GIL is held.
  native_array(nb::handle x, argument const& what, placement const& where,
               std::array<std::int64_t, 3> const& extents, bool written);
  native_array(native_array&&) = default;
  native_array& operator=(native_array&&) = default;

  [[nodiscard]] bool is_double() const { return lent_.type == element::f64; }
  /// Makes the copy, where one is needed: with the values where `filled`. Without the GIL.
  void prepare(bool filled);
  /// Copies back what was written into a copy. Without the GIL.
  void finish();
  /// Says that what prepare() made is kept beyond the call.
  void keep() { copy_.get_deleter().kept = true; }
  /// Returns the memory, after prepare().
  template <class T>
  [[nodiscard]] T* data() const {
    return reinterpret_cast<T*>(copy_ ? copy_.get() : lent_.data);
  }
  [[nodiscard]] bool is_native() const { return native_; }
  [[nodiscard]] char const* name() const { return name_; }
  [[nodiscard]] bool on_gpu() const { return lent_.device >= 0; }
  /// Returns where a call of it runs.
  [[nodiscard]] target at() const {
    return on_gpu() ? target_on_gpu(lent_.device, lent_.stream) : target{};
  }
  /// Writes the values in the library's order. Without the GIL.
  void copy_to(std::byte* to) const;
  [[nodiscard]] std::array<std::int64_t, 3> const& extents() const { return extents_; }

 private:
  /// Copies between the lent order and the library's, where the array lies.
  void reorder_to(std::byte* to) const;
  void reorder_from(std::byte const* from);

  lent_array lent_;
  std::array<std::int64_t, 3> extents_{};
  std::array<std::int64_t, 3> strides_{};  ///< of the lent memory
  bool native_ = false;
  lent_array scratch_;  ///< memory of the framework for copy_, which goes before it
  std::unique_ptr<std::byte, copy_deleter> copy_;
  char const* name_ = "";
};

/// Raises TypeError unless the array has the type of another.
void require_type(native_array const& a, bool is_double, char const* function, char const* name);

/// The use of an object's scratch by one call. The lock of all calls keeps other threads away; this
/// refuses a callback of the very call.
class in_use {
 public:
  in_use(bool& busy, char const* function);
  in_use(in_use const&) = delete;
  in_use& operator=(in_use const&) = delete;
  ~in_use() { busy_ = false; }

 private:
  bool& busy_;
};

/// Allocates memory of a result, aligned to 64 bytes.
/// \throws iso::out_of_memory  as iso::allocate
void* allocate_result(std::int64_t bytes, char const* label);

/// Memory that allocate_result has returned.
using owned_memory = std::unique_ptr<void, void (*)(void*)>;

/// Returns memory of its own of so many bytes.
/// \throws iso::out_of_memory  as iso::allocate
owned_memory own(std::int64_t bytes, char const* label);

/// Returns an array of NumPy that owns the memory; strides are in elements. The GIL is held.
nb::object numpy_of(owned_memory memory, element type, std::vector<std::size_t> const& shape,
                    std::vector<std::int64_t> const& strides);

/// Memory of a result until Python owns it.
class result_array {
 public:
  /// Allocates float or double of the library's extents.
  result_array(element type, std::array<std::int64_t, 3> const& extents, placement const& where,
               char const* label);

  template <class T>
  [[nodiscard]] T* data() const {
    return static_cast<T*>(memory_.get());
  }
  /// Returns the array of NumPy, which owns the memory. The GIL is held.
  [[nodiscard]] nb::object release();

 private:
  element type_;
  std::array<std::int64_t, 3> extents_;
  placement where_;
  owned_memory memory_;
};

/// The result of a call: an array that was given as `out`, or a new one.
class output {
 public:
  /// The GIL is held. `out` is None or an array of the type of the input.
  output(nb::handle out, argument const& what, placement const& where, bool is_double,
         std::array<std::int64_t, 3> const& extents);

  /// Without the GIL. \param filled  whether the values that are there count
  void prepare(bool filled = false);
  /// Without the GIL.
  void finish();
  template <class T>
  [[nodiscard]] T* data() const {
    return given_ ? given_->data<T>() : made_->data<T>();
  }
  /// Returns what the call returns. The GIL is held.
  [[nodiscard]] nb::object release();
  /// Returns the array that was given; null where there is none.
  [[nodiscard]] native_array const* given() const { return given_.get(); }
  /// Returns where a call runs that has no other array.
  [[nodiscard]] target at() const { return given_ ? given_->at() : target{}; }

 private:
  nb::handle out_;
  std::unique_ptr<native_array> given_;
  std::unique_ptr<result_array> made_;
  element type_;
  std::array<std::int64_t, 3> extents_;
  placement where_;
  char const* name_;
};

/// Returns where a call of these arrays runs. Null ones are none.
/// \throws iso::invalid_argument  some lie on a GPU and others on the host
target target_of(char const* function, std::initializer_list<native_array const*> arrays,
                 output const& out);
/// Returns the same of a call whose results need no array, or are made where the others lie.
/// \param has_result  whether there is one
/// \throws iso::invalid_argument  likewise, and where arrays lie on a GPU without one
target target_of(char const* function, std::initializer_list<native_array const*> arrays,
                 bool has_result = true);

/// Returns a one-dimensional array of NumPy with these numbers. The GIL is held.
template <class T>
nb::object numpy_of(std::vector<T> values, std::vector<std::size_t> const& shape);

/// Returns the numbers of a one- or two-dimensional array-like of doubles, in C order. The GIL is
/// held. \throws iso::invalid_argument  another number of columns than `columns`, if that is not 0
std::vector<double> doubles_of(nb::handle x, argument const& what, std::int64_t columns = 0);

/// Returns numbers on the host where `exec` computes: themselves, or a copy that is there when this
/// returns.
/// \throws iso::out_of_memory  as iso::allocate
template <class T, class Exec>
auto numbers_at(Exec const& exec, T const* numbers, std::size_t count, char const* label) {
  using space = typename Exec::memory_space;
  using read_there = Kokkos::View<T const*, space>;
  if constexpr (std::is_same_v<space, Kokkos::HostSpace>) {
    static_cast<void>(exec);
    static_cast<void>(label);
    return read_there(numbers, count);
  } else {
    auto const there = allocate<Kokkos::View<T*, space>>(label, {std::int64_t(count)}, exec,
                                                         Kokkos::WithoutInitializing);
    Kokkos::deep_copy(exec, there, Kokkos::View<T const*, Kokkos::HostSpace>(numbers, count));
    exec.fence(label);
    return read_there(there);
  }
}

void bind_arrays(nb::module_& m);

}  // namespace iso::python
