// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/plan_file.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <numbers>

namespace files = iso::files;
using iso::test::names;
using iso::test::refusal;
using nlohmann::json;

namespace {

json plan() {
  return json::parse(R"({"beams": [{"isocentre_mm": [1, 2, 3],
    "field_mm": {"x": [-50, 40], "y": [-30, 20]}}]})");
}

json with_fluence() {
  auto document = plan();
  document["beams"][0].erase("field_mm");
  document["beams"][0]["fluence"] = json::parse(
      R"({"x_low_mm": -10, "y_low_mm": -20, "pixel_mm": [5, 10], "values": [[1, 0, 2], [3, 4, 5]]})");
  return document;
}

std::string said_of_plan(json const& document) {
  return refusal([&] { files::parse_plan(document.dump(), "p.json"); });
}

}  // namespace

TEST_CASE("a plan of one field has the defaults for the rest") {
  auto const p = files::parse_plan(plan().dump(), "p.json");
  REQUIRE(p.beams.size() == 1);
  auto const& b = p.beams[0].beam;
  CHECK(b.gantry == 0);
  CHECK(b.source_distance == 1000);
  CHECK(b.isocentre == iso::vec3<double>{1, 2, 3});
  CHECK(b.fluence.x_low == -50);
  CHECK(b.fluence.y_low == -30);
  CHECK(b.fluence.pixel_x == 90);
  CHECK(b.fluence.pixel_y == 50);
  CHECK(b.fluence.values == std::vector<double>{1});
  CHECK(b.weight == 1);
  CHECK(p.spectrum.name == "mohan_6mv");
  CHECK(p.kernel.name == "6mv");
  auto const& options = p.options;
  CHECK(options.cones.cones == 8);
  CHECK(options.cones.azimuths == 8);
  CHECK(options.cones.placing == iso::dose::cone_placing::equal_energy);
  CHECK(options.lines.engine == iso::dose::dose_engine::lattice);
  CHECK(options.terma.hardening_correction);
  CHECK(!p.kernel_per_bin);
  CHECK(options.lines.tilt);
  CHECK(options.margin == 27);
}

TEST_CASE("angles are degrees of IEC 61217, and whole turns make no difference") {
  auto document = plan();
  document["beams"][0]["gantry_deg"] = 450;
  document["beams"][0]["couch_deg"] = -90;
  document["beams"][0]["collimator_deg"] = 30;
  auto const b = files::parse_plan(document.dump(), "p.json").beams[0].beam;
  CHECK(b.gantry == 90 * std::numbers::pi / 180);
  CHECK(b.couch == -90 * std::numbers::pi / 180);
  CHECK(b.collimator == doctest::Approx(std::numbers::pi / 6));
}

TEST_CASE("fluence comes in columns") {
  auto const f = files::parse_plan(with_fluence().dump(), "p.json").beams[0].beam.fluence;
  CHECK(f.x_low == -10);
  CHECK(f.y_low == -20);
  CHECK(f.pixel_x == 5);
  CHECK(f.pixel_y == 10);
  CHECK(f.columns == 2);
  CHECK(f.rows == 3);
  CHECK(f.values == std::vector<double>{1, 0, 2, 3, 4, 5});
}

TEST_CASE("the examples are plans, and one has every field of the schema") {
  std::filesystem::path const folder = ISO_EXAMPLE_PLANS;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    CAPTURE(entry.path());
    CHECK(!files::read_plan(entry.path()).beams.empty());
  }
  auto const schema = json::parse(files::plan_schema());
  auto const whole = json::parse(std::ifstream(folder / "every_field.json"));
  auto const has_all = [](json const& part, json const& node, char const* but) {
    for (auto const& [field, ignored] : part.at("properties").items()) {
      CAPTURE(field);
      CHECK((field == but || node.contains(field)));
    }
  };
  has_all(schema, whole, "");
  auto const& beam = schema.at("properties").at("beams").at("items");
  has_all(beam, whole.at("beams")[0], "fluence");
  has_all(schema.at("properties").at("directions"), whole.at("directions"), "");
  CHECK(beam.at("required") == json::array({"isocentre_mm"}));
}

