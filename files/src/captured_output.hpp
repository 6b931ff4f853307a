// SPDX-License-Identifier: BSD-3-Clause
//! Keeps what libraries print from the caller's terminal.
#pragma once

#include <string>

namespace iso::files::detail {

/// The text that this thread prints to std::cerr and std::cout while the object lives, which then
/// goes nowhere else: MetaIO and VNL print there what is wrong with a file. Other threads print as
/// before. Objects may be nested; the innermost takes the text.
class captured_output {
 public:
  captured_output();
  captured_output(captured_output const&) = delete;
  captured_output& operator=(captured_output const&) = delete;
  ~captured_output();

  [[nodiscard]] std::string const& text() const { return text_; }

 private:
  std::string text_;
  std::string* outer_;
};

}  // namespace iso::files::detail
