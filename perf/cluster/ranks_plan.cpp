// SPDX-License-Identifier: BSD-3-Clause
// Computes the dose of a plan and compares doses on the ranks that mpirun starts, in turn with the
// same calls in the memory of one: how much faster they are together. Float, N^3 voxels. The calls
// of one run on every rank at the same time, each on its own device; the slowest counts.
//
//   mpirun -n 2 iso_ranks_plan --backend cuda --size 256 --beams 9
//
// The rows: `dose`, all beams of 100 x 100 mm2 from even angles onto a cube of 256 mm, what is made
// for each beam included; `gamma`, 3 %/3 mm of two doses, the plan of the comparison included.
// Rank 0 prints a line a row: medians of alternating runs in ms, `speedup`, the first over the
// second, `sent`, the bytes that all ranks send in one call, and whether every rank's part has the
// bits of the whole. `--json FILE` has the same.
#include "ranks_rows.hpp"
#include "support/program.hpp"

#include <iso/cases/bits.hpp>
#include <iso/cases/memory.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/dose/calculator.hpp>
#include <iso/dose/ranked_calculator.hpp>
#include <iso/gamma/ranked_gamma.hpp>

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

using T = float;

struct settings : ranks_settings {
  std::int64_t size = 48;
  int beams = 3;
  int cones = 8;

  settings() { rows = {"dose", "gamma"}; }
};

template <execution_space Exec>
class measurement {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;

  measurement(settings const& s, backend::communicator& ranks)
      : settings_(s),
        rows_(exec_, ranks, s.repeats),
        box_(grid::centred({s.size, s.size, s.size},
                           (256.0 / double(s.size)) * vec3<double>{1, 1, 1})),
        planes_(divide_planes(box_, ranks.size())),
        own_(planes_[std::size_t(ranks.rank())]) {}

  json run() {
    for (std::string const& what : settings_.rows) {
      if (what == "dose") {
        dose();
      } else if (what == "gamma") {
        gamma();
      } else {
        throw std::runtime_error("row '" + what + "' (there is none of that name); choose another");
      }
    }
    return rows_.said();
  }

 private:
  /// Returns a volume whose voxel at (x, y, z) mm is f(x, y, z).
  template <class F>
  volume filled(F const& f) const {
    std::vector<T> values;
    values.reserve(std::size_t(box_.size()));
    for (std::int64_t i = 0; i < box_.extent[0]; ++i) {
      for (std::int64_t j = 0; j < box_.extent[1]; ++j) {
        for (std::int64_t k = 0; k < box_.extent[2]; ++k) {
          values.push_back(T(f(box_.origin.x + box_.spacing.x * double(i),
                               box_.origin.y + box_.spacing.y * double(j),
                               box_.origin.z + box_.spacing.z * double(k))));
        }
      }
    }
    auto const v = make_volume<T, space>(exec_, "iso_ranks_plan", box_);
    cases::put(exec_, v.data, values);
    return v;
  }

  void dose() {
    auto const density = filled([](double x, double y, double z) {
      bool const lung = x * x + z * z < 60.0 * 60.0 && y > -40 && y < 60;
      return lung ? 0.25 : 1.0 + 0.1 * std::sin(0.05 * (x + y + z));
    });
    dose::calculator_options options;
    options.cones.cones = settings_.cones;
    auto const kernel = dose::named_kernel("6mv");
    auto const photons = dose::named_spectrum("mohan_6mv");
    dose::calculator<Exec, T> one(exec_, box_, kernel, photons, options);
    dose::ranked_calculator<Exec, T> all(exec_, rows_.ranks(), box_, planes_, kernel, photons,
                                         options);
    auto const of_one = make_volume<T, space>(exec_, "dose", box_);
    auto const of_all = all.make_dose("dose");
    std::vector<dose::beam> beams(std::size_t(settings_.beams));
    std::int64_t voxels = 0;  // of all beams' regions
    for (std::size_t n = 0; n < beams.size(); ++n) {
      beams[n].gantry = 6.28318530717958648 * double(n) / double(beams.size());
      beams[n].fluence = dose::fluence_map::rectangle(-50, 50, -50, 50);
      voxels += dose::region_around(beams[n], box_, options.margin).size();
    }
    auto const calculate = [&](auto& by, volume const& to) {
      Kokkos::deep_copy(exec_, to.data, T(0));
      for (dose::beam const& b : beams) {
        by.add(b, density, to);
      }
    };
    // TERMA goes to all, and words to the owners.
    rows_.row(
        "dose", [&] { calculate(one, of_one); }, [&] { calculate(all, of_all); },
        [&] { return rows_.agree(cases::part_of(of_one.data, own_), of_all.data); },
        2 * std::int64_t(sizeof(T)) * voxels * (rows_.ranks().size() - 1));
  }

