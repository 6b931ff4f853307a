// SPDX-License-Identifier: BSD-3-Clause
//! \file  call.hpp
//! How every call from Python runs: without the GIL, one at a time, with questions to Python on the
//! way, and never after the interpreter has ended or in a process that was forked.
#pragma once

#include <iso/backend/event.hpp>
#include <iso/backend/registry.hpp>
#include <iso/core/error.hpp>
#include <iso/core/job.hpp>

#include <nanobind/nanobind.h>

#include <Kokkos_Core.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

namespace iso::python {

namespace nb = nanobind;

/// An argument that may be any object of Python, None too, borrowed for a call.
struct any_object {
  nb::handle object;

  operator nb::handle() const { return object; }
};

/// What was counted since the process began, or since the counters were set to zero.
struct counters {
  std::atomic<std::int64_t> reorders{0};
  std::atomic<std::int64_t> allocations{0};
  std::atomic<std::int64_t> synchronisations{0};
};
counters& counted();

/// Notes the order of axes of the call that this thread makes, for indices in its messages.
void note_axes(bool zyx);

/// The keyword arguments `cancel` and `progress` of a call, borrowed for its time.
struct asked {
  nb::handle cancel;
  nb::handle progress;
};

/// The answers of Python while a call runs without the GIL: signals, an event that cancels, a
/// callable that is told of progress. It owns no Python object but the exception that ended the
/// call, which is taken with the GIL.
class conversation {
 public:
  explicit conversation(asked const& how) : how_(how) {}
  conversation(conversation const&) = delete;
  conversation& operator=(conversation const&) = delete;

  /// Asks Python once, before a call that may end before it asks. The GIL is held.
  /// \throws iso::cancelled  Python wants no such call
  void begin();
  /// Asks likewise, before a call that other processes make too: the answer is given to its first
  /// question, by which all of them end together.
  void begin_together();
  /// Returns a job whose callbacks refer to this object.
  [[nodiscard]] job control();
  /// Raises what a callback or a signal's handler raised. The GIL is held.
  void raise_python_error();
  /// Returns whether Python wants the call to end; asks it at most ten times a second.
  bool stops();

 private:
  using clock = std::chrono::steady_clock;

  /// Asks Python, with the GIL held.
  bool asks();
  void tell(double fraction);

  asked how_;
  clock::time_point asked_at_ = clock::now();
  clock::time_point told_at_{};
  std::optional<nb::python_error> error_;
  bool ends_ = false;
};

/// Whether a call is made by this process alone, or by all ranks of a job.
enum class made_by { one, all_ranks };

/// Where calls run, and where the calls of an object run that was made there.
enum class place { serial, openmp, cuda };

/// Whether this module is the plug-in, which takes arrays on a GPU.
#if defined(KOKKOS_ENABLE_CUDA)
inline constexpr bool has_cuda = true;
template <class Exec>
inline constexpr place place_of = std::is_same_v<Exec, Kokkos::Cuda>     ? place::cuda
                                  : std::is_same_v<Exec, Kokkos::Serial> ? place::serial
                                                                         : place::openmp;
#else
inline constexpr bool has_cuda = false;
template <class Exec>
inline constexpr place place_of =
    std::is_same_v<Exec, Kokkos::Serial> ? place::serial : place::openmp;
#endif

/// Returns whether this process was forked after its parent computed. CUDA gives it no GPU.
bool is_forked();

/// Returns what use() has chosen.
place chosen_place();

/// Where one call runs: of arrays on a GPU on that GPU, in the stream that is current in their
/// framework, so that its work before and after is ordered without an event.
struct target {
  place where = chosen_place();
  int device = -1;
  std::uintptr_t stream = 0;
  /// Of the per-thread default stream, which is another one in each thread.
  std::thread::id thread = {};

