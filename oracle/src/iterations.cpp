// SPDX-License-Identifier: BSD-3-Clause
#include <iso/oracle/iterations.hpp>

#include <algorithm>
#include <cmath>

namespace iso::oracle {
namespace {

double product(numbers const& a, numbers const& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<long double>(a[i]) * b[i];
  }
  return double(sum);
}

/// A block of views with its readings.
struct block {
  linear_pair a;
  numbers b;
};

std::vector<block> blocks_of(linear_pair const& a, numbers const& b,
                             std::vector<std::vector<std::int64_t>> const& views) {
  std::int64_t const pixels = a.scan.num_u() * a.scan.num_v();
  std::vector<block> blocks;
  for (auto const& some : views) {
    auto& last = blocks.emplace_back(block{a.part(some), {}});
    for (std::int64_t const view : some) {
      last.b.insert(last.b.end(), b.begin() + view * pixels, b.begin() + (view + 1) * pixels);
    }
  }
  return blocks;
}

double largest(numbers const& x) { return *std::max_element(x.begin(), x.end()); }

/// 1 / x, 0 where x is nearly nothing; below `floor` x counts as that.
numbers inverse(numbers x, double floor = 0) {
  double const least = 1e-6 * largest(x);
  for (double& value : x) {
    value = value > least ? 1 / std::max(value, floor) : 0;
  }
  return x;
}

numbers column_sums(linear_pair const& a, std::size_t rays) { return a.adjoint(numbers(rays, 1)); }
numbers row_sums(linear_pair const& a) {
  return a.forward(numbers(std::size_t(a.volume.size()), 1));
}

/// The length below which a ray counts as that long.
double shortest_ray(grid const& volume) {
  auto const& h = volume.spacing;
  return std::sqrt(3.0) / 4 * std::min({h.x, h.y, h.z});
}

}  // namespace

numbers linear_pair::forward(numbers const& x) const {
  Kokkos::View<double const***, Kokkos::LayoutRight, Kokkos::HostSpace> const data(
      x.data(), std::size_t(volume.extent[0]), std::size_t(volume.extent[1]),
      std::size_t(volume.extent[2]));
  return exact_projections(voxels<double>{volume, data}, scan, {});
}

numbers linear_pair::adjoint(numbers const& p) const {
  return exact_back_projection(p, scan, volume, {});
}

linear_pair linear_pair::part(std::vector<std::int64_t> const& views) const {
  std::vector<ct::view_vectors> some;
  for (std::int64_t const view : views) {
    some.push_back(scan.views()[std::size_t(view)]);
  }
  return {{scan.kind(), scan.num_u(), scan.num_v(), some}, volume};
}

numbers exact_sart(linear_pair const& a, numbers const& b,
                   std::vector<std::vector<std::int64_t>> const& blocks, double relaxation,
                   std::int64_t steps) {
  auto const size = std::size_t(a.volume.size());
  numbers x(size, 0);
  auto const parts = blocks_of(a, b, blocks);
  std::vector<numbers> rows;
  std::vector<numbers> columns;
  for (auto const& part : parts) {
    rows.push_back(inverse(row_sums(part.a), shortest_ray(a.volume)));
    auto const sums = column_sums(part.a, part.b.size());
    columns.push_back(inverse(sums, 1e-3 * largest(sums)));
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t s = 0; s < parts.size(); ++s) {
      auto p = parts[s].a.forward(x);
      for (std::size_t i = 0; i < p.size(); ++i) {
        p[i] = rows[s][i] * (parts[s].b[i] - p[i]);
      }
      auto const correction = parts[s].a.adjoint(p);
      for (std::size_t i = 0; i < size; ++i) {
        x[i] += relaxation * columns[s][i] * correction[i];
      }
    }
  }
  return x;
}

numbers exact_osem(linear_pair const& a, numbers const& b,
                   std::vector<std::vector<std::int64_t>> const& blocks, std::int64_t steps) {
  numbers x(std::size_t(a.volume.size()), 0);
  auto const parts = blocks_of(a, b, blocks);
  double readings = 0;
  double lengths = 0;
  double longest = 0;
  std::vector<numbers> background;
  for (auto const& part : parts) {
    background.push_back(row_sums(part.a));
    for (std::size_t i = 0; i < part.b.size(); ++i) {
      readings += part.b[i];
      lengths += background.back()[i];
      longest = std::max(longest, background.back()[i]);
    }
  }
  double const shortest = shortest_ray(a.volume);
  for (auto& all : background) {
    for (double& length : all) {
      bool const is_short = length > 1e-6 * longest && length < shortest;
      length = is_short ? readings / lengths * (shortest - length) : 0;
    }
  }
  for (auto const& part : parts) {
    auto const sums = inverse(column_sums(part.a, part.b.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = sums[i] > 0 ? 1 : x[i];
    }
  }
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t s = 0; s < parts.size(); ++s) {
      auto const& part = parts[s];
      auto const columns = inverse(column_sums(part.a, part.b.size()));
      auto ratio = part.a.forward(x);
      double const least = 1e-6 * largest(ratio);
      for (std::size_t i = 0; i < ratio.size(); ++i) {
        double const expected = ratio[i] + background[s][i];
        ratio[i] = expected > least ? (part.b[i] + background[s][i]) / expected : 0;
      }
      auto const correction = part.a.adjoint(ratio);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] *= columns[i] > 0 ? correction[i] * columns[i] : 1;
      }
    }
  }
  return x;
}

