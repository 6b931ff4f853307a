// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/streamed_ranked_impl.hpp>

namespace iso::ct {

ISO_FOR_EACH_INSTANCE(ISO_CT_STREAMED_RANKED, )
ISO_FOR_EACH_BACKEND(ISO_CT_STREAMED_RANKED_ON)

}  // namespace iso::ct
