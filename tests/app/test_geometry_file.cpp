// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/geometry_file.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <ctime>
#include <functional>
#include <numbers>

namespace ct = iso::ct;
namespace files = iso::files;
using iso::test::names;
using iso::test::refusal;
using nlohmann::json;

namespace {

json cone() {
  return json::parse(R"({"type": "circular_cone",
    "detector": {"pixels": [64, 32], "pitch_mm": [0.5, 0.75], "offset_mm": [1, -2]},
    "source_axis_mm": 500, "source_detector_mm": 1000,
    "angles_deg": {"first": 10, "range": 360, "count": 4}})");
}

json vectors() {
  return json::parse(R"({"type": "vectors", "rays": "cone", "detector": {"pixels": [4, 5]},
    "views": [{"source_mm": [500, 0, 0], "detector_origin_mm": [-500, -2, -2],
               "u_step_mm": [0, 1, 0], "v_step_mm": [0, 0, 1]}]})");
}

ct::circular_scan circle_of(json const& document) {
  return std::get<ct::circular_scan>(files::parse_geometry(document.dump(), "g.json").scan);
}

std::string said_of_geometry(json const& document) {
  return refusal([&] { files::parse_geometry(document.dump(), "g.json"); });
}

}  // namespace

TEST_CASE("a circular cone geometry is read in mm and radians") {
  auto const g = circle_of(cone());
  CHECK(g.rays == ct::beam::cone);
  CHECK(g.detector.num_u == 64);
  CHECK(g.detector.num_v == 32);
  CHECK(g.detector.pitch_u == 0.5);
  CHECK(g.detector.pitch_v == 0.75);
  CHECK(g.detector.offset_u == 1);
  CHECK(g.detector.offset_v == -2);
  CHECK(g.source_axis == 500);
  CHECK(g.source_detector == 1000);
  REQUIRE(g.angles.size() == 4);
  CHECK(g.angles[0] == doctest::Approx(std::numbers::pi / 18));
  CHECK(g.angles[3] == doctest::Approx(280 * std::numbers::pi / 180));
}

TEST_CASE("angles may be listed, offsets left out, and beams be parallel") {
  auto document = cone();
  document["angles_deg"] = {0, 90, -45};
  document["detector"].erase("offset_mm");
  document["type"] = "circular_parallel";
  document.erase("source_axis_mm");
  document.erase("source_detector_mm");
  auto const g = circle_of(document);
  CHECK(g.rays == ct::beam::parallel);
  CHECK(g.detector.offset_u == 0);
  CHECK(g.detector.offset_v == 0);
  REQUIRE(g.angles.size() == 3);
  CHECK(g.angles[1] == std::numbers::pi / 2);
}

TEST_CASE("a whole number may be written with a fraction of zero, as JSON Schema has it") {
  auto document = cone();
  document["detector"]["pixels"] = {64.0, 3.2e1};
  document["angles_deg"]["count"] = 4.0;
  auto const g = circle_of(document);
  CHECK(g.detector.num_u == 64);
  CHECK(g.detector.num_v == 32);
  CHECK(g.angles.size() == 4);
  CHECK(files::parse_geometry(document.dump(), "g.json").text ==
        files::parse_geometry(cone().dump(), "g.json").text);
  for (double const value : {2.5, 0.0, -4.0, 65537.0, 1e300}) {
    CAPTURE(value);
    document["detector"]["pixels"][1] = value;
    CHECK(names(said_of_geometry(document),
                {"/detector/pixels/1", "a whole number from 1 to 65536"}));
  }
}

