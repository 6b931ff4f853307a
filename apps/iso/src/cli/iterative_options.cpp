// SPDX-License-Identifier: BSD-3-Clause
#include "iterative_options.hpp"
#include "described.hpp"
#include "ranks.hpp"
#include "scan_options.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

namespace iso::cli {
namespace {

files::host_volume placed(files::host_volume volume, placement const& place) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] -= place.isocentre[axis];
  }
  return volume;
}

/// Reads a volume, or prepares that each rank reads its own planes of it.
/// \param[in,out] volume  its grid; then its values too
void read_given(iterative_options& options, std::string const& file, placement const& place,
                files::host_volume& volume, jobs::planes_reader& read) {
  if (jobs::num_ranks() == 1 || files::is_dicom_path(file)) {
    volume = placed(files::read_volume(file, files::finite_values::required,
                                       files::subfolders::left_out, asked_of_user()),
                    place);
    return;
  }
  read = reader_of_planes(file, volume, "volumes", options.bytes_read);
}

/// Returns the names of the methods that take a field; empty where all do.
std::string methods_with(std::string_view name) {
  std::string methods;
  bool all = true;
  for (auto const& w : words(ct::iterative_method{})) {
    bool const takes = ct::takes_field(w.value, name);
    all = all && takes;
    if (takes) {
      methods.append(methods.empty() ? "" : ", ").append(w.text);
    }
  }
  return all ? "" : methods;
}

}  // namespace

std::vector<CLI::Option*> add_iterative_options(CLI::App& sub, iterative_options& options) {
  auto& request = options.request;
  auto* const checkpoint =
      sub.add_option("--checkpoint", request.checkpoint,
                     "file (.h5) to go on from where it is there, bit for bit, and to write");
  std::vector<CLI::Option*> added = {
      checkpoint,
      sub.add_option_function<std::string>(
             "--projector",
             [&options](std::string const& name) {
               options.projector = jobs::projector_named(name, options.projector);
             },
             "how an iterative method projects; joseph-texture: by a GPU's texture units, "
             "which no backprojection matches (cuda; sirt, sart, os-sart, mlem, osem)")
          ->transform(one_of(jobs::iterative_projector_names()))
          ->default_str(jobs::name_of(options.projector))};
  // Those of a projector that are not for users of the tool, and those that stand for themselves.
  options.fields.add(
      sub, {"projector", "projection", "edge", "region", "words", "gradient-scale", "noise"},
      [](field const& f) {
        auto const methods = methods_with(f.name);
        return methods.empty() ? std::string(f.says) : fmt::format("{}: {}", methods, f.says);
      });
  for (auto const& [name, option] : options.fields.options()) {
    added.push_back(option);
  }
  added.insert(
      added.end(),
      {sub.add_option("--start", options.start,
                      "volume to begin with, on the result's voxels, /mm (default: zeros; mlem, "
                      "osem: ones)"),
       sub.add_option("--mask", options.mask,
                      "volume on the result's voxels: those that are 0 stay as they begin (mlem, "
                      "osem: become 0)"),
       sub.add_option(
           "--reading-mask", options.reading_mask,
           "stack of the readings' shape (.h5): readings where it is 0 do not count, whatever "
           "a stack has there"),
       sub.add_flag("--final-residual", request.final_residual,
                    "project the result once more at the end, and tell its own residual"),
       sub.add_option(
              "--stop-noise", request.stop_noise,
              "end where that residual is what the noise of so many photons a ray, in the open "
              "beam, is expected to leave (discrepancy principle); readings b add exp(b) / N, and "
              "those above ln N nothing: one that stands for no photon as ln N counts as one "
              "photon")
           ->check(number_from(1e-6, 1e30)),
       sub.add_option("--checkpoint-every", request.checkpoint_every,
                      "write it after so many iterations, and at the end")
           ->check(whole_from(1, 1'000'000))
           ->needs(checkpoint)
           ->capture_default_str(),
       sub.add_option("--history", options.history,
                      "table of the iterations' residuals, as they tell them, and gaps (.csv)")});
  return added;
}

