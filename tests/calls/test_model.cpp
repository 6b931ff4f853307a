// SPDX-License-Identifier: BSD-3-Clause
// What is described, without Kokkos: scans, criteria, quantities, words and units.
#include <iso/core/arithmetic.hpp>
#include <iso/ct/circular_scan.hpp>
#include <iso/ct/iterative_options.hpp>
#include <iso/ct/projector_options.hpp>
#include <iso/dvh/quantity.hpp>
#include <iso/gamma/gamma_options.hpp>
#include <iso/model/describe.hpp>

#include <doctest/doctest.h>

TEST_CASE("scans as people describe them") {
  iso::ct::circular_scan const circle{.detector = {.num_u = 16, .num_v = 12, .pitch_u = 2},
                                      .source_axis = 100,
                                      .source_detector = 120,
                                      .angles = iso::ct::even_angles(4, 6)};
  iso::ct::geometry const views = iso::ct::make_geometry(circle);
  CHECK(iso::ct::make_geometry(iso::ct::scan(views)).num_views() == 4);
  CHECK(iso::ct::rays_of(circle) == iso::ct::beam::cone);
  CHECK(iso::ct::num_views(circle) == 4);
  CHECK(iso::ct::detector_pixels(views)[1] == 12);
  CHECK(iso::ct::detector_pitch(circle)[0] == 2);
  CHECK(iso::ct::detector_pitch(views)[0] == doctest::Approx(2));
  auto const moved = iso::ct::moved_along_u(circle, 1.5);
  CHECK(std::get<iso::ct::circular_scan>(moved).detector.offset_u == 3);
  CHECK(std::holds_alternative<iso::ct::geometry>(iso::ct::moved_along_u(views, 1)));
}

TEST_CASE("what iterative methods take") {
  using iso::ct::iterative_method;
  auto const options = iso::ct::default_options(iterative_method::sart, 12);
  CHECK(std::get<iso::ct::sart_options>(options).block_views == 1);
  CHECK(iso::ct::default_rules(iterative_method::tv).iterations == 1000);
  CHECK(iso::ct::takes_field(iterative_method::lsqr, "damping"));
  CHECK(iso::ct::tells_residual_before(iterative_method::mlem));
}

TEST_CASE("criteria and quantities by name") {
  CHECK(iso::gamma::criterion_named("3%/2mm").distance == 2);
  CHECK(iso::gamma::to_string({.dose_difference = 0.03, .distance = 2}) == "3%/2mm");
  CHECK(iso::dvh::unit_of(iso::dvh::quantity_named("V20Gy")) == "%");
  CHECK(iso::dvh::unit_of({iso::dvh::quantity::kind::mean}) == "Gy");
}

TEST_CASE("what types say of their fields") {
  using iso::ct::projector;
  CHECK(iso::to_word(projector::joseph_spline) == "joseph-spline");
  CHECK(iso::from_word<projector>("Siddon") == projector::siddon);
  CHECK(iso::all_words<iso::summation>() == "ordered, reproducible");
  CHECK(iso::texts_of<iso::summation>().size() == 2);
  CHECK(iso::written_in(iso::units::percent, 0.03) == 3);
  CHECK(iso::key_of({.name = "max-roll", .says = "", .unit = iso::units::degrees}) ==
        "max_roll_deg");
  CHECK(iso::key_has_unit({.name = "max-roll", .says = ""}));
  CHECK_NOTHROW(iso::check_fields(iso::gamma::gamma_options{}, "calls"));
}

TEST_CASE("arithmetic of devices") {
  CHECK(iso::math::fma(2.0F, 3, 1) == 7);
  CHECK(iso::math::sqrt(2.25) == 1.5);
  CHECK(iso::math::bit_cast<std::uint32_t>(1.0F) == 0x3f800000U);
}
