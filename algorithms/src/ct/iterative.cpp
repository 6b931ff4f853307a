// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/backends.hpp>
#include <iso/ct/detail/cgls_impl.hpp>
#include <iso/ct/detail/lsqr_impl.hpp>
#include <iso/ct/detail/mlem_impl.hpp>
#include <iso/ct/detail/sart_impl.hpp>
#include <iso/ct/detail/total_variation_impl.hpp>

namespace iso::ct {

#define ISO_CT_ITERATIVE(linkage, Exec, T) \
  linkage template class sart<Exec, T>;    \
  linkage template class cgls<Exec, T>;    \
  linkage template class lsqr<Exec, T>;    \
  linkage template class mlem<Exec, T>;    \
  linkage template class total_variation<Exec, T>;
ISO_FOR_EACH_INSTANCE(ISO_CT_ITERATIVE, )

}  // namespace iso::ct
