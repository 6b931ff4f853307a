// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"

#include "dlpack.hpp"

#include <iso/core/allocate.hpp>
#include <iso/core/check.hpp>
#include <iso/core/detail/fnv1a.hpp>
#include <iso/files/reorder.hpp>

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#if defined(KOKKOS_ENABLE_CUDA)
#include <cuda_runtime_api.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace iso::python {

namespace {

/// The types of Python that are looked for at every call, found once and never given back.
struct python_types {
  PyObject* array = nullptr;  ///< numpy.ndarray
  PyObject* interned_dlpack = nullptr;
  PyObject* interned_exchange = nullptr;
};

python_types const& types() {
  static python_types const found = [] {
    python_types t;
    t.array = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
    t.interned_dlpack = PyUnicode_InternFromString("__dlpack__");
    t.interned_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    return t;
  }();
  return found;
}

std::string text_of(nb::handle x) { return nb::cast<std::string>(nb::str(x)); }

std::string class_name(nb::handle x) {
  return nb::cast<std::string>(nb::handle(x.type()).attr("__name__"));
}

/// Raises TypeError with the message.
[[noreturn]] void refuse_type(std::string const& text) {
  PyErr_SetString(PyExc_TypeError, text.c_str());
  throw nb::python_error();
}

template <class... Args>
[[noreturn]] void refuse_type(std::string_view format, Args const&... args) {
  refuse_type(iso::message(format, {detail::as_message_arg(args)...}));
}

bool is_true(nb::handle x, char const* attribute) {
  if (!nb::hasattr(x, attribute)) {
    return false;
  }
  nb::object const value = x.attr(attribute);
  return value.ptr() == Py_True;
}

/// Returns how the owner calls the type of its elements.
std::string dtype_text(nb::handle x) {
  return nb::hasattr(x, "dtype") ? text_of(x.attr("dtype")) : "another type";
}

element element_of(char kind, std::int64_t bytes) {
  switch (kind) {
    case 'f':
      return bytes == 4 ? element::f32 : bytes == 8 ? element::f64 : element::other;
    case 'i':
      return bytes == 1   ? element::i8
             : bytes == 4 ? element::i32
             : bytes == 8 ? element::i64
                          : element::other;
    case 'u':
      return bytes == 1 ? element::u8 : element::other;
    case 'b':
      return bytes == 1 ? element::boolean : element::other;
    default:
      return element::other;
  }
}

/// Returns the type that a format of the buffer protocol names, of this machine's byte order.
element element_of_format(char const* format, std::int64_t bytes) {
  if (*format == '@' || *format == '=' || *format == '<') {
    ++format;
  }
  if (format[0] == '\0' || format[1] != '\0') {
    return element::other;
  }
  switch (format[0]) {
    case 'f':
    case 'd':
      return element_of('f', bytes);
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return element_of('i', bytes);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return element_of('u', bytes);
    case '?':
      return element_of('b', bytes);
    default:
      return element::other;
  }
}

void check_rank(std::int64_t rank, argument const& what) {
  ISO_VALIDATE(rank <= max_axes, "{}: {} of {} axes (no array here has more than {}); reshape it",
               what.function, what.name, rank, max_axes);
}

/// Borrows by the buffer protocol, which NumPy's arrays have.
lent_array borrow_numpy(nb::handle x, argument const& what) {
  if (reinterpret_cast<PyObject*>(Py_TYPE(x.ptr())) != types().array && nb::hasattr(x, "mask")) {
    refuse_type("{}: {} is a masked array (its mask would be ignored); {}", what.function,
                what.name, advice(what, "call ", ".filled(value)"));
  }
  auto buffer = std::make_unique<Py_buffer>();
  if (PyObject_GetBuffer(x.ptr(), buffer.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    refuse_type("{}: {} of {} (its memory cannot be shared); {}", what.function, what.name,
                dtype_text(x), advice(what, "call ", ".astype(numpy.float32)"));
  }
  lent_array a;
  a.data = static_cast<std::byte*>(buffer->buf);
  a.item_bytes = buffer->itemsize;
  a.type = element_of_format(buffer->format == nullptr ? "B" : buffer->format, buffer->itemsize);
  a.rank = buffer->ndim;
  a.read_only = buffer->readonly != 0;
  Py_buffer* const raw = buffer.release();
  a.memory = lent(raw, [](void* p) {
    auto* const b = static_cast<Py_buffer*>(p);
    PyBuffer_Release(b);
    delete b;
  });
  check_rank(raw->ndim, what);
  if (raw->itemsize <= 0) {
    // Such as "V0": borrow() refuses the type.
    a.type = element::other;
    return a;
  }
  for (int axis = 0; axis < raw->ndim; ++axis) {
    std::int64_t const bytes = raw->strides[axis];
    a.extent[std::size_t(axis)] = raw->shape[axis];
    ISO_VALIDATE(raw->shape[axis] == 1 || bytes % raw->itemsize == 0,
                 "{}: {} has gaps between its elements (they must fill one block of memory); {}",
                 what.function, what.name, advice(what, "call numpy.ascontiguousarray(", ")"));
    a.stride[std::size_t(axis)] = bytes / raw->itemsize;
  }
  if (what.written && a.read_only) {
    fail_argument(
        "{}: {} is read-only (the result is written into it); give an array that can be "
        "written",
        what.function, what.name);
  }
  return a;
}

/// Returns the tensor of an object's `__dlpack__`, versioned where it gives that.
nb::object capsule_of(nb::handle x, argument const& what, std::uintptr_t stream) {
  nb::object const method = nb::getattr(x, "__dlpack__");
  nb::dict options;
  if (stream != 0) {
    options["stream"] = std::uint64_t(stream);
  }
  try {
    options["max_version"] = nb::make_tuple(1, 1);
    return method(**options);
  } catch (nb::python_error& e) {
    if (!e.matches(PyExc_TypeError)) {
      ISO_VALIDATE(!e.matches(PyExc_BufferError), "{}: {} cannot be shared by DLPack ({}); {}",
                   what.function, what.name, text_of(e.value()),
                   advice(what, "copy ", " into a NumPy array"));
      throw;
    }
  }
  PyDict_DelItemString(options.ptr(), "max_version");
  return method(**options);
}

/// The frameworks whose streams and allocators are asked.
enum class framework { cupy, torch, other };
framework framework_of(nb::handle x) {
  std::string const module = text_of(nb::handle(x.type()).attr("__module__"));
  return module.starts_with("torch")  ? framework::torch
         : module.starts_with("cupy") ? framework::cupy
                                      : framework::other;
}

/// Returns the stream that is current in the array's framework, as DLPack numbers it: 1 is the
/// legacy default.
std::uintptr_t current_stream(nb::handle x, int device) {
  std::uint64_t stream = 0;
  framework const of = framework_of(x);
  if (of == framework::torch) {
    stream = nb::cast<std::uint64_t>(
        nb::module_::import_("torch.cuda").attr("current_stream")(device).attr("cuda_stream"));
  } else if (of == framework::cupy) {
    stream = nb::cast<std::uint64_t>(
        nb::module_::import_("cupy.cuda").attr("get_current_stream")().attr("ptr"));
  }
  return stream == 0 ? 1 : std::uintptr_t(stream);
}

/// Checks where a DLPack tensor lies and copies its description.
lent_array describe(dlpack::tensor const& t, argument const& what) {
  bool const nvidia = t.where.type == dlpack::cuda || t.where.type == dlpack::cuda_managed;
  if (t.where.type != dlpack::cpu && !(nvidia && has_cuda && !what.host_only)) {
    std::string const device =
        nvidia ? "a CUDA device"
               : iso::message("a device of DLPack's type {}", {std::int64_t(t.where.type)});
    refuse_type("{}: {} lies on {} ({}); {}", what.function, what.name, device,
                nvidia && !has_cuda
                    ? "arrays on a GPU are taken where isocenter-cu13 is installed and finds one"
                    : "this call takes arrays on the host alone",
                advice(what, "copy ", " to the host first"));
  }
  lent_array a;
  a.device = nvidia ? t.where.id : -1;
  check_rank(t.rank, what);
  a.data = static_cast<std::byte*>(t.data) + t.byte_offset;
  a.rank = t.rank;
  a.item_bytes = (t.type.bits + 7) / 8;
  char const kinds[] = {'i', 'u', 'f', '-', '-', '-', 'b'};
  a.type = t.type.lanes == 1 && t.type.code < sizeof kinds && t.type.bits % 8 == 0
               ? element_of(kinds[t.type.code], a.item_bytes)
               : element::other;
  std::int64_t step = 1;
  for (int axis = t.rank - 1; axis >= 0; --axis) {
    a.extent[std::size_t(axis)] = t.shape[axis];
    a.stride[std::size_t(axis)] = t.strides == nullptr ? step : t.strides[axis];
    step *= t.shape[axis];
  }
  return a;
}

/// Takes over a tensor of version 1 or later.
lent_array take(dlpack::managed_versioned* m, argument const& what, std::uintptr_t stream) {
  lent memory(m, [](void* p) {
    auto* const t = static_cast<dlpack::managed_versioned*>(p);
    if (t->deleter != nullptr) {
      t->deleter(t);
    }
  });
  ISO_VALIDATE(m->version.major == 1, "{}: {} speaks version {} of DLPack (version 1 is known); {}",
               what.function, what.name, m->version.major,
               advice(what, "copy ", " into a NumPy array"));
  m->tensor.where.type =
      m->tensor.where.type == dlpack::cuda_host ? int(dlpack::cpu) : m->tensor.where.type;
  lent_array a = describe(m->tensor, what);
  a.memory = std::move(memory);
  a.stream = stream;
  a.read_only = (m->flags & dlpack::read_only) != 0;
  ISO_VALIDATE(!what.written || !a.read_only,
               "{}: {} is read-only (the result is written into it); give an array that can be "
               "written",
               what.function, what.name);
  ISO_VALIDATE(!what.written || (m->flags & dlpack::is_copied) == 0,
               "{}: {} was copied by its own export (the result would be lost); give a plain "
               "array",
               what.function, what.name);
  return a;
}

/// Returns the C exchange API of the type of an array, of version 1; null where there is none.
dlpack::exchange_api const* exchange_api_of(nb::handle x) {
  PyObject* const type = reinterpret_cast<PyObject*>(Py_TYPE(x.ptr()));
  nb::object const capsule = nb::steal(PyObject_GetAttr(type, types().interned_exchange));
  if (!capsule.is_valid()) {
    PyErr_Clear();
    return nullptr;
  }
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::exchange_capsule) == 0) {
    return nullptr;
  }
  auto const* api = static_cast<dlpack::exchange_api const*>(
      PyCapsule_GetPointer(capsule.ptr(), dlpack::exchange_capsule));
  while (api != nullptr && api->version.major != 1) {
    api = api->previous;
  }
  return api != nullptr && api->from_object != nullptr && api->current_stream != nullptr ? api
                                                                                         : nullptr;
}

