// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"
#include "precision.hpp"
#include "rank_columns.hpp"
#include "rank_speeds.hpp"
#include "repeats.hpp"
#include "scan.hpp"
#include "slabs.hpp"

#include <iso/backend/registry.hpp>
#include <iso/cases/bits.hpp>
#include <iso/core/error.hpp>
#include <iso/core/job.hpp>
#include <iso/dvh/dose_volume.hpp>
#include <iso/dvh/ranked_dose.hpp>
#include <iso/dvh/structure.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/jobs/dvh.hpp>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace iso::jobs {
namespace {

using dvh::mm3_per_cm3;

/// Ends all curves at one dose; 0 lets the library say that there is none.
double end_of(std::vector<files::host_volume> const& doses) {
  float largest = 0;
  for (auto const& dose : doses) {
    largest = std::max(largest, *std::max_element(dose.values.begin(), dose.values.end()));
  }
  return dvh::beyond_largest_dose * double(largest);
}

/// A structure on the cells of a dose: what is read of it, but for the dose.
template <class Exec>
struct placed_structure {
  dvh::slab_source<float, typename Exec::memory_space> source;
  dvh::structure_report report;
  std::int64_t bytes = 0;  ///< with what reading its doses takes
};

/// A dose, and how its planes come to where `Exec` computes.
template <class Exec>
struct dose_there {
  iso::grid grid;
  typename dvh::slab_source<float, typename Exec::memory_space>::planes_of planes;
  /// The planes that this rank owns, where ranks share the job.
  volume_view<float const, typename Exec::memory_space> own = {};
};

template <class Exec>
using histogrammer = dvh::histogrammer<Exec, float>;

/// What is evaluated of every structure. Both that come first say how much of it has a dose.
std::vector<dvh::quantity> all_quantities(dvh_request const& request) {
  std::vector<dvh::quantity> all = {{dvh::quantity::kind::volume, 0},
                                    {dvh::quantity::kind::outside, 0}};
  all.insert(all.end(), request.quantities.begin(), request.quantities.end());
  return all;
}

/// Brings points to where `exec` computes.
template <class Exec>
Kokkos::View<vec3<double> const*, typename Exec::memory_space> there(
    Exec const& exec, std::vector<vec3<double>> const& points) {
  Kokkos::View<vec3<double>*, typename Exec::memory_space> const surface(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "iso::jobs::surface"), points.size());
  put(exec, surface, points);
  return surface;
}

/// Returns the slabs that are read here: of ranks that share the job, this one's.
std::vector<slab> slabs_here(std::vector<slab> const& all) {
  if (num_ranks() == 1) {
    return all;
  }
  slab const own = all[std::size_t(sharing_ranks().rank())];
  return std::vector<slab>(own.count() > 0 ? 1 : 0, own);
}

