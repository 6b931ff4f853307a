// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/sweep_file.hpp>
#include <iso/files/sweep_records.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>

namespace files = iso::files;
using iso::test::files_in;
using iso::test::get;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;
using nlohmann::json;

namespace {

json sweep() { return json::parse(R"({"sets": [{"operations": ["fdk"], "sizes": [32, 64]}]})"); }

std::string said_of_sweep(json const& document) {
  return refusal([&] { files::parse_sweep(document.dump(), "s.json"); });
}

files::sweep_header header() {
  files::sweep_header h;
  h.isocenter = "0.1.0";
  h.revision = "abc";
  h.sweep = "0123";
  h.node = "n1";
  h.points = 3;
  h.rounds = 2;
  h.exponents["fdk"] = 4;
  h.compiler = "GNU 12.2.0, nvcc 13.0";
  h.date = "2026-11-24T12:34:56Z";
  return h;
}

std::vector<json> lines_of(std::string const& text) {
  std::vector<json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(json::parse(line));
  }
  return lines;
}

files::sweep_point point(std::int64_t size) {
  files::sweep_point p;
  p.key = {"fdk", iso::number_type::f32, size, "openmp", 2, 0};
  p.seconds = {2e-3, 1e-3, 3e-3, 2.5e-3};
  p.bytes = 1e6;
  p.flops = 1e7;
  p.bound = "fp32";
  p.min_seconds = 1e-3;
  p.error = 1e-7;
  p.hash = "00000000deadbeef";
  return p;
}

}  // namespace

TEST_CASE("all members of a sweep are described") {
  using namespace iso::detail;
  CHECK(count_described<files::sweep_set>() == count_members<files::sweep_set>());
  CHECK(count_described<files::sweep_description>() == count_members<files::sweep_description>());
}

TEST_CASE("a sweep of one set has the defaults for the rest") {
  auto const s = files::parse_sweep(sweep().dump(), "s.json");
  CHECK(s.rounds == 3);
  CHECK(s.repeats == 5);
  CHECK(s.seconds == 0.1);
  REQUIRE(s.sets.size() == 1);
  CHECK(s.sets[0].operations == std::vector<std::string>{"fdk"});
  CHECK(s.sets[0].sizes == std::vector<std::int64_t>{32, 64});
  CHECK(s.sets[0].precisions.empty());
  CHECK(s.sets[0].backends.empty());
  CHECK(s.sets[0].threads == std::vector<int>{0});
  CHECK(s.sets[0].groups_per_launch == std::vector<std::int64_t>{0});
}

TEST_CASE("comments and the spelling of whole numbers do not change what sweep it is") {
  auto other = sweep();
  other["comment"] = "another";
  other["sets"][0]["comment"] = "and here";
  other["sets"][0]["sizes"] = {32.0, 6.4e1};
  auto const one = files::parse_sweep(sweep().dump(), "s.json");
  auto const same = files::parse_sweep(other.dump(), "t.json");
  CHECK(one.digest == same.digest);
  other["repeats"] = 8;
  CHECK(files::parse_sweep(other.dump(), "t.json").digest != one.digest);
}

TEST_CASE("what does not fit the schema is refused by its field") {
  auto document = sweep();
  document["sets"][0]["sizes"] = {32, -1};
  CHECK(names(said_of_sweep(document), {"s.json", "/sets/0/sizes/1", "-1", "whole number"}));
  document = sweep();
  document["sets"][0]["backends"] = {"tpu"};
  CHECK(names(said_of_sweep(document), {"/sets/0/backends/0", "cuda"}));
  document = sweep();
  document["sets"][0]["operation"] = "fdk";
  CHECK(names(said_of_sweep(document), {"/sets/0/operation", "not known"}));
  document = sweep();
  document.erase("sets");
  CHECK(names(said_of_sweep(document), {"/sets", "missing"}));
  document = sweep();
  CHECK(names(refusal([] { files::parse_sweep(std::string(40, '['), "s.json"); }),
              {"nests deeper", "no file of this program"}));
  document["repeats"] = 2;
  CHECK(names(said_of_sweep(document), {"/repeats", "from 3 to 31"}));
}

TEST_CASE("every field is read") {
  auto document = json::parse(R"({"comment": "a", "rounds": 1, "repeats": 31, "seconds": 2,
    "sets": [{"comment": "b", "operations": ["fdk", "spmv"], "sizes": [1, 1e12],
              "precisions": ["half", "double"], "backends": ["serial", "cuda"],
              "threads": [0, 512], "groups_per_launch": [0, 1e9]}]})");
  auto const schema = json::parse(files::sweep_schema());
  auto const& properties = schema.at("properties");
  CHECK(properties.size() == document.size());
  CHECK(properties.at("sets").at("items").at("properties").size() == document["sets"][0].size());
  auto const s = files::parse_sweep(document.dump(), "s.json");
  CHECK(s.rounds == 1);
  CHECK(s.repeats == 31);
  CHECK(s.seconds == 2);
  REQUIRE(s.sets.size() == 1);
  CHECK(s.sets[0].comment == "b");
  CHECK(s.sets[0].sizes == std::vector<std::int64_t>{1, 1000000000000});
  CHECK(s.sets[0].precisions == std::vector{iso::number_type::f16, iso::number_type::f64});
  CHECK(s.sets[0].backends ==
        std::vector{files::sweep_backend::serial, files::sweep_backend::cuda});
  CHECK(s.sets[0].threads == std::vector<int>{0, 512});
  CHECK(s.sets[0].groups_per_launch == std::vector<std::int64_t>{0, 1000000000});
  // What is given as it would be anyway makes no other sweep.
  document = sweep();
  auto const digest = files::parse_sweep(document.dump(), "s.json").digest;
  document["rounds"] = 3;
  CHECK(files::parse_sweep(document.dump(), "s.json").digest == digest);
}

