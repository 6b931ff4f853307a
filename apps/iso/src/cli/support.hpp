// SPDX-License-Identifier: BSD-3-Clause
//! Holds what the subcommands share: options, progress, output.
#pragma once

#include "validators.hpp"

#include <iso/core/job.hpp>
#include <iso/core/summation.hpp>
#include <iso/ct/streaming.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/jobs/repeats.hpp>
#include <iso/jobs/report.hpp>
#include <iso/jobs/session.hpp>
#include <iso/jobs/slab_report.hpp>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace iso::cli {

/// What the program returns, stated in its help.
enum exit_code : int {
  success = 0,
  bits_differ = 1,
  bad_input = 2,
  memory_short = 3,
  internal_failure = 4,
  slower = 5,
  nothing_compared = 6,
  some_refused = 7,
  cancelled_by_user = 130,
  terminated = 143,
};

using json = nlohmann::ordered_json;

struct common_options {
  std::string backend;
  std::string json_file;
  int threads = 0;
  bool share_gpus = false;
};

/// Adds --backend, with `preset` where it is not given, and --json.
void add_common(CLI::App& app, common_options& options, char const* preset);
void add_threads(CLI::App& app, common_options& options);
/// Adds --share-gpus, for what ranks share.
void add_share_gpus(CLI::App& app, common_options& options);
/// Adds --vector-bytes, which holds from when it is read.
void add_vector_bytes(CLI::App& app);
/// Adds --repeats, --by-kernel and --vector-bytes, for an `operation` that is run again to be
/// timed; its text says what is inside of the time. Returns the first.
CLI::Option* add_repeats(CLI::App& app, jobs::repeats_request& request,
                         std::string const& operation);
/// Adds --memory, the bytes of the backend's memory that volumes and stacks pass through.
CLI::Option* add_memory(CLI::App& app, std::optional<std::int64_t>& memory);
/// Adds --memory, the bytes of the backend's memory that doses pass through.
CLI::Option* add_dose_memory(CLI::App& app, std::optional<std::int64_t>& memory);
/// Makes `sum` reproducible where there is such a limit, or where several ranks share the job, and
/// says so unless it was `given`.
/// \throws iso::invalid_argument  an ordered one was given
void choose_reproducible_sums(std::optional<std::int64_t> const& memory, bool given,
                              summation& sum);
/// Logs how calls will be streamed, what each will carry, and what the job takes of the machine's
/// memory in all.
void log_streaming(ct::streaming_report const& report, std::int64_t host_bytes);
/// Prints how a call was streamed, unless the JSON is printed, and puts it into the document.
void tell_streaming(common_options const& common, std::optional<ct::streaming_report> const& report,
                    json& document);
/// Does the same for volumes that passed by in slabs.
void tell_streaming(common_options const& common, std::optional<jobs::slab_report> const& report,
                    json& document);
/// Prints what these runs took, unless the JSON is printed, and puts it into `document`.
void tell_repeats(common_options const& common, jobs::repeats_result const& result, json& document);
/// Adds --extend-rays, for rays that end within the volume.
CLI::Option* add_extend_rays(CLI::App& app, bool& extend_rays);
/// Says so where detectors stand in the volume or before it.
void warn_of_views_within(std::int64_t within, std::int64_t views);

/// Reads a geometry file or a plan, stopped by a signal. Where the file is DICOM or HDF5 the
/// refusal says so.
files::geometry_file read_geometry(std::string const& path);
files::plan read_plan(std::string const& path);

/// Shows from now on no progress and no notices, for --quiet; tables ask is_quiet().
void be_quiet();
bool is_quiet();

/// Gives progress and the time left on standard error where that is a terminal, and cancellation by
/// a signal. The time counts from this call.
jobs::observer terminal_observer();
/// Ends the line that the progress stands on.
void end_progress();
/// Makes SIGINT and SIGTERM, which batch systems and mpirun send, ask from now on for a stop; what
/// does not ask within a second is ended, and a second one ends the program at once. A pipe that is
/// closed, and a file beyond the largest size allowed, fail the call that writes.
void watch_for_signals();
/// A folder, made where absent, and gone again where nothing came to lie in it; also where a run
/// that does not ask is ended by a signal. There is one at a time.
class output_folder {
 public:
  /// \throws iso::file_error  where it cannot be made, by the name of its option
  output_folder(std::filesystem::path const& folder, char const* option);
  output_folder(output_folder const&) = delete;
  output_folder& operator=(output_folder const&) = delete;
  ~output_folder();
};
/// Returns a job that is cancelled by a signal, and reports nothing.
job asked_of_user();
/// Returns the exit code of a run that a signal stopped: 128 and the signal's number.
int interruption_code();
/// Says that the run has come to its end, which a signal changes no more. Does not return where
/// one came first and nobody asked.
void ends_by_itself();
/// What an interrupted run says.
inline constexpr char const* interrupted_sentence =
    "cancelled (it was interrupted, and no file is left half-written); start it again";

