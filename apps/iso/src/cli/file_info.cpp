// SPDX-License-Identifier: BSD-3-Clause
#include "file_info.hpp"

#include "described.hpp"
#include "dicom_info.hpp"
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/ct/describe_scan.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/foreign_file.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/hdf5_kind.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/json_fields.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/plan_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/sweep_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/model/describe.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <variant>
#include <vector>

namespace iso::cli {
namespace {

/// What is printed and written of a file.
struct description {
  std::string title;
  std::vector<std::pair<std::string, std::string>> lines;
  json document = json::object();

  void add(std::string const& name, std::string text) { lines.emplace_back(name, std::move(text)); }
};

std::string point_of(std::array<double, 3> const& p) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", p[0], p[1], p[2]);
}

std::string by(double a, double b) { return fmt::format("{:.6g} x {:.6g}", a, b); }

std::string number_of(std::size_t n, char const* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

double degrees(double angle) { return written_in(units::degrees, angle); }

/// Least, largest and mean of the numbers that are finite.
template <class T>
void add_range(description& d, std::vector<T> const& values, std::string const& unit) {
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  double sum = 0;
  std::size_t finite = 0;
  for (T const value : values) {
    if (std::isfinite(value)) {
      least = std::min(least, double(value));
      most = std::max(most, double(value));
      sum += double(value);
      ++finite;
    }
  }
  auto const not_finite = values.size() - finite;
  std::string text = "none is finite";
  if (finite > 0) {
    text = fmt::format("from {:.6g} to {:.6g}, mean {:.6g}", least, most, sum / double(finite));
    d.document.update({{"minimum", least}, {"maximum", most}, {"mean", sum / double(finite)}});
  }
  if (not_finite > 0) {
    text += fmt::format("; {} are not finite", not_finite);
  }
  d.document["not_finite"] = not_finite;
  d.add("values", std::move(text));
  d.add("unit", unit.empty()  ? "not said by the file"
                : unit == "1" ? "1 (dimensionless)"
                              : files::shortened(unit, 40));
  d.document["unit"] = unit;
}

void describe_volume(std::string const& path, std::string const& format, description& d) {
  auto const v = files::read_volume(path, files::finite_values::not_required,
                                    files::subfolders::left_out, asked_of_user());
  auto const& n = v.extent;
  auto const& s = v.spacing;
  std::array<double, 3> low{};
  std::array<double, 3> high{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    low[axis] = v.origin[axis] - 0.5 * s[axis];
    high[axis] = low[axis] + s[axis] * double(n[axis]);
  }
  d.title = fmt::format("volume ({})", format);
  d.document.update({{"kind", "volume"},
                     {"format", format},
                     {"extent", n},
                     {"spacing_mm", s},
                     {"origin_mm", v.origin}});
  d.add("extent", fmt::format("{} x {} x {} voxels along x, y, z", n[0], n[1], n[2]));
  d.add("spacing", fmt::format("{:.6g} x {:.6g} x {:.6g} mm", s[0], s[1], s[2]));
  d.add("origin", point_of(v.origin) + " mm, the centre of the first voxel");
  d.add("faces", fmt::format("from {} to {} mm", point_of(low), point_of(high)));
  add_range(d, v.values, v.unit);
}

void add_angles(description& d, std::vector<double> const& angles) {
  d.document["views"] = angles.size();
  d.document["first_angle_deg"] = degrees(angles.front());
  d.document["last_angle_deg"] = degrees(angles.back());
  d.add("views", fmt::format("{}, from {:.6g} to {:.6g} degrees", angles.size(),
                             degrees(angles.front()), degrees(angles.back())));
}

/// Writes the numbers of a scan and of its detector side by side, but for those of each view.
void put_scan(json& document, ct::circular_scan const& g) {
  json said;
  files::put_fields(said, g, [](field const& f) {
    return f.name != "angles" && f.name != "shifts" && f.name != "source-shifts";
  });
  document.update(said.at("detector"));
  said.erase("detector");
  document.update(said);
}

void describe_geometry(files::geometry_file const& file, description& d) {
  auto const pixels = ct::detector_pixels(file.scan);
  auto const rays = std::string(to_word(ct::rays_of(file.scan)));
  d.document.update({{"rays", rays}, {"pixels", pixels}});
  d.add("rays", rays);
  auto const detector = fmt::format("{} x {} pixels along u, v", pixels[0], pixels[1]);
  auto const* const circle = std::get_if<ct::circular_scan>(&file.scan);
  if (circle == nullptr) {
    auto const views = ct::num_views(file.scan);
    d.document.update({{"type", to_word(files::scan_type::vectors)}, {"views", views}});
    d.add("detector", detector);
    d.add("views", fmt::format("{}, each given by its vectors", views));
    return;
  }
  auto const& g = *circle;
  auto const& flat = g.detector;
  d.document["type"] = to_word(g.rays == ct::beam::cone ? files::scan_type::circular_cone
                                                        : files::scan_type::circular_parallel);
  put_scan(d.document, g);
  d.add("detector",
        fmt::format(
            "{}, {} mm apart, {} mm in all{}", detector, by(flat.pitch_u, flat.pitch_v),
            by(flat.pitch_u * double(pixels[0]), flat.pitch_v * double(pixels[1])),
            flat.offset_u == 0 && flat.offset_v == 0
                ? ""
                : fmt::format(", moved by ({:.6g}, {:.6g}) mm", flat.offset_u, flat.offset_v)));
  if (g.rays == ct::beam::cone) {
    double const magnification = g.source_detector / g.source_axis;
    d.document["magnification"] = magnification;
    d.add("source",
          fmt::format("{:.6g} mm from the axis, {:.6g} mm from the detector: magnification {:.6g}",
                      g.source_axis, g.source_detector, magnification));
    d.add("at the axis", fmt::format("pixels {} mm apart", by(flat.pitch_u / magnification,
                                                              flat.pitch_v / magnification)));
  }
  add_angles(d, g.angles);
  if (g.helix_pitch != 0) {
    d.add("helix", fmt::format("{:.6g} mm a turn", g.helix_pitch));
  }
  if (g.axis_tilt != 0) {
    d.add("axis", fmt::format("tilted by {:.6g} degrees", degrees(g.axis_tilt)));
  }
}

void describe_stack(std::string const& path, description& d) {
  auto const stack = files::read_stack<float>(path, files::stack_geometry::read, {},
                                              files::finite_values::not_required, asked_of_user());
  auto const& n = stack.extent;
  d.title = "stack of projections (HDF5)";
  d.document.update({{"kind", "stack"}, {"format", "HDF5"}, {"extent", n}});
  d.add("extent", fmt::format("{} views of {} x {} pixels along u, v", n[0], n[1], n[2]));
  add_range(d, stack.values, stack.unit);
  if (stack.geometry.empty()) {
    d.add("geometry", "not in the file");
    d.document["geometry"] = nullptr;
    return;
  }
  description of_geometry;
  describe_geometry(files::parse_geometry(stack.geometry, path + ": /geometry"), of_geometry);
  for (auto const& [name, text] : of_geometry.lines) {
    d.add(name, text);
  }
  d.document["geometry"] = std::move(of_geometry.document);
}

void describe_images(std::string const& path, description& d) {
  auto const images = files::read_images(path, {});
  auto const& n = images.extent;
  auto const stored_as = to_word(images.stored);
  d.title = "images of a detector (TIFF)";
  d.document.update(
      {{"kind", "images"}, {"format", "TIFF"}, {"extent", n}, {"stored_as", stored_as}});
  d.add("extent", fmt::format("{} of {} x {} pixels, width and height",
                              number_of(std::size_t(n[0]), "image"), n[1], n[2]));
  d.add("stored as", std::string(stored_as));
  add_range(d, images.values, "");
}

void describe_matrix(std::string const& path, char const* format, description& d) {
  auto const m = files::read_matrix(path, asked_of_user());
  auto const stored_as = to_word(number_type(m.values.index()));
  d.title = fmt::format("matrix ({})", format);
  d.document.update({{"kind", "matrix"},
                     {"format", format},
                     {"rows", m.rows},
                     {"columns", m.columns},
                     {"nonzeros", m.entries()},
                     {"stored_as", stored_as}});
  d.add("extent", fmt::format("{} rows x {} columns", m.rows, m.columns));
  d.add("non-zeros", fmt::format("{}, stored as {}", m.entries(), stored_as));
  auto const unit = m.notes.find("unit");
  auto const of_values = unit == m.notes.end() ? std::string() : unit->second;
  if (auto const* const bits = std::get_if<files::host_matrix::half_bits>(&m.values)) {
    std::vector<float> wide(bits->size());
    std::transform(bits->begin(), bits->end(), wide.begin(), files::from_half);
    add_range(d, wide, of_values);
  } else if (auto const* const single = std::get_if<std::vector<float>>(&m.values)) {
    add_range(d, *single, of_values);
  } else {
    add_range(d, std::get<std::vector<double>>(m.values), of_values);
  }
  for (auto const& [name, text] : m.notes) {
    if (name != "unit") {
      d.add(name, files::printable(files::one_line(text)));
    }
  }
  d.document["notes"] = m.notes;
  d.add("more", "iso matrix info has histograms of rows and runs");
}

void describe_hdf5(std::string const& path, description& d) {
  auto const kind = files::read_hdf5_kind(path);
  switch (kind) {
    case files::hdf5_kind::stack:
      describe_stack(path, d);
      return;
    case files::hdf5_kind::matrix:
      describe_matrix(path, "HDF5", d);
      return;
    case files::hdf5_kind::vector: {
      auto const values = files::read_vector(path, asked_of_user());
      d.title = "vector (HDF5)";
      d.document.update({{"kind", "vector"}, {"format", "HDF5"}, {"extent", values.size()}});
      d.add("extent", number_of(values.size(), "number"));
      add_range(d, values, "");
      return;
    }
    case files::hdf5_kind::checkpoint:
    case files::hdf5_kind::other:
      d.title = files::name_of(kind) + " (HDF5)";
      d.document["kind"] = kind == files::hdf5_kind::checkpoint ? "checkpoint" : "other";
  }
}

void describe_plan(files::plan const& plan, description& d) {
  d.title = fmt::format("plan of {}", number_of(plan.beams.size(), "beam"));
  auto const& lines = plan.options.lines;
  auto const& cones = plan.options.cones;
  json beams = json::array();
  for (auto const& [name, beam] : plan.beams) {
    auto const& f = beam.fluence;
    json one = {{"name", name}};
    put_fields(one, beam);
    one["field_mm"] = {{"x", {f.x_low, f.x_high()}}, {"y", {f.y_low, f.y_high()}}};
    one["fluence_pixels"] = {f.columns, f.rows};
    beams.push_back(std::move(one));
    d.add(fmt::format("beam {}", beams.size()),
          fmt::format(
              "{}gantry {:.6g}, couch {:.6g}, collimator {:.6g} degrees; isocentre {} mm; x "
              "from {:.6g} to {:.6g}, y from {:.6g} to {:.6g} mm{}; weight {:.6g}",
              name.empty() ? ""
                           : files::shortened(files::printable(files::one_line(name)), 40) + ": ",
              degrees(beam.gantry), degrees(beam.couch), degrees(beam.collimator),
              point_of({beam.isocentre.x, beam.isocentre.y, beam.isocentre.z}), f.x_low, f.x_high(),
              f.y_low, f.y_high(),
              f.values.size() == 1 ? "" : fmt::format(" in {} x {} pixels", f.columns, f.rows),
              beam.weight));
  }
  d.document.update({{"kind", "plan"},
                     {"format", "JSON"},
                     {"beams", std::move(beams)},
                     {"spectrum", plan.spectrum.name},
                     {"kernel", plan.kernel.name},
                     {"engine", to_word(lines.engine)},
                     {"cones", cones.cones},
                     {"azimuths", cones.azimuths}});
  d.add("spectrum", plan.spectrum.name);
  d.add("kernel", plan.kernel.name);
  d.add("engine", fmt::format("{}, {} cones of {} azimuths", to_word(lines.engine), cones.cones,
                              cones.azimuths));
}

void describe_json(std::string const& path, description& d) {
  // Only which kind it is: what is wrong in it is for its own reader to say.
  auto const kind =
      files::kind_of_json(files::read_text(path, std::size_t(1) << 28, asked_of_user()));
  if (kind == files::json_kind::plan) {
    describe_plan(read_plan(path), d);
    return;
  }
  if (kind == files::json_kind::sweep) {
    auto const sweep = files::read_sweep(path);
    d.title = fmt::format("sweep of {}, {}", number_of(sweep.sets.size(), "set"),
                          number_of(std::size_t(sweep.rounds), "round"));
    d.document.update({{"kind", "sweep"},
                       {"format", "JSON"},
                       {"sets", sweep.sets.size()},
                       {"rounds", sweep.rounds}});
    return;
  }
  if (kind == files::json_kind::results) {
    d.title = "results that iso wrote as JSON";
    d.document.update({{"kind", "results"}, {"format", "JSON"}});
    return;
  }
  d.title = "geometry of a scan";
  d.document.update({{"kind", "geometry"}, {"format", "JSON"}});
  describe_geometry(read_geometry(path), d);
}

/// Throws iso::file_error where a file holds text alone, as no DICOM file does.
void check_no_text(std::filesystem::path const& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) {
    return;
  }
  std::array<char, 1024> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  auto const count = file.gcount();
  bool const is_text = std::all_of(bytes.begin(), bytes.begin() + count, [](char c) {
    return (c >= ' ' && c != '\x7f') || c == '\n' || c == '\r' || c == '\t' || c < 0;
  });
  if (count > 0 && is_text) {
    throw file_error(fmt::format(
        "'{}' is a text file (iso info reads volumes, stacks, images, matrices, vectors, "
        "geometries, plans, sweeps and DICOM, and knows all but DICOM by the ending); name one of "
        "those, or correct the ending",
        path.string()));
  }
}

}  // namespace