/// Borrows by the C exchange API. Nothing is synchronised: a call on a GPU enqueues its work in the
/// stream that is current there.
lent_array borrow_by(dlpack::exchange_api const& api, nb::handle x, argument const& what) {
  dlpack::managed_versioned* m = nullptr;
  if (api.from_object(x.ptr(), &m) != 0) {
    throw nb::python_error();
  }
  std::int32_t const type = m->tensor.where.type;
  lent_array a = take(m, what, 0);
  if (a.device >= 0) {
    void* stream = nullptr;
    if (api.current_stream(dlpack::device_type(type), a.device, &stream) != 0) {
      throw nb::python_error();
    }
    a.stream = stream == nullptr ? 1 : reinterpret_cast<std::uintptr_t>(stream);
  }
  return a;
}

lent_array borrow_dlpack(nb::handle x, argument const& what) {
  bool const written = what.written;
  if (is_true(x, "requires_grad")) {
    refuse_type("{}: {} requires grad (the graph would be lost); call {}.detach()", what.function,
                what.name, what.name);
  }
  // JAX does not say by DLPack that its arrays must not be written.
  ISO_VALIDATE(!written || text_of(nb::handle(x.type()).attr("__module__")).rfind("jax", 0) != 0,
               "{}: {} is an array of JAX (these never change); leave {} out, and take what the "
               "call returns",
               what.function, what.name, what.name);
  if (auto const* const api = exchange_api_of(x)) {
    return borrow_by(*api, x, what);
  }
  std::uintptr_t stream = 0;
  if (nb::hasattr(x, "__dlpack_device__")) {
    // Asked first: an export from another device may synchronise it.
    nb::object const where = x.attr("__dlpack_device__")();
    dlpack::tensor t{};
    t.where.type = nb::cast<int>(nb::int_(where[0]));
    t.where.id = nb::cast<int>(nb::int_(where[1]));
    if (t.where.type != dlpack::cpu && t.where.type != dlpack::cuda_host) {
      describe(t, what);
      stream = current_stream(x, t.where.id);
    }
  }
  nb::object const capsule = capsule_of(x, what, stream);
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* const m = static_cast<dlpack::managed_versioned*>(
        PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    return take(m, what, stream);
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) {
    refuse_type("{}: {} is no tensor of DLPack (its __dlpack__ gives something else); {}",
                what.function, what.name, advice(what, "call numpy.asarray(", ")"));
  }
  auto* const m = static_cast<dlpack::managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  lent memory(m, [](void* p) {
    auto* const t = static_cast<dlpack::managed*>(p);
    if (t->deleter != nullptr) {
      t->deleter(t);
    }
  });
  m->tensor.where.type =
      m->tensor.where.type == dlpack::cuda_host ? int(dlpack::cpu) : m->tensor.where.type;
  lent_array a = describe(m->tensor, what);
  a.memory = std::move(memory);
  a.stream = stream;
  return a;
}

