// SPDX-License-Identifier: BSD-3-Clause
//! \file  tests/ct/back_project_support.hpp
//! Backprojections as host vectors, and their definition written plainly.
#pragma once

#include "forward_project_support.hpp"

#include <iso/core/numerics.hpp>
#include <iso/ct/back_project.hpp>
#include <iso/ct/detail/back_project_impl.hpp>

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
    auto const some = staged_pixels(exec, p.scan, pixels, first, std::min(batch, views - first));
    iso::ct::back_project<Exec, T>(exec, scan, some, out, scratch, options,
                                   first == 0 ? iso::onto::zero : iso::onto::stored);
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

/// What a voxel may be off by, back_project's contract for readings of at most `most`.
template <class T>
double promised_error(problem const& p, back_project_options const& options, double most) {
  using namespace iso::ct::detail;
  auto const bound = bound_rays(p.scan, p.volume, options.method);
  auto const words = choose_words<T>(bound, options.words);
  return double(p.scan.num_views()) * words.error * bound.weights * longest_step<T>(p.volume) *
         most;
}

/// Backprojection by scatter as it is defined: all rays, all voxels, whole numbers of 64 bits.
template <class T>
std::vector<T> defined_scatter(std::vector<T> const& pixels, problem const& p,
                               back_project_options const& options) {
  using namespace iso::ct::detail;
  auto const& n = p.volume.extent;
  auto const& scan = p.scan;
  bool const far = std::max({n[0], n[1], n[2]}) > (sizeof(T) == 4 ? 1 << 15 : 1 << 20);
  auto const words =
      choose_words<T>(bound_rays(scan, p.volume, options.method), far ? 3 : options.words);
  double most = 0;
  for (T const y : pixels) {
    most = std::max(most, std::abs(double(y)));
  }
  product_grid products{};
  double const share = 1.0 / (options.oversampling * options.oversampling);
  product_grid_kernel{&most, 0, longest_step<T>(p.volume), share, words.capacity, &products}(0);
  auto const whole = [](double x) { return std::int64_t(std::nearbyint(x)); };
  auto const whole_product = [](double a, double b) {
    return std::int64_t(std::fma(a, b, 0x1.8p52) - 0x1.8p52);
  };
  std::vector<T> out(std::size_t(p.volume.size()));
  std::vector<std::int64_t> sums(out.size());
  auto const add = [&](std::int64_t i, std::int64_t j, std::int64_t k, std::int64_t x) {
    if (i >= 0 && j >= 0 && k >= 0 && i < n[0] && j < n[1] && k < n[2]) {
      sums[std::size_t((i * n[1] + j) * n[2] + k)] += x;
    }
  };
  auto const add_line = [&](joseph_line<T> const& line, double reading) {
    int const m = line.axis;
    int const a = other_axis(m, 0);
    int const b = other_axis(m, 1);
    T const s = T(reading * double(line.step) * products.scale);
    for (std::int32_t i = line.planes.first; i < line.planes.last; ++i) {
      T const at[2] = {line.across[0](i), line.across[1](i)};
      std::int64_t const last[2] = {n[std::size_t(a)] - 1, n[std::size_t(b)] - 1};
      bool inside = true;
      T weight[2];
      for (int c = 0; c < 2; ++c) {
        inside =
            inside && (options.edge == iso::boundary::zero ? at[c] > T(-1) && at[c] < T(last[c] + 1)
                                                           : at[c] >= T(0) && at[c] <= T(last[c]));
        weight[c] = at[c] - std::floor(at[c]);
        weight[c] = options.method == iso::ct::projector::joseph_spline
                        ? iso::spline_weight{}(weight[c])
                        : weight[c];
      }
      if (!inside) {
        continue;
      }
      auto const put = [&](int upper_p, int upper_q, std::int64_t x) {
        std::int64_t k[3];
        k[m] = i;
        k[a] = std::int64_t(std::floor(at[0])) + upper_p;
        k[b] = std::int64_t(std::floor(at[1])) + upper_q;
        add(k[0], k[1], k[2], x);
      };
      T const wp = weight[0];
      T const wq = weight[1];
      if (words.count == 1) {
        T const upper = wq * s;
        T const lower = std::fma(-wq, s, s);
        put(0, 0, whole(s) - whole(upper) - whole(wp * lower));
        put(0, 1, whole(upper) - whole(wp * upper));
        put(1, 0, whole(wp * lower));
        put(1, 1, whole(wp * upper));
        continue;
      }
      for (int upper_p = 0; upper_p < 2; ++upper_p) {
        T const share = upper_p == 0 ? T(1) - wp : wp;
        put(upper_p, 0, whole_product(double(std::fma(wq, -share, share)), double(s)));
        put(upper_p, 1, whole_product(double(wq * share), double(s)));
      }
    }
  };
  int const side = options.oversampling;
  std::int64_t const per_view = scan.num_u() * scan.num_v();
  for (std::int64_t first = 0; first < scan.num_views(); first += 16) {
    for (int part = 0; part < side * side; ++part) {
      std::fill(sums.begin(), sums.end(), 0);
      double const du = (part / side + 0.5) / side - 0.5;
      double const dv = (part % side + 0.5) / side - 0.5;
      for (std::int64_t pixel = first * per_view;
           pixel < std::min(first + 16, scan.num_views()) * per_view; ++pixel) {
        auto const& view = scan.views()[std::size_t(pixel / per_view)];
        double const u = double(pixel % per_view / scan.num_v()) + du;
        double const v = double(pixel % scan.num_v()) + dv;
        double const reading = double(pixels[std::size_t(pixel)]) * (1.0 / (side * side));
        if (is_joseph(options.method)) {
          add_line(make_line<T>(to_index(view, p.volume, scan.kind()), scan.kind(), p.volume, u, v,
                                options.within),
                   reading);
          continue;
        }
        iso::ray::traversal_grid const walked(p.volume);
        T const s = T(reading * products.scale);
        auto const ray =
            ray_limits(p.volume, options.within).clipped(pixel_ray(view, scan.kind(), u, v));
        auto const visit = [&](std::int64_t voxel, T chord) {
          sums[std::size_t(voxel)] +=
              words.count == 1 ? whole(double(chord * s)) : whole_product(double(chord), double(s));
        };
        iso::ray::detail::reporter<T, decltype(visit) const> report{visit};
        iso::ray::detail::walk(iso::ray::siddon{},
                               iso::ray::detail::enter<T, std::int64_t>(ray, walked), report);
      }
      for (std::size_t voxel = 0; voxel < out.size(); ++voxel) {
        out[voxel] = T(std::fma(double(sums[voxel]), products.unit, double(out[voxel])));
      }
    }
  }
  return out;
}

}  // namespace projector_support
