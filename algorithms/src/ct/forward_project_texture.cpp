// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/forward_project_texture_impl.hpp>

namespace iso::ct {
ISO_FOR_EACH_BACKEND(ISO_FORWARD_PROJECT_TEXTURE)
}  // namespace iso::ct