/// Returns the axes of more than one element, from the farthest apart to the nearest.
std::vector<int> by_stride(lent_array const& a) {
  std::vector<int> axes;
  for (int axis = 0; axis < a.rank; ++axis) {
    if (a.extent[std::size_t(axis)] != 1) {
      axes.push_back(axis);
    }
  }
  std::ranges::stable_sort(
      axes, [&](int p, int q) { return a.stride[std::size_t(p)] > a.stride[std::size_t(q)]; });
  return axes;
}

/// Checks that the elements fill one block of memory, each once, in ascending order of addresses.
void check_dense(lent_array const& a, argument const& what) {
  if (a.size() == 0) {
    return;
  }
  for (int axis = 0; axis < a.rank; ++axis) {
    std::int64_t const stride = a.stride[std::size_t(axis)];
    ISO_VALIDATE(stride >= 0 || a.extent[std::size_t(axis)] == 1,
                 "{}: {} is reversed along axis {} (memory must ascend); {}", what.function,
                 what.name, axis, advice(what, "call numpy.ascontiguousarray(", ")"));
    ISO_VALIDATE(stride != 0 || a.extent[std::size_t(axis)] == 1,
                 "{}: {} is expanded along axis {} (its elements share memory); {}", what.function,
                 what.name, axis, advice(what, "call numpy.ascontiguousarray(", ")"));
  }
  std::vector<int> const axes = by_stride(a);
  std::int64_t expected = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    auto const axis = std::size_t(axes[i]);
    ISO_VALIDATE(a.stride[axis] >= expected,
                 "{}: elements of {} share memory (its strides overlap along axis {}); {}",
                 what.function, what.name, axis,
                 advice(what, "call numpy.ascontiguousarray(", ")"));
    ISO_VALIDATE(a.stride[axis] == expected,
                 "{}: {} has gaps between its elements (they must fill one block of memory); {}",
                 what.function, what.name, advice(what, "call numpy.ascontiguousarray(", ")"));
    expected *= a.extent[axis];
  }
}