TEST_CASE("the given sweeps fit the schema") {
  int found = 0;
  for (auto const& entry : std::filesystem::directory_iterator(ISO_EXAMPLE_SWEEPS)) {
    CAPTURE(entry.path());
    CHECK(!files::read_sweep(entry.path()).sets.empty());
    ++found;
  }
  CHECK(found >= 3);
}

TEST_CASE("results are read as they were written, and a second start goes on") {
  scratch_folder const folder;
  auto const path = folder / "r.jsonl";
  {
    files::sweep_writer writer(path, header());
    CHECK(writer.found().points.empty());
    writer.add(files::sweep_ceilings{"openmp", 2, 1, "a processor", {{"read", 2e10}}});
    writer.add(point(32));
    writer.add(files::sweep_gap{point(64).key, "too large"});
  }
  files::sweep_writer const again(path, header());
  auto const& found = again.found();
  REQUIRE(found.points.size() == 1);
  CHECK(found.points[0].key == point(32).key);
  CHECK(found.points[0].error == point(32).error);
  REQUIRE(found.ceilings.size() == 1);
  CHECK(found.ceilings[0].round == 1);
  CHECK(found.ceilings[0].rates.at("read") == 2e10);
  CHECK(!found.cut_short);
  auto const lines = lines_of(get(path));
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].at("format") == files::sweep_format);
  CHECK(lines[0].at("host") == files::host_name());
  CHECK(lines[0].at("compiler") == "GNU 12.2.0, nvcc 13.0");
  CHECK(lines[0].at("date") == "2026-11-24T12:34:56Z");
  CHECK(lines[2].at("seconds") == point(32).seconds);
  CHECK(lines[2].at("hash") == point(32).hash);
  CHECK(lines[2].at("median_seconds") == 2.25e-3);
  CHECK(lines[2].at("lower_quartile") == 1.75e-3);
  CHECK(lines[2].at("upper_quartile") == 2.625e-3);
  CHECK(lines[3].at("reason") == "too large");
}

TEST_CASE("of a file cut short every whole line counts, wherever it is cut") {
  scratch_folder const folder;
  auto const path = folder / "r.jsonl";
  {
    files::sweep_writer writer(path, header());
    writer.add(point(32));
    writer.add(point(64));
  }
  auto const whole = get(path);
  for (std::size_t length = 1; length < whole.size(); ++length) {
    put(path, whole.substr(0, length));
    auto const lines =
        std::size_t(std::count(whole.begin(), whole.begin() + std::ptrdiff_t(length), '\n'));
    bool const is_whole = whole[length - 1] == '\n';
    files::sweep_writer writer(path, header());
    CHECK(writer.found().cut_short == !is_whole);
    CHECK(writer.found().points.size() == std::max<std::size_t>(lines, 1) - 1);
    for (std::size_t size = lines > 0 ? lines - 1 : 0; size < 2; ++size) {
      writer.add(point(32 * std::int64_t(size + 1)));
    }
    CHECK(get(path) == whole);
  }
}

