// SPDX-License-Identifier: BSD-3-Clause
// Weights of proton spots for 60 Gy in a target: non-negative least squares by accelerated
// projected gradients. The same bits on every backend.
//
//   iso_example_spot_weights [BACKEND]
#include <iso/backend/registry.hpp>
#include <iso/core/grid.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/synthetic/generate.hpp>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

namespace sparse = iso::sparse;
namespace synthetic = iso::synthetic;

constexpr double dose_wanted = 60;        // Gy, in the target
constexpr double weight_outside = 0.002;  // of a voxel's squared dose, over that of the target's
constexpr double rim = 6;                 // mm around the target that nobody counts
constexpr int iterations = 200;

synthetic::pencil_beams field() {
  synthetic::pencil_beams f;
  f.voxels = iso::grid::centred({40, 40, 40}, {3, 3, 3});
  f.entrance = 60;
  f.radius = 18;
  f.margin = 8;
  f.spot_spacing = 4;
  f.layer_spacing = 3;
  return f;
}

/// Minimise sum_v importance(v) (dose(v) - wanted(v))^2 / 2 over w >= 0, where dose = A w.
template <class Exec>
struct problem {
  using space = typename Exec::memory_space;
  using vector = Kokkos::View<double*, space>;
  using dose_matrix = sparse::dose_matrix<space>;

  explicit problem(Exec const& exec)
      : wanted("wanted", std::size_t(field().voxels.size())),
        importance("importance", wanted.size()) {
    auto const a = synthetic::generate<iso::half>(exec, field());
    // From arrays to products: format, plans and scratch are chosen and made here.
    matrix = dose_matrix(
        exec, sparse::csr_arrays(a.num_rows, a.num_cols, a.row_offsets, a.columns, a.values));
    prescribe(exec);
  }

  void prescribe(Exec const& exec) {
    auto const f = field();
    auto const dose = Kokkos::create_mirror_view(wanted);
    auto const weight = Kokkos::create_mirror_view(importance);
    auto const& n = f.voxels.extent;
    for (std::int64_t row = 0; row < f.voxels.size(); ++row) {
      double const x = f.voxels.origin.x + f.voxels.spacing.x * double(row / (n[1] * n[2]));
      double const y = f.voxels.origin.y + f.voxels.spacing.y * double(row / n[2] % n[1]);
      double const z = f.voxels.origin.z + f.voxels.spacing.z * double(row % n[2]);
      double const r = std::sqrt(x * x + y * y + z * z);
      dose.data()[row] = r <= f.radius ? dose_wanted : 0;
      weight.data()[row] = r <= f.radius ? 1 : r <= f.radius + rim ? 0 : weight_outside;
    }
    Kokkos::deep_copy(exec, wanted, dose);
    Kokkos::deep_copy(exec, importance, weight);
    exec.fence("the prescription");
  }

  [[nodiscard]] std::int64_t spots() const { return matrix.num_cols(); }
  [[nodiscard]] std::int64_t voxels() const { return matrix.num_rows(); }

  dose_matrix matrix;
  vector wanted, importance;
};

template <class Exec>
Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>> range(Exec const& exec,
                                                                 std::int64_t count) {
  return {exec, 0, count};
}

/// gradient = A^T (importance (A w - target dose)).
template <class Exec, class Vector>
void gradient_at(Exec const& exec, problem<Exec> const& p, Vector const& w, Vector const& target,
                 Vector const& dose, Vector const& gradient) {
  // The dose is A w: half values, vectors in double.
  p.matrix.apply(exec, w, dose);
  auto const* const importance = p.importance.data();
  auto const* const wanted = target.data();
  auto* const residual = dose.data();
  Kokkos::parallel_for(
      "residual", range(exec, p.voxels()),
      KOKKOS_LAMBDA(std::int64_t v) { residual[v] = importance[v] * (residual[v] - wanted[v]); });
  // The gradient is A^T of the residual, by the transposed matrix.
  p.matrix.apply_transposed(exec, dose, gradient);
}

template <class Exec, class Vector>
double largest(Exec const& exec, Vector const& v) {
  auto const* const values = v.data();
  double most = 0;
  Kokkos::parallel_reduce(
      "largest", range(exec, std::int64_t(v.extent(0))),
      KOKKOS_LAMBDA(std::int64_t i, double& m) { m = Kokkos::max(m, Kokkos::abs(values[i])); },
      Kokkos::Max<double>(most));
  return most;
}

