// SPDX-License-Identifier: BSD-3-Clause
#include <iso/ct/detail/line_integrals_impl.hpp>

namespace iso::ct {
namespace detail {

void validate_image(Kokkos::Array<std::int64_t, 3> const& image,
                    Kokkos::Array<std::int64_t, 3> const& projections, char const* name,
                    char const* function) {
  ISO_VALIDATE(image[0] == 1 && image[1] == projections[1] && image[2] == projections[2],
               "{}: {} of [{}, {}, {}] (one image of the projections' size, [1, {}, {}], is "
               "needed); give one averaged image",
               function, name, image[0], image[1], image[2], projections[1], projections[2]);
}

}  // namespace detail

ISO_FOR_EACH_INSTANCE(ISO_CT_LINE_INTEGRALS, )

}  // namespace iso::ct