TEST_CASE("a file that no sweep began is refused and left as it is") {
  scratch_folder const folder;
  auto const path = folder / "notes.txt";
  {
    files::sweep_writer const writer(path, header());
  }
  auto const first = get(path);
  auto changed = first.substr(0, 60);
  changed.back() ^= 1;
  auto other = header();
  other.revision = "def";
  for (auto const& text :
       {std::string("what I must not forget"), std::string(R"({"record": "sweep"})"),
        std::string(R"({"record":"sweep"})"), std::string("{}"), std::string(" "),
        std::string("\x89PNG\r\0\x1a\xff", 8), std::string(1, '\0'), std::string(5000, '\0'),
        std::string("notes\nof two lines\n"), std::string("\n"), std::string("\xff\xfe\n\0", 4),
        changed, first.substr(0, first.size() - 1) + ' '}) {
    CAPTURE(text);
    put(path, text);
    CHECK(names(refusal([&] { files::sweep_writer const writer(path, header()); }), {"notes.txt"}));
    CHECK(get(path) == text);
  }
  put(path, "what I must not forget");
  CHECK(names(refusal([&] { files::sweep_writer const writer(path, header()); }),
              {"notes.txt", "holds no results of a sweep", "--output", "remove the file"}));
  put(path, first.substr(0, first.size() - 4));
  // Only the date may be another.
  auto later = header();
  later.date = "2027-01-02T03:04:05Z";
  {
    files::sweep_writer const writer(path, later);
  }
  CHECK(lines_of(get(path)).at(0).at("date") == later.date);
  // What another run began is not this one's either.
  put(path, first.substr(0, first.size() - 1));
  CHECK(names(refusal([&] { files::sweep_writer const writer(path, other); }),
              {"holds no results of a sweep"}));
  CHECK(get(path) == first.substr(0, first.size() - 1));
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("results of another version, sweep, rank or node are not mixed with this run's") {
  scratch_folder const folder;
  auto const path = folder / "r.jsonl";
  {
    files::sweep_writer const writer(path, header());
  }
  auto const refused = [&](auto const& change) {
    auto other = header();
    change(other);
    return refusal([&] { files::sweep_writer const writer(path, other); });
  };
  CHECK(names(refused([](auto& h) { h.isocenter = "0.2.0"; }),
              {"version 0.1.0", "0.2.0", "--output"}));
  CHECK(names(refused([](auto& h) { h.revision = "def"; }), {"revision"}));
  CHECK(names(refused([](auto& h) { h.sweep = "4567"; }), {"sweep 0123"}));
  CHECK(names(refused([](auto& h) { h.rank = 1; }), {"rank 0", "rank 1"}));
  CHECK(names(refused([](auto& h) { h.node = "n2"; }), {"node n1"}));
  CHECK(names(refused([](auto& h) { h.device = "0:99:0"; }), {"device", "0:99:0"}));
  CHECK(names(refused([](auto& h) { h.rounds += 1; }), {"rounds"}));
}

TEST_CASE("two processes do not write one file") {
  scratch_folder const folder;
  files::sweep_writer const first(folder / "r.jsonl", header());
  CHECK(names(refusal([&] { files::sweep_writer const second(folder / "r.jsonl", header()); }),
              {"another process", "--rank"}));
}

TEST_CASE("damaged results are refused by their line") {
  scratch_folder const folder;
  auto const path = folder / "r.jsonl";
  {
    files::sweep_writer writer(path, header());
    writer.add(point(32));
  }
  auto const whole = get(path);
  auto const said_of = [&](std::string const& text) {
    put(path, text);
    return refusal([&] { files::sweep_writer const writer(path, header()); });
  };
  CHECK(names(said_of(whole + "{\"record\": \"poi\n"), {"line 3", "not JSON"}));
  CHECK(names(said_of(whole + "{\"record\": \"point\"}\n"), {"line 3", "not a record"}));
  CHECK(names(said_of(whole + "{\"record\": \"table\"}\n"), {"line 3", "table"}));
  CHECK(names(said_of(whole + whole), {"line 3", "second sweep"}));
  CHECK(names(said_of("[1, 2]\n"), {"line 1"}));
  CHECK(names(said_of("{}\n"), {"line 1"}));
  auto const with = [&](std::string const& before, std::string const& now) {
    auto text = whole;
    return text.replace(text.find(before), before.size(), now);
  };
  CHECK(names(said_of(with("\"format\":2", "\"format\":1")), {"format 1", "format 2"}));
  CHECK(names(said_of(with("\"size\":32", "\"size\":32.5")), {"line 2", "/size", "another kind"}));
  CHECK(names(said_of(with("\"backend\":\"openmp\"", "\"backend\":7")), {"line 2", "/backend"}));
  CHECK(names(said_of(with("\"round\":0,", "")), {"line 2", "/round", "missing"}));
  CHECK(names(said_of(with("\"error\":1e-07", "\"error\":\"none\"")), {"line 2", "/error"}));
  CHECK(said_of(with("\"error\":1e-07", "\"error\":null")).empty());
  CHECK(names(said_of(std::string(whole).insert(whole.find("\"hash\""), 1, '\0')),
              {"line 2", "zero"}));
}

TEST_CASE("a node's name may be any bytes, and a start that fails leaves no file") {
  scratch_folder const folder;
  auto other = header();
  other.node = "n\xff";
  {
    files::sweep_writer const writer(folder / "r.jsonl", other);
  }
  CHECK(lines_of(get(folder / "r.jsonl")).at(0).at("node") == "n\xef\xbf\xbd");
  // No byte may be written.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit const none{0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  auto const said_at_start =
      refusal([&] { files::sweep_writer const writer(folder / "full.jsonl", header()); });
  setrlimit(RLIMIT_FSIZE, &before);
  CHECK(names(said_at_start, {"full.jsonl", "takes no more results"}));
  CHECK(!std::filesystem::exists(folder / "full.jsonl"));
}

TEST_CASE("quantiles lie between the values") {
  CHECK(files::quantile({3}, 0.25) == 3);
  CHECK(files::quantile({4, 1, 3, 2}, 0.5) == 2.5);
  CHECK(files::quantile({4, 1, 3, 2}, 0.25) == 1.75);
  CHECK(files::quantile({1, 2, 3, 4, 5}, 0.75) == 4);
}