TEST_CASE("what changes a circle is read in mm and radians") {
  auto document = cone();
  auto const plain = circle_of(document);
  CHECK(plain.turn == ct::detector_turn{});
  CHECK(plain.detector_shifts.empty());
  CHECK(plain.source_shifts.empty());
  CHECK(plain.axis_tilt == 0);
  CHECK(plain.helix_pitch == 0);
  document["detector"]["turn_deg"] = {{"yaw", 90}, {"roll", -180}};
  document["detector"]["shifts_mm"] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  document["source_shifts_mm"] = {{1, 2, 3}, {0, 0, 0}, {0, 0, 0}, {4, 5, 6}};
  document["axis_tilt_deg"] = -45;
  document["helix_pitch_mm"] = 12.5;
  auto const g = circle_of(document);
  CHECK(g.turn == ct::detector_turn{std::numbers::pi / 2, 0, -std::numbers::pi});
  REQUIRE(g.detector_shifts.size() == 4);
  CHECK(g.detector_shifts[3] == std::array<double, 2>{7, 8});
  REQUIRE(g.source_shifts.size() == 4);
  CHECK(g.source_shifts[3] == std::array<double, 3>{4, 5, 6});
  CHECK(g.axis_tilt == -std::numbers::pi / 4);
  CHECK(g.helix_pitch == 12.5);

  document["detector"]["shifts_mm"] = {{1, 2}, {3, 4}};
  CHECK(names(said_of_geometry(document),
              {"/detector/shifts_mm has 2 shifts", "each of the 4 views"}));
  document["detector"]["shifts_mm"] = {{1, 2}, {3, 4}, {5}, {7, 8}};
  CHECK(names(said_of_geometry(document),
              {"/detector/shifts_mm/2 is [5]", "[along u, along v] in mm"}));
  document["detector"].erase("shifts_mm");
  document["source_shifts_mm"].push_back({0, 0, 0});
  CHECK(names(said_of_geometry(document), {"/source_shifts_mm has 5 shifts"}));
  document["type"] = "circular_parallel";
  document.erase("source_axis_mm");
  document.erase("source_detector_mm");
  CHECK(names(said_of_geometry(document), {"/source_shifts_mm is not known", "helix_pitch_mm"}));
  document.erase("source_shifts_mm");
  CHECK(said_of_geometry(document).empty());
  document["axis_tilt_deg"] = 89.5;
  CHECK(names(said_of_geometry(document), {"/axis_tilt_deg is 89.5", "between -89 and 89"}));
}

TEST_CASE("views may be given one by one") {
  auto const g = std::get<ct::geometry>(files::parse_geometry(vectors().dump(), "g.json").scan);
  REQUIRE(g.num_views() == 1);
  CHECK(g.views()[0].source == iso::vec3<double>{500, 0, 0});
  CHECK(g.views()[0].v_step == iso::vec3<double>{0, 0, 1});
  CHECK(g.kind() == ct::beam::cone);
}

TEST_CASE("a wrong field gets a sentence that names it") {
  auto const with = [](std::string const& pointer, json const& value) {
    auto document = cone();
    document[json::json_pointer(pointer)] = value;
    return said_of_geometry(document);
  };
  CHECK(names(with("/detector/pitch_mm/1", -1),
              {"g.json", "/detector/pitch_mm/1", "-1", "mm", "from 1e-6 to 1e9"}));
  CHECK(names(with("/detector/pitch_mm", {1, 2, 3}),
              {"/detector/pitch_mm", "[1,2,3]", "pixel centres"}));
  CHECK(names(with("/detector/pixels/0", 2.5), {"/detector/pixels/0", "2.5", "whole number"}));
  CHECK(names(with("/detector/pixels", "64x32"), {"/detector/pixels", "64x32", "[u, v]"}));
  CHECK(names(with("/detector", 7), {"/detector", "7", "flat detector"}));
  CHECK(names(with("/source_axis_mm", 0), {"/source_axis_mm", "0", "mm"}));
  CHECK(names(with("/source_axis_mm", "far"), {"/source_axis_mm", "far"}));
  CHECK(names(with("/angles_deg/count", 0), {"/angles_deg/count", "0", "number of views"}));
  CHECK(names(with("/angles_deg", json::array()), {"/angles_deg", "[]", "degrees"}));
  CHECK(names(with("/angles_deg", {0, "x"}), {"/angles_deg/1", "\"x\"", "degrees"}));
  CHECK(names(with("/angles_deg", true), {"/angles_deg", "true", "degrees"}));
  CHECK(names(with("/type", "helix"), {"/type", "helix", "circular_cone"}));
  CHECK(names(with("/detector/size", 3), {"/detector/size", "not known", "pitch_mm"}));
  CHECK(names(with("/source_axis", 3), {"/source_axis", "not known", "source_axis_mm"}));
}

