// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/core/check.hpp
//! Checks and messages. A message reads "function: problem (reason); advice", as
//! docs/adr/0006-errors-and-messages.md defines it. Formatting lives in src/error.cpp so that no
//! kernel header pays for it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace iso {
namespace detail {

using message_arg = std::variant<std::int64_t, std::uint64_t, double, std::string_view>;

template <class T>
message_arg as_message_arg(T const& value) {
  if constexpr (std::floating_point<T>) {
    return double(value);
  } else if constexpr (std::signed_integral<T>) {
    return std::int64_t(value);
  } else if constexpr (std::unsigned_integral<T>) {
    return std::uint64_t(value);
  } else {
    return std::string_view(value);
  }
}

[[noreturn]] void throw_invalid_argument(std::string_view format,
                                         std::initializer_list<message_arg>);

}  // namespace detail

/// Returns `format` with `{}` replaced by `args`, as fmt does it.
/// Determinism: backend_to_backend; made on the host.
std::string message(std::string_view format, std::initializer_list<detail::message_arg> args);

/// Throws iso::invalid_argument with the formatted message.
/// Determinism: backend_to_backend; made on the host.
template <class... Args>
[[noreturn]] void fail_argument(std::string_view format, Args const&... args) {
  detail::throw_invalid_argument(format, {detail::as_message_arg(args)...});
}

}  // namespace iso

/// Checks an argument, always: O(1), on the host, before anything is enqueued.
#define ISO_VALIDATE(condition, ...)     \
  do {                                   \
    if (!(condition)) [[unlikely]] {     \
      ::iso::fail_argument(__VA_ARGS__); \
    }                                    \
  } while (false)
