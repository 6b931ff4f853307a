// SPDX-License-Identifier: BSD-3-Clause
#include "hounsfield_options.hpp"

#include <fmt/core.h>

namespace iso::cli {

void add_hounsfield_options(CLI::App& app, hounsfield_options& options, CLI::Option* wanted) {
  auto* const water = app.add_option(
      "--water", options.water,
      wanted == nullptr
          ? std::string("attenuation of water, 1/mm: the result is in Hounsfield units, by the "
                        "table of docs/formats.md")
          : fmt::format("attenuation of water, 1/mm (default: {}, that at 100 keV)",
                        files::water_at_100_kev));
  water->check(number_from(1e-9, 1e3));
  app.add_option("--bone", options.bone,
                 fmt::format("attenuation of cortical bone ({} HU), 1/mm ({} at 100 keV); default: "
                             "{} times that of water, the definition of the Hounsfield unit",
                             files::bone_hounsfield, files::bone_at_100_kev,
                             1 + files::bone_hounsfield / 1000))
      ->check(number_from(1e-9, 1e3))
      ->needs(wanted == nullptr ? water : wanted);
  if (wanted != nullptr) {
    water->needs(wanted);
  }
}

files::attenuation_table table_of(hounsfield_options const& options) {
  files::attenuation_table table;
  table.water = options.water > 0 ? options.water : table.water;
  table.bone = options.bone;
  files::validate(table);
  return table;
}

}  // namespace iso::cli
