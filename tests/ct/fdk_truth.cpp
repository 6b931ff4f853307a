// SPDX-License-Identifier: BSD-3-Clause
// Apart, as it is compiled with optimisation: most of the time of test_fdk_*.cpp is spent here.
#include "fdk_truth.hpp"

namespace fdk_truth {

double body::integral(vec3<double> from, vec3<double> along) const {
  vec3<double> const across = level(along);
  vec3<double> const off = iso::cross(level(centre - from), across);
  double const squared = dot(off, off) / dot(across, across);
  double const longer = norm(along) / norm(across);
  return form != shape::ball ? longer * height * width * std::sqrt(2 * pi) *
                                   std::exp(-0.5 * squared / (width * width))
                             : 2 * height * std::sqrt(std::max(0.0, width * width - squared));
}

template <class T>
stack<T> exact_stack(geometry const& g, std::vector<body> const& bodies) {
  auto const p = iso::make_projections<T, host>("p", g.num_views(), g.num_u(), g.num_v());
  Kokkos::parallel_for(
      "fdk_truth::exact_stack",
      Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, g.num_views()), [&](int view) {
        view_vectors const& w = g.views()[std::size_t(view)];
        for (std::int64_t u = 0; u < g.num_u(); ++u) {
          for (std::int64_t v = 0; v < g.num_v(); ++v) {
            vec3<double> const pixel =
                w.detector_origin + double(u) * w.u_step + double(v) * w.v_step;
            double sum = 0;
            for (body const& b : bodies) {
              sum += b.integral(pixel, g.kind() == beam::cone ? pixel - w.source : w.source);
            }
            p.data(view, u, v) = T(sum);
          }
        }
      });
  Kokkos::fence("fdk_truth::exact_stack");
  return p;
}
template stack<float> exact_stack<float>(geometry const&, std::vector<body> const&);
template stack<double> exact_stack<double>(geometry const&, std::vector<body> const&);

}  // namespace fdk_truth
