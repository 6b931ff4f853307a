// SPDX-License-Identifier: BSD-3-Clause
// dump_files: reads lines of a kind, a tab and a path, and prints of each what iso::files reads, or
// its sentence, as JSON. The tests of the Python package compare it with isocenter.files.
#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/error.hpp>
#include <iso/ct/circular_scan.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/geometry_file.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

namespace files = iso::files;
using nlohmann::json;

namespace {

template <class T>
std::string hash_of(std::vector<T> const& values) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  auto const* const bytes = reinterpret_cast<unsigned char const*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) {
    hash = iso::detail::fnv1a(hash, bytes[i]);
  }
  return fmt::format("{:016x}", hash);
}

void put_volume(json& to, files::host_volume const& v) {
  to["size"] = v.extent;
  to["spacing"] = v.spacing;
  to["origin"] = v.origin;
  to["unit"] = v.unit;
  to["hash"] = hash_of(v.values);
}

json identity(files::dicom_identity const& i) {
  return {i.modality, i.sop_class,          i.sop_instance,    i.series,
          i.study,    i.frame_of_reference, i.patient_position};
}

void put_structures(json& to, files::rt_structure_set const& set) {
  to["identity"] = identity(set.identity);
  to["structures"] = json::array();
  for (auto const& s : set.structures) {
    std::vector<double> points;
    std::vector<std::size_t> lengths;
    for (auto const& contour : s.contours) {
      lengths.push_back(contour.points.size());
      for (auto const& p : contour.points) {
        points.insert(points.end(), {p.x, p.y, p.z});
      }
    }
    to["structures"].push_back({{"name", s.name},
                                {"number", s.number},
                                {"colour", s.colour ? json(*s.colour) : json()},
                                {"type", s.type},
                                {"frame", s.frame_of_reference},
                                {"other", s.other_geometry},
                                {"refused", !s.refusal.empty()},
                                {"lengths", lengths},
                                {"hash", hash_of(points)}});
  }
}

template <class T>
void put_stack(json& to, std::string const& path, char const* name) {
  auto const stack = files::read_stack<T>(path);
  to["size"] = stack.extent;
  to["unit"] = stack.unit;
  to["geometry"] = !stack.geometry.empty();
  to[name] = hash_of(stack.values);
}

void put_matrix(json& to, files::host_matrix const& m) {
  to["size"] = {m.rows, m.columns};
  to["indptr"] = hash_of(m.offsets);
  to["indices"] = hash_of(m.indices);
  std::visit(
      [&]<class T>(std::vector<T> const& values) {
        to["bytes"] = sizeof(T);
        if constexpr (sizeof(T) == 2) {
          std::vector<float> wide;
          for (auto const bits : values) {
            wide.push_back(files::from_half(bits));
          }
          to["hash"] = hash_of(wide);
        } else {
          to["hash"] = hash_of(values);
        }
      },
      m.values);
}

void put_images(json& to, std::string const& path) {
  auto const images = files::read_images(path, {});
  to["size"] = images.extent;
  to["hash"] = hash_of(images.values);
}

void put_geometry(json& to, std::string const& path) {
  auto const g = iso::ct::make_geometry(files::read_geometry(path).scan);
  std::vector<double> numbers;
  for (auto const& view : g.views()) {
    for (auto const& x : {view.source, view.detector_origin, view.u_step, view.v_step}) {
      numbers.insert(numbers.end(), {x.x, x.y, x.z});
    }
  }
  to["size"] = {std::int64_t(g.views().size()), g.num_u(), g.num_v()};
  to["hash"] = hash_of(numbers);
}

void put(json& to, std::string const& kind, std::string const& path) {
  if (kind == "volume") {
    put_volume(to, files::read_volume(path));
  } else if (kind == "ct") {
    auto const series = files::read_dicom_series(path);
    put_volume(to, series.volume);
    to["identity"] = identity(series.identity);
    to["others"] = series.other_objects;
    to["unread"] = series.volume.unread.size();
  } else if (kind == "dose") {
    auto const dose = files::read_rt_dose(path, files::dose_units::any, 2.5);
    put_volume(to, dose.volume);
    to["identity"] = identity(dose.identity);
    to["type"] = dose.type;
    to["summation"] = dose.summation;
    to["plans"] = dose.plans;
    to["beams"] = dose.beams;
    to["sets"] = dose.structure_sets;
    to["states"] = dose.states_thickness;
  } else if (kind == "structures") {
    put_structures(to, files::read_rt_structure_set(path));
  } else if (kind == "stack") {
    put_stack<float>(to, path, "single");
    put_stack<double>(to, path, "double");
  } else if (kind == "matrix") {
    put_matrix(to, files::read_matrix(path));
  } else if (kind == "images") {
    put_images(to, path);
  } else if (kind == "geometry") {
    put_geometry(to, path);
  } else {
    to["hash"] = hash_of(files::read_vector(path));
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    auto const tab = line.find('\t');
    json told;
    try {
      put(told, line.substr(0, tab), line.substr(tab + 1));
    } catch (std::exception const& failure) {
      told = {{"refused", failure.what()}};
    }
    std::cout << told.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
  }
  return 0;
}
