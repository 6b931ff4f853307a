// SPDX-License-Identifier: BSD-3-Clause
#include <iso/area_name/detail/area_name_impl.hpp>

namespace iso::area_name {

ISO_FOR_EACH_INSTANCE(ISO_AREA_NAME, )

}  // namespace iso::area_name