std::string shape_text(std::int64_t const* extents, int rank) {
  std::string text = "(";
  for (int i = 0; i < rank; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(extents[i]);
  }
  return text + (rank == 1 ? ",)" : ")");
}

}  // namespace

std::string advice(argument const& what, std::string_view before, std::string_view after) {
  return what.written
             ? iso::message("give an array made by numpy.empty(shape, dtype), or leave {} out",
                            {std::string_view(what.name)})
             : std::string(before) + what.name + std::string(after);
}

bool is_zyx(std::string_view axes, char const* function) {
  ISO_VALIDATE(axes == "zyx" || axes == "xyz",
               "{}: axes '{}' (the orders are zyx, with (view, v, u), and xyz, with (view, u, v)); "
               "choose one of them",
               function, axes);
  return axes == "zyx";
}

placement volume_placement(bool zyx, bool may_copy) {
  note_axes(zyx);
  return {zyx ? std::array{2, 1, 0, 3} : std::array{0, 1, 2, 3}, may_copy};
}

placement projection_placement(bool zyx, bool may_copy) {
  note_axes(zyx);
  return {zyx ? std::array{0, 2, 1, 3} : std::array{0, 1, 2, 3}, may_copy};
}

lent_array borrow(nb::handle x, argument const& given, bool written) {
  argument const what{given.function, given.name, written, given.host_only};
  lent_array a;
  if (PyObject_TypeCheck(x.ptr(), reinterpret_cast<PyTypeObject*>(types().array)) != 0) {
    a = borrow_numpy(x, what);
  } else if (PyObject_HasAttr(x.ptr(), types().interned_dlpack) != 0 ||
             exchange_api_of(x) != nullptr) {
    a = borrow_dlpack(x, what);
  } else {
    refuse_type("{}: {} is of type {} (an array is needed, of NumPy or of what speaks DLPack); {}",
                what.function, what.name, class_name(x),
                advice(what, "call numpy.asarray(", ", dtype=numpy.float32)"));
  }
  if (a.type == element::other) {
    refuse_type(
        "{}: {} of {} (numbers of another kind are needed, in this machine's byte order); {}",
        what.function, what.name, dtype_text(x), advice(what, "call ", ".astype(numpy.float32)"));
  }
  ISO_VALIDATE(
      a.size() == 0 || reinterpret_cast<std::uintptr_t>(a.data) % std::uint64_t(a.item_bytes) == 0,
      "{}: {} begins at an address that is no multiple of {} bytes (its elements must be "
      "aligned); {}",
      what.function, what.name, a.item_bytes, advice(what, "call ", ".copy()"));
  check_dense(a, what);
  return a;
}

