// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/foreign_file.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <set>
#include <system_error>
#include <utility>

namespace iso::cli {
namespace {

std::atomic<bool> on_progress_line{false};
bool quiet = false;

using clock = std::chrono::steady_clock;

// What is left of a job, judged by what has passed; nothing until that says something.
std::string time_left(double seconds, double fraction) {
  if (seconds < 0.5 || fraction < 0.02 || fraction >= 1) {
    return "";
  }
  double const left = std::min(seconds * (1 - fraction) / fraction, 360000.0);
  auto const whole = std::int64_t(std::ceil(left));
  return whole >= 3600 ? fmt::format("{} h {:02} min left", whole / 3600, whole / 60 % 60)
         : whole >= 60 ? fmt::format("{} min {:02} s left", whole / 60, whole % 60)
                       : fmt::format("{} s left", whole);
}

void draw_progress(double fraction, std::string const& what, double seconds) {
  int const width = 30;
  int const done = int(fraction * width);
  fmt::print(stderr, "\r[{:#<{}}{:.<{}}] {:3.0f} % {:<34.34} {:>16}", "", done, "", width - done,
             100 * fraction, what, time_left(seconds, fraction));
  std::fflush(stderr);
  on_progress_line = true;
  if (fraction >= 1) {
    end_progress();
  }
}

void log_progress(double fraction, std::string const& what, double seconds) {
  auto const left = time_left(seconds, fraction);
  fmt::print(stderr, "{:.0f} %, {}{}{}\n", 100 * fraction, what, left.empty() ? "" : ", ", left);
  std::fflush(stderr);
}

}  // namespace

void add_common(CLI::App& app, common_options& options, char const* preset) {
  options.backend = preset;
  app.add_option("--backend", options.backend,
                 "backends, with commas between: serial, openmp, threads, cuda as far as this "
                 "build has them; "
                 "'all'; 'default' is the last of them. Never falls back to another")
      ->transform(in_small_letters())
      ->capture_default_str();
  app.add_option("--json", options.json_file,
                 "also write the results as JSON to this file ('-': here)");
}

void add_threads(CLI::App& app, common_options& options) {
  app.add_option("--threads", options.threads, "OpenMP threads (0: as many as it takes by itself)")
      ->check(whole_from(0, jobs::max_threads))
      ->capture_default_str();
}

void add_share_gpus(CLI::App& app, common_options& options) {
  app.add_flag("--share-gpus", options.share_gpus,
               "of several processes: let more than one compute on a GPU, where they take turns");
}

CLI::Option* add_extend_rays(CLI::App& app, bool& extend_rays) {
  return app.add_flag("--extend-rays", extend_rays,
                      "where detectors stand in the volume or before it, such as ones described at "
                      "the axis of rotation: move them along their rays to behind it, since a ray "
                      "ends at its pixel (cone beams; not for fdk, which does not mind)");
}

void warn_of_views_within(std::int64_t within, std::int64_t views) {
  if (within > 0) {
    spdlog::warn(
        "the detectors of {} of {} views stand in the volume or before it (a ray ends at its "
        "pixel: readings count for the part of the volume before that alone); give --extend-rays, "
        "or check the detector's distance in the geometry",
        within, views);
  }
}

bool is_shown(CLI::App const* sub) { return !sub->get_name().empty() && !sub->get_group().empty(); }

std::string full_name(CLI::App const& app) {
  auto const* const above = app.get_parent();
  return above != nullptr ? full_name(*above) + " " + app.get_name() : app.get_name();
}

void end_progress() {
  if (on_progress_line.exchange(false)) {
    fmt::print(stderr, "\r{:90}\r", "");
    std::fflush(stderr);
  }
}

void be_quiet() {
  quiet = true;
  spdlog::set_level(jobs::is_first_rank() ? spdlog::level::warn : spdlog::level::err);
}

bool is_quiet() { return quiet; }

jobs::observer terminal_observer() {
  jobs::observer watch;
  watch.cancelled = asked_of_user().cancelled;
  if (quiet) {
    return watch;
  }
  watch.streams = log_streaming;
  auto const start = clock::now();
  if (::isatty(STDERR_FILENO)) {
    watch.progress = [start](double fraction, std::string const& what) {
      draw_progress(fraction, what, std::chrono::duration<double>(clock::now() - start).count());
    };
  } else {
    // The log of a batch job.
    watch.progress = [start, last = start](double fraction, std::string const& what) mutable {
      if (auto const now = clock::now(); now - last >= std::chrono::minutes(1)) {
        last = now;
        log_progress(fraction, what, std::chrono::duration<double>(now - start).count());
      }
    };
  }
  return watch;
}

namespace {

// Text of a file or a path may be no UTF-8: what is not becomes U+FFFD.
std::string text_of(json const& document) {
  return document.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

files::atomic_file prepare_json(std::filesystem::path const& file, json const& document) {
  return files::prepare_text(file, text_of(document));
}

void write_json(std::string const& file, json const& document,
                std::vector<files::atomic_file> outputs) {
  if (!file.empty() && file != "-") {
    outputs.push_back(prepare_json(file, document));
  }
  files::atomic_file::commit_all(outputs, [&] {
    asked_of_user().step(1);
    if (file == "-") {
      fmt::print("{}", text_of(document));
    }
    flush_output();
    ends_by_itself();
  });
}

void flush_output() {
  std::cout.flush();
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw error(unwritten_output(std::strerror(errno)));
  }
}

std::string unwritten_output(std::string const& reason) {
  return fmt::format(
      "standard output cannot be written ({}); check where it leads, or use --json FILE", reason);
}

namespace {

// A descriptor that is a pipe has a name that leads nowhere: then the name itself is compared.
std::filesystem::path one_name(std::filesystem::path const& file) {
  std::error_code failure;
  // Absolute first: of what is not there yet, weakly_canonical leaves a relative name relative.
  auto const whole = std::filesystem::absolute(file, failure);
  auto const name = std::filesystem::weakly_canonical(whole, failure);
  return failure ? whole.lexically_normal() : name;
}

}  // namespace

void check_distinct(std::vector<std::string> const& files) {
  for (auto a = files.begin(); a != files.end(); ++a) {
    for (auto b = a + 1; b != files.end(); ++b) {
      if (!a->empty() && !b->empty() && one_name(*a) == one_name(*b)) {
        throw file_error(fmt::format(
            "'{}' is named twice (one would overwrite the other); give each its own name", *b));
      }
    }
  }
}

void check_writable(std::filesystem::path const& file) {
  if (file.empty() || file == "-") {
    return;
  }
  auto const folder = file.parent_path();
  std::error_code unknown;
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown)) {
    throw file_error(
        fmt::format("'{}': folder '{}' is not there (nothing can be written in it); make it first",
                    file.string(), folder.string()));
  }
  files::atomic_file const trial(file);  // throws where nothing can be made; leaves nothing behind
  static std::set<std::filesystem::path> named;
  auto const others = files::temporaries_of_others(file);
  if (!others.empty() && named.insert(folder).second) {
    spdlog::warn(
        "'{}' and {} more temporary files lie there (runs of other machines wrote them, an hour "
        "ago "
        "or more); remove them where no such run lives",
        others.front().string(), others.size() - 1);
  }
}

