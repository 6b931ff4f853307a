// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/check.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/detail/check_word.hpp>

#include <numeric>

namespace iso::ct {
namespace {

/// The number nearest below to count / phi^2, phi being the golden ratio, that shares no factor
/// with `count`: so its multiples meet every block. In integers, so that it is the same everywhere.
std::int64_t golden_step(std::int64_t count) {
  // 2^32 / phi^2, rounded; counts of blocks fit into 31 bits, since views do.
  std::int64_t step = std::int64_t((std::uint64_t(count) * 1640531527U) >> 32);
  while (step > 1 && std::gcd(step, count) != 1) {
    --step;
  }
  return step < 1 ? 1 : step;
}

}  // namespace

view_blocks split_views(std::int64_t num_views, std::int64_t size, block_order order) {
  ISO_VALIDATE(
      num_views >= 1 && num_views < (std::int64_t(1) << 31),
      "iso::ct::split_views: {} views (must lie in 1 .. 2^31 - 1); give the scan's number of views",
      num_views);
  ISO_VALIDATE(size >= 1 && size <= num_views,
               "iso::ct::split_views: blocks of {} views (must lie in 1 .. {}, the scan's); choose "
               "a smaller block, at least one view",
               size, num_views);
  iso::detail::check_word(order, "iso::ct::split_views", "order");
  std::int64_t const count = (num_views + size - 1) / size;
  std::int64_t const step = order == block_order::golden ? golden_step(count) : 1;
  view_blocks blocks;
  blocks.begins.push_back(0);
  for (std::int64_t place = 0; place < count; ++place) {
    for (std::int64_t view = place * step % count; view < num_views; view += count) {
      blocks.views.push_back(view);
    }
    blocks.begins.push_back(std::int64_t(blocks.views.size()));
  }
  return blocks;
}

}  // namespace iso::ct