native_array::native_array(nb::handle x, argument const& given, placement const& where,
                           std::array<std::int64_t, 3> const& extents, bool written)
    : lent_(borrow(x, given, written)), extents_(extents), name_(given.name) {
  argument const what{given.function, given.name, written, given.host_only};
  if (lent_.type != element::f32 && lent_.type != element::f64) {
    refuse_type("{}: {} of {} (float32 and float64 are taken); {}", what.function, what.name,
                dtype_text(x), advice(what, "call ", ".astype(numpy.float32)"));
  }
  std::array<std::int64_t, 3> wanted{};
  for (std::size_t i = 0; i < 3; ++i) {
    wanted[std::size_t(where.axis[i])] = extents[i];
  }
  ISO_VALIDATE(lent_.rank == 3 && std::equal(wanted.begin(), wanted.end(), lent_.extent.begin()),
               "{}: {} of shape {} ({} is needed); give an array of that shape", what.function,
               what.name, shape_text(lent_.extent.data(), lent_.rank),
               shape_text(wanted.data(), 3));
  native_ = true;
  std::int64_t step = 1;
  for (std::size_t i = 3; i-- > 0;) {
    strides_[i] = lent_.stride[std::size_t(where.axis[i])];
    native_ = native_ && (extents[i] == 1 || strides_[i] == step);
    step *= extents[i];
  }
  ISO_VALIDATE(native_ || where.may_copy,
               "{}: {} is not in the library's order of memory (copy=False forbids to reorder it); "
               "{}, or leave copy out",
               what.function, what.name,
               written ? iso::message("leave {} out", {std::string_view(what.name)})
                       : iso::message("call isocenter.native({})", {std::string_view(what.name)}));
  // These keep memory between calls. CUDA's pool gives it back whenever somebody waits. A child
  // that was forked is refused by its call.
  if (!native_ && on_gpu() && framework_of(x) != framework::other && !is_forked()) {
    nb::object const scratch =
        nb::module_::import_("isocenter._calls")
            .attr("device_array")(x, nb::make_tuple(extents[0], extents[1], extents[2]),
                                  nb::make_tuple(0, 1, 2), is_double() ? "float64" : "float32");
    if (lent_array made = scratch.is_none() ? lent_array{} : borrow(scratch, what, true);
        made.device == lent_.device) {
      scratch_ = std::move(made);
    }
  }
}

void copy_deleter::operator()(std::byte* p) const {
#if defined(KOKKOS_ENABLE_CUDA)
  if (device >= 0) {
    cudaSetDevice(device);
    if (kept) {
      cudaDeviceSynchronize();
    }
    if (of_framework) {
      return;
    }
    if (kept) {
      cudaFree(p);
    } else {
      // Behind the work that reads and writes it; nothing waits.
      cudaFreeAsync(p, reinterpret_cast<cudaStream_t>(stream));
    }
    return;
  }
#endif
  std::free(p);
}

namespace {

/// Copies between the lent order and the library's, in parts between which Python is asked.
template <class T>
void reorder(T const* from, std::array<std::int64_t, 3> const& from_strides, T* to,
             std::array<std::int64_t, 3> const& to_strides,
             std::array<std::int64_t, 3> const& extents) {
  std::array<files::axis_copy, 3> axes;
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i] = {extents[i], from_strides[i], to_strides[i]};
  }
  // Each takes about a tenth of a second, and has whole tiles of the copy.
  constexpr std::int64_t elements = std::int64_t(1) << 24;
  constexpr std::int64_t tile = 16;
  auto const longest =
      std::size_t(std::ranges::max_element(axes, {}, &files::axis_copy::extent) - axes.begin());
  files::axis_copy const all = axes[longest];
  std::int64_t const size = std::max<std::int64_t>(extents[0] * extents[1] * extents[2], 1);
  std::int64_t const step = std::max(all.extent * elements / size / tile, std::int64_t(1)) * tile;
  for (std::int64_t first = 0; first < all.extent; first += step) {
    axes[longest].extent = std::min(step, all.extent - first);
    files::copy_axes(from + first * all.from, to + first * all.to, axes);
    ask();
  }
}

std::array<std::int64_t, 3> strides_of(std::array<std::int64_t, 3> const& extents) {
  return {extents[1] * extents[2], extents[2], 1};
}

}  // namespace

#if defined(KOKKOS_ENABLE_CUDA)
namespace {

/// The threads that copy a tile: those of a warp follow each other in memory where it is read, and
/// where it is written.
constexpr int warp = 32;
constexpr int rows_at_once = 8;

/// Copies tiles of the axis on which neighbours lie nearest in the source, and of the one on which
/// they do in the result.
template <class T>
struct tile_kernel {
  T const* from;
  T* to;
  files::axis_copy source;  ///< the former axis
  files::axis_copy result;  ///< the latter
  files::axis_copy rest;
  std::int64_t source_tiles;
  std::int64_t result_tiles;

  static constexpr int pitch = warp + 1;  ///< so that columns lie in different banks

  KOKKOS_FUNCTION void operator()(Kokkos::TeamPolicy<Kokkos::Cuda>::member_type const& team) const {
    auto* const tile = static_cast<T*>(team.team_shmem().get_shmem(warp * pitch * sizeof(T)));
    std::int64_t const block = team.league_rank();
    std::int64_t const s0 = block % source_tiles * warp;
    std::int64_t const r0 = block / source_tiles % result_tiles * warp;
    std::int64_t const n = block / (source_tiles * result_tiles);
    int const lane = team.team_rank() % warp;
    int const first = team.team_rank() / warp;
    T const* const in = from + n * rest.from;
    T* const out = to + n * rest.to;
    for (int row = first; row < warp; row += rows_at_once) {
      if (s0 + lane < source.extent && r0 + row < result.extent) {
        tile[row * pitch + lane] = in[(s0 + lane) * source.from + (r0 + row) * result.from];
      }
    }
    team.team_barrier();
    for (int row = first; row < warp; row += rows_at_once) {
      if (s0 + row < source.extent && r0 + lane < result.extent) {
        out[(s0 + row) * source.to + (r0 + lane) * result.to] = tile[lane * pitch + row];
      }
    }
  }
};

/// Copies elements one by one: where one axis is the nearest in both orders.
template <class T>
struct element_kernel {
  T const* from;
  T* to;
  files::axis_copy outer;
  files::axis_copy middle;
  files::axis_copy nearest;