TEST_CASE("angles that are neither a list nor a range are told that they may be both") {
  for (json const& value : {json("x"), json(90), json(true), json()}) {
    CAPTURE(value.dump());
    auto document = cone();
    document["angles_deg"] = value;
    CHECK(names(said_of_geometry(document),
                {"/angles_deg is " + value.dump(), "a list of 1 to 1000000 numbers",
                 "or an object with count, range"}));
  }
  auto document = cone();
  document.erase("angles_deg");
  CHECK(names(said_of_geometry(document), {"/angles_deg is missing", "a list", "or an object"}));
}

TEST_CASE("of several faults the first one is said") {
  auto document = vectors();
  auto const view = document["views"][0];
  document["views"] = {view, 5, view, view};
  document["views"][2]["u_step_mm"] = {"x", "y", "z"};
  CHECK(names(said_of_geometry(document), {"/views/1 is 5", "one view"}));
  document = cone();
  document["source_axis"] = 500;
  document.erase("source_axis_mm");
  CHECK(names(said_of_geometry(document), {"/source_axis is not known", "source_axis_mm"}));
}

TEST_CASE("a name with a slash is escaped as a JSON pointer has it") {
  auto document = cone();
  document["detector"]["a/b~c"] = 1;
  CHECK(names(said_of_geometry(document), {"/detector/a~1b~0c is not known"}));
}

TEST_CASE("a missing field gets a sentence that names it") {
  auto const without = [](std::string const& parent, std::string const& name) {
    auto document = cone();
    document[json::json_pointer(parent)].erase(name);
    return said_of_geometry(document);
  };
  CHECK(names(without("", "type"), {"/type", "missing", "vectors"}));
  CHECK(names(without("", "detector"), {"/detector", "missing"}));
  CHECK(names(without("", "source_detector_mm"), {"/source_detector_mm", "missing", "mm"}));
  CHECK(names(without("/detector", "pixels"), {"/detector/pixels", "missing", "[u, v]"}));
  CHECK(names(without("/angles_deg", "range"), {"/angles_deg/range", "missing", "degrees"}));
}

TEST_CASE("wrong views get a sentence with their number") {
  auto document = vectors();
  document["views"][0]["u_step_mm"] = {0, 1};
  CHECK(names(said_of_geometry(document), {"/views/0/u_step_mm", "[0,1]", "three numbers"}));
  document = vectors();
  document["views"][0].erase("source_mm");
  CHECK(names(said_of_geometry(document), {"/views/0/source_mm", "missing", "cone"}));
  document["views"][0]["direction"] = {1, 0, 0};
  document["rays"] = "parallel";
  CHECK(said_of_geometry(document).empty());
  document["views"][0]["source_mm"] = {1, 0, 0};
  CHECK(names(said_of_geometry(document), {"/views/0/source_mm", "parallel"}));
}

