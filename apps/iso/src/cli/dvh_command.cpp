// SPDX-License-Identifier: BSD-3-Clause
#include "described.hpp"
#include "dvh_doses.hpp"
#include "ranks.hpp"
#include "structure_options.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/dvh.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <system_error>
#include <utility>

namespace iso::cli {
namespace {

using dvh::mm3_per_cm3;

struct dvh_options {
  common_options common;
  std::vector<std::string> doses;  ///< files
  bool add_doses = false;
  bool same_frame = false;
  structure_options structures;
  std::vector<std::string> quantities;
  double prescription = 0;
  std::string csv;
  dvh::histogram_options curves;
  jobs::dvh_request request;
  std::vector<dvh_dose> read;  ///< their volumes are the request's
  /// What --same-frame takes for one frame of reference: dose and structure.
  std::vector<std::pair<std::string, std::string>> assumed;
  structure_choice chosen;  ///< what is taken becomes the request's
};

void read_options(dvh_options& options) {
  auto& texts = options.quantities;
  if (texts.empty()) {
    texts = {"mean", "min", "max", "D98", "D95", "D50", "D2", "HI"};
    if (options.prescription > 0) {
      texts.insert(texts.end(), {"V95%", "CI"});
    }
  }
  for (auto const& text : texts) {
    options.request.quantities.push_back(
        as_option("--quantity", [&] { return dvh::quantity_named(text, options.prescription); }));
  }
  options.request.bins = options.csv.empty() ? 0 : options.curves.bins;
}

/// Throws iso::file_error where one file is named twice.
void check_inputs(dvh_options const& options) {
  auto all = options.doses;
  all.push_back(options.structures.file);
  for (std::size_t b = 1; b < all.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      std::error_code unknown;
      if (std::filesystem::equivalent(all[a], all[b], unknown)) {
        throw file_error(
            fmt::format("'{}' and '{}' are one file (each dose and the structures have their own); "
                        "name each once",
                        all[a], all[b]));
      }
    }
  }
}

// Everything that can be wrong before any work is done.
void check_files(dvh_options const& options) {
  check_inputs(options);
  if (!options.csv.empty() && files::ending(options.csv) != ".csv") {
    throw file_error(fmt::format(
        "'{}': does not end in .csv (the curves are a table); name it NAME.csv", options.csv));
  }
  auto inputs = options.doses;
  inputs.push_back(options.structures.file);
  check_written(options.csv, "", options.common.json_file, inputs);
}

/// Compares a structure's frame of reference with those of the doses.
/// \throws iso::file_error  they differ, and nothing says that they are one
void check_frames(dvh_options& options, files::rt_structure const& s) {
  for (auto const& dose : options.read) {
    try {
      if (dose.frame) {
        files::check_same_frame(options.structures.file, s.frame_of_reference, dose.name,
                                *dose.frame);
      }
    } catch (file_error const&) {
      if (!options.same_frame) {
        throw;
      }
      options.assumed.emplace_back(dose.name, s.name);
    }
  }
}

void read_doses(dvh_options& options) {
  if (options.add_doses) {
    options.read = {read_added_doses(options.doses, options.request.shape.slice_thickness)};
  } else {
    options.read = read_dvh_doses(options.doses, options.request.shape.slice_thickness);
  }
  for (auto& dose : options.read) {
    options.request.doses.push_back(std::exchange(dose.volume, {}));
  }
}

/// Takes the structures that are in the frames of reference of all doses.
void choose_structures(dvh_options& options, files::rt_structure_set const& set) {
  auto& request = options.request;
  request.report_others = options.structures.names.empty();
  auto& choice = options.chosen = chosen_structures(options.structures, set);
  read_doses(options);
  use_structures(options.structures, choice,
                 [&](files::rt_structure const& s) { check_frames(options, s); });
  for (auto const& dose : options.read) {
    if (!dose.frame) {
      check_frame(options.structures, choice, dose.name, dose.frame);
    }
  }
  request.structures = std::exchange(choice.taken, {});
  if (!options.assumed.empty()) {
    spdlog::warn(
        "'{}' has another frame of reference than '{}' (--same-frame takes both for one); check "
        "that "
        "they are",
        options.assumed[0].first, options.structures.file);
  }
  tell_left_out(options.structures, set);
}

/// Says of a figure that is none why.
std::string reason_of(std::string const& quantity, jobs::dvh_entry const& entry) {
  return quantity.ends_with("cc") && quantity.starts_with('D')
             ? fmt::format("it is of more than the structure's {:.5g} cm3",
                           entry.volume / mm3_per_cm3)
             : "it divides by a dose of 0";
}

void warn_of(jobs::dvh_entry const& entry, std::vector<std::string> const& quantities,
             std::string const& name, std::string const& dose) {
  auto const& found = entry.report;
  for (std::size_t q = 0; q < quantities.size(); ++q) {
    if (!std::isfinite(entry.values[q])) {
      spdlog::warn("'{}' has no {} in '{}' ({}); ask for another quantity", name, quantities[q],
                   dose, reason_of(quantities[q], entry));
    }
  }
  if (entry.outside > 0) {
    spdlog::warn(
        "{:.3g} % of '{}' lie outside of '{}' (all figures are of the rest); give a dose "
        "that covers it",
        100 * entry.outside / (entry.volume + entry.outside), name, dose);
  }
  if (found.left_out > 0) {
    bool const is_one = found.left_out == 1;
    spdlog::warn("{} of {} contours of '{}' {} ({} left out); check its outlines", found.left_out,
                 found.contours + found.left_out, name,
                 is_one ? "is a point or a line" : "are points or lines",
                 is_one ? "it is" : "they are");
  }
  if (found.crossing_contours > 0) {
    spdlog::warn(
        "{} of {} contours of '{}' {}, in {} of {} planes ({} split; {:.2g} % of the area of all "
        "planes is disputed); correct its outlines",
        found.crossing_contours, found.contours, name,
        found.crossing_contours == 1 ? "crosses itself" : "cross themselves or another",
        found.crossing_planes, found.planes, found.crossing_contours == 1 ? "it is" : "they are",
        100 * found.disputed);
  }
  if (found.missing_slices.size() > 0) {
    spdlog::warn(
        "'{}' lacks contours in {} place{} (the shape goes on between its planes); "
        "check its outlines",
        name, found.missing_slices.size(), found.missing_slices.size() == 1 ? "" : "s");
  }
  if (found.separations.size() > 0) {
    spdlog::warn(
        "'{}' ends and begins anew in {} place{} (more than 4 slices lie between its parts); check "
        "its outlines",
        name, found.separations.size(), found.separations.size() == 1 ? "" : "s");
  }
}

std::string heading_of(std::string const& text, std::string const& unit) {
  return unit == "1" ? text : text + " " + unit;
}

void print_table(dvh_options const& options, jobs::dvh_result const& result) {
  auto const& request = options.request;
  std::size_t wide = 9;
  for (auto const& s : request.structures) {
    wide = std::min(std::max(wide, s.name.size()), widest_name);
  }
  std::vector<std::string> headings = {"volume cm3", "outside cm3"};
  std::vector<std::size_t> shown;  // each line begins with the volumes, asked for or not
  for (std::size_t q = 0; q < request.quantities.size(); ++q) {
    auto const what = request.quantities[q].what;
    if (what != dvh::quantity::kind::volume && what != dvh::quantity::kind::outside) {
      shown.push_back(q);
      headings.push_back(
          heading_of(options.quantities[q], std::string(unit_of(request.quantities[q]))));
    }
  }
  auto const width = [&](std::size_t column) { return std::max(headings[column].size(), 10UL); };
  for (std::size_t d = 0; d < options.read.size(); ++d) {
    if (options.read.size() > 1 || options.add_doses) {
      fmt::print("{}\n", options.read[d].name);
    }
    if (!is_quiet()) {
      fmt::print("{:<{}}", "structure", wide);
      for (std::size_t column = 0; column < headings.size(); ++column) {
        fmt::print(" {:>{}}", headings[column], width(column));
      }
      fmt::print("\n");
    }
    for (std::size_t s = 0; s < request.structures.size(); ++s) {
      auto const& entry = result.entries[d][s];
      std::vector<double> row = {entry.volume / mm3_per_cm3, entry.outside / mm3_per_cm3};
      std::transform(shown.begin(), shown.end(), std::back_inserter(row),
                     [&](std::size_t q) { return entry.values[q]; });
      fmt::print("{:<{}}", files::shortened(request.structures[s].name, widest_name), wide);
      for (std::size_t column = 0; column < row.size(); ++column) {
        fmt::print(" {:>{}}",
                   std::isfinite(row[column]) ? fmt::format("{:.5g}", row[column]) : "none",
                   width(column));
      }
      fmt::print("\n");
    }
  }
}

json structures_of(dvh_options const& options, std::vector<jobs::dvh_entry> const& entries) {
  json list = json::array();
  for (std::size_t s = 0; s < entries.size(); ++s) {
    auto const& entry = entries[s];
    json values = json::object();
    for (std::size_t q = 0; q < entry.values.size(); ++q) {
      values[options.quantities[q]] = entry.values[q];
    }
    json one = {{"name", options.request.structures[s].name}};
    put_fields(one, entry.report);
    // Where there is a dose, and where there is none.
    one["volume_cm3"] = entry.volume / mm3_per_cm3;
    one["outside_cm3"] = entry.outside / mm3_per_cm3;
    one["missing_slices"] = entry.report.missing_slices.size();
    one["separations"] = entry.report.separations.size();
    one["values"] = std::move(values);
    list.push_back(std::move(one));
  }
  return list;
}

json document_of(dvh_options const& options, jobs::dvh_result const& result) {
  auto const& request = options.request;
  json units = json::object();
  for (std::size_t q = 0; q < request.quantities.size(); ++q) {
    units[options.quantities[q]] = std::string(unit_of(request.quantities[q]));
  }
  json assumed = json::array();
  for (auto const& [dose, structure] : options.assumed) {
    assumed.push_back({{"dose", dose}, {"structure", structure}});
  }
  json doses = json::array();
  for (std::size_t d = 0; d < options.read.size(); ++d) {
    auto const& volume = request.doses[d];
    doses.push_back({{"dose", options.read[d].name},
                     {"files", options.read[d].files},
                     {"extent", volume.extent},
                     {"spacing_mm", volume.spacing},
                     {"origin_mm", volume.origin},
                     {"structures", structures_of(options, result.entries[d])}});
  }
  json document = {{"isocenter", ISO_VERSION}, {"operation", "dvh"}, {"backend", request.backend}};
  put_fields(document, request.shape);
  document["surface"] = std::string(to_word(request.surface));
  document["units"] = std::move(units);
  document["assumed_same_frame"] = std::move(assumed);
  document["refused"] = json_of(options.chosen.refused);
  document["doses"] = std::move(doses);
  document["hash"] = result.hash;
  document["seconds"] = result.seconds;
  if (options.prescription > 0) {
    document["prescription_gy"] = options.prescription;
  }
  return document;
}

/// Quotes a field of a table, which may hold anything.
std::string quoted(std::string const& text) {
  std::string field = "\"";
  for (char const c : text) {
    field += c == '"' ? std::string("\"\"") : std::string(1, c);
  }
  return field + '"';
}

/// Writes a structure's own colour as #rrggbb, or nothing where the set has none.
std::string text_of_colour(files::rt_structure const& structure) {
  return structure.colour ? fmt::format("#{:02x}{:02x}{:02x}", (*structure.colour)[0],
                                        (*structure.colour)[1], (*structure.colour)[2])
                          : std::string();
}

std::string curves_of(dvh_options const& options, jobs::dvh_result const& result) {
  std::string table;
  if (!options.assumed.empty()) {
    table = fmt::format("# --same-frame: '{}' and '{}' have two frames of reference\n",
                        options.assumed[0].first, options.structures.file);
  }
  table += "dose,structure,dose_gy,cumulative_cm3,cumulative_percent,differential_cm3,colour\n";
  for (std::size_t d = 0; d < options.read.size(); ++d) {
    for (std::size_t s = 0; s < result.entries[d].size(); ++s) {
      auto const& entry = result.entries[d][s];
      auto const colour = text_of_colour(options.request.structures[s]);
      auto const labels =
          quoted(options.read[d].name) + "," + quoted(options.request.structures[s].name);
      for (std::size_t n = 0; n < entry.cumulative.size(); ++n) {
        double const volume = entry.cumulative[n];
        // Of the dose from this line to the next: the last one has none.
        auto const differential = n < entry.differential.size()
                                      ? fmt::format("{:.9g}", entry.differential[n] / mm3_per_cm3)
                                      : std::string();
        table +=
            fmt::format("{},{:.9g},{:.9g},{:.9g},{},{}\n", labels, double(n) * result.bin_width,
                        volume / mm3_per_cm3, 100 * volume / entry.volume, differential, colour);
      }
    }
  }
  return table;
}

/// Leaves those structures in the request that have figures.
void keep_reported(dvh_options& options, jobs::dvh_result const& result) {
  auto& structures = options.request.structures;
  std::vector<files::rt_structure> reported;
  for (std::size_t const n : result.reported) {
    reported.push_back(std::move(structures[n]));
  }
  structures = std::move(reported);
  auto& refused = options.chosen.refused;
  refused.insert(refused.end(), result.refused.begin(), result.refused.end());
}

int run_dvh(dvh_options& options) {
  check_files(options);
  read_options(options);
  auto& request = options.request;
  choose_structures(options, files::read_rt_structure_set(options.structures.file));
  jobs::session const session(options.common.threads, device_of_rank(options.common));
  request.backend = sole_backend(options.common.backend, "dvh");
  auto const result = jobs::evaluate_structures(request, terminal_observer());
  if (!jobs::is_first_rank()) {
    return success;  // which writes and says what there is
  }
  keep_reported(options, result);
  tell_refused(options.chosen.refused, "reported");
  for (std::size_t d = 0; d < options.read.size(); ++d) {
    for (std::size_t s = 0; s < request.structures.size(); ++s) {
      warn_of(result.entries[d][s], options.quantities,
              files::shortened(request.structures[s].name, 64), options.read[d].name);
    }
  }
  std::vector<files::atomic_file> outputs;
  if (!options.csv.empty()) {
    outputs.push_back(files::prepare_text(options.csv, curves_of(options, result)));
  }
  if (options.common.json_file != "-") {
    print_table(options, result);
    auto const counted = [](std::size_t n, char const* what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    fmt::print("{} in {} on {} in {:.4g} s; hash {}\n",
               counted(request.structures.size(), "structure"),
               counted(request.doses.size(), "dose"), request.backend, result.seconds, result.hash);
    if (!options.assumed.empty()) {
      fmt::print("frames of reference differ, and are taken for one (--same-frame)\n");
    }
  }
  auto document = document_of(options, result);
  tell_streaming(options.common, result.streamed, document);
  tell_repeats(options.common, result.repeats, document);
  tell_ranks(document, "its planes of the doses");
  write_json(options.common.json_file, document, std::move(outputs));
  return options.chosen.refused.empty() ? success : some_refused;
}

}  // namespace

command add_dvh(CLI::App& app) {
  auto const options = std::make_shared<dvh_options>();
  auto& request = options->request;
  auto* const sub = app.add_subcommand(
      "dvh",
      "Dose-volume histograms of structures, and what is read off them. Not a medical device");
  add_common(*sub, options->common, "default");
  add_threads(*sub, options->common);
  add_share_gpus(*sub, options->common);
  sub->add_option("--dose", options->doses,
                  "doses in Gy: RT Dose (.dcm), or a volume (.mha, .mhd, .nrrd, .nhdr, .nii, "
                  ".nii.gz) in the structures' coordinates")
      ->required();
  sub->add_flag(
      "--add-doses", options->add_doses,
      "add the doses, each of one beam (Dose Summation Type BEAM) of one plan, on one grid");
  add_structure_options(*sub, options->structures)->required();
  sub->add_flag("--same-frame", options->same_frame,
                "take the frames of reference of doses and structures for one, as those of a dose "
                "that was calculated anew for the same CT; every output says so");
  sub->add_option("--quantity", options->quantities,
                  "D95 (dose that 95 % get), D0.1cc, V20Gy (per cent that get 20 Gy), V20Gy_cc, "
                  "V95% (of the prescription), Dmean, Dmin, Dmax (or mean, minimum, maximum), "
                  "volume, outside, HI (homogeneity), CI60Gy or CI (Paddick's conformity)");
  sub->add_option("--prescription", options->prescription, "Gy; of V95% and CI")
      ->check(number_from(1e-30, 1e9));
  add_fields(*sub, request.shape);
  add_words(*sub, "--surface", request.surface,
            "whether minimum and maximum are of points of the surface too (include), of the voxels "
            "wholly inside alone (exclude), or of all voxels that have a share (touched)");
  sub->add_option("--csv", options->csv,
                  "table (.csv) of the curves, which scripts/dvh_plot.py draws");
  add_fields(*sub, options->curves);
  add_dose_memory(*sub, request.memory);
  add_repeats(*sub, request.repeats,
              "the shares of voxels in all structures, and values and curves of all doses");
  return [options] { return run_dvh(*options); };
}

}  // namespace iso::cli
