// SPDX-License-Identifier: BSD-3-Clause
//! \file  checkpoint.hpp
//! Tells which of the tool's methods options are, for what a checkpoint belongs to.
#pragma once

#include <iso/ct/detail/checkpoint_belongings.hpp>
#include <iso/ct/iterative_options.hpp>

namespace iso::python {

inline ct::iterative_method method_named(ct::sart_options const& o) {
  using method = ct::iterative_method;
  return o.block_views == 0 ? method::sirt : o.block_views == 1 ? method::sart : method::os_sart;
}
inline ct::iterative_method method_named(ct::mlem_options const& o) {
  return o.block_views == 0 ? ct::iterative_method::mlem : ct::iterative_method::osem;
}
inline ct::iterative_method method_named(ct::cgls_options const& /*unused*/) {
  return ct::iterative_method::cgls;
}
inline ct::iterative_method method_named(ct::lsqr_options const& /*unused*/) {
  return ct::iterative_method::lsqr;
}
inline ct::iterative_method method_named(ct::total_variation_options const& /*unused*/) {
  return ct::iterative_method::tv;
}

}  // namespace iso::python
