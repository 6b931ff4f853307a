// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"

#include <iso/files/sweep_merge.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace files = iso::files;
using iso::test::get;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;
using nlohmann::json;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Around `typical` by half a per cent, differently in each process.
std::vector<double> samples(double typical, int rank) {
  std::vector<double> all;
  for (int i = 0; i < 9; ++i) {
    all.push_back(typical * (1 + 0.005 * std::sin(1.0 + 2.3 * i + 0.7 * rank)));
  }
  return all;
}

files::sweep_results process(int rank, int ranks, double slowdown = 1) {
  files::sweep_results r;
  r.header.isocenter = "0.1.0";
  r.header.revision = "abc";
  r.header.sweep = "0123";
  r.header.rank = rank;
  r.header.ranks = ranks;
  r.header.node = "n" + std::to_string(rank / 2);
  r.header.points = 3;
  r.header.rounds = 2;
  r.header.exponents["fdk"] = 4;
  for (int round = 0; round < 2; ++round) {
    r.ceilings.push_back({"openmp", 2, round, "a processor", {{"read", 2e10 + rank * 1e8}}});
    for (std::int64_t const size : {32, 64, 128}) {
      files::sweep_point p;
      p.key = {"fdk", "float", size, "openmp", 2, 0};
      p.round = round;
      p.seconds = samples(slowdown * 1e-9 * std::pow(double(size), 4), rank + 10 * round);
      p.least_seconds = 0.5e-9 * std::pow(double(size), 4);
      p.bound = "fp32";
      p.hash = "00000000deadbeef";
      r.points.push_back(p);
    }
  }
  return r;
}

std::vector<files::sweep_results> processes(int ranks) {
  std::vector<files::sweep_results> all;
  for (int rank = 0; rank < ranks; ++rank) {
    all.push_back(process(rank, ranks));
  }
  return all;
}

std::vector<std::string> names_of(std::vector<files::sweep_results> const& all) {
  std::vector<std::string> names;
  for (auto const& one : all) {
    names.push_back("rank" + std::to_string(one.header.rank));
  }
  return names;
}

files::sweep_report merged(std::vector<files::sweep_results> const& all) {
  return files::merge_sweeps(all, names_of(all));
}

}  // namespace

TEST_CASE("equal processes: nobody is slow, bits agree, growth is what it was made with") {
  auto const report = merged(processes(4));
  CHECK(report.ranks.size() == 4);
  CHECK(names(report.notes.at(0), {"2 nodes are too few to compare"}));
  CHECK(report.missing_ranks.empty());
  CHECK(report.slow_ranks.empty());
  CHECK(report.slow_nodes.empty());
  CHECK(report.slow_points.empty());
  CHECK(report.bits_agree == true);
  REQUIRE(report.growth.size() == 1);
  CHECK(report.growth[0].exponent == doctest::Approx(4).epsilon(1e-3));
  CHECK(report.growth[0].expected == 4);
  CHECK(report.points.size() == 3);
  CHECK(report.points[0].share == doctest::Approx(0.5).epsilon(0.01));
  REQUIRE(report.ceilings.size() == 1);
  CHECK(report.ceilings[0].rates.at("read") == doctest::Approx(2.015e10));
}

TEST_CASE("quartiles are those of the calls, also of one process") {
  auto const results = processes(1);
  std::vector<double> seconds;
  for (auto const& p : results[0].points) {
    if (p.key.size == 32) {
      seconds.insert(seconds.end(), p.seconds.begin(), p.seconds.end());
    }
  }
  auto const point = merged(results).points.at(0);
  REQUIRE(point.key.size == 32);
  CHECK(point.lower_quartile == files::quantile(seconds, 0.25));
  CHECK(point.upper_quartile == files::quantile(seconds, 0.75));
  CHECK(point.lower_quartile < point.upper_quartile);
}

TEST_CASE("small calls that take as long as an empty launch leave the last exponent as it is") {
  auto all = processes(1);
  for (auto& p : all[0].points) {
    for (auto& seconds : p.seconds) {
      seconds = std::max(seconds, 1e-9 * std::pow(64.0, 4));
    }
  }
  auto const report = merged(all);
  REQUIRE(report.growth.size() == 1);
  CHECK(report.growth[0].exponent < 3);
  CHECK(report.growth[0].last == doctest::Approx(4).epsilon(0.02));
}