  KOKKOS_FUNCTION void operator()(std::int64_t place) const {
    std::int64_t const i = place / (middle.extent * nearest.extent);
    std::int64_t const j = place / nearest.extent % middle.extent;
    std::int64_t const k = place % nearest.extent;
    to[i * outer.to + j * middle.to + k * nearest.to] =
        from[i * outer.from + j * middle.from + k * nearest.from];
  }
};

/// Does the same as reorder on a GPU.
template <class T>
void reorder_on(Kokkos::Cuda const& exec, T const* from,
                std::array<std::int64_t, 3> const& from_strides, T* to,
                std::array<std::int64_t, 3> const& to_strides,
                std::array<std::int64_t, 3> const& n) {
  std::array<files::axis_copy, 3> axes;
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i] = {n[i], from_strides[i], to_strides[i]};
  }
  auto const read =
      std::size_t(std::ranges::min_element(axes, {}, &files::axis_copy::from) - axes.begin());
  auto const write =
      std::size_t(std::ranges::min_element(axes, {}, &files::axis_copy::to) - axes.begin());
  if (n[0] * n[1] * n[2] == 0) {
    return;
  }
  if (read == write) {
    Kokkos::parallel_for(
        "isocenter: reorder",
        Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::int64_t>>(exec, 0,
                                                                           n[0] * n[1] * n[2]),
        element_kernel<T>{from, to, axes[(read + 1) % 3], axes[(read + 2) % 3], axes[read]});
    return;
  }
  auto const tiles = [](files::axis_copy const& a) { return (a.extent + warp - 1) / warp; };
  files::axis_copy const& rest = axes[3 - read - write];
  std::int64_t const teams = rest.extent * tiles(axes[read]) * tiles(axes[write]);
  Kokkos::parallel_for(
      "isocenter: reorder",
      Kokkos::TeamPolicy<Kokkos::Cuda>(exec, int(teams), warp * rows_at_once)
          .set_scratch_size(0, Kokkos::PerTeam(int(warp * tile_kernel<T>::pitch * sizeof(T)))),
      tile_kernel<T>{from, to, axes[read], axes[write], rest, tiles(axes[read]),
                     tiles(axes[write])});
}

}  // namespace
#endif

void native_array::reorder_to(std::byte* to) const {
  ++counted().reorders;
  by_type(is_double(), [&]<class T>() {
    auto const* const from = reinterpret_cast<T const*>(lent_.data);
#if defined(KOKKOS_ENABLE_CUDA)
    if (on_gpu()) {
      reorder_on(stream_instance_of(at()).exec, from, strides_, reinterpret_cast<T*>(to),
                 strides_of(extents_), extents_);
      return;
    }
#endif
    reorder(from, strides_, reinterpret_cast<T*>(to), strides_of(extents_), extents_);
  });
}

void native_array::reorder_from(std::byte const* from) {
  ++counted().reorders;
  by_type(is_double(), [&]<class T>() {
    auto* const to = reinterpret_cast<T*>(lent_.data);
#if defined(KOKKOS_ENABLE_CUDA)
    if (on_gpu()) {
      reorder_on(stream_instance_of(at()).exec, reinterpret_cast<T const*>(from),
                 strides_of(extents_), to, strides_, extents_);
      return;
    }
#endif
    reorder(reinterpret_cast<T const*>(from), strides_of(extents_), to, strides_, extents_);
  });
}

void native_array::prepare(bool filled) {
  if (native_) {
    return;
  }
  std::int64_t const bytes = lent_.size() * lent_.item_bytes;
#if defined(KOKKOS_ENABLE_CUDA)
  if (on_gpu()) {
    ++counted().allocations;
    void* made = scratch_.data;
    cudaSetDevice(lent_.device);
    if (made == nullptr &&
        cudaMallocAsync(&made, std::size_t(bytes), reinterpret_cast<cudaStream_t>(lent_.stream)) !=
            cudaSuccess) {
      cudaGetLastError();  // takes the error away: later calls go on
      detail::throw_out_of_memory(name_, std::uint64_t(bytes), Kokkos::CudaSpace::name());
    }
    copy_ = std::unique_ptr<std::byte, copy_deleter>(
        static_cast<std::byte*>(made),
        copy_deleter{lent_.device, lent_.stream, scratch_.data != nullptr});
  }
#endif
  if (!copy_) {
    copy_.reset(static_cast<std::byte*>(allocate_result(bytes, name_)));
  }
  if (filled) {
    reorder_to(copy_.get());
  }
}

