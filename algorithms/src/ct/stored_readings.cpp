// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/stored_readings_impl.hpp>

namespace iso::ct {

ISO_FOR_EACH_INSTANCE(ISO_CT_DECODE_READINGS, )

}  // namespace iso::ct