  [[nodiscard]] bool has_stream_of(target const& other) const {
    return device == other.device && stream == other.stream && thread == other.thread;
  }
};

/// Returns where a call of arrays on a GPU runs, in a stream as DLPack numbers it.
inline target target_on_gpu(int device, std::uintptr_t stream) {
  constexpr std::uintptr_t per_thread = 2;
  return {place::cuda, device, stream,
          stream == per_thread ? std::this_thread::get_id() : std::thread::id()};
}

/// A call's right to run. The constructor refuses calls of a process that ends, and calls on OpenMP
/// of one that was forked after its parent computed; both with the GIL held.
class admission {
 public:
  explicit admission(place where);
  admission(admission const&) = delete;
  admission& operator=(admission const&) = delete;
  ~admission();
};

/// The lock under which calls compute, which a thread may take again. Kokkos is started under it.
class computing {
 public:
  /// Waits without the GIL.
  /// \throws iso::cancelled  Python wants the call to end while it waits
  explicit computing(conversation& with);
  computing(computing const&) = delete;
  computing& operator=(computing const&) = delete;
  ~computing();
};

/// What a call does: `run(object, job)`.
struct call_body {
  void* object;
  void (*run)(void* object, job const& control);
};

/// Returns a body that refers to a callable of a job.
template <class Body>
call_body body_of(Body& body) {
  return {const_cast<void*>(static_cast<void const*>(&body)),
          [](void* object, job const& control) { (*static_cast<Body*>(object))(control); }};
}

/// Whether a call computes by Kokkos, alone, or goes on beside others.
enum class work { by_kokkos, of_its_own };

/// Runs a body as the head of this file says. With the GIL held, raises what it threw.
void converse(asked const& how, place where, made_by who, work kind, call_body const& body);

/// Asks Python whether the call that this thread makes shall end. Without the GIL.
/// \throws iso::cancelled  it shall
void ask();

/// Runs `body(job const&)` as the head of this file says, which computes at this place. With the
/// GIL held, raises what it threw.
template <class Body>
void call(asked const& how, place where, Body&& body, made_by who = made_by::one) {
  converse(how, where, who, work::by_kokkos, body_of(body));
}

/// Runs `body(job const&)` likewise, which needs no Kokkos: it starts nothing, and waits for no
/// other call.
template <class Body>
void call_on_its_own(asked const& how, Body&& body) {
  converse(how, place::serial, made_by::one, work::of_its_own, body_of(body));
}

/// Runs `body(job const&)` where the arrays of a call lie.
template <class Body>
void call(asked const& how, target const& at, Body&& body, made_by who = made_by::one) {
  call(how, at.where, std::forward<Body>(body), who);
}

/// Runs `body(job const&)` at the place that use() has chosen.
template <class Body>
void call(asked const& how, Body&& body) {
  call(how, chosen_place(), std::forward<Body>(body));
}

/// Returns the instance of the host's parallel space that calls use. Kokkos has been started.
Kokkos::DefaultHostExecutionSpace const& host_instance();

/// Calls `f(exec)` with the execution space that was chosen by use(). Kokkos has been started.
template <class F>
auto on_backend(F&& f) {
  if (chosen_place() == place::serial) {
    return f(Kokkos::Serial());
  }
  // A copy: a callback may call set_threads(), which gives the instance back.
  Kokkos::DefaultHostExecutionSpace const exec = host_instance();
  return f(exec);
}

#if defined(KOKKOS_ENABLE_CUDA)
/// The instance of a stream, and where the last call that used it ends.
struct stream_instance {
  Kokkos::Cuda exec;
  backend::event<Kokkos::Cuda> done;
};

/// Returns that of a stream. Kokkos has been started.
/// \throws iso::invalid_argument  another GPU than the one on which this process computes
stream_instance& stream_instance_of(target const& at);

/// The turn of a call in its stream: it comes behind the call before, by an event. Where a stream
/// has ended, another one may have its number, and a thread that of an ended thread, whose default
/// stream was another: what an instance and the objects made on it hold is in use until then. The
/// host does not wait.
class stream_turn {
 public:
  explicit stream_turn(target const& at) : instance_(stream_instance_of(at)) {
    instance_.done.hold(instance_.exec);
  }
  stream_turn(stream_turn const&) = delete;
  stream_turn& operator=(stream_turn const&) = delete;
  ~stream_turn() {
    try {
      instance_.done.record(instance_.exec);
    } catch (iso::error const&) {
      // The GPU has failed: the next call says so.
    }
  }
  [[nodiscard]] Kokkos::Cuda const& exec() const { return instance_.exec; }

 private:
  stream_instance& instance_;
};
#endif

/// Calls `f(exec)` with the execution space of a call. Kokkos has been started.
template <class F>
auto on_backend(target const& at, F&& f) {
#if defined(KOKKOS_ENABLE_CUDA)
  if (at.where == place::cuda) {
    stream_turn const mine(at);
    return f(mine.exec());
  }
#endif
  static_cast<void>(at);
  return on_backend(std::forward<F>(f));
}

/// Calls `f()`, which computes by what was made at this place.
template <class F>
void in_turn_at(target const& at, F&& f) {
#if defined(KOKKOS_ENABLE_CUDA)
  if (at.where == place::cuda) {
    stream_turn const mine(at);
    f();
    return;
  }
#endif
  static_cast<void>(at);
  f();
}

/// Waits for the work of a call, which a GPU does meanwhile.
template <class Exec>
void wait_for(Exec const& exec, char const* label) {
  if constexpr (place_of<Exec> == place::cuda) {
    ++counted().synchronisations;
  }
  exec.fence(label);
}

/// Calls `f.template operator()<T>()` for float or double.
template <class F>
auto by_type(bool is_double, F&& f) {
  return is_double ? f.template operator()<double>() : f.template operator()<float>();
}

void bind_call(nb::module_& m);

}  // namespace iso::python

namespace nanobind::detail {

template <>
struct has_arg_defaults<iso::python::any_object> : std::true_type {};

/// The conversion that refuses nothing: the function says what is wrong.
template <>
struct type_caster<iso::python::any_object> {
  NB_TYPE_CASTER(iso::python::any_object, const_name("object"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    value.object = source;
    return true;
  }
};

}  // namespace nanobind::detail