int run_file_info(std::string const& path, std::string const& json_file,
                  folder_options const& folder) {
  check_distinct({path, json_file});
  auto const end = files::ending(path);
  description d;
  if (files::is_image_path(path)) {
    describe_volume(path,
                    end.starts_with(".m")              ? "MetaImage"
                    : end == ".nrrd" || end == ".nhdr" ? "NRRD"
                                                       : "NIfTI",
                    d);
  } else if (end == ".h5" || end == ".hdf5") {
    describe_hdf5(path, d);
  } else if (end == ".tif" || end == ".tiff") {
    describe_images(path, d);
  } else if (end == ".mtx") {
    describe_matrix(path, "Matrix Market", d);
  } else if (end == ".json") {
    describe_json(path, d);
  } else if (end == ".xtekct") {
    d.title = "geometry of a scan (settings of a Nikon scanner)";
    d.document.update({{"kind", "geometry"}, {"format", "xtekct"}});
    describe_geometry(read_geometry(path), d);
  } else {
    check_no_text(path);
    return run_dicom_info(path, json_file, folder);
  }
  if (json_file != "-") {
    fmt::print("{}: {}\n", path, d.title);
    for (auto const& [name, text] : d.lines) {
      fmt::print("  {:<12} {}\n", name, text);
    }
  }
  write_json(json_file, {{"isocenter", ISO_VERSION}, {"file", std::move(d.document)}});
  return success;
}

}  // namespace iso::cli
