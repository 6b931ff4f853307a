// SPDX-License-Identifier: BSD-3-Clause
// A field that is added to a description: option, help, JSON both ways, range and message have it.
#include "described.hpp"
#include "json_schema.hpp"

#include <iso/core/error.hpp>
#include <iso/ct/fdk_options.hpp>
#include <iso/ct/iterative_options.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace described_here {

enum class colour { red, green };
constexpr auto words(colour) {
  return std::array{iso::word{colour::red, "red"}, iso::word{colour::green, "green"}};
}

struct lamp {
  colour shade = colour::red;
  double turned = 0.5;  ///< rad
  std::int64_t bulbs = 0;
  bool lit = false;
  double most = std::numeric_limits<double>::infinity();
  int hidden = 0;
};
constexpr void describe(auto&& visit, iso::describes<lamp> auto& x) {
  visit(x.shade, iso::field{.name = "shade", .says = "its colour"});
  visit(x.turned, iso::field{.name = "turned",
                             .says = "away from the wall",
                             .unit = iso::units::degrees,
                             .low = 0,
                             .high = 90});
  visit(x.bulbs, iso::field{.name = "bulb-count",
                            .says = "in it (default: as it comes)",
                            .low = 1,
                            .high = 9,
                            .zero_is_none = true});
  visit(x.lit, iso::field{.name = "lit", .says = "from the start"});
  visit(x.most, iso::field{.name = "most", .says = "light"});
  visit(x.hidden, iso::hidden_field{{.name = "hidden", .says = "nobody's"}});
}
static_assert(iso::all_described<lamp>);

struct candle {
  colour shade = colour::green;
  double height = 3;
};
constexpr void describe(auto&& visit, iso::describes<candle> auto& x) {
  visit(x.shade, iso::field{.name = "shade", .says = "its colour"});
  visit(x.height, iso::field{.name = "height", .says = "above the table"});
}

struct seen_field {
  std::string name;
  std::string key;
};

struct name_reader {
  std::vector<seen_field>& all;
  void operator()(auto const&, iso::hidden_field const&) const {}
  template <class T>
  void operator()(T const& x, iso::field const& f) const {
    if constexpr (iso::described<T const>) {
      describe(*this, x);
    } else {
      all.push_back({std::string(f.name), iso::key_of(f)});
    }
  }
};

template <class T>
std::vector<seen_field> fields_of(T const& x) {
  std::vector<seen_field> all;
  describe(name_reader{all}, x);
  return all;
}

/// Every field that is for users is an option with its help, a key of JSON that reads back, and a
/// property of the schema.
template <class T>
void check_everywhere(T const& x) {
  CLI::App app;
  T parsed = x;
  iso::cli::add_fields(app, parsed);
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  iso::files::put_fields(document, x);
  auto const schema = iso::files::detail::make_schema(x, "", "").at("properties");
  auto const all = fields_of(x);
  CHECK(all.size() == document.size());
  CHECK(all.size() == schema.size());
  for (auto const& f : all) {
    CAPTURE(f.name);
    CHECK(app.help().find("--" + f.name) != std::string::npos);
    CHECK(document.contains(f.key));
    CHECK(schema.contains(f.key));
  }
  T read = x;
  iso::files::get_fields(nlohmann::ordered_json::parse(document.dump()), read);
  nlohmann::ordered_json again = nlohmann::ordered_json::object();
  iso::files::put_fields(again, read);
  CHECK(again == document);
}

}  // namespace described_here

namespace {

using namespace described_here;

void parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
}

}  // namespace

