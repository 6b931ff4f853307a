// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/back_project_support.hpp
//! Backprojections as host vectors, and their definition written plainly.
#pragma once

#include "forward_project_support.hpp"

#include <iso/core/numerics.hpp>
#include <iso/ct/back_project.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace projector_support {

using iso::ct::back_project_options;

/// Pixels [first, first + count) views of a scan's, where `exec` reads them.
template <class T, class Exec>
auto staged_pixels(Exec const& exec, geometry const& g, std::vector<T> const& pixels,
                   std::int64_t first, std::int64_t count) {
  using space = typename Exec::memory_space;
  auto const host_copy = iso::make_projections<T, host>("p", count, g.num_u(), g.num_v());
  auto const from = pixels.begin() + first * g.num_u() * g.num_v();
  std::copy(from, from + count * g.num_u() * g.num_v(), host_copy.data.data());
  auto const there = iso::make_projections<T, space>("p", count, g.num_u(), g.num_v());
  Kokkos::deep_copy(there.data, host_copy.data);
  exec.fence("projector_support::staged_pixels");
  return there;
}

/// The volume as a host vector, from batches of `batch` views (0: one). Outputs and scratch begin
/// as NaN, so that nothing unwritten passes.
template <class T, class Exec>
std::vector<T> backprojected(Exec const& exec, std::vector<T> const& pixels, problem const& p,
                             back_project_options options = {}, std::int64_t batch = 0) {
  using space = typename Exec::memory_space;
  std::int64_t const views = p.scan.num_views();
  auto const out = iso::make_volume<T, space>("out", p.volume);
  Kokkos::deep_copy(exec, out.data, std::numeric_limits<T>::quiet_NaN());
  auto const scan = iso::ct::stage(exec, p.scan);
  iso::workspace<space> const scratch(
      iso::ct::back_project_bytes_needed<T>(exec, p.scan, p.volume, options));
  for (std::int64_t first = 0; first < views; first += batch) {
    batch = batch == 0 ? views : batch;
    fill_with_nan(exec, scratch);
    options.first_view = first;
    options.onto = first == 0 ? iso::onto::zero : iso::onto::stored;
    auto const some = staged_pixels(exec, p.scan, pixels, first, std::min(batch, views - first));
    iso::ct::back_project<Exec, T>(exec, scan, some, out, scratch, options);
    exec.fence("projector_support::backprojected");
  }
  return host_vector(out.data);
}
template <class T>
std::vector<T> backprojected(std::vector<T> const& pixels, problem const& p,
                             back_project_options const& options = {}) {
  return backprojected(Kokkos::Serial(), pixels, p, options);
}

/// The weights of iso::blend: what a sample at p takes of voxel k.
template <class T>
T blend_weight(T p, std::int64_t k) {
  T const down = std::floor(p);
  T const w = p - down;
  return T(k) == down ? T(1) - w : T(k) == down + 1 ? w : T(0);
}

/// Backprojection by gather as it is defined: all u, all v, every weight from the ray's own line.
template <class T>
std::vector<T> defined_gather(std::vector<T> const& pixels, problem const& p,
                              iso::boundary edge = iso::boundary::zero) {
  auto const& n = p.volume.extent;
  auto const& scan = p.scan;
  std::vector<iso::ct::detail::joseph_line<T>> lines;
  for (auto const& view : scan.views()) {
    auto const w = iso::ct::detail::to_index(view, p.volume, scan.kind());
    for (std::int64_t u = 0; u < scan.num_u(); ++u) {
      for (std::int64_t v = 0; v < scan.num_v(); ++v) {
        lines.push_back(
            iso::ct::detail::make_line<T>(w, scan.kind(), p.volume, double(u), double(v)));
      }
    }
  }
  auto const weight = [&](T at, std::int64_t k, std::int64_t extent) {
    bool const within = edge == iso::boundary::zero || (at >= T(0) && at <= T(extent - 1));
    return within ? blend_weight(at, k) : T(0);
  };
  std::vector<T> out(std::size_t(p.volume.size()));
  std::size_t place = 0;
  for (std::int64_t x = 0; x < n[0]; ++x) {
    for (std::int64_t y = 0; y < n[1]; ++y) {
      for (std::int64_t z = 0; z < n[2]; ++z) {
        T& voxel = out[place++];
        T block = 0;
        auto line = lines.begin();
        auto pixel = pixels.begin();
        for (std::int64_t view = 0; view < scan.num_views(); ++view) {
          for (std::int64_t u = 0; u < scan.num_u(); ++u) {
            int const m = line->axis;
            std::int64_t const i = m == 0 ? x : y;
            std::int64_t const j = m == 0 ? y : x;
            bool const between = i >= line->planes.first && i < line->planes.last;
            T const c =
                between ? weight(line->across[0](std::int32_t(i)), j, n[m == 0 ? 1 : 0]) : T(0);
            T g = 0;
            for (std::int64_t v = 0; v < scan.num_v(); ++v, ++line, ++pixel) {
              T const d = c != 0 ? weight(line->across[1](std::int32_t(i)), z, n[2]) : T(0);
              if (d != 0) {
                g = std::fma(d, *pixel * line->step, g);
              }
            }
            if (c != 0) {
              block = std::fma(c, g, block);
            }
          }
          if (view % 16 == 15 || view + 1 == scan.num_views()) {
            voxel = iso::canonical(voxel + (block + T(0)));
            block = 0;
          }
        }
      }
    }
  }
  return out;
}

}  // namespace projector_support
