// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace iso::backend {

/// Which of two neighbouring columns of a volume exist.
struct columns_present {
  bool lower;
  bool upper;
};

}  // namespace iso::backend