void check_written(std::string const& output, std::string const& png, std::string const& json_file,
                   std::vector<std::string> inputs) {
  if (!png.empty() && files::ending(png) != ".png") {
    throw file_error(
        fmt::format("'{}': does not end in .png (the picture is one); name it NAME.png", png));
  }
  for (auto const& file : {names_folder(output) ? std::string() : output, png, json_file}) {
    check_writable(file);
  }
  inputs.insert(inputs.end(), {output, png, json_file});
  check_distinct(inputs);
}

bool names_folder(std::string const& output) {
  std::error_code unknown;
  return output.ends_with('/') || std::filesystem::is_directory(output, unknown);
}

void check_volume_output(std::string const& output, dicom_format dicom) {
  if (output.empty() || files::is_image_path(output)) {
    return;
  }
  bool const is_dicom =
      dicom == dicom_format::series ? names_folder(output) : files::ending(output) == ".dcm";
  if (is_dicom && !files::has_dicom) {
    throw file_error(
        fmt::format("'{}' would be DICOM (this build has no DCMTK); install libdcmtk-dev and build "
                    "anew, or write .mha, .nrrd, .nii or .nii.gz",
                    output));
  }
  if (is_dicom && dicom == dicom_format::series) {
    namespace fs = std::filesystem;
    fs::path const named = output;
    auto const folder = named.has_filename() ? named : named.parent_path();
    std::error_code unknown;
    if (fs::exists(folder, unknown) ? !fs::is_empty(folder, unknown)
                                    : !fs::is_directory(fs::absolute(folder).parent_path())) {
      throw file_error(
          fmt::format("'{}' is no empty folder, nor can it be made (a CT series is written into a "
                      "folder of its own); name a new one",
                      output));
    }
    return;
  }
  if (is_dicom) {
    return;
  }
  throw file_error(
      fmt::format("'{}': ending '{}' is not a format for volumes (.mha, .nrrd, .nii, .nii.gz and "
                  "{} are); name a file with one of these",
                  output, files::ending(output),
                  dicom == dicom_format::series ? "folders, which end in /," : ".dcm"));
}