TEST_CASE("what is not JSON, or too large for a number, is refused") {
  CHECK(names(refusal([] { files::parse_geometry("{", "g.json"); }), {"g.json", "not JSON"}));
  CHECK(names(refusal([] { files::parse_geometry("[]", "g.json"); }), {"not an object"}));
  auto const and_more = cone().dump() + std::string("\0]]]", 4);
  CHECK(names(refusal([&] { files::parse_geometry(and_more, "g.json"); }),
              {"g.json", "not JSON", "is zero"}));
  auto text = cone().dump();
  text.replace(text.find("1000"), 4, "1e999");
  CHECK(names(refusal([&] { files::parse_geometry(text, "g.json"); }),
              {"g.json", "/source_detector_mm", "1e999"}));
  CHECK(names(refusal([] {
                files::parse_geometry(R"({"views": [{"a": 1}, {"b": [1, 2, -1e400]}]})", "g.json");
              }),
              {"g.json", "/views/1/b/2", "-1e400"}));
  CHECK(names(refusal([] { files::read_geometry("/no/such/g.json"); }),
              {"/no/such/g.json", "cannot be opened"}));
}

TEST_CASE("what is wrong with JSON is said with line and column, without the parser's own words") {
  auto const said_of = [](std::string const& text) {
    return refusal([&] { files::parse_geometry(text, "g.json"); });
  };
  CHECK(said_of("{\n  \"type\": }") ==
        "'g.json': is not JSON (line 2, column 11: unexpected '}'; expected '[', '{', or a "
        "literal); correct it there");
  for (std::string const text : {"", "{", "[1,", "{\"a\" 1}", "nul", "\"\xff\"", "{} {}"}) {
    CAPTURE(text);
    CHECK(names(said_of(text), {"g.json", "is not JSON ("}));
    CHECK(said_of(text).find("json.exception") == std::string::npos);
    CHECK(said_of(text).find("syntax error") == std::string::npos);
  }
}

TEST_CASE("what nests too deep for a stack is refused") {
  for (std::string const field : {"type", "comment"}) {
    std::string const text =
        "{\"" + field + "\": " + std::string(100000, '[') + std::string(100000, ']') + "}";
    CHECK(names(refusal([&] { files::parse_geometry(text, "g.json"); }), {"g.json", "deeper"}));
  }
}

// A reader that looks through a list after each of its objects takes minutes, of a processor: the
// machine may be busy.
TEST_CASE("as many views as there may be are read in seconds") {
  auto const before = std::clock();
  auto text = vectors().dump();
  std::string more;
  for (int i = 1; i < 1000000; ++i) {
    more += "{},";
  }
  text.insert(text.find("\"views\":[") + 9, more);
  CHECK(names(refusal([&] { files::parse_geometry(text, "g.json"); }), {"/views/0/", "missing"}));
  CHECK(double(std::clock() - before) / CLOCKS_PER_SEC < 60);
}

TEST_CASE("a whole number of more than 63 bits is as large as it says") {
  auto document = cone();
  document["detector"]["offset_mm"] = {18446744073709551615U, 0};
  CHECK(names(said_of_geometry(document),
              {"/detector/offset_mm/0", "1.8446744073709552e+19", "1e9"}));
}

TEST_CASE("a field that stands twice is refused by its place") {
  auto const twice = [](std::string const& text) {
    return refusal([&] { files::parse_geometry(text, "g.json"); });
  };
  CHECK(twice(R"({"type": "vectors", "rays": "cone", "type": "vectors"})") ==
        "'g.json': field /type stands there twice (which one counts is not known); leave one");
  CHECK(names(twice(R"({"detector": {"pixels": [1, 2], "pitch_mm": [1, 1], "pixels": [1, 2]}})"),
              {"/detector/pixels", "twice"}));
  CHECK(names(twice(R"({"views": [{"a": [1, [2], {}]}, 5, {"b": 1, "c": {"b": 2}, "b": 1}]})"),
              {"/views/2/b", "twice"}));
  // The same name in different objects is no repetition.
  auto document = vectors();
  document["views"].push_back(document["views"][0]);
  CHECK(said_of_geometry(document).empty());
}