/// Prepares `document` as a file that a commit puts in place.
files::atomic_file prepare_json(std::filesystem::path const& file, json const& document);
/// Ends a run: writes `document` to `file` ("-" is standard output; nothing where it is empty),
/// what was printed, and `outputs`: all of these or, as far as that can be, none. Throws
/// iso::file_error, iso::cancelled where a signal came before, and what flush_output throws.
void write_json(std::string const& file, json const& document,
                std::vector<files::atomic_file> outputs = {});
/// Throws iso::error unless everything printed has been taken by standard output.
void flush_output();
/// Returns the words for it.
std::string unwritten_output(std::string const& reason);
json to_json(std::vector<jobs::backend_facts> const& machine);
json to_json(jobs::report const& report);

/// Prints the two tables of a report, the machine's figures, and the verdict, on standard output.
void print_machine(std::vector<jobs::backend_facts> const& machine);
void print_records(jobs::report const& report);
void print_verdict(jobs::report const& report);

/// Throws iso::invalid_argument where an environment variable is not what Kokkos, which would
/// abort, can read.
void check_environment();

/// Throws iso::file_error where two of the names, of which some may be empty, are one file's.
void check_distinct(std::vector<std::string> const& files);

/// Throws iso::file_error unless `file` can be written: its folder exists and takes new files, and
/// the name is not a folder's. Nothing is checked where it is empty or "-".
void check_writable(std::filesystem::path const& file);
/// Makes the checks of files that a subcommand writes, before any work: `png` ends in .png, each
/// can be written (but for folders, which check_volume_output looks at), and no two of them or of
/// `inputs` are one file.
void check_written(std::string const& output, std::string const& png, std::string const& json_file,
                   std::vector<std::string> inputs);
/// The kinds of DICOM that a volume may be written as.
enum class dicom_format { series, dose };
/// Returns whether `output` names a folder: it ends in "/", or a folder is there.
bool names_folder(std::string const& output);
/// Throws iso::file_error unless `output`, which may be empty, has the ending of a volume, or is
/// what `dicom` says: an empty folder or one yet to be made, or a file .dcm.
void check_volume_output(std::string const& output, dicom_format dicom);
/// Gives the backend that --backend names. Throws iso::invalid_argument where it is not one alone.
std::string sole_backend(std::string const& choice, char const* command);
/// Returns the middle of a volume, mm.
std::array<double, 3> middle_of(files::host_volume const& volume);
/// Moves the volume so that its middle lies on the isocentre.
void centre(files::host_volume& volume);
/// Says that the file `name` holds values in `has`, where that is known and is not `wanted`;
/// `advice` ends the sentence.
void warn_of_unit(std::string const& name, std::string const& has, char const* wanted,
                  char const* advice);

/// How the folder of a CT series is read.
struct folder_options {
  bool name_files = false;
  files::subfolders search = files::subfolders::left_out;
};
/// Adds --recursive and --name-files, for what `of` names.
void add_folder_options(CLI::App& sub, folder_options& options, CLI::Option* of);
/// Returns a name of DICOM that belongs to the patient of `path`, and needs no options: of a folder
/// that is searched with those in it, its lowest slice; empty where `path` is no DICOM.
std::filesystem::path belonging_to(std::filesystem::path const& path,
                                   folder_options const& options);
/// Warns of files in the folder `path` that look like DICOM and were not read. Their names, which
/// may hold a patient's, are told with --name-files alone.
void warn_of_unread(std::string const& path, files::host_volume const& volume,
                    folder_options const& options);

/// Returns whether --help names the subcommand; option groups are subcommands without a name.
bool is_shown(CLI::App const* sub);
/// Returns the name with those above it: "iso matrix apply".
std::string full_name(CLI::App const& app);

/// Returns a message of the library in terms of the tool: without the names of functions that it
/// begins with, and with options for arguments.
std::string in_terms_of_options(std::string text);

/// Refuses an RT Dose that holds differences (type ERROR).
/// \throws iso::file_error
void refuse_differences(std::string const& path, files::rt_dose const& dose);

/// Registers a subcommand: adds it to `app`; its run returns an exit code.
using command = std::function<int()>;
command add_info(CLI::App& app);
command add_help(CLI::App& app);
command add_project(CLI::App& app);
command add_reconstruct(CLI::App& app);
command add_back_project(CLI::App& app);
command add_verify(CLI::App& app);
command add_demo(CLI::App& app);
command add_dose(CLI::App& app);
command add_dvh(CLI::App& app);
command add_gamma(CLI::App& app);
command add_matrix(CLI::App& app);
command add_sweep(CLI::App& app);
/// Writes what is installed beside the program; --help does not name it.
command add_manual(CLI::App& app);

}  // namespace iso::cli