/// A bound of the largest eigenvalue of A^T importance A, whose entries are not negative: the
/// largest (H v)(i) / v(i) is one for any positive v (Collatz and Wielandt). A maximum has no
/// order.
template <class Exec>
double curvature(Exec const& exec, problem<Exec> const& p) {
  using vector = typename problem<Exec>::vector;
  vector const v("v", std::size_t(p.spots()));
  vector const hv("H v", std::size_t(p.spots()));
  vector const ratio("ratio", std::size_t(p.spots()));
  vector const dose("dose", std::size_t(p.voxels()));
  vector const nothing("nothing", std::size_t(p.voxels()));
  Kokkos::deep_copy(exec, v, 1.0);
  auto* const old = v.data();
  auto* const now = hv.data();
  auto* const quotient = ratio.data();
  double bound = 0;
  for (int i = 0; i < 20; ++i) {
    gradient_at(exec, p, v, nothing, dose, hv);
    double const most = largest(exec, hv);
    Kokkos::parallel_for(
        "quotients", range(exec, p.spots()), KOKKOS_LAMBDA(std::int64_t s) {
          quotient[s] = now[s] / old[s];
          old[s] = Kokkos::max(now[s] / most, 1e-6);
        });
    bound = largest(exec, ratio);
  }
  return bound;
}

template <class Exec>
void count_up(Exec const& exec, std::int32_t* columns, std::int64_t length) {
  Kokkos::parallel_for(
      "columns", range(exec, length),
      KOKKOS_LAMBDA(std::int64_t i) { columns[i] = std::int32_t(i); });
}

/// a . b in one order: a vector is the values of a matrix of one row.
template <class Exec>
class dot_product {
 public:
  using space = typename Exec::memory_space;
  using vector = typename problem<Exec>::vector;

  dot_product(Exec const& exec, std::int64_t length)
      : row_(sparse::make_csr<double, std::int32_t>(exec, "row", 1, length, length)),
        result_("dot", 1) {
    count_up(exec, row_.columns.data(), length);
    Kokkos::deep_copy(exec, Kokkos::subview(row_.row_offsets, std::size_t(1)), length);
    Kokkos::deep_copy(exec, row_.values, 1.0);
    plan_ = sparse::make_plan(exec, row_);
    scratch_.reserve(sparse::spmv_bytes_needed<double>(exec, row_, plan_, 1));
  }
  double operator()(Exec const& exec, vector const& a, vector const& b) {
    row_.values = a;
    sparse::spmv(exec, 1, row_, b, 0, result_, plan_, scratch_, {.sum = iso::summation::ordered});
    double sum = 0;
    Kokkos::deep_copy(exec, Kokkos::View<double, Kokkos::HostSpace>(&sum),
                      Kokkos::subview(result_, std::size_t(0)));
    exec.fence("the dot product");
    return sum;
  }

 private:
  sparse::csr_view<double, std::int32_t, space> row_;
  vector result_;
  sparse::spmv_plan<space> plan_;
  iso::workspace<space> scratch_;
};

/// w' = max(0, z - gradient / L); z' = w' + momentum (w' - w): w, z and what they moved by.
template <class Exec, class Vector>
void step(Exec const& exec, double scale, double momentum, Vector const& w, Vector const& z,
          Vector const& gradient, Vector const& pull, Vector const& move) {
  auto* const weight = w.data();
  auto* const ahead = z.data();
  auto const* const slope = gradient.data();
  auto* const pulled = pull.data();
  auto* const moved = move.data();
  Kokkos::parallel_for(
      "step", range(exec, std::int64_t(w.extent(0))), KOKKOS_LAMBDA(std::int64_t s) {
        double const next = Kokkos::max(0.0, Kokkos::fma(-scale, slope[s], ahead[s]));
        pulled[s] = ahead[s] - next;
        moved[s] = next - weight[s];
        weight[s] = next;
        ahead[s] = Kokkos::fma(momentum, moved[s], next);
      });
}

struct outcome {
  double least = 1e30, mean = 0, good = 0, outside = 0, objective = 0;
};

