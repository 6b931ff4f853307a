// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>
#include <iso/files/xtekct_file.hpp>

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string>
#include <string_view>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

constexpr char const* section = "[XTekCT]";

/// The keys of the section with the text of each.
class settings {
 public:
  explicit settings(fs::path const& path) : path_(path) {
    std::string const text = read_text(path, std::size_t(1) << 24);
    bool inside = false;
    bool found = false;
    for (std::size_t begin = 0; begin < text.size();) {
      auto const end = std::min(text.find('\n', begin), text.size());
      std::string const line = one_line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
      if (line.starts_with('[')) {
        inside = line == section;
        found = found || inside;
      } else if (inside) {
        keep(line);
      }
    }
    if (!found) {
      refuse(path, fmt::format("has no section {} (the settings of a Nikon scan stand there); name "
                               "the scanner's .xtekct",
                               section));
    }
  }

  [[nodiscard]] bool has(std::string const& key) const {
    auto const at = values_.find(key);
    return at != values_.end() && !at->second.empty();
  }
  [[nodiscard]] std::string text(std::string const& key) const { return values_.at(key); }
  [[nodiscard]] double number(std::string const& key, double low, double high,
                              char const* what) const {
    if (!has(key)) {
      refuse(path_, fmt::format("key {} is missing (expected: {}); add it", key, what));
    }
    std::string const& value = values_.at(key);
    double result = 0;
    auto const read = std::from_chars(value.data(), value.data() + value.size(), result);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size() ||
        !(result >= low && result <= high)) {
      refuse(path_, fmt::format("key {} is '{}' (expected: {}, from {} to {}); correct it", key,
                                shortened(value, 60), what, low, high));
    }
    return result;
  }
  [[nodiscard]] std::int64_t whole(std::string const& key, double high, char const* what) const {
    double const value = number(key, 1, high, what);
    if (std::trunc(value) != value) {
      refuse(path_, fmt::format("key {} is '{}' (expected: {}, a whole number); correct it", key,
                                shortened(values_.at(key), 60), what));
    }
    return std::int64_t(value);
  }
  [[nodiscard]] double number_or(std::string const& key, double preset, double low, double high,
                                 char const* what) const {
    return has(key) ? number(key, low, high, what) : preset;
  }

 private:
  void keep(std::string const& line) {
    auto const equals = line.find('=');
    if (equals == std::string::npos) {
      return;
    }
    std::string const key = one_line(line.substr(0, equals));
    if (!values_.emplace(key, one_line(line.substr(equals + 1))).second) {
      refuse(path_,
             fmt::format("key {} stands there twice (which one counts is not known); remove one",
                         shortened(key, 60)));
    }
  }

  fs::path const& path_;
  std::map<std::string, std::string> values_;
};

}  // namespace

xtekct read_xtekct(fs::path const& path) {
  settings const all(path);
  if (all.has("Units") && lower_case(all.text("Units")) != "mm") {
    refuse(path, fmt::format("key Units is '{}' (only mm is read); convert all lengths to mm",
                             shortened(all.text("Units"), 60)));
  }
  double const far = 1e6;
  xtekct scan;
  scan.source_object = all.number("SrcToObject", 1e-6, far, "distance from source to axis, mm");
  scan.source_detector =
      all.number("SrcToDetector", 1e-6, far, "distance from source to detector, mm");
  if (scan.source_detector <= scan.source_object) {
    refuse(path, fmt::format("key SrcToDetector is {} (expected: more than SrcToObject, {}: the "
                             "axis stands before the detector); correct one of the two",
                             scan.source_detector, scan.source_object));
  }
  scan.pixels = {all.whole("DetectorPixelsX", 1 << 20, "columns of an image"),
                 all.whole("DetectorPixelsY", 1 << 20, "rows of an image")};
  scan.pitch = {all.number("DetectorPixelSizeX", 1e-6, 1e3, "width of a pixel, mm"),
                all.number("DetectorPixelSizeY", 1e-6, 1e3, "height of a pixel, mm")};
  scan.detector_offset = {
      all.number_or("DetectorOffsetX", 0, -far, far, "offset of the detector, mm"),
      all.number_or("DetectorOffsetY", 0, -far, far, "offset of the detector, mm")};
  char const* const axis = "offset of the axis, mm";
  double const top = all.number_or("CentreOfRotationTop", 0, -far, far, axis);
  double const bottom = all.number_or("CentreOfRotationBottom", 0, -far, far, axis);
  double const voxel = scan.pitch[0] * scan.source_object / scan.source_detector;
  if (std::abs(top - bottom) > 0.5 * voxel) {
    refuse(path,
           fmt::format(
               "keys CentreOfRotationTop and CentreOfRotationBottom are {} and {} mm (an axis that "
               "is tilted by more than half a pixel is not reconstructed); level the images first",
               top, bottom));
  }
  scan.axis_offset = 0.5 * (top + bottom);
  scan.projections = all.whole("Projections", 1e8, "number of views");
  scan.first_angle =
      all.number_or("InitialAngle", 0, -1e6, 1e6, "angle of the first view, degrees");
  scan.angular_step = all.number_or("AngularStep", 360.0 / double(scan.projections), -360, 360,
                                    "angle from view to view, degrees");
  if (all.has("WhiteLevel")) {
    scan.white_level = all.number("WhiteLevel", 1e-6, 1e12, "reading of an open beam");
  }
  return scan;
}

}  // namespace iso::files
