// SPDX-License-Identifier: BSD-3-Clause
#include <iso/area_name/area_name.hpp>
#include <iso/cases/catalogue.hpp>
#include <iso/cases/inputs.hpp>
#include <iso/oracle/area_name.hpp>

namespace iso::cases {
namespace {

template <class T>
struct scale_case {
  grid voxels = grid::centred({17, 29, 23}, {1, 1, 1});
  area_name::area_name_options options = {};

  static std::vector<double> numbers(std::int64_t size) {
    std::vector<double> all;
    for (std::int64_t n = 0; n < size; ++n) {
      all.push_back(double(T(in_unit(std::size_t(n)))));
    }
    return all;
  }

  template <class Exec>
  prepared<Exec, T> prepare(Exec const& exec) const {
    using space = typename Exec::memory_space;
    auto const with = *this;
    std::int64_t const size = voxels.size();
    auto const from = numbers(size);
    auto const in = make_volume<T, space>(exec, "iso::cases", voxels);
    put(exec, in.data, std::vector<T>(from.begin(), from.end()));
    return {size,
            [=](Exec const& on, variant const&, T* out) {
              area_name::scale<Exec, T>(on, in, wrap_volume<space>(out, with.voxels), with.options);
            },
            min_work{2 * double(sizeof(T)) * double(size), double(size), arithmetic_of<T>},
            [=](std::int64_t) { return oracle::scaled(from, with.options.factor); }};
  }
};

}  // namespace

void add_area_name(catalogue& all) {
  all.add<scale_case>({"area_name_scale", {"iso::area_name::scale"}, {{}}});
}

}  // namespace iso::cases
