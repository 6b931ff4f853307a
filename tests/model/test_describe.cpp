// SPDX-License-Identifier: BSD-3-Clause
// Fields that are described: all of them, units that read back, words, ranges and messages.
#include <iso/ct/describe_scan.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/readings_options.hpp>
#include <iso/dose/beam.hpp>
#include <iso/dose/dose_options.hpp>
#include <iso/dvh/contours.hpp>
#include <iso/dvh/quantity.hpp>
#include <iso/gamma/gamma_options.hpp>
#include <iso/model/describe.hpp>
#include <iso/sparse/matrix_options.hpp>

#include <iso/core/error.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace described_here {

enum class shape { round, square };
constexpr auto words(shape) {
  return std::array{iso::word{shape::round, "round"}, iso::word{shape::square, "square"}};
}

struct inner {
  double angle = 0;
};
struct outer {
  shape form = shape::round;
  std::int32_t count = 1;
  inner part = {};
};
struct forgetful {
  double told = 0;
  double forgotten = 0;
};

constexpr void describe(auto&& visit, iso::describes<inner> auto& x) {
  visit(x.angle, iso::field{.name = "angle",
                            .says = "of the part",
                            .unit = iso::units::degrees,
                            .low = -90,
                            .high = 90});
}
constexpr void describe(auto&& visit, iso::describes<outer> auto& x) {
  visit(x.form, iso::field{.name = "form", .says = "of the whole"});
  visit(x.count, iso::field{.name = "part-count", .says = "of parts", .low = 1, .high = 9});
  visit(x.part, iso::field{.name = "part", .says = "each"});
}
constexpr void describe(auto&& visit, iso::describes<forgetful> auto& x) {
  visit(x.told, iso::field{.name = "told", .says = "one of two"});
}

}  // namespace described_here

namespace {

using namespace described_here;

static_assert(iso::all_described<outer>);
static_assert(!iso::all_described<forgetful>);
static_assert(iso::all_described<iso::gamma::criterion>);
static_assert(iso::all_described<iso::gamma::gamma_options>);
static_assert(iso::all_described<iso::gamma::summary_options>);
static_assert(iso::all_described<iso::gamma::gamma_summary>);
static_assert(iso::all_described<iso::dvh::structure_options>);
static_assert(iso::all_described<iso::dvh::structure_report>);
static_assert(iso::all_described<iso::dvh::histogram_options>);
static_assert(iso::all_described<iso::dose::beam>);
static_assert(iso::all_described<iso::dose::cone_options>);
static_assert(iso::all_described<iso::dose::convolution_options>);
static_assert(iso::all_described<iso::dose::terma_options>);
static_assert(iso::all_described<iso::dose::calculator_options>);
static_assert(iso::all_described<iso::ct::scan_options>);
static_assert(iso::all_described<iso::ct::fdk_options>);
static_assert(iso::all_described<iso::ct::detector_turn>);
static_assert(iso::all_described<iso::ct::iteration>);
static_assert(iso::all_described<iso::ct::projector_options>);
static_assert(iso::all_described<iso::ct::value_range>);
static_assert(iso::all_described<iso::ct::sart_options>);
static_assert(iso::all_described<iso::ct::mlem_options>);
static_assert(iso::all_described<iso::ct::cgls_options>);
static_assert(iso::all_described<iso::ct::lsqr_options>);
static_assert(iso::all_described<iso::ct::total_variation_options>);
static_assert(iso::all_described<iso::ct::line_integral_options>);
static_assert(iso::all_described<iso::ct::dead_pixel_options>);
static_assert(iso::all_described<iso::ct::centre_options>);
static_assert(iso::all_described<iso::sparse::format_report>);
static_assert(iso::all_described<iso::sparse::value_report>);
static_assert(iso::all_described<iso::sparse::dose_matrix_options>);

/// How many lines describe a detector, where they stand in a scan.
constexpr std::size_t count_detector() {
  iso::ct::circular_scan scan;
  iso::detail::count_fields count;
  describe(count, iso::ct::detector_of{scan});
  return count.n;
}
// A line has two members of the detector, and two lines have members of the scan. Of the scan's own
// members, a line has the detector, and none the beam, which a file's type says.
constexpr std::size_t turn_and_shifts = 2;
static_assert(2 * (count_detector() - turn_and_shifts) ==
              iso::detail::count_members<iso::ct::flat_detector>());
static_assert(iso::detail::count_described<iso::ct::circular_scan>() + turn_and_shifts + 1 ==
              iso::detail::count_members<iso::ct::circular_scan>());

template <class T>
std::string refusal_of(T const& x) {
  try {
    iso::check_fields(x, "test");
  } catch (iso::invalid_argument const& e) {
    return e.what();
  }
  return "";
}

template <class E>
void check_words(std::size_t count) {
  CHECK(words(E{}).size() == count);
  for (auto const& w : words(E{})) {
    CHECK(iso::to_word(w.value) == w.text);
    CHECK(iso::from_word<E>(w.text) == w.value);
  }
  CHECK(!iso::from_word<E>("no word of it"));
  CHECK(iso::to_word(E(count)).empty());
}

}  // namespace