void choose_method(iterative_options& options, ct::iterative_method method) {
  auto const& given = options.fields.options();
  for (auto const& [name, option] : given) {
    if (option->count() > 0 && !ct::takes_field(method, name)) {
      throw invalid_argument(fmt::format("{} (method {} has no such option); leave it out",
                                         option->get_name(), to_word(method)));
    }
  }
  if (method == ct::iterative_method::tv && given.at("weight")->count() == 0) {
    throw invalid_argument(
        "--method tv without --weight (how much variation costs is for you to say); give --weight");
  }
  options.request.method = method;
}

void check_iterative_outputs(iterative_options const& options) {
  if (!options.history.empty() && files::ending(options.history) != ".csv") {
    throw file_error(fmt::format(
        "'{}': --history does not end in .csv (it is a table); name it NAME.csv", options.history));
  }
  auto const& checkpoint = options.request.checkpoint;
  auto const end = files::ending(checkpoint);
  if (!checkpoint.empty() && end != ".h5" && end != ".hdf5") {
    throw file_error(
        fmt::format("'{}': --checkpoint does not end in .h5 (it is an HDF5 file); name it NAME.h5",
                    checkpoint));
  }
  check_writable(options.history);
  check_writable(checkpoint);
}

void read_iterative_inputs(iterative_options& options, placement const& place, bool by_views,
                           jobs::reconstruct_request& of) {
  auto& request = of.iterative.emplace(std::move(options.request));
  request.rules = ct::default_rules(request.method);
  options.fields.put_given(request.rules);
  request.options = ct::default_options(request.method, ct::num_views(of.geometry.scan));
  std::visit(
      [&](auto& chosen) {
        chosen.projector = options.projector;
        options.fields.put_given(chosen);
        choose_reproducible_sums(of.memory, options.fields.options().at("sum")->count() > 0,
                                 chosen.projector.sum);
      },
      request.options);
  auto const leave = files::stack_geometry::leave;
  if (!options.reading_mask.empty()) {
    request.reading_mask = files::read_stack_header(options.reading_mask, leave);
  }
  if (!options.start.empty()) {
    request.start = placed(files::read_volume_grid(options.start), place);
  }
  if (!options.mask.empty()) {
    request.mask = placed(files::read_volume_grid(options.mask), place);
  }
  jobs::check_shapes(of);
  if (!options.reading_mask.empty()) {
    if (by_views) {
      request.read_reading_mask = read_by_views(options.reading_mask, request.reading_mask->extent,
                                                files::finite_values::required, options.bytes_read);
    } else {
      request.reading_mask = files::read_stack<float>(
          options.reading_mask, leave, {}, files::finite_values::required, asked_of_user());
    }
  }
  if (!options.start.empty()) {
    read_given(options, options.start, place, *request.start, request.read_start);
    warn_of_unit(options.start, request.start->unit, "1/mm", "the numbers are taken as they are");
  }
  if (!options.mask.empty()) {
    read_given(options, options.mask, place, *request.mask, request.read_mask);
  }
  if (request.projector().projection == ct::projection::texture) {
    spdlog::warn(
        "texture units round the projection's weights to 8 bits (no adjoint matches it; bits may "
        "differ between GPUs); choose another projector for results that repeat");
  }
  if (request.projector().backprojection != ct::backprojection::adjoint) {
    spdlog::warn(
        "the backprojection is not the adjoint of the projection (iterates need not come to the "
        "least squares); choose the adjoint where they are to");
  }
  auto const* const sart = std::get_if<ct::sart_options>(&request.options);
  if (sart != nullptr && sart->columns == ct::column_sums::of_scan) {
    spdlog::info(
        "of each voxel the largest column sum of all blocks stands for each block's (one volume "
        "for all; steps are shorter, never longer)");
  }
}

files::atomic_file prepare_history(std::filesystem::path const& file,
                                   std::vector<ct::iteration> const& history) {
  std::string text = "iteration,residual,relative_residual,gap\n";
  for (auto const& now : history) {
    text += fmt::format("{},{:.17g},{:.17g},{}\n", now.number, now.residual, now.relative_residual,
                        std::isnan(now.gap) ? std::string() : fmt::format("{:.17g}", now.gap));
  }
  return files::prepare_text(file, text);
}

}  // namespace iso::cli
