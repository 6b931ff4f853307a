// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/workspace.hpp>

#include <unistd.h>

namespace iso::detail {

std::uint64_t free_host_bytes() {
  long const pages = sysconf(_SC_AVPHYS_PAGES);
  long const page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? std::uint64_t(pages) * std::uint64_t(page) : 0;
}

}  // namespace iso::detail