TEST_CASE("tables lie beside the plan") {
  iso::test::scratch_folder const folder;
  std::ofstream(folder.path() / "k.csv") << "0,180,1,1,1,1\n";
  auto document = plan();
  document["kernel"] = "k.csv";
  document["directions"] = {{"cones", 12.0}};
  std::ofstream(folder.path() / "p.json") << document.dump();
  auto const p = files::read_plan(folder.path() / "p.json");
  CHECK(p.kernel.csv == "0,180,1,1,1,1\n");
  CHECK(p.options.cones.cones == 12);
  CHECK_FALSE(p.spectrum.csv);
  document["kernel"] = "none.csv";
  std::ofstream(folder.path() / "p.json") << document.dump();
  CHECK(names(refusal([&] { files::read_plan(folder.path() / "p.json"); }), {"none.csv"}));
}

TEST_CASE("a plan that is none is refused, and its field named") {
  CHECK(names(refusal([] { files::parse_plan("{", "p.json"); }), {"'p.json'", "is not JSON"}));
  CHECK(names(said_of_plan(json::array()), {"field / is not an object"}));
  CHECK(names(said_of_plan(json::object()), {"field /beams is missing", "list of 1 to 1000"}));
  auto document = plan();
  document["beams"] = json::array();
  CHECK(names(said_of_plan(document), {"field /beams is []"}));
  document = plan();
  document["beam"] = 1;
  CHECK(names(said_of_plan(document), {"field /beam is not known", "beams, comment"}));
  document = plan();
  document["beams"][0].erase("isocentre_mm");
  CHECK(names(said_of_plan(document),
              {"field /beams/0/isocentre_mm is missing", "a point [x, y, z]"}));
  document = plan();
  document["beams"][0]["gantry"] = 3;
  CHECK(names(said_of_plan(document), {"field /beams/0/gantry is not known", "gantry_deg"}));
  document = plan();
  document["beams"][0]["field_mm"]["y"] = {20, 20};
  CHECK(names(said_of_plan(document),
              {"field /beams/0/field_mm/y is [20,20]", "at least 1e-6 apart"}));
  document = plan();
  document["beams"][0]["field_mm"]["x"] = {20, -20};
  CHECK(names(said_of_plan(document), {"field /beams/0/field_mm/x is [20,-20]"}));
  document = plan();
  document["beams"][0].erase("field_mm");
  CHECK(names(said_of_plan(document), {"field /beams/0 has neither field_mm nor fluence"}));
  document = with_fluence();
  document["beams"][0]["field_mm"] = plan()["beams"][0]["field_mm"];
  CHECK(names(said_of_plan(document), {"field /beams/0 has both field_mm and fluence"}));
  document = with_fluence();
  document["beams"][0]["fluence"]["values"][1] = {1, 2};
  CHECK(names(said_of_plan(document), {"/beams/0/fluence/values/1 has 2 values", "has 3"}));
  document["beams"][0]["fluence"]["values"] = {{0, 0}, {0, 0}};
  CHECK(names(said_of_plan(document), {"/beams/0/fluence/values is zero everywhere"}));
  document["beams"][0]["fluence"]["values"] = {{0, -1}, {0, 0}};
  CHECK(
      names(said_of_plan(document), {"field /beams/0/fluence/values/0/1 is -1", "from 0 to 1e9"}));
  document = plan();
  document["directions"] = {{"cones", 3}};
  CHECK(
      names(said_of_plan(document), {"field /directions/cones is 3", "whole number from 4 to 48"}));
  document["directions"] = {{"azimuths", 49}};
  CHECK(names(said_of_plan(document), {"field /directions/azimuths is 49", "from 4 to 48"}));
  document["directions"] = {{"azimuths", 8.5}};
  CHECK(names(said_of_plan(document), {"field /directions/azimuths is 8.5", "from 4 to 48"}));
  document["directions"] = {{"placing", "even"}};
  CHECK(names(said_of_plan(document), {"field /directions/placing is \"even\"", "equal_energy"}));
  document = plan();
  document["engine"] = "fast";
  CHECK(names(said_of_plan(document), {"field /engine is \"fast\"", "lattice"}));
  document = plan();
  document["margin_mm"] = -1;
  CHECK(names(said_of_plan(document), {"field /margin_mm is -1"}));
  document = plan();
  document["tilt"] = 1;
  CHECK(names(said_of_plan(document), {"field /tilt is 1", "true or false"}));
  document = plan();
  document["beams"][0]["weight"] = -1;
  CHECK(names(said_of_plan(document), {"field /beams/0/weight is -1"}));
}