TEST_CASE("lengths that would vanish in a product are refused by name") {
  auto const with = [](json document, std::string const& pointer, json const& value) {
    document[json::json_pointer(pointer)] = value;
    return said_of_geometry(document);
  };
  for (double const length : {1e-300, 5e-324, 1e-7}) {
    CAPTURE(length);
    for (std::string const field : {"/source_axis_mm", "/source_detector_mm",
                                    "/detector/pitch_mm/0", "/detector/pitch_mm/1"}) {
      CHECK(names(with(cone(), field, length), {field, "a length in mm, from 1e-6 to 1e9"}));
    }
    CHECK(names(with(vectors(), "/views/0/u_step_mm", {0, length, 0}),
                {"/views/0/u_step_mm", "at least 1e-6 long"}));
    CHECK(names(with(vectors(), "/views/0/v_step_mm", {0, 0, -length}),
                {"/views/0/v_step_mm", "at least 1e-6 long"}));
    auto parallel = vectors();
    parallel["rays"] = "parallel";
    parallel["views"][0].erase("source_mm");
    CHECK(names(with(parallel, "/views/0/direction", {length, 0, 0}),
                {"/views/0/direction", "at least 1e-6 long"}));
  }
  CHECK(with(cone(), "/source_axis_mm", 1e-6).empty());
  CHECK(with(vectors(), "/views/0/u_step_mm", {0, 1e-6, 0}).empty());
}

TEST_CASE("steps that do not span a detector are refused by file and field") {
  auto document = vectors();
  document["views"].push_back(document["views"][0]);
  document["views"][1]["v_step_mm"] = {0, -2.5, 0};
  CHECK(names(said_of_geometry(document),
              {"g.json", "/views/1/v_step_mm", "[0,-2.5,0]", "u_step_mm", "[0,1,0]"}));
  document["views"][1]["v_step_mm"] = {0, -2.5, 1e-6};
  CHECK(names(said_of_geometry(document), {"'g.json': u_step and v_step of view 1 are parallel"}));
  document["views"][1]["v_step_mm"] = {0, -2.5, 1e-3};
  CHECK(said_of_geometry(document).empty());
}

TEST_CASE("the examples are complete and valid") {
  int found = 0;
  for (auto const& entry : std::filesystem::directory_iterator(ISO_EXAMPLE_GEOMETRIES)) {
    CAPTURE(entry.path().string());
    CHECK_NOTHROW(files::read_geometry(entry.path()));
    ++found;
  }
  CHECK(found >= 4);
}

TEST_CASE("views that are written read as the same") {
  auto document = vectors();
  document["views"][0]["source_mm"] = {0.1, 1.0 / 3, -1e-7};
  for (bool const cone : {true, false}) {
    if (!cone) {
      document["rays"] = "parallel";
      document["views"][0]["direction"] = document["views"][0]["source_mm"];
      document["views"][0].erase("source_mm");
    }
    auto const g = std::get<ct::geometry>(files::parse_geometry(document.dump(), "g.json").scan);
    CHECK(json::parse(files::text_of_views(g)) == document);
  }
}

TEST_CASE("every field of the schema has a description, and says where numbers may lie") {
  int numbers = 0;
  std::function<void(json const&)> const look = [&](json const& part) {
    for (auto const* const choice : {"oneOf", "anyOf"}) {
      for (auto const& one : part.value(choice, json::array())) {
        look(one);
      }
    }
    auto const fields = part.value("properties", json::object());
    for (auto const& [name, field] : fields.items()) {
      CAPTURE(name);
      CHECK((name == "type" || field.contains("description")));
      look(field);
    }
    if (part.contains("items")) {
      CHECK(part.contains("maxItems"));
      look(part.at("items"));
    }
    if (part.value("type", "") == "number") {
      CHECK(part.contains("minimum"));
      CHECK(part.contains("maximum"));
      ++numbers;
    }
  };
  look(json::parse(files::geometry_schema()));
  CHECK(numbers > 30);
}