/// \param streamed  of a request with a limit of memory: told what is used, and what comes in
template <class Exec>
placed_structure<Exec> place(Exec const& exec, dvh::structure_plan const& s, grid const& dose,
                             dvh_request const& request, slab_report& streamed, job const& asked) {
  using space = typename Exec::memory_space;
  grid const g = dvh::structure_grid(s, dose);
  std::vector<vec3<double>> points;
  if (request.surface == dvh::extremes::surface) {
    points = dvh::surface_points(s, std::min({g.spacing.x, g.spacing.y, g.spacing.z}));
  }
  bool const by_slabs = request.memory || num_ranks() > 1;
  // Of a dose that lies there, no bytes of its own.
  auto const bytes_of = [&](slab const& own) {
    auto const needed = dvh::planes_needed(dose, g, own);
    auto const numbers = [](grid const& of, slab const& planes) {
      return double(of.extent[0]) * double(of.extent[1]) * double(planes.count());
    };
    return whole_bytes(sizeof(float) * (numbers(g, by_slabs ? needed.fractions : all_planes(g)) +
                                        (by_slabs ? numbers(dose, needed.dose) : 0.0)) +
                       double(points.size()) * sizeof(points[0]) +
                       double(histogrammer<Exec>::bytes_needed(dose, g, all_quantities(request),
                                                               request.bins, own)));
  };
  placed_structure<Exec> placed;
  auto& source = placed.source;
  source.dose = dose;
  source.fractions = g;
  source.slabs = num_ranks() > 1 ? share_planes(dose)
                                 : slabs_within(exec, dose, request.memory, "iso dvh", bytes_of);
  for (slab const& own : slabs_here(source.slabs)) {
    placed.bytes = std::max(placed.bytes, bytes_of(own));
    streamed.planes = std::max(streamed.planes, own.count());
  }
  streamed.device_bytes = std::max(streamed.device_bytes, placed.bytes);
  if (num_ranks() > 1) {
    // Each makes the shares of the whole structure, in double and as floats.
    check_memory_of_ranks(exec, placed.bytes,
                          whole_bytes(double(g.size()) * double(sizeof(double) + sizeof(float))),
                          "iso dvh");
  } else {
    check_free(exec, placed.bytes, dvh::rasterise_bytes_needed<float>(exec, g), "iso dvh");
  }
  return guard_memory(exec, placed.bytes, "iso dvh", [&] {
    if (by_slabs) {
      auto const shares = dvh::voxel_fractions(s, g, &placed.report, asked);
      if (num_ranks() > 1) {
        check_alike(shares, "structures");
      }
      auto const rounded = std::make_shared<std::vector<float> const>(shares.begin(), shares.end());
      source.fraction_planes = [&exec, g, rounded, &streamed](slab const& planes) {
        return bring_planes(exec, g, rounded->data(), planes, streamed);
      };
    } else {
      auto const fractions = make_volume<float, space>(exec, "iso::jobs::fractions", g);
      placed.report = dvh::rasterise<Exec, float>(exec, s, fractions, asked);
      source.fraction_planes = [fractions](slab const&) { return fractions; };
    }
    if (!points.empty()) {
      source.surface = there(exec, points);
    }
    return placed;
  });
}

/// Places a structure in a dose; where ranks share the job, in what all of them have of it.
template <class Exec>
histogrammer<Exec> in_dose_of(Exec const& exec, dose_there<Exec> const& dose,
                              placed_structure<Exec> const& placed, job const& asked) {
  auto source = placed.source;
  if (num_ranks() > 1) {
    dvh::ranked_dose<Exec, float> const here(exec, sharing_ranks(), dose.own, source.slabs,
                                             {source.fractions});
    return {exec, sharing_ranks(),
            here.source(source.fractions, source.fraction_planes, source.surface), asked};
  }
  source.dose_planes = dose.planes;
  return {exec, source, asked};
}

template <class Exec>
dvh_entry entry_of(Exec const& exec, dose_there<Exec> const& dose,
                   placed_structure<Exec> const& placed, std::string const& name,
                   dvh_request const& request, double end, job const& asked) {
  auto const& report = placed.report;
  auto const& quantities = request.quantities;
  auto const in_dose = in_dose_of(exec, dose, placed, asked);
  auto const values = in_dose.evaluate(all_quantities(request), request.surface, asked);
  dvh_entry entry;
  entry.volume = values[0] * mm3_per_cm3;
  entry.outside = values[1] * mm3_per_cm3 + report.outside;
  ISO_VALIDATE(entry.volume > 0,
               "iso dvh: '{}' lies wholly outside of a dose's voxels (it gets no dose); check that "
               "both are in one frame of reference",
               name);
  entry.report = report;
  entry.values.assign(values.begin() + 2, values.end());
  for (std::size_t n = 0; n < quantities.size(); ++n) {
    if (quantities[n].what == dvh::quantity::kind::outside) {
      entry.values[n] = entry.outside / mm3_per_cm3;
    }
  }
  if (request.bins > 0) {
    auto curve = in_dose.make_histogram({.bins = request.bins, .end = end}, asked);
    entry.cumulative = std::move(curve.cumulative);
    entry.differential = std::move(curve.differential);
  }
  return entry;
}

