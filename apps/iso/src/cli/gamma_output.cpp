// SPDX-License-Identifier: BSD-3-Clause
#include "gamma_output.hpp"
#include "described.hpp"

#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace iso::cli {
namespace {

/// Per cent, two digits, rounded down: 100.00 is all points.
std::string percent_of(std::int64_t part, std::int64_t whole) {
  auto const hundredths = std::int64_t(10000.0L * part / whole);
  return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
}

json grid_of(files::host_volume const& volume) {
  return {{"extent", volume.extent},
          {"spacing_mm", volume.spacing},
          {"origin_mm", volume.origin},
          {"unit", volume.unit}};
}

/// Blue to white up to 1, yellow to red above.
colour gamma_colour(double gamma, double max_gamma) {
  if (gamma <= 1) {
    return files::colour_between({{0, 0.1, 0.5}, {0.1, 0.6, 0.8}, {0.9, 1, 1}}, gamma);
  }
  return files::colour_between({{1, 0.85, 0}, {0.95, 0.4, 0}, {0.7, 0, 0}},
                               (gamma - 1) / (max_gamma - 1));
}

constexpr auto outside_value = float(gamma::point_status::outside);

/// Adds a line of text below the image.
void tell_outside(files::rgb_image& image) {
  auto const size = files::text_size(image);
  auto const gap = 2 * size;
  auto all = files::black_image(image.width, image.height + 2 * gap + files::letter_height * size);
  files::put_image(image, all, 0, 0);
  files::write_text(all, "outside of the evaluated dose", gap, image.height + gap, size,
                    gamma_outside_colour);
  image = std::move(all);
}

}  // namespace

void print_gamma_table(jobs::gamma_request const& request, jobs::gamma_result const& result) {
  if (!is_quiet()) {
    fmt::print("{:<14} {:>11} {:>11} {:>7} {:>10} {:>10} {:>10} {:>15}\n", "criterion", "points",
               "passed", "rate %", "mean", "maximum", "outside", "outside, passed");
  }
  for (std::size_t n = 0; n < result.criteria.size(); ++n) {
    auto const& c = result.criteria[n];
    fmt::print("{:<14} {:>11} {:>11} {:>7} {:>10.5g} {:>10.5g} {:>10} {:>15}\n",
               to_string(request.criteria[n]), c.compared, c.passed,
               percent_of(c.passed, c.compared), c.mean, c.largest, c.outside, c.outside_passed);
  }
}

json gamma_document(jobs::gamma_request const& request, jobs::gamma_result const& result) {
  json criteria = json::array();
  for (std::size_t n = 0; n < result.criteria.size(); ++n) {
    json one = {{"criterion", to_string(request.criteria[n])}};
    put_fields(one, request.criteria[n]);
    put_fields(one, result.criteria[n]);
    criteria.push_back(std::move(one));
  }
  json document = {{"isocenter", ISO_VERSION},
                   {"operation", "gamma"},
                   {"backend", request.backend},
                   {"reference", grid_of(request.reference)},
                   {"evaluated", grid_of(request.evaluated)},
                   {"reference_maximum", result.reference_maximum},
                   {"cut_off_dose", result.cut_off_dose}};
  put_fields(document, request.options);
  put_fields(document, request.summary);
  for (auto const* const same_in_all : {"compared", "below_cut_off", "outside", "bin_width"}) {
    document[same_in_all] = criteria[0][same_in_all];
  }
  for (auto const& status : words(gamma::point_status{})) {
    document["status_values"][status.text] = int(status.value);
  }
  document["criteria"] = std::move(criteria);
  document["hash"] = result.hash;
  document["seconds"] = result.seconds;
  return document;
}

std::string gamma_histogram(jobs::gamma_request const& request, jobs::gamma_result const& result) {
  std::string table = "criterion,gamma_from,gamma_to,points\n";
  for (std::size_t n = 0; n < result.criteria.size(); ++n) {
    auto const& counts = result.criteria[n].histogram;
    for (std::size_t bin = 0; bin < counts.size(); ++bin) {
      table += fmt::format("{},{:.9g},{:.9g},{}\n", to_string(request.criteria[n]),
                           double(bin) * result.criteria[n].bin_width,
                           double(bin + 1) * result.criteria[n].bin_width, counts[bin]);
    }
  }
  return table;
}

files::rgb_image gamma_picture(jobs::gamma_request const& request, jobs::gamma_result const& result,
                               std::array<double, 3> const& point, bool frames_differ) {
  auto const slices = slices_through(result.gamma, point);
  auto image = draw_slices(result.gamma, slices, [&](std::size_t n) {
    double const gamma = result.gamma.values[n];
    double const grey = 0.5 * double(request.reference.values[n]) / result.reference_maximum;
    return std::isnan(gamma) ? colour{grey, grey, grey}
           : result.status.values[n] == outside_value
               ? gamma_outside_colour
               : gamma_colour(gamma, request.options.max_gamma);
  });
  frame_slices(image, result.gamma, slices);
  std::vector<files::bar_mark> marks = {{0, "0"},
                                        {1, fmt::format("{:.3g}", request.options.max_gamma)}};
  if (request.options.max_gamma > 1.15) {
    marks.push_back({1 / request.options.max_gamma, "1"});
  }
  auto const colour_of = [&](double part) {
    return gamma_colour(part * request.options.max_gamma, request.options.max_gamma);
  };
  files::add_colour_bar(image, colour_of, marks, "gamma");
  auto const given = request.options.normalise == gamma::normalisation::given
                         ? fmt::format("of {:.4g}{}{}", request.options.given_dose,
                                       request.reference.unit.empty() ? "" : " ",
                                       files::shortened(request.reference.unit, 16))
                         : std::string(to_word(request.options.normalise));
  files::add_title(
      image,
      fmt::format("gamma {}, {} normalisation, cut-off {:.4g}%{}",
                  to_string(request.criteria.front()), given, 100 * request.options.cut_off,
                  frames_differ ? ", frames of reference differ" : ""),
      files::text_size(image));
  if (result.criteria[0].outside > 0) {
    tell_outside(image);
  }
  return image;
}

}  // namespace iso::cli
