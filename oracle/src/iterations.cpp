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

/// 1 / x, 0 where x is nearly nothing.
numbers inverse(numbers x) {
  double const least = 1e-6 * *std::max_element(x.begin(), x.end());
  for (double& value : x) {
    value = value > least ? 1 / value : 0;
  }
  return x;
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
    rows.push_back(inverse(part.a.forward(numbers(size, 1))));
    columns.push_back(inverse(part.a.adjoint(numbers(part.b.size(), 1))));
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
  numbers x(std::size_t(a.volume.size()), 1);
  auto const parts = blocks_of(a, b, blocks);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (auto const& part : parts) {
      auto const columns = inverse(part.a.adjoint(numbers(part.b.size(), 1)));
      auto ratio = inverse(part.a.forward(x));
      for (std::size_t i = 0; i < ratio.size(); ++i) {
        ratio[i] *= part.b[i];
      }
      auto const correction = part.a.adjoint(ratio);
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] *= correction[i] * columns[i];
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
  auto const sigma = inverse(a.forward(numbers(size, 1)));
  auto const columns = a.adjoint(numbers(b.size(), 1));
  double average = 0;  // the largest along a ray
  for (std::size_t i = 0; i < b.size(); ++i) {
    average = std::max(average, std::abs(b[i]) * sigma[i]);
  }
  double const g = std::max(*std::max_element(columns.begin(), columns.end()) / 6,
                            average > 0 ? 2 * weight / average : 0);
  numbers x(size, 0);
  numbers extrapolated = x;
  numbers y(b.size(), 0);
  std::vector<numbers> q(3, numbers(size, 0));
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const projected = a.forward(extrapolated);
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = (y[i] + sigma[i] * (projected[i] - b[i])) / (1 + sigma[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      double squares = 0;
      for (int axis = 0; axis < 3; ++axis) {
        double const difference =
            has(std::int64_t(i), axis)
                ? extrapolated[i + std::size_t(strides[axis])] - extrapolated[i]
                : 0;
        q[std::size_t(axis)][i] += 0.5 * difference;
        squares += q[std::size_t(axis)][i] * q[std::size_t(axis)][i];
      }
      double const length = std::sqrt(squares);
      for (auto& along : q) {
        along[i] *= length > weight / g ? weight / g / length : 1;
      }
    }
    auto z = a.adjoint(y);
    for (std::size_t i = 0; i < size; ++i) {
      for (int axis = 0; axis < 3; ++axis) {
        if (has(std::int64_t(i), axis)) {
          z[i] -= g * q[std::size_t(axis)][i];
          z[i + std::size_t(strides[axis])] += g * q[std::size_t(axis)][i];
        }
      }
    }
    for (std::size_t i = 0; i < size; ++i) {
      double const sum = columns[i] + 6 * g;
      double const to = std::clamp(x[i] - z[i] / sum, lower, upper);
      extrapolated[i] = 2 * to - x[i];
      x[i] = to;
    }
  }
  return x;
}

}  // namespace iso::oracle