std::string hash_of(dvh_result const& result) {
  std::vector<double> all;
  for (auto const& dose : result.entries) {
    for (auto const& entry : dose) {
      all.push_back(entry.volume);
      all.push_back(entry.outside);
      for (auto const* part : {&entry.values, &entry.cumulative, &entry.differential}) {
        all.insert(all.end(), part->begin(), part->end());
      }
    }
  }
  return hash_text(hash_bits<double>(all));
}

/// Calls f, and tells of a structure that it refuses, where others are to be reported.
template <class F>
bool accepts(dvh_request const& request, std::string const& name, dvh_result& result, F const& f) {
  try {
    f();
    return true;
  } catch (invalid_argument const& refusal) {
    if (!request.report_others) {
      throw;
    }
    result.refused.push_back({name, refusal.what()});
    return false;
  }
}

struct numbered_structure {
  std::size_t number;  ///< in the request
  std::string name;
  dvh::structure_plan plan;
};

/// Before any work: refuses structures that do not overlap one of the doses.
std::vector<numbered_structure> structures_of(dvh_request const& request, dvh_result& result,
                                              job const& asked) {
  std::vector<numbered_structure> structures;
  for (std::size_t n = 0; n < request.structures.size(); ++n) {
    auto const s = files::make_structure(request.structures[n]);
    accepts(request, s.name, result, [&] {
      dvh::structure_plan const plan(s, request.shape, asked);
      for (auto const& dose : request.doses) {
        dvh::structure_grid(plan, make_grid(dose));
      }
      structures.push_back({n, s.name, plan});
    });
  }
  return structures;
}

/// Calls f(number, dose, the structure placed on it) for every dose, after begun(number).
template <class Exec, class Doses, class Begun, class F>
void in_each_dose(Exec const& exec, dvh::structure_plan const& plan, Doses const& doses,
                  dvh_request const& request, slab_report& streamed, job const& asked,
                  Begun const& begun, F const& f) {
  placed_structure<Exec> placed;
  for (std::size_t d = 0; d < doses.size(); ++d) {
    begun(d);
    if (d == 0 || doses[d].grid != doses[d - 1].grid) {
      placed = {};  // its memory, before there is more
      placed = place(exec, plan, doses[d].grid, request, streamed, asked);
    }
    f(d, placed);
  }
}

/// Brings the doses to where `exec` computes; with a limit of memory their planes come when they
/// are asked for.
/// \param bytes  added to: what they take there
template <class Exec>
std::vector<dose_there<Exec>> doses_there(Exec const& exec, dvh_request const& request,
                                          slab_report& streamed, double& bytes) {
  std::vector<dose_there<Exec>> doses;
  if (num_ranks() > 1) {
    double owned = 0;
    for (auto const& dose : request.doses) {
      grid const g = make_grid(dose);
      double const planes = double(share_planes(g)[std::size_t(sharing_ranks().rank())].count());
      owned += double(g.extent[0]) * double(g.extent[1]) * planes * double(sizeof(float));
    }
    check_memory_of_ranks(exec, whole_bytes(owned), "iso dvh", false);
    for (auto const& dose : request.doses) {
      check_alike(dose.values, "doses");
      doses.push_back({make_grid(dose), {}});
      grid const g = doses.back().grid;
      auto const own = slabs_here(share_planes(g));
      doses.back().own.grid = g;
      if (!own.empty()) {
        doses.back().own = bring_planes(exec, g, dose.values.data(), own[0], streamed);
        bytes += double(doses.back().own.data.size()) * sizeof(float);
      }
    }
    return doses;
  }
  if (request.memory) {
    for (auto const& dose : request.doses) {
      grid const g = make_grid(dose);
      doses.push_back({g, [&exec, &dose, &streamed, g](slab const& planes) {
                         return bring_planes(exec, g, dose.values.data(), planes, streamed);
                       }});
    }
    return doses;
  }
  for (auto const& dose : request.doses) {
    bytes += double(dose.values.size()) * sizeof(float);
  }
  return guard_memory(exec, whole_bytes(bytes), "iso dvh", [&] {
    for (auto const& dose : request.doses) {
      auto const there = files::make_volume_view<float>(exec, dose);
      doses.push_back({there.grid, [there](slab const&) { return there; }});
    }
    exec.fence("iso::jobs::dvh: data are in place");
    return doses;
  });
}