TEST_CASE("one process that is slower by a few per cent is found, whichever it is") {
  for (int slow = 0; slow < 4; ++slow) {
    for (double const slowdown : {1.05, 1.3, 10.0}) {
      auto all = processes(4);
      all[std::size_t(slow)] = process(slow, 4, slowdown);
      auto const report = merged(all);
      REQUIRE(report.slow_ranks.size() == 1);
      CHECK(report.slow_ranks[0].name.starts_with("rank " + std::to_string(slow) + " on"));
      CHECK(report.slow_ranks[0].slowdown == doctest::Approx(slowdown).epsilon(0.02));
      CHECK(report.slow_points.size() == 3);
      for (auto const& p : report.slow_points) {
        CHECK(p.rank == slow);
      }
    }
  }
}

TEST_CASE("a node is slow where all its processes are") {
  auto all = processes(16);
  all[6] = process(6, 16, 1.2);
  all[7] = process(7, 16, 1.2);
  auto const report = merged(all);
  REQUIRE(report.slow_nodes.size() == 1);
  CHECK(report.slow_nodes[0].name == "n3");
  CHECK(report.slow_ranks.size() == 2);
}

TEST_CASE("slow ones do not hide each other while they are fewer than half") {
  struct scene {
    int ranks;
    int slow;  ///< the last ones
    std::size_t nodes;
  };
  for (auto const& [ranks, slow, nodes] : {scene{6, 2, 3}, scene{8, 3, 2}, scene{24, 8, 3}}) {
    for (double const slowdown : {1.1, 2.0}) {
      CAPTURE(ranks);
      auto all = processes(ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        auto& one = all[std::size_t(rank)];
        one = process(rank, ranks, rank < ranks - slow ? 1 : slowdown);
        one.header.node = std::string("n").append(std::to_string(rank * int(nodes) / ranks));
      }
      auto const report = merged(all);
      CHECK(report.slow_ranks.size() == std::size_t(slow));
      CHECK(report.slow_points.size() == 3 * std::size_t(slow));
      CHECK(std::all_of(report.slow_points.begin(), report.slow_points.end(),
                        [&](auto const& p) { return p.rank >= ranks - slow; }));
      CHECK(report.slow_nodes.empty());
      REQUIRE(report.notes.size() == 1);
      CHECK(names(report.notes[0], {std::to_string(nodes) + " nodes", "too few to compare"}));
    }
  }
}

TEST_CASE("what was disturbed counts for bits and slow processes, not for shares and growth") {
  scratch_folder const folder;
  put(folder / "report.json", files::to_json_text(merged(processes(4))));
  auto all = processes(4);
  for (auto& one : all) {
    for (auto& p : one.points) {
      // The first round of the smallest size, both of the next.
      if ((p.key.size == 32 && p.round == 0) || p.key.size == 64) {
        p.waited = 0.3;
        for (auto& s : p.seconds) {
          s *= 2;
        }
      }
    }
  }
  auto report = merged(all);
  CHECK(report.ranks[0].disturbed == 3);
  CHECK(report.points[0].share == doctest::Approx(0.5).epsilon(0.01));
  CHECK(!report.points[0].disturbed);
  CHECK(report.points[0].ranks[0].disturbed_rounds == 1);
  CHECK(report.points[1].disturbed);
  CHECK(report.points[1].share == doctest::Approx(0.25).epsilon(0.01));
  CHECK(report.growth.empty());  // two sizes are left
  CHECK(names(report.notes.back(), {"growth needs three sizes", "fdk"}));
  CHECK(report.bits_agree == true);
  files::compare_with(report, folder / "report.json", 0.05);
  CHECK(report.compared_points == 2);
  CHECK(report.regressions.empty());
  CHECK(names(report.notes.back(), {"disturbed in one of the reports are not compared: 1"}));
  // As an earlier report.
  put(folder / "disturbed.json", files::to_json_text(report));
  auto now = merged(processes(4));
  files::compare_with(now, folder / "disturbed.json", 0.05);
  CHECK(now.compared_points == 2);
  CHECK(now.improvements.empty());
}

