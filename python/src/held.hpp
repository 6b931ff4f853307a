// SPDX-License-Identifier: BSD-3-Clause
//! \file  held.hpp
//! Holds what an object of Python needs where its calls run: on the host, and on a GPU once arrays
//! come from there.
#pragma once

#include "arrays.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace iso::python {

/// The parts of an object, each for one backend: that of the host is made with the object, and that
/// of a GPU when arrays come from there. The latter is made for one stream, and anew when arrays
/// come in another, for which the GPU is waited for. Calls that share an object come one after the
/// other, on a GPU by events (stream_turn); another thread may close it meanwhile.
template <class Any>
class held_parts {
 public:
  /// Makes the part of the host: `make(exec)` returns a shared pointer to it.
  template <class Make>
  void begin(Make const& make, made_by who = made_by::one) {
    who_ = who;
    auto const body = [&](job const&) {
      on_backend(host_, [&]<class Exec>(Exec const& exec) {
        host_.where = place_of<Exec>;
        std::shared_ptr<Any> made = make(exec);
        std::lock_guard const alone(mutex_);
        on_host_ = std::move(made);
      });
    };
    call({}, host_, body, who_);
  }

  /// Calls `body(part, control)` where the arrays of a call lie, by the part that is there, which
  /// `make(exec)` makes where there is none.
  template <class Make, class Body>
  void in_turn(char const* function, asked const& how, target const& at, Make const& make,
               Body const& body) {
    auto const on_host = part(on_host_);
    ISO_VALIDATE(on_host != nullptr, "{}: it was closed (its memory is given back); make another",
                 function);
    bool const on_gpu = at.where == place::cuda;
    auto const whole = [&](job const& control) {
      in_use const one(busy_, function);
      if (!on_gpu) {
        body(*on_host, control);
        return;
      }
      auto held = part(on_gpu_);
      if (!held || !of_gpu_.has_stream_of(at)) {
        if (held) {
          ++counted().synchronisations;  // by freeing the former
        }
        on_backend(at, [&](auto const& exec) { held = make(exec); });
        of_gpu_ = at;
        std::lock_guard const alone(mutex_);
        on_gpu_ = on_host_ ? held : nullptr;
      }
      in_turn_at(at, [&] { body(*held, control); });
    };
    call(how, on_gpu ? at : host_, whole, who_);
  }

  void close() {
    std::lock_guard const alone(mutex_);
    on_host_.reset();
    on_gpu_.reset();
  }
  /// Returns the part that was made with the object; null once it is closed.
  [[nodiscard]] std::shared_ptr<Any> first() const { return part(on_host_); }
  /// Returns the bytes of all parts.
  [[nodiscard]] std::int64_t bytes() const {
    auto const of = [](auto const& held) { return held ? held->bytes() : 0; };
    return of(part(on_host_)) + of(part(on_gpu_));
  }

 private:
  [[nodiscard]] std::shared_ptr<Any> part(std::shared_ptr<Any> const& which) const {
    std::lock_guard const alone(mutex_);
    return which;
  }

  target host_;
  made_by who_ = made_by::one;
  bool busy_ = false;
  mutable std::mutex mutex_;  ///< of the pointers
  std::shared_ptr<Any> on_host_;
  std::shared_ptr<Any> on_gpu_;
  target of_gpu_ = {};  ///< where that is
};

/// The order of calls in several streams that share memory of a GPU: each comes behind the one
/// before, by an event, as those of one stream do (stream_turn). The host does not wait.
class turns {
 public:
#if defined(KOKKOS_ENABLE_CUDA)
  template <class Exec>
  void begin(Exec const& exec) {
    if constexpr (place_of<Exec> == place::cuda) {
      done_.hold(exec);
    }
  }
  template <class Exec>
  void end(Exec const& exec) {
    if constexpr (place_of<Exec> == place::cuda) {
      done_.record(exec);
    }
  }

 private:
  backend::event<Kokkos::Cuda> done_;
#else
  template <class Exec>
  void begin(Exec const& /*exec*/) {}
  template <class Exec>
  void end(Exec const& /*exec*/) {}
#endif
};

/// Waits for the work of a call on the host. What a GPU does later in the arrays' stream comes
/// behind this call: nothing waits.
template <class Exec>
void wait_on_host(Exec const& exec, char const* label) {
  if constexpr (place_of<Exec> != place::cuda) {
    exec.fence(label);
  }
}

}  // namespace iso::python