template <class Exec>
dvh_result run(Exec const& exec, dvh_request const& request, observer const& watch) {
  ISO_VALIDATE(!request.doses.empty() && !request.structures.empty(),
               "iso dvh: {} doses and {} structures (there must be one of each); give at least one",
               request.doses.size(), request.structures.size());
  check_unstreamed(request.memory, "dvh");
  watch.step(0, "preparing");
  dvh_result result;
  job const asked{{}, watch.cancelled};
  auto const structures = structures_of(request, result, asked);
  slab_report streamed;
  double wanted = 0;
  auto const doses = doses_there(exec, request, streamed, wanted);
  double const end = end_of(request.doses);
  result.bin_width = request.bins > 0 ? end / double(request.bins) : 0;
  result.entries.resize(doses.size());
  for (std::size_t s = 0; s < structures.size(); ++s) {
    auto const& structure = structures[s];
    std::vector<dvh_entry> entries;
    bool const is_accepted = accepts(request, structure.name, result, [&] {
      auto const told = [&](std::size_t d) {
        watch.step(double(s * doses.size() + d) / double(structures.size() * doses.size()),
                   structure.name);
      };
      in_each_dose(exec, structure.plan, doses, request, streamed, asked, told,
                   [&](std::size_t d, auto const& placed) {
                     result.bytes_needed =
                         std::max(result.bytes_needed, whole_bytes(wanted + double(placed.bytes)));
                     result.seconds += seconds_of(exec, [&] {
                       entries.push_back(
                           entry_of(exec, doses[d], placed, structure.name, request, end, asked));
                     });
                   });
    });
    if (is_accepted) {
      result.reported.push_back(structure.number);
      for (std::size_t d = 0; d < doses.size(); ++d) {
        result.entries[d].push_back(std::move(entries[d]));
      }
    }
  }
  if (result.reported.empty()) {
    throw invalid_argument(result.refused[0].reason);
  }
  result.hash = hash_of(result);
  if (request.memory) {
    result.streamed = streamed;
  }
  slab_report again;
  result.repeats = repeat(exec, request.repeats, watch, [&](job const& unasked) {
    for (auto const& s : structures) {
      auto const& reported = result.reported;
      if (std::find(reported.begin(), reported.end(), s.number) != reported.end()) {
        in_each_dose(
            exec, s.plan, doses, request, again, unasked, [](std::size_t) {},
            [&](std::size_t d, auto const& placed) {
              entry_of(exec, doses[d], placed, s.name, request, end, unasked);
            });
      }
    }
  });
  watch.step(1, "done");
  return result;
}

}  // namespace

std::vector<std::vector<double>> structure_shares(files::rt_structure const& structure,
                                                  files::host_volume const& patient,
                                                  std::vector<files::host_volume> const& grids,
                                                  job const& asked) {
  auto const s = files::make_structure(structure);
  dvh::structure_options options;
  options.beyond = dvh::off_grid::cut;
  options.slice_thickness = patient.spacing[2];
  dvh::structure_plan const plan(s, options, asked);
  dvh::structure_grid(plan, make_grid(patient), 1);  // throws where they do not overlap
  std::vector<std::vector<double>> shares;
  for (auto const& g : grids) {
    shares.push_back(dvh::voxel_fractions(plan, make_grid(g), nullptr, asked));
  }
  return shares;
}

dvh_result evaluate_structures(dvh_request const& request, observer const& watch) {
  dvh_result result;
  backend::with_name(request.backend, [&](auto tag) {
    typename decltype(tag)::execution_space const exec;
    compare_ranks(exec);
    result = run(exec, request, watch);
  });
  return result;
}

}  // namespace iso::jobs
