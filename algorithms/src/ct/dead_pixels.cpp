// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/dead_pixels_impl.hpp>

namespace iso::ct {

ISO_FOR_EACH_INSTANCE(ISO_CT_DEAD_PIXELS, )

}  // namespace iso::ct