numbers exact_normal(linear_pair const& a, numbers const& b, double damping, std::int64_t steps) {
  numbers x(std::size_t(a.volume.size()), 0);
  auto r = a.adjoint(b);
  auto p = r;
  for (std::int64_t step = 0; step < steps; ++step) {
    auto q = a.adjoint(a.forward(p));
    for (std::size_t i = 0; i < q.size(); ++i) {
      q[i] += damping * damping * p[i];
    }
    double const before = product(r, r);
    double const alpha = before / product(p, q);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    double const beta = product(r, r) / before;
    for (std::size_t i = 0; i < p.size(); ++i) {
      p[i] = r[i] + beta * p[i];
    }
  }
  return x;
}

numbers exact_total_variation(linear_pair const& a, numbers const& b, double weight, double lower,
                              double upper, std::int64_t steps) {
  auto const n = a.volume.extent;
  std::int64_t const strides[3] = {n[1] * n[2], n[2], 1};
  auto const has = [&](std::int64_t i, int axis) {
    std::int64_t const at[3] = {i / strides[0], i / n[2] % n[1], i % n[2]};
    return at[axis] + 1 < n[axis];
  };
  auto const size = std::size_t(a.volume.size());
  auto const sigma = inverse(row_sums(a), shortest_ray(a.volume));
  auto const columns = column_sums(a, b.size());
  double lengths = 0;  // each times its reading
  for (std::size_t i = 0; i < b.size(); ++i) {
    lengths += sigma[i] > 0 ? std::abs(b[i]) / sigma[i] : 0;
  }
  double const average = product(b, b) / lengths;  // of the readings along their rays
  double const side = (a.volume.spacing.x + a.volume.spacing.y + a.volume.spacing.z) / 3;
  double const reaching = 2 * weight / (average * side);
  double const most = largest(columns);
  double const g = std::max(reaching, std::sqrt(reaching * most / 6));
  double const c = 8 * side;  // of the first 100 iterations
  double const relaxation = 1.9;
  numbers x(size, 0);
  numbers before = x;
  numbers slope = x;
  numbers projected_before(b.size(), 0);
  numbers y(b.size(), 0);
  std::vector<numbers> q(3, numbers(size, 0));
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = std::clamp(before[i] - slope[i] / (c * (columns[i] + 6 * g)), lower, upper);
    }
    auto const projected = a.forward(x);
    for (std::size_t i = 0; i < y.size(); ++i) {
      double const s = c * sigma[i];
      double const next = (y[i] + s * (2 * projected[i] - projected_before[i] - b[i])) / (1 + s);
      y[i] += relaxation * (next - y[i]);
      projected_before[i] += relaxation * (projected[i] - projected_before[i]);
    }
    auto const along = [&](numbers const& of, std::size_t i, int axis) {
      return has(std::int64_t(i), axis) ? of[i + std::size_t(strides[axis])] - of[i] : 0;
    };
    for (std::size_t i = 0; i < size; ++i) {
      double next[3];
      double squares = 0;
      for (int axis = 0; axis < 3; ++axis) {
        next[axis] = q[std::size_t(axis)][i] +
                     0.5 * c * g * (2 * along(x, i, axis) - along(before, i, axis));
        squares += next[axis] * next[axis];
      }
      double const length = std::sqrt(squares);
      for (int axis = 0; axis < 3; ++axis) {
        double const to = next[axis] * (length > weight ? weight / length : 1);
        double& held = q[std::size_t(axis)][i];
        held += relaxation * (to - held);
      }
    }
    slope = a.adjoint(y);
    for (std::size_t i = 0; i < size; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        if (has(std::int64_t(i), axis)) {
          slope[i] -= q[std::size_t(axis)][i];
          slope[i + std::size_t(strides[axis])] += q[std::size_t(axis)][i];
        }
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      before[i] += relaxation * (x[i] - before[i]);
    }
  }
  return x;
}

}  // namespace iso::oracle