TEST_CASE("a round that was disturbed and yet faster is not the fastest, unless all were") {
  auto all = processes(4);
  auto const disturb = [](files::sweep_point& p, double factor) {
    p.waited = 0.3;
    for (auto& s : p.seconds) {
      s *= factor;
    }
  };
  auto const least = [](files::sweep_results const& one, int round) {
    double fastest = infinity;
    for (auto const& p : one.points) {
      if (p.key.size == 32 && p.round == round) {
        fastest = std::min(fastest, *std::min_element(p.seconds.begin(), p.seconds.end()));
      }
    }
    return fastest;
  };
  for (auto& p : all[0].points) {
    if (p.key.size == 32 && p.round == 0) {
      disturb(p, 0.1);  // a clock that was set back, say
    }
  }
  double const quiet = least(all[0], 1);
  auto report = merged(all);
  REQUIRE(report.points[0].key.size == 32);
  REQUIRE(report.points[0].ranks[0].rank == 0);
  CHECK(report.points[0].ranks[0].disturbed_rounds == 1);
  CHECK(report.points[0].ranks[0].fastest == quiet);
  double expected = quiet;
  for (std::size_t rank = 1; rank < 4; ++rank) {
    expected = std::min({expected, least(all[rank], 0), least(all[rank], 1)});
  }
  CHECK(report.points[0].fastest == expected);
  // Both rounds of one process: others of the point are not.
  for (auto& p : all[0].points) {
    if (p.key.size == 32 && p.round == 1) {
      disturb(p, 0.1);
    }
  }
  expected = infinity;
  for (std::size_t rank = 1; rank < 4; ++rank) {
    expected = std::min({expected, least(all[rank], 0), least(all[rank], 1)});
  }
  report = merged(all);
  CHECK(!report.points[0].disturbed);
  CHECK(report.points[0].ranks[0].fastest == std::min(least(all[0], 0), least(all[0], 1)));
  CHECK(report.points[0].fastest == expected);
}

TEST_CASE("time that grows too fast is noted where one ceiling binds both sizes") {
  auto all = processes(1);
  for (auto& p : all[0].points) {
    if (p.key.size == 128) {
      for (auto& s : p.seconds) {
        s *= 1.2;  // the power of 4.26
      }
    }
  }
  auto const noted = [&] {
    auto const notes = merged(all).notes;
    return std::count_if(notes.begin(), notes.end(),
                         [](auto const& note) { return names(note, {"grows too fast", "4.26"}); });
  };
  CHECK(noted() == 1);
  auto in_cache = all;
  for (auto& p : all[0].points) {
    p.bound = p.key.size == 128 ? "read" : "l2";
  }
  CHECK(noted() == 0);
  all = in_cache;
  for (auto& p : all[0].points) {
    p.least_seconds *= p.key.size == 64 ? 3 : 1;  // one and a half of its ceiling
  }
  CHECK(noted() == 0);
}

TEST_CASE("of fewer than four processes none is called slow, and a note says so") {
  auto all = processes(3);
  all[1] = process(1, 3, 10);
  auto const report = merged(all);
  CHECK(report.slow_ranks.empty());
  REQUIRE(report.notes.size() == 1);
  CHECK(names(report.notes[0], {"4 processes"}));
}

TEST_CASE("a result with other bits is named with who has it") {
  auto all = processes(4);
  all[2].points[1].hash = "00000000deadbeee";  // in both rounds
  all[2].points[4].hash = "00000000deadbeee";
  auto const report = merged(all);
  CHECK(report.bits_agree == false);
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].size == 64);
  REQUIRE(report.differences[0].results.size() == 2);
  CHECK(report.differences[0].results[0].second == std::vector<std::string>{"rank 2 openmp x2"});
  CHECK(report.differences[0].results[1].second.size() == 3);
}

TEST_CASE("a process whose rounds differ in bits is named for each") {
  auto all = processes(1);
  all[0].points[1].hash = "00000000deadbeee";
  auto const report = merged(all);
  CHECK(report.bits_agree == false);
  REQUIRE(report.differences.size() == 1);
  CHECK(report.differences[0].results[1].second == std::vector<std::string>{"rank 0 openmp x2"});
}

TEST_CASE("the bits of a process alone are compared with nothing") {
  CHECK(!merged(processes(1)).bits_agree);
}

TEST_CASE("what is missing is named") {
  auto all = processes(4);
  std::erase_if(all[1].points, [](auto const& p) { return p.key.size == 128; });
  all[1].gaps.push_back({{"fdk", "float", 128, "openmp", 2, 0}, "too large"});
  all[3].cut_short = true;
  all.erase(all.begin() + 2);
  auto const report = merged(all);
  CHECK(report.missing_ranks == std::vector<files::rank_range>{{2, 2}});
  CHECK(report.ranks[1].planned == 6);
  CHECK(report.ranks[1].measured == 4);
  REQUIRE(report.ranks[1].gaps.size() == 1);
  CHECK(report.ranks[2].cut_short);
}