void native_array::finish() {
  if (!copy_) {
    return;
  }
  reorder_from(copy_.get());
}

target target_of(char const* function, std::initializer_list<native_array const*> arrays,
                 bool has_result) {
  std::vector<native_array const*> all;
  std::ranges::copy_if(arrays, std::back_inserter(all), [](auto const* a) { return a != nullptr; });
  native_array const& first = *all.front();
  ISO_VALIDATE(has_result || !first.on_gpu(),
               "{}: {} lies on a GPU, and no result is given (it lies there too, and its framework "
               "makes none here); give it as out",
               function, first.name());
  auto const place_of = [](native_array const& a) {
    return a.on_gpu() ? "GPU " + std::to_string(a.at().device) : std::string("the host");
  };
  for (auto const* const a : all) {
    ISO_VALIDATE(a->on_gpu() == first.on_gpu() && a->at().device == first.at().device,
                 "{}: {} lies on {}, {} on {} (a call runs where all of its arrays lie); copy one "
                 "of them",
                 function, first.name(), place_of(first), a->name(), place_of(*a));
  }
  return first.at();
}

target target_of(char const* function, std::initializer_list<native_array const*> arrays,
                 output const& out) {
  target const at = target_of(function, arrays, out.given() != nullptr);
  if (out.given() != nullptr) {
    native_array const* const first =
        *std::ranges::find_if(arrays, [](auto const* a) { return a != nullptr; });
    target_of(function, {first, out.given()});
  }
  return at;
}

void require_type(native_array const& a, bool is_double, char const* function, char const* name) {
  if (a.is_double() != is_double) {
    refuse_type("{}: {} of {} ({} is needed here); convert it, or make all arrays of that type",
                function, name, a.is_double() ? "float64" : "float32",
                is_double ? "float64" : "float32");
  }
}

in_use::in_use(bool& busy, char const* function) : busy_(busy) {
  ISO_VALIDATE(!busy,
               "{}: called by a callback of its own call (its scratch is in use); use another "
               "object there",
               function);
  busy = true;
}

void* allocate_result(std::int64_t bytes, char const* label) {
  std::size_t const rounded = (std::size_t(bytes) + 63) / 64 * 64;
  ++counted().allocations;
  void* const memory = detail::may_hold(std::uint64_t(bytes), true)
                           ? std::aligned_alloc(64, std::max<std::size_t>(rounded, 64))
                           : nullptr;
  if (memory == nullptr) {
    detail::throw_out_of_memory(label, std::uint64_t(bytes), Kokkos::HostSpace::name());
  }
  detail::advise_large_pages(memory, std::uint64_t(bytes));
  return memory;
}

result_array::result_array(element type, std::array<std::int64_t, 3> const& extents,
                           placement const& where, char const* label)
    : type_(type),
      extents_(extents),
      where_(where),
      memory_(allocate_result(extents[0] * extents[1] * extents[2] * (type == element::f64 ? 8 : 4),
                              label),
              std::free) {}

nb::object result_array::release() {
  std::vector<std::size_t> shape(3);
  std::vector<std::int64_t> strides(3);
  auto const native = strides_of(extents_);
  for (std::size_t i = 0; i < 3; ++i) {
    shape[std::size_t(where_.axis[i])] = std::size_t(extents_[i]);
    strides[std::size_t(where_.axis[i])] = native[i];
  }
  return numpy_of(std::move(memory_), type_, shape, strides);
}

owned_memory own(std::int64_t bytes, char const* label) {
  return {allocate_result(bytes, label), std::free};
}

nb::object numpy_of(owned_memory memory, element type, std::vector<std::size_t> const& shape,
                    std::vector<std::int64_t> const& strides) {
  void* const data = memory.release();
  nb::capsule const owner(data, [](void* p) noexcept { std::free(p); });
  auto const make = [&]<class T>(T) {
    return nb::object(nb::cast(
        nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), owner, strides.data())));
  };
  return type == element::u8    ? make(std::uint8_t())
         : type == element::f64 ? make(double())
                                : make(float());
}

output::output(nb::handle out, argument const& what, placement const& where, bool is_double,
               std::array<std::int64_t, 3> const& extents)
    : out_(out),
      type_(is_double ? element::f64 : element::f32),
      extents_(extents),
      where_(where),
      name_(what.function) {
  if (!out.is_none()) {
    given_ = std::make_unique<native_array>(out, what, where, extents, true);
    if (given_->is_double() != is_double) {
      refuse_type("{}: {} of {} (the input has {}); give both the same type", what.function,
                  what.name, given_->is_double() ? "float64" : "float32",
                  is_double ? "float64" : "float32");
    }
  }
}

