// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/dead_pixels.hpp>

namespace iso::ct {

ISO_FOR_EACH_INSTANCE(ISO_CT_DEAD_PIXELS, )

}  // namespace iso::ct
