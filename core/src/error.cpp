// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <fmt/args.h>
#include <fmt/core.h>

namespace iso {

std::string message(std::string_view format, std::initializer_list<detail::message_arg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (auto const& arg : args) {
    std::visit(
        [&](auto const& value) {
          using type = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<type, std::string_view>) {
            store.push_back(std::string(value));
          } else {
            store.push_back(value);
          }
        },
        arg);
  }
  return fmt::vformat(fmt::string_view(format.data(), format.size()), store);
}

namespace detail {

void throw_invalid_argument(std::string_view format, std::initializer_list<message_arg> args) {
  throw invalid_argument(message(format, args));
}

}  // namespace detail
}  // namespace iso
