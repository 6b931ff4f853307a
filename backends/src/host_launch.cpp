// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/backends.hpp>
#include <iso/backend/detail/host_launch.hpp>

namespace iso::backend::detail {

template <class Exec>
void launch_host_groups(std::string const& label, Exec const& exec, std::int64_t first,
                        std::int64_t end, host_body const& body, std::int64_t chunk) {
  if (chunk == 0) {
    launch_range<false>(label, exec, first, end, body, chunk);
  } else {
    launch_range<true>(label, exec, first, end, body, chunk);
  }
}

template void launch_host_groups(std::string const&, Kokkos::Serial const&, std::int64_t,
                                 std::int64_t, host_body const&, std::int64_t);
#if ISO_HAS_OPENMP
template void launch_host_groups(std::string const&, Kokkos::OpenMP const&, std::int64_t,
                                 std::int64_t, host_body const&, std::int64_t);
#endif

}  // namespace iso::backend::detail