/// What the weights do to the patient, counted on the host.
template <class Exec, class Vector>
outcome look_at(Exec const& exec, problem<Exec> const& p, Vector const& w, Vector const& dose) {
  p.matrix.apply(exec, w, dose);
  exec.fence("the dose");
  auto const d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dose);
  auto const wanted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.wanted);
  auto const weight = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), p.importance);
  outcome o;
  double inside = 0;
  for (std::size_t v = 0; v < d.size(); ++v) {
    double const difference = d.data()[v] - wanted.data()[v];
    o.objective += weight.data()[v] * difference * difference / 2;
    if (wanted.data()[v] > 0) {
      o.least = std::fmin(o.least, d.data()[v]);
      o.good += std::abs(difference) <= 0.05 * dose_wanted ? 1 : 0;
      o.mean += d.data()[v];
      inside += 1;
    } else {
      o.outside += d.data()[v];
    }
  }
  o.mean /= inside;
  o.good /= inside;
  o.outside /= double(d.size()) - inside;
  return o;
}

template <class Exec>
std::vector<double> optimise(Exec const& exec, std::string const& name) {
  using vector = typename problem<Exec>::vector;
  problem<Exec> const p(exec);
  double const bound = curvature(exec, p);
  std::printf("%s: %lld voxels x %lld spots, %lld non-zeros, curvature %.4g\n", name.c_str(),
              static_cast<long long>(p.voxels()), static_cast<long long>(p.spots()),
              static_cast<long long>(p.matrix.num_entries()), bound);
  std::printf("  A: %s\n", sparse::to_string(p.matrix.report()).c_str());
  auto const make = [](std::int64_t n) { return vector("vector", std::size_t(n)); };
  vector const w = make(p.spots()), z = make(p.spots()), gradient = make(p.spots());
  vector const pull = make(p.spots()), move = make(p.spots()), dose = make(p.voxels());
  dot_product<Exec> dot(exec, p.spots());
  double t = 1;
  double first = 0;
  double seconds = 0;
  for (int i = 0; i <= iterations; ++i) {
    Kokkos::Timer const timer;
    gradient_at(exec, p, z, p.wanted, dose, gradient);
    double const next = (1 + std::sqrt(1 + 4 * t * t)) / 2;
    step(exec, 1 / bound, (t - 1) / next, w, z, gradient, pull, move);
    // Momentum that points uphill is dropped (O'Donoghue and Candes 2015).
    t = dot(exec, pull, move) > 0 ? 1 : next;
    seconds += timer.seconds();
    if (i % 40 == 0) {
      double const residual = bound * largest(exec, pull);
      first = i == 0 ? residual : first;
      auto const o = look_at(exec, p, w, dose);
      std::printf(
          "  %4d  objective %.4e  residual %.1e  target: mean %.2f Gy, least %.1f, %.1f %% within "
          "5 %%; outside %.2f\n",
          i, o.objective, residual / first, o.mean, o.least, 100 * o.good, o.outside);
    }
  }
  std::printf("  %.3f ms an iteration\n", 1e3 * seconds / (iterations + 1));
  auto const result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
  auto const o = look_at(exec, p, w, dose);
  if (std::abs(o.mean - dose_wanted) > 0.02 * dose_wanted || o.good < 0.9) {
    return {};
  }
  return {result.data(), result.data() + result.size()};
}

/// False, with a sentence on standard error, unless the arguments name one backend of this build
/// or none.
bool understood(int argc, char** argv) {
  std::string known;
  bool found = argc < 2;
  iso::backend::for_each([&](auto tag) {
    known.append(known.empty() ? "" : ", ").append(tag.name);
    found = found || tag.name == argv[1];
  });
  if (argc > 2) {
    std::fprintf(stderr, "spot_weights: '%s' follows the backend (one argument is taken)\n",
                 argv[2]);
  } else if (!found) {
    std::fprintf(stderr, "spot_weights: backend '%s' is not in this build (there are %s)\n",
                 argv[1], known.c_str());
  }
  return argc <= 2 && found;
}

}  // namespace

int main(int argc, char** argv) {
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  if (!understood(argc, argv)) {
    return 2;
  }
  std::vector<double> first;
  bool good = true;
  iso::backend::for_each([&](auto tag) {
    if (argc > 1 && tag.name != argv[1]) {
      return;
    }
    typename decltype(tag)::execution_space const exec;
    auto const weights = optimise(exec, std::string(tag.name));
    good = good && !weights.empty() && (first.empty() || weights == first);
    first = weights;
  });
  std::printf(good ? "the same weights, to the bit, from every backend that ran\n"
                   : "no plan, or backends that differ\n");
  return good && !first.empty() ? 0 : 1;
}
