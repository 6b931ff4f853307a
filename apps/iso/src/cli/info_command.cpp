// SPDX-License-Identifier: BSD-3-Clause
#include "support.hpp"

#include <iso/jobs/info.hpp>

#include <memory>

namespace iso::cli {
namespace {

struct info_options {
  common_options common;
  bool no_ceilings = false;
};

int run_info(info_options const& options) {
  check_writable(options.common.json_file);
  jobs::session const session(options.common.threads);
  auto const backends = jobs::choose_backends(options.common.backend);
  auto const machine = jobs::info(
      backends, options.no_ceilings ? jobs::ceilings_wanted::no : jobs::ceilings_wanted::yes,
      terminal_observer());
  if (options.common.json_file != "-") {
    print_machine(machine);
  }
  write_json(options.common.json_file, {{"isocenter", ISO_VERSION}, {"machine", to_json(machine)}});
  return success;
}

}  // namespace

command add_info(CLI::App& app) {
  auto const options = std::make_shared<info_options>();
  auto* const sub =
      app.add_subcommand("info", "Backends of this build, devices, measured ceilings");
  add_common(*sub, options->common, "all");
  add_threads(*sub, options->common);
  sub->add_flag("--no-ceilings", options->no_ceilings,
                "leave out the measurements (about 1.5 s a backend)");
  return [options] { return run_info(*options); };
}

}  // namespace iso::cli