std::string sole_backend(std::string const& choice, char const* command) {
  auto const chosen = jobs::choose_backends(choice);
  if (chosen.size() != 1) {
    throw invalid_argument(
        fmt::format("--backend '{}' ({} runs on one); name one backend", choice, command));
  }
  return chosen.front();
}

void add_folder_options(CLI::App& sub, folder_options& options, CLI::Option* of) {
  sub.add_flag_callback(
         "--recursive", [&options] { options.search = files::subfolders::searched; },
         "of the folder of a CT series: slices in folders within it belong to it too")
      ->needs(of);
  sub.add_flag("--name-files", options.name_files,
               "name the files of a folder that look like DICOM and are not read: their names may "
               "hold a patient's")
      ->needs(of);
}

std::filesystem::path belonging_to(std::filesystem::path const& path,
                                   folder_options const& options) {
  if (!files::is_dicom_path(path)) {
    return {};
  }
  return options.search == files::subfolders::searched
             ? files::read_dicom_identity(path, options.search).file
             : path;
}

void warn_of_unread(std::string const& path, files::host_volume const& volume,
                    folder_options const& options) {
  auto const& unread = volume.unread;
  if (unread.empty()) {
    return;
  }
  bool const has_subfolders = std::any_of(unread.begin(), unread.end(),
                                          [](auto const& file) { return file.is_in_subfolder; });
  spdlog::warn(
      "'{}': {} file{} like DICOM and {} not read ({}: slices may be missing); check them{}{}",
      path, unread.size(), unread.size() == 1 ? " looks" : "s look",
      unread.size() == 1 ? "is" : "are", files::count_reasons(unread),
      has_subfolders ? ", read slices in folders within by --recursive" : "",
      options.name_files ? "" : ", list them by --name-files");
  for (auto const& file : unread) {
    if (options.name_files) {
      spdlog::warn("'{}' is not read ({}); check whether it is a slice", file.file.string(),
                   file.reason);
    }
  }
}

std::array<double, 3> middle_of(files::host_volume const& volume) {
  std::array<double, 3> middle{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    middle[axis] =
        volume.origin[axis] + 0.5 * double(volume.extent[axis] - 1) * volume.spacing[axis];
  }
  return middle;
}

void refuse_differences(std::string const& path, files::rt_dose const& dose) {
  if (dose.type == "ERROR") {
    throw file_error(fmt::format(
        "'{}' holds differences of doses (type ERROR, which is no dose); name a dose", path));
  }
}

void warn_of_unit(std::string const& name, std::string const& has, char const* wanted,
                  char const* advice) {
  if (!has.empty() && has != wanted) {
    spdlog::warn("'{}' holds values in {} ({} is expected); {}", name, files::shortened(has, 40),
                 wanted, advice);
  }
}

void centre(files::host_volume& volume) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    volume.origin[axis] = -0.5 * double(volume.extent[axis] - 1) * volume.spacing[axis];
  }
}

files::geometry_file read_geometry(std::string const& path) {
  if (files::ending(path) != ".xtekct") {
    files::refuse_foreign(path, "a geometry");
  }
  try {
    return files::read_geometry(path, asked_of_user());
  } catch (file_error const&) {
    files::refuse_other_json(path, files::json_kind::geometry);
    throw;
  }
}

files::plan read_plan(std::string const& path) {
  files::refuse_foreign(path, "a plan");
  try {
    return files::read_plan(path, asked_of_user());
  } catch (file_error const&) {
    files::refuse_other_json(path, files::json_kind::plan);
    throw;
  }
}

}  // namespace iso::cli