TEST_CASE("missing ranks are ranges, and a few of them are named") {
  auto all = processes(1);
  all[0].header.ranks = 1 << 24;
  all[0].header.rank = 12;
  CHECK(files::to_string(merged(all).missing_ranks) == "0 to 11, 13 to 16777215");
  std::vector<files::sweep_results> every_other;
  for (int rank = 0; rank < 20; rank += 2) {
    every_other.push_back(process(rank, 20));
  }
  CHECK(files::to_string(merged(every_other).missing_ranks) == "1, 3, 5, 7, 9 and 5 more");
}

TEST_CASE("a file that is damaged is left out and named, one of another format is refused") {
  scratch_folder const folder;
  for (int rank = 0; rank < 3; ++rank) {
    auto const r = process(rank, 3);
    files::sweep_writer writer(folder / std::to_string(rank), r.header);
    for (auto const& p : r.points) {
      writer.add(p);
    }
  }
  auto const whole = get(folder / "2");
  std::vector<std::filesystem::path> const all = {folder / "0", folder / "1", folder / "2"};
  auto const said_of = [&](std::string const& text) {
    put(folder / "2", text);
    auto const report = files::merge_sweeps(all);
    CHECK(report.ranks.size() == 2);
    CHECK(report.missing_ranks == std::vector<files::rank_range>{{2, 2}});
    CHECK(json::parse(files::to_json_text(report)).at("unusable").size() == 1);
    return report.unusable.at(0).reason;
  };
  CHECK(names(said_of(""), {"2'", "no whole line"}));
  CHECK(names(said_of(whole.substr(0, 20)), {"no whole line"}));
  auto damaged = whole;
  damaged.replace(whole.size() / 2, 20, std::string(20, '\0'));
  CHECK(names(said_of(damaged), {"line", "zero"}));
  CHECK(names(refusal([&] { files::merge_sweeps({folder / "2"}); }), {"zero"}));
  put(folder / "1", "");
  CHECK(names(refusal([&] { files::merge_sweeps({folder / "1", folder / "2"}); }),
              {"no whole line", "none of the 2 files"}));
  damaged = whole;
  damaged.replace(whole.find("\"format\":1"), 10, "\"format\":7");
  put(folder / "2", damaged);
  CHECK(names(refusal([&] { files::merge_sweeps(all); }), {"format 7"}));
}

TEST_CASE("a gap that was measured later is none") {
  auto all = processes(1);
  all[0].gaps.push_back({all[0].points[0].key, "too large"});
  CHECK(merged(all).ranks[0].gaps.empty());
}

TEST_CASE("processes that share a GPU are named") {
  auto all = processes(4);
  for (auto& one : all) {
    one.header.node = "n0";
    one.header.device = "0:27:0";
  }
  all[0].header.device = "0:155:0";
  auto const report = merged(all);
  REQUIRE(report.notes.size() == 1);
  CHECK(names(report.notes[0], {"ranks 1, 2, 3", "0:27:0"}));
}

TEST_CASE("files that do not belong together are refused") {
  auto const refused = [](auto const& change) {
    auto all = processes(2);
    change(all[1]);
    return refusal([&] { merged(all); });
  };
  CHECK(names(refused([](auto& r) { r.header.isocenter = "0.2.0"; }), {"version 0.2.0", "0.1.0"}));
  CHECK(names(refused([](auto& r) { r.header.revision = "def"; }), {"revision def"}));
  CHECK(names(refused([](auto& r) { r.header.sweep = "1"; }), {"sweep 1"}));
  CHECK(names(refused([](auto& r) { r.header.ranks = 3; }), {"number of ranks 3"}));
  CHECK(names(refused([](auto& r) { r.header.rank = 0; }), {"of rank 0", "--rank"}));
}