TEST_CASE("describe: what is written in a unit reads back to the same double") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-6, 6);
  for (auto const& u :
       {iso::units::degrees, iso::units::percent, iso::units::cm3, iso::units::mm}) {
    for (int n = 0; n < 20000; ++n) {
      double const written = std::pow(10, exponent(random)) * (n % 2 == 0 ? 1 : -1);
      double const x = u.to_library(written);
      CAPTURE(u.name);
      CAPTURE(written);
      REQUIRE(u.to_library(iso::written_in(u, x)) == x);
    }
  }
  CHECK(iso::written_in(iso::units::percent, 0.1) == 10);
  CHECK(iso::written_in(iso::units::percent, 0.07) == 7);
  CHECK(iso::written_in(iso::units::degrees, iso::units::degrees.to_library(30)) == 30);
  CHECK(iso::written_in(iso::units::cm3, 1500) == 1.5);
  CHECK(iso::written_in(iso::units::percent, 0) == 0);
  CHECK(std::isinf(iso::written_in(iso::units::degrees, HUGE_VAL)));
  CHECK(std::isnan(iso::written_in(iso::units::percent, NAN)));
}

TEST_CASE("describe: words of enumerations") {
  check_words<iso::gamma::interpolation>(3);
  check_words<iso::gamma::normalisation>(3);
  check_words<iso::gamma::pass_rule>(2);
  check_words<iso::gamma::point_status>(3);
  check_words<iso::dvh::between_planes>(2);
  check_words<iso::dvh::end_cap>(3);
  check_words<iso::dvh::off_grid>(2);
  check_words<iso::dvh::extremes>(3);
  CHECK(iso::from_word<shape>("SQUARE") == shape::square);
  CHECK(iso::all_words<shape>() == "round, square");
}

TEST_CASE("describe: ranges and enumerations are checked, in members of members too") {
  CHECK(refusal_of(outer{}).empty());
  CHECK(refusal_of(outer{.form = shape(2)}) ==
        "test: form is 2 (none of its values); choose one of round, square");
  CHECK(refusal_of(outer{.count = 10}) ==
        "test: part-count is 10 (must be from 1 to 9); choose another");
  CHECK(refusal_of(outer{.part = {2}}) ==
        "test: angle is 114.59155902616465 deg (must be from -90 to 90); choose another");
  CHECK(refusal_of(outer{.part = {NAN}}).find("angle is nan") != std::string::npos);
  // 0 stands for none where the description says so.
  CHECK(refusal_of(iso::dvh::structure_options{}).empty());
  CHECK(!refusal_of(iso::dvh::structure_options{.slice_thickness = -1}).empty());
}

template <class T>
bool is_all_described() {
  return iso::detail::count_described<T>() == iso::detail::count_members<T>();
}

// A std::function is no literal, and a std::string none to clang 14.
TEST_CASE("describe: all members of types that are no literals") {
  CHECK(is_all_described<iso::ct::stopping_rules>());
  CHECK(is_all_described<iso::sparse::dose_matrix_report>());
}

TEST_CASE("describe: keys of JSON") {
  using iso::field;
  CHECK(key_of(field{.name = "max-gamma", .says = ""}) == "max_gamma");
  CHECK(key_of(field{.name = "source-axis", .says = "", .unit = iso::units::mm}) ==
        "source_axis_mm");
  field const plain{.name = "cut-off", .says = "", .unit = iso::units::percent, .key = "cut_off"};
  CHECK(key_of(plain) == "cut_off");
  CHECK(!key_has_unit(plain));
  CHECK(key_has_unit(field{.name = "disputed", .says = "", .unit = iso::units::percent}));
}

TEST_CASE("gamma: criteria as they are written") {
  using iso::gamma::criterion_named;
  CHECK(criterion_named("3%/3mm").dose_difference == 0.03);
  CHECK(criterion_named("2.5%/1e1mm").distance == 10);
  CHECK(to_string(criterion_named("2.5%/0.1mm")) == "2.5%/0.1mm");
  for (char const* const bad :
       {"", "3", "3%", "3%/", "3/3mm", "3%/3", "3%/3cm", "%/mm", "3%/3mm "}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(criterion_named(bad), iso::invalid_argument);
  }
}