  void gamma() {
    auto const hill = [](double x, double y, double z) {
      return std::exp(-(x * x + y * y + z * z) / (2 * 60.0 * 60.0));
    };
    auto const reference = filled(hill);
    auto const evaluated = filled([&](double x, double y, double z) {
      return hill(x - 1, y, z + 1) * (1 + 0.02 * std::sin(0.7 * x + 0.3 * y + 0.5 * z));
    });
    auto const part = [&](volume const& of) {
      return own_.count() > 0 ? cases::planes_of(exec_, of, own_) : volume{box_, {}, own_.first};
    };
    auto const reference_part = part(reference);
    auto const evaluated_part = part(evaluated);
    exec_.fence("iso_ranks_plan: the parts are there");
    std::vector<gamma::criterion> const criteria{{0.03, 3}};
    auto const& n = box_.extent;
    auto const of_one = allocate<gamma::gamma_values<T, space>>("gamma", {1, n[0], n[1], n[2]});
    auto const of_all =
        allocate<gamma::gamma_values<T, space>>("gamma", {1, n[0], n[1], own_.count()});
    auto const status = allocate<gamma::status_values<space>>("status", {n[0], n[1], n[2]});
    auto const status_part =
        allocate<gamma::status_values<space>>("status", {n[0], n[1], own_.count()});
    auto const first = [](auto const& values) {
      return Kokkos::subview(values, 0, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL);
    };
    rows_.row(
        "gamma",
        [&] {
          gamma::gamma_plan const plan(exec_, reference, evaluated, criteria);
          gamma::gamma_index(exec_, plan, of_one, status);
          exec_.fence("iso_ranks_plan: the plan may go");
        },
        [&] {
          gamma::ranked_gamma<Exec, T>(exec_, rows_.ranks(), reference_part, evaluated_part,
                                       planes_, planes_, criteria)
              .apply(of_all, status_part);
        },
        [&] { return rows_.agree(first(cases::part_of(of_one, own_)), first(of_all)); },
        std::int64_t(sizeof(T)) * n[0] * n[1] * planes_elsewhere(criteria));
  }

  /// Returns how many evaluated planes go to ranks that do not own them.
  std::int64_t planes_elsewhere(std::vector<gamma::criterion> const& criteria) const {
    std::int64_t count = 0;
    for (slab const& own : planes_) {
      if (own.count() > 0) {
        count += gamma::planes_needed(box_, box_, own, criteria).count() - own.count();
      }
    }
    return count;
  }

  settings settings_;
  Exec exec_;
  rank_rows<Exec> rows_;
  grid box_;
  std::vector<slab> planes_;
  slab own_;
};

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Doses and their comparison on ranks beside one memory", "iso_ranks_plan");
  app.add_option("--size", s.size, "voxels along a side")->capture_default_str();
  app.add_option("--beams", s.beams, "of the plan")->capture_default_str();
  app.add_option("--cones", s.cones, "of 8 directions each")->capture_default_str();
  s.add_to(app, "what to time");
  return iso::perf::run_ranks(app, argc, argv, s, [&]<class Exec>(Exec const&, auto& ranks) {
    iso::perf::json said = iso::perf::measurement<Exec>(s, ranks).run();
    said["size"] = s.size;
    said["beams"] = s.beams;
    said["cones"] = s.cones;
    return said;
  });
}