TEST_CASE("a share that fell is a regression, one that stayed is none") {
  scratch_folder const folder;
  auto const earlier = folder / "report.json";
  put(earlier, files::to_json_text(merged(processes(4))));
  auto same = merged(processes(4));
  files::compare_with(same, earlier, 0.05);
  CHECK(same.compared);
  CHECK(same.regressions.empty());
  CHECK(same.improvements.empty());

  std::vector<files::sweep_results> slower;
  std::vector<files::sweep_results> faster;
  for (int rank = 0; rank < 4; ++rank) {
    slower.push_back(process(rank, 4, 1.1));
    faster.push_back(process(rank, 4, 0.9));
  }
  auto now = merged(slower);
  files::compare_with(now, earlier, 0.05);
  REQUIRE(now.regressions.size() == 3);
  auto const& r = now.regressions[0];
  CHECK(r.ratio == doctest::Approx(1 / 1.1).epsilon(0.01));
  CHECK(r.low <= r.ratio);
  CHECK(r.ratio <= r.high);
  CHECK(r.high - r.low < 0.02);
  auto lenient = merged(slower);
  files::compare_with(lenient, earlier, 0.2);
  CHECK(lenient.regressions.empty());
  auto better = merged(faster);
  files::compare_with(better, earlier, 0.05);
  CHECK(better.regressions.empty());
  CHECK(better.improvements.size() == 3);
}

TEST_CASE("intervals are as wide as the samples are noisy") {
  scratch_folder const folder;
  auto noisy = processes(1);
  for (auto& p : noisy[0].points) {
    for (std::size_t i = 0; i < p.seconds.size(); ++i) {
      p.seconds[i] *= i % 2 == 0 ? 1 : 2;
    }
  }
  put(folder / "report.json", files::to_json_text(merged(noisy)));
  auto slower = noisy;
  for (auto& p : slower[0].points) {
    for (auto& s : p.seconds) {
      s *= 1.2;
    }
  }
  auto now = merged(slower);
  files::compare_with(now, folder / "report.json", 0.05);
  CHECK(now.regressions.empty());
}

TEST_CASE("what changes between rounds makes intervals wide, however alike their samples are") {
  scratch_folder const folder;
  auto const drifting = [](double second) {
    auto all = processes(1);
    for (auto& p : all[0].points) {
      for (auto& s : p.seconds) {
        s *= p.round == 1 ? second : 1;
      }
    }
    return all;
  };
  put(folder / "report.json", files::to_json_text(merged(drifting(0.8))));
  auto now = merged(drifting(1.2));
  files::compare_with(now, folder / "report.json", 0.05);
  CHECK(now.regressions.empty());
}

TEST_CASE("many processes are drawn as a whole") {
  scratch_folder const folder;
  put(folder / "report.json", files::to_json_text(merged(processes(12))));
  std::vector<files::sweep_results> slower;
  for (int rank = 0; rank < 12; ++rank) {
    slower.push_back(process(rank, 12, 1.1));
  }
  auto now = merged(slower);
  files::compare_with(now, folder / "report.json", 0.05);
  CHECK(now.regressions.size() == 3);
}

TEST_CASE("what is no report is refused") {
  scratch_folder const folder;
  auto const path = folder / "r.json";
  auto report = merged(processes(1));
  auto const said_of = [&](std::string const& text) {
    put(path, text);
    return refusal([&] { files::compare_with(report, path, 0.05); });
  };
  CHECK(names(said_of("{"), {"not a report", "not JSON"}));
  CHECK(names(said_of("{}\n{}\n"), {"not a report", "not JSON"}));
  CHECK(names(said_of("[]"), {"not a report"}));
  CHECK(names(said_of("{}"), {"not a report"}));
  CHECK(names(said_of(R"({"record": 3})"), {"not a report"}));
  CHECK(names(said_of(R"({"record": "report", "format": 9})"), {"format 9"}));
  CHECK(names(said_of(R"({"record": "report", "format": "x"})"), {"not a report", "format"}));
  CHECK(names(said_of(R"({"record": "report", "format": 1})"), {"not a report", "points"}));
  CHECK(names(said_of(R"({"record": "report", "format": 1, "points": []})"), {"no point of this"}));

  auto const whole = json::parse(files::to_json_text(report));
  auto const said_with = [&](auto const& change) {
    auto damaged = whole;
    change(damaged.at("points").at(0));
    return said_of(damaged.dump());
  };
  CHECK(names(said_with([](json& p) { p["ranks"] = json::array(); }), {"without ranks"}));
  CHECK(names(said_with([](json& p) { p["ranks"][0]["shares"] = 1; }), {"shares"}));
  CHECK(names(said_with([](json& p) { p["ranks"][0]["shares"] = {json::array()}; }), {"shares"}));
  CHECK(names(said_with([](json& p) { p["ranks"][0]["shares"][0][0] = 0; }), {"shares"}));
  CHECK(names(said_with([](json& p) { p.erase("size"); }), {"size"}));
  CHECK(said_with([](json&) {}).empty());
}
