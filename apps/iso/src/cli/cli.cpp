// SPDX-License-Identifier: BSD-3-Clause
#include "cli.hpp"

#include "manual_texts.hpp"
#include "ranks.hpp"
#include "support.hpp"

#include <iso/core/detail/host_memory.hpp>
#include <iso/core/error.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <fmt/format.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace iso::cli {
namespace {

constexpr char const* units_and_places = R"(
Angles are degrees, lengths mm. Geometry files and plans: docs/formats.md.
Files named docs/..., examples/... and scripts/... are in )" ISO_DOC_FOLDER R"( below the folder
that iso is installed in, and in the source.)";

std::string footer_text() {
  std::string text = "Exit codes:\n";
  for (auto const& [code, meaning] : exit_codes()) {
    text += fmt::format("  {:<4} {}\n", code, meaning);
  }
  return text + units_and_places;
}

/// Puts the manual's examples below the options of `app` and of all below it.
void add_examples(CLI::App& app) {
  for (auto* const sub : app.get_subcommands(is_shown)) {
    std::string text = "Examples:";
    std::istringstream lines{std::string(manual_text_of(full_name(*sub)).examples)};
    for (std::string line; std::getline(lines, line);) {
      text += "\n  " + line;
    }
    sub->footer(text + "\n" + units_and_places);
    add_examples(*sub);
  }
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string in_terms_of_options(std::string text) {
  constexpr std::string_view name = "abcdefghijklmnopqrstuvwxyz_0123456789:";
  for (auto at = text.find("iso::"); at != std::string::npos; at = text.find("iso::", at)) {
    auto const end = std::min(text.find_first_not_of(name, at), text.size());
    // "iso::ct::sart (SIRT): " begins with the method alone.
    auto const close = text.find("): ", end);
    if (at == 0 && text.compare(end, 2, " (") == 0 && close < text.find(' ', end + 1)) {
      text.erase(close, 1);
      text.erase(0, end + 2);
      continue;
    }
    bool const is_prefix = text[end - 1] == ':' && end < text.size() && text[end] == ' ';
    text.erase(at, is_prefix ? end + 1 - at : std::string_view("iso::").size());
  }
  replace_all(text, "max_roll", "--max-roll");
  replace_all(text, "slice_thickness", "--slice-thickness");
  replace_all(text, "end_cap::half_slice", "--caps half-slice");
  return text;
}

namespace {

/// What a rank of several says of its failure, once all ranks have ended or cannot.
std::string failed_with;

int report_failure(std::exception const& failure, int code) {
  ends_by_itself();
  end_progress();
  auto const sentence = in_terms_of_options(failure.what());
  if (jobs::num_ranks() > 1) {
    failed_with = failed_with.empty() ? sentence : failed_with;
  } else {
    spdlog::error("{}", sentence);
  }
  return code;
}

std::vector<std::string> subcommands_of(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    names.push_back(sub->get_name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The subcommand that was parsed last.
CLI::App const& deepest(CLI::App const& app) {
  auto const parsed = app.get_subcommands();
  return parsed.empty() ? app : deepest(*parsed.front());
}

[[noreturn]] void refuse_subcommand(CLI::App const& app, std::string const& name) {
  auto const meant = nearest_of(subcommands_of(app), name);
  throw invalid_argument(fmt::format("subcommand '{}' is not known (there are {}); see {} --help{}",
                                     name, fmt::join(subcommands_of(app), ", "), full_name(app),
                                     meant.empty() ? "" : fmt::format(", or try '{}'", meant)));
}

std::vector<std::string> option_names(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* const option :
       app.get_options([](CLI::Option const* o) { return !o->get_group().empty(); })) {
    for (auto const& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  // Groups of options are subcommands without a name.
  for (auto const* const group :
       app.get_subcommands([](CLI::App const* sub) { return sub->get_name().empty(); })) {
    auto const more = option_names(*group);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

[[noreturn]] void refuse_option(CLI::App const& app, std::string const& option) {
  auto const meant = nearest_of(option_names(app), option.substr(0, option.find('=')));
  throw invalid_argument(fmt::format(
      "option '{}' is not known ({} --help lists them); {}", option, full_name(app),
      meant.empty() ? "correct its name, or leave it out" : fmt::format("try {}", meant)));
}

/// Throws iso::invalid_argument where the first argument that is not an option names no subcommand.
void check_subcommand(CLI::App const& app, std::span<char const* const> arguments) {
  auto const first =
      std::find_if(arguments.begin(), arguments.end(), [](char const* a) { return a[0] != '-'; });
  auto const is_first = [&](CLI::App const* sub) { return sub->get_name() == *first; };
  if (first != arguments.end() && app.get_subcommands(is_first).empty()) {
    refuse_subcommand(app, *first);
  }
}

/// Throws iso::invalid_argument naming the first argument that no option and no name is for.
void check_unknown(CLI::App const& app) {
  auto const parsed = app.get_subcommands();
  if (!parsed.empty()) {
    check_unknown(*parsed.front());
  }
  auto left = app.remaining();
  std::erase(left, std::string());
  auto const option = std::find_if(left.begin(), left.end(),
                                   [](std::string const& a) { return a.starts_with('-'); });
  if (option != left.end()) {
    refuse_option(app, *option);
  }
  if (!left.empty() && parsed.empty()) {
    if (!subcommands_of(app).empty()) {
      refuse_subcommand(app, left.front());
    }
    // An unquoted * becomes as many names as there are files.
    bool const takes_series = app.get_option_no_throw("--projections") != nullptr;
    throw invalid_argument(fmt::format(
        "'{}' is not expected ({} takes no more names); {}", left.front(), full_name(app),
        takes_series ? "put names with a * in quotes, as 'scan/projection_*.tif'"
                     : "leave it out"));
  }
}

int guarded(command const& run_command) {
  try {
    return run_command();
  } catch (cancelled const&) {
    return report_failure(cancelled(interrupted_sentence), interruption_code());
  } catch (out_of_memory const& failure) {
    return report_failure(failure, memory_short);
  } catch (std::bad_alloc const&) {
    auto const memory = iso::detail::read_array_memory();
    return report_failure(
        out_of_memory(
            fmt::format(
                "memory ran out ({} bytes are free{}); use less data, or a larger machine or limit",
                memory.available, memory.bound),
            0, memory.available),
        memory_short);
  } catch (invalid_argument const& failure) {
    return report_failure(failure, bad_input);
  } catch (file_error const& failure) {
    return report_failure(failure, bad_input);
  } catch (std::system_error const& failure) {
    // fmt's own words do not say what it could not print to.
    return std::ferror(stdout) != 0
               ? report_failure(error(unwritten_output(failure.code().message())), internal_failure)
               : report_failure(failure, internal_failure);
  } catch (std::exception const& failure) {
    return report_failure(failure, internal_failure);
  }
}

std::string version_text() {
  return fmt::format("iso {}, revision {}, backends: {}", ISO_VERSION, jobs::source_revision(),
                     fmt::join(jobs::backend_names(), ", "));
}

/// --quiet for `app` and all below it.
void add_quiet(CLI::App& app) {
  app.add_flag_callback(
      "--quiet", be_quiet,
      "print the result alone: no progress, tables or notices; warnings and errors are printed");
  for (auto* const sub : app.get_subcommands(is_shown)) {
    add_quiet(*sub);
  }
}

/// https://no-color.org; standard error that is no terminal gets none in any case.
spdlog::color_mode colours_wanted() {
  char const* const unwanted = std::getenv("NO_COLOR");
  return unwanted != nullptr && *unwanted != '\0' ? spdlog::color_mode::never
                                                  : spdlog::color_mode::automatic;
}

constexpr std::size_t max_shown = 200;  // bytes of one argument or name in a message

/// Leaves out the middle of what is long: the end of a path says more.
std::string without_middle(std::string_view text) {
  if (text.size() <= max_shown) {
    return std::string(text);
  }
  std::size_t at = text.size() - max_shown / 2;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U) {
    ++at;
  }
  return files::shortened(text, max_shown / 2) + std::string(text.substr(at));
}

/// A message as one line of text that can be read, whatever a file's name or an argument holds.
class line_of_text : public spdlog::custom_flag_formatter {
 public:
  explicit line_of_text(std::span<char const* const> arguments) {
    for (std::string_view const one : arguments) {
      auto const value = one.starts_with("--") ? one.find('=') + 1 : 0;  // npos + 1 is 0
      auto const text = files::escaped(one.substr(value));
      if (text.size() > max_shown) {
        long_ones_.push_back(files::lower_case(text));
      }
    }
  }
  void format(spdlog::details::log_msg const& message, std::tm const&,
              spdlog::memory_buf_t& to) override {
    constexpr std::size_t most = 4096;
    auto text = files::escaped({message.payload.data(), message.payload.size()});
    // Some options take their words in any case.
    for (auto const& one : long_ones_) {
      for (auto at = files::lower_case(text).find(one); at != std::string::npos;
           at = files::lower_case(text).find(one, at)) {
        auto const shown = without_middle(std::string_view(text).substr(at, one.size()));
        text.replace(at, one.size(), shown);
        at += shown.size();
      }
    }
    text = files::shortened(with_short_parts(text), most);
    to.append(text.data(), text.data() + text.size());
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<line_of_text>(*this);
  }

 private:
  /// Shortens what stands in quotes, and words: parts of arguments, and names from files.
  static std::string with_short_parts(std::string_view text) {
    constexpr std::string_view after_quote = " ,;:()";
    std::string all;
    while (!text.empty()) {
      auto end = std::min(text.find(' '), text.size());
      if (text.front() == '\'') {
        auto close = text.find('\'', 1);
        while (close < text.size() - 1 &&
               after_quote.find(text[close + 1]) == std::string_view::npos) {
          close = text.find('\'', close + 1);
        }
        end = close < text.size() ? close + 1 : end;
      }
      all += without_middle(text.substr(0, end));
      text.remove_prefix(end);
      auto const next = std::min(text.find_first_not_of(" ("), text.size());
      all += text.substr(0, next);
      text.remove_prefix(next);
    }
    return all;
  }

  std::vector<std::string> long_ones_;  ///< arguments, in small letters
};

int run_unflushed(int argc, char const* const* argv) {
  auto const log = spdlog::stderr_color_mt("iso", colours_wanted());
  auto pattern = std::make_unique<spdlog::pattern_formatter>();
  std::span<char const* const> const arguments{argv + 1, std::size_t(std::max(argc - 1, 0))};
  pattern->add_flag<line_of_text>('*', arguments).set_pattern("iso: %^%l%$: %*");
  log->set_formatter(std::move(pattern));
  spdlog::set_default_logger(log);

  CLI::App app(
      "X-ray projections, dose, DVHs, gamma and dose-matrix products with the same bits on every "
      "backend",
      "iso");
  app.require_subcommand(1);
  app.footer(footer_text());
  app.set_version_flag("-V,--version", version_text,
                       "version, revision of the source and backends");
  std::map<std::string, command> commands;
  commands["info"] = add_info(app);
  commands["project"] = add_project(app);
  commands["reconstruct"] = add_reconstruct(app);
  commands["back-project"] = add_back_project(app);
  commands["dose"] = add_dose(app);
  commands["dvh"] = add_dvh(app);
  commands["gamma"] = add_gamma(app);
  commands["verify"] = add_verify(app);
  commands["demo"] = add_demo(app);
  commands["matrix"] = add_matrix(app);
  commands["sweep"] = add_sweep(app);
  commands["help"] = add_help(app);
  commands["generate"] = add_manual(app);
  add_quiet(app);
  add_examples(app);
  int const misnamed = guarded([&] {
    check_subcommand(app, arguments);
    return int(success);
  });
  if (misnamed != success) {
    return misnamed;
  }
  try {
    app.parse(argc, argv);
  } catch (CLI::Success const& asked) {
    return app.exit(asked);
  } catch (CLI::ParseError const& failure) {
    return guarded([&]() -> int {
      check_unknown(app);
      throw invalid_argument(sentence_of(failure, full_name(deepest(app))));
    });
  } catch (error const&) {  // of an option that holds from when it is read
    return guarded([]() -> int { throw; });
  }
  return guarded([&] {
    check_environment();
    check_processes(full_name(deepest(app)).substr(app.get_name().size() + 1));
    check_command_lines(argc, argv);
    return commands.at(app.get_subcommands().front()->get_name())();
  });
}

}  // namespace

command add_help(CLI::App& app) {
  auto const names = std::make_shared<std::vector<std::string>>();
  app.add_subcommand("help", "The help of a subcommand")
      ->add_option("subcommand", *names, "its name, such as project or matrix apply");
  return [&app, names] {
    CLI::App const* at = &app;
    for (auto const& name : *names) {
      auto const below = at->get_subcommands(
          [&](CLI::App const* sub) { return is_shown(sub) && sub->get_name() == name; });
      if (below.empty()) {
        refuse_subcommand(*at, name);
      }
      at = below.front();
    }
    fmt::print("{}",
               at->get_formatter()->make_help(at, full_name(*at), CLI::AppFormatMode::Normal));
    return int(success);
  };
}

int run(int argc, char const* const* argv) {
  watch_for_signals();
  let_first_rank_speak();
  int code = run_unflushed(argc, argv);
  if (code == success) {
    code = guarded([] {
      flush_output();
      return int(success);
    });
  }
  auto const tell = [](std::string const& sentence) { spdlog::error("{}", sentence); };
  return jobs::num_ranks() > 1 ? jobs::end_together(code, failed_with, tell) : code;
}

}  // namespace iso::cli