TEST_CASE("described: a field is an option, a key of JSON, and is checked") {
  check_everywhere(lamp{});
  check_everywhere(iso::ct::fdk_options{});
  check_everywhere(iso::ct::sart_options{});
  check_everywhere(iso::ct::total_variation_options{});
  check_everywhere(iso::ct::lsqr_options{.damping = 0.25});
  check_everywhere(iso::ct::projector_options{});

  CLI::App app;
  lamp x;
  iso::cli::add_fields(app, x);
  parse(app, {"--shade", "GREEN", "--turned", "30", "--bulb-count", "4", "--lit"});
  CHECK(x.shade == colour::green);
  CHECK(x.turned == iso::units::degrees.to_library(30));
  CHECK(x.bulbs == 4);
  CHECK(x.lit);
  CHECK(app.help().find("hidden") == std::string::npos);
  // What stands where nothing is given is told once: by the sentence, or behind the name.
  CHECK(app.help().find("=0") == std::string::npos);
  CHECK(app.help().find("inf") == std::string::npos);
  CHECK_THROWS_AS(parse(app, {"--turned", "91"}), CLI::ValidationError);
  CHECK_THROWS_AS(parse(app, {"--bulb-count", "10"}), CLI::ValidationError);
  CHECK_THROWS_AS(parse(app, {"--shade", "blue"}), CLI::ValidationError);

  nlohmann::ordered_json document;
  iso::files::put_fields(document, lamp{});
  CHECK(
      document.dump() ==
      R"({"shade":"red","turned_deg":28.64788975654116,"bulb_count":null,"lit":false,"most":null})");
  iso::files::put_fields(document, x);
  CHECK(document["bulb_count"] == 4);
  CHECK(document["turned_deg"] == 30.0);
  CHECK_THROWS_WITH_AS(iso::check_fields(lamp{.bulbs = 10}, "test"),
                       doctest::Contains("bulb-count is 10"), iso::invalid_argument);
}

TEST_CASE("described: types that share a field share its option") {
  iso::cli::shared_fields<lamp, candle> both({}, {});
  CLI::App app;
  both.add(app, {"lit"}, [](iso::field const& f) { return "told: " + std::string(f.says); });
  CHECK(both.options().size() == 5);
  CHECK(app.help().find("told: its colour") != std::string::npos);
  parse(app, {"--shade", "green", "--height", "7"});
  lamp a;
  candle b{.shade = colour::red};
  both.put_given(a);
  both.put_given(b);
  CHECK(a.shade == colour::green);
  CHECK(b.shade == colour::green);
  CHECK(b.height == 7);
  CHECK(a.turned == 0.5);  // which was not given
}

TEST_CASE("described: what an iterative method takes") {
  using namespace iso::ct;
  auto const takes = [](iterative_method method, std::vector<char const*> const& names) {
    std::size_t count = 0;
    for (auto const* const name : names) {
      CAPTURE(name);
      CHECK(takes_field(method, name));
    }
    for (char const* const name : {"block", "order", "relaxation", "column-sums", "lower", "upper",
                                   "damping", "weight", "stop-gap"}) {
      count += takes_field(method, name) ? 1 : 0;
    }
    CHECK(count == names.size());
  };
  using enum iterative_method;
  takes(sirt, {"relaxation", "lower", "upper"});
  takes(sart, {"order", "relaxation", "column-sums", "lower", "upper"});
  takes(os_sart, {"block", "order", "relaxation", "column-sums", "lower", "upper"});
  takes(cgls, {});
  takes(lsqr, {"damping"});
  takes(mlem, {});
  takes(osem, {"block", "order"});
  takes(tv, {"weight", "lower", "upper", "stop-gap"});
  for (auto const& w : words(iterative_method{})) {
    CHECK(takes_field(w.value, "iterations"));
    CHECK(takes_field(w.value, "oversampling"));
    CHECK(!takes_field(w.value, "no such field"));
    std::visit([](auto const& options) { iso::check_fields(options, "test"); },
               default_options(w.value, 5));
  }
  CHECK(std::get<sart_options>(default_options(os_sart, 5)).block_views == 5);
  CHECK(std::get<mlem_options>(default_options(osem, 50)).block_views == 8);
  CHECK(default_rules(tv).iterations == 1000);
  CHECK(default_rules(cgls).iterations == 20);
}

TEST_CASE("times are told in the unit that fits") {
  CHECK(iso::cli::time_text(0.25) == "0.25 ms");
  CHECK(iso::cli::time_text(999) == "999 ms");
  CHECK(iso::cli::time_text(13123) == "13.12 s");
}

TEST_CASE("the word that was meant") {
  std::vector<std::string> const words{"fdk", "sirt", "sart", "os-sart", "shepp-logan"};
  CHECK(iso::cli::nearest_of(words, "srt") == "sirt");
  CHECK(iso::cli::nearest_of(words, "FDX") == "fdk");
  CHECK(iso::cli::nearest_of(words, "shep-logan") == "shepp-logan");
  CHECK(iso::cli::nearest_of(words, "she") == "shepp-logan");
  CHECK(iso::cli::nearest_of(words, "better").empty());
  CHECK(iso::cli::nearest_of(words, "").empty());
  CHECK(iso::cli::nearest_of({}, "sirt").empty());
}
