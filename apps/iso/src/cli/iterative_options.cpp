// SPDX-License-Identifier: BSD-3-Clause
#include "iterative_options.hpp"
#include "described.hpp"

#include <iso/core/error.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

namespace iso::cli {
namespace {

files::host_volume placed(files::host_volume volume, placement const& place) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] -= place.isocentre[axis];
  }
  return volume;
}

}  // namespace

std::vector<CLI::Option*> add_iterative_options(CLI::App& sub, iterative_options& options) {
  auto& request = options.request;
  auto* const checkpoint =
      sub.add_option("--checkpoint", request.checkpoint,
                     "file (.h5) to go on from where it is there, bit for bit, and to write");
  return {
      checkpoint,
      sub.add_option("--iterations", request.iterations,
                     "at most, of an iterative method, with those of a checkpoint (default: tv "
                     "1000, whose gap ends it, the others 20)")
          ->check(whole_from(1, 1'000'000)),
      sub.add_option_function<std::string>(
             "--projector",
             [&request](std::string const& name) {
               request.projector = jobs::projector_named(name, request.projector);
             },
             "how an iterative method projects; joseph-texture: by a GPU's texture units, "
             "which no backprojection matches (cuda; sirt, sart, os-sart, mlem, osem)")
          ->transform(one_of(jobs::iterative_projector_names()))
          ->default_str(jobs::name_of(request.projector)),
      sub.add_option("--oversampling", request.projector.oversampling,
                     "exact projectors: rays a pixel along u and along v")
          ->check(whole_from(1, 64))
          ->capture_default_str(),
      add_words(sub, "--backprojector", request.projector.backprojection,
                "adjoint, of that projector; or fdk, that of filtered backprojection, which "
                "does not match it (sirt, sart, os-sart, mlem, osem)"),
      sub.add_option("--relaxation", request.relaxation,
                     "sirt, sart, os-sart: length of a step, above 0 and below 2 (default: 1)"),
      sub.add_option("--block", request.block, "os-sart, osem: views of a block (default: 8)")
          ->check(whole_from(1, 1'000'000)),
      add_words(sub, "--order", request.order,
                "sart, os-sart, osem: golden, each block far from those before it, or "
                "sequential (default: golden)"),
      add_words(sub, "--column-sums", request.columns,
                "sart, os-sart: blocks, of each block its own, a volume each; or scan, one "
                "volume for all, of each voxel the largest (default: blocks)"),
      sub.add_option("--lower", request.lower,
                     "sirt, sart, os-sart, tv: least value of a voxel, /mm"),
      sub.add_option("--upper", request.upper,
                     "sirt, sart, os-sart, tv: largest value of a voxel, /mm"),
      sub.add_option("--damping", request.damping,
                     "lsqr: weight of the volume's size, mm (default: 0)"),
      sub.add_option(
          "--weight", request.weight,
          "tv: weight of the variation beside half the sum of squared differences of readings"),
      sub.add_option("--start", options.start,
                     "volume to begin with, on the result's voxels, /mm (default: zeros; mlem, "
                     "osem: ones)"),
      sub.add_option("--mask", options.mask,
                     "volume on the result's voxels: those that are 0 stay as they begin (mlem, "
                     "osem: become 0)"),
      sub.add_option(
          "--reading-mask", options.reading_mask,
          "stack of the readings' shape (.h5): readings where it is 0 do not count, whatever "
          "a stack has there"),
      sub.add_option("--stop-residual", request.stop_residual,
                     "end where the residual, the norm of the readings' differences from the "
                     "projections, is this part of the readings' norm. The residual that an "
                     "iteration tells, and every rule ends by, is that of the volume before the "
                     "iteration (sirt, sart, os-sart, mlem, osem: the volume that is written fits "
                     "the readings better) or of the volume that it made (cgls, lsqr, tv)")
          ->check(number_from(0, 1))
          ->capture_default_str(),
      sub.add_flag("--final-residual", request.final_residual,
                   "project the result once more at the end, and tell its own residual"),
      sub.add_option(
             "--stop-noise", request.stop_noise,
             "end where that residual is what the noise of so many photons a ray, in the open "
             "beam, is expected to leave (discrepancy principle); readings b add exp(b) / N, and "
             "those above ln N nothing: one that stands for no photon as ln N counts as one photon")
          ->check(number_from(1e-6, 1e30)),
      sub.add_option("--stop-gap", request.stop_gap,
                     "tv: end where the primal-dual gap is this part of the value; in float at "
                     "least 1e-5, 0: never (default: 0.001)")
          ->check(number_from(0, 1)),
      sub.add_option("--checkpoint-every", request.checkpoint_every,
                     "write it after so many iterations, and at the end")
          ->check(whole_from(1, 1'000'000))
          ->needs(checkpoint)
          ->capture_default_str(),
      sub.add_option("--history", options.history,
                     "table of the iterations' residuals, as they tell them, and gaps (.csv)")};
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

void read_iterative_inputs(iterative_options& options, placement const& place,
                           jobs::reconstruct_request& of) {
  auto& request = of.iterative.emplace(std::move(options.request));
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
    request.reading_mask = files::read_stack<float>(
        options.reading_mask, leave, {}, files::finite_values::required, asked_of_user());
  }
  if (!options.start.empty()) {
    request.start = placed(files::read_volume(options.start, files::finite_values::required,
                                              files::subfolders::left_out, asked_of_user()),
                           place);
    warn_of_unit(options.start, request.start->unit, "1/mm", "the numbers are taken as they are");
  }
  if (!options.mask.empty()) {
    request.mask = placed(files::read_volume(options.mask, files::finite_values::required,
                                             files::subfolders::left_out, asked_of_user()),
                          place);
  }
  if (request.projector.projection == ct::projection::texture) {
    spdlog::warn(
        "texture units round the projection's weights to 8 bits (no adjoint matches it; bits may "
        "differ between GPUs)");
  }
  if (request.projector.backprojection != ct::backprojection::adjoint) {
    spdlog::warn(
        "the backprojection is not the adjoint of the projection (iterates need not come to the "
        "least squares)");
  }
  if (request.columns == ct::column_sums::of_scan) {
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