void output::prepare(bool filled) {
  if (given_) {
    given_->prepare(filled);
  } else {
    made_ = std::make_unique<result_array>(type_, extents_, where_, name_);
  }
}

void output::finish() {
  if (given_) {
    given_->finish();
  }
}

nb::object output::release() { return given_ ? nb::borrow(out_) : made_->release(); }

template <class T>
nb::object numpy_of(std::vector<T> values, std::vector<std::size_t> const& shape) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule const owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::object(
      nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner)));
}
template nb::object numpy_of(std::vector<double>, std::vector<std::size_t> const&);
template nb::object numpy_of(std::vector<float>, std::vector<std::size_t> const&);
template nb::object numpy_of(std::vector<std::uint8_t>, std::vector<std::size_t> const&);
template nb::object numpy_of(std::vector<std::int32_t>, std::vector<std::size_t> const&);
template nb::object numpy_of(std::vector<std::int64_t>, std::vector<std::size_t> const&);

std::vector<double> doubles_of(nb::handle x, argument const& what, std::int64_t columns) {
  lent_array const a = borrow(x, {what.function, what.name, what.written, true}, false);
  ISO_VALIDATE(a.type == element::f64 &&
                   (columns == 0 ? a.rank == 1 : a.rank == 2 && a.extent[1] == columns),
               "{}: {} of shape {} (float64 of {} are needed); give such an array", what.function,
               what.name, shape_text(a.extent.data(), a.rank),
               columns == 0 ? std::string("one axis") : "rows of " + std::to_string(columns));
  std::vector<double> values(static_cast<std::size_t>(a.size()));
  auto const* const from = reinterpret_cast<double const*>(a.data);
  std::int64_t const width = columns == 0 ? 1 : columns;
  for (std::int64_t i = 0; i < std::int64_t(values.size()); ++i) {
    values[std::size_t(i)] =
        from[i / width * a.stride[0] + (columns == 0 ? 0 : i % width * a.stride[1])];
  }
  return values;
}

namespace {

/// Returns the array itself where it is native, else a copy that is: `out` on a GPU, and None where
/// that is not given there.
nb::object native(any_object x, any_object out, bool projections, std::string const& axes,
                  any_object cancel) {
  argument const what{"native", "x"};
  lent_array const a = borrow(x, what, false);
  ISO_VALIDATE(a.rank == 3, "native: x of {} axes (a volume or projections have 3); reshape it",
               a.rank);
  bool const zyx = is_zyx(axes, "native");
  placement const where =
      projections ? projection_placement(zyx, true) : volume_placement(zyx, true);
  std::array<std::int64_t, 3> extents{};
  for (std::size_t i = 0; i < 3; ++i) {
    extents[i] = a.extent[std::size_t(where.axis[i])];
  }
  native_array source(x, what, where, extents, false);
  if (source.is_native()) {
    return nb::borrow(nb::handle(x));
  }
  if (!source.on_gpu()) {
    result_array result(a.type, extents, where, "native");
    call_on_its_own({cancel, {}}, [&](job const&) { source.copy_to(result.data<std::byte>()); });
    return result.release();
  }
  if (nb::handle(out).is_none()) {
    return nb::none();
  }
  native_array made(out, {"native", "out"}, where, extents, true);
  require_type(made, source.is_double(), "native", "out");
  target const at = target_of("native", {&source, &made});
  call({cancel, {}}, at, [&](job const&) { source.copy_to(made.data<std::byte>()); });
  return nb::borrow(nb::handle(out));
}

/// Returns the hash that iso_parity prints of the numbers in the order of memory.
std::string hash_bits(any_object x) {
  lent_array const a = borrow(x, {"hash_bits", "x", false, true}, false);
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  std::int64_t const bytes = a.size() * a.item_bytes;
  for (std::int64_t i = 0; i < bytes; ++i) {
    hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(a.data[i]));
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

/// Returns offset + scale n of integers, one fma in double, as ct::decode_readings.
nb::object decode_readings(any_object integers, double scale, double offset) {
  argument const what{"decode_readings", "integers", false, true};
  lent_array const a = borrow(integers, what, false);
  ISO_VALIDATE(a.rank == 1 && a.type == element::i32,
               "{}: integers of another kind (one axis of {} is needed); convert them",
               what.function, "int32");
  auto const* const from = reinterpret_cast<std::int32_t const*>(a.data);
  std::vector<double> readings(std::size_t(a.size()));
  std::ranges::transform(from, from + a.size(), readings.begin(),
                         [&](std::int32_t n) { return std::fma(scale, double(n), offset); });
  std::size_t const size = readings.size();
  return numpy_of(std::move(readings), {size});
}

}  // namespace

void native_array::copy_to(std::byte* to) const { reorder_to(to); }

void bind_arrays(nb::module_& m) {
  m.def("native", native);
  m.def("hash_bits", hash_bits);
  m.def("decode_readings", decode_readings);
}

}  // namespace iso::python
