// SPDX-License-Identifier: BSD-3-Clause
// The man page and the completion of bash, both made of the same tree of options that --help
// prints.
#include "support.hpp"

#include <fmt/core.h>
#include <fmt/format.h>

#include <memory>
#include <string_view>

namespace iso::cli {
namespace {

/// Also those of option groups, which are subcommands without a name.
std::vector<CLI::Option const*> options_of(CLI::App const& app) {
  auto all = app.get_options([](CLI::Option const* o) { return !o->get_group().empty(); });
  for (auto const* const group :
       app.get_subcommands([](CLI::App const* sub) { return sub->get_name().empty(); })) {
    auto const more = options_of(*group);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// Text as roff takes it: no character of it is a request.
std::string roff(std::string_view text) {
  std::string escaped;
  bool first = true;  // of a line
  for (char const c : text) {
    if (first && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
    first = c == '\n';
  }
  return escaped;
}

std::string man_options(CLI::App const& app) {
  CLI::Formatter const words;
  std::string page;
  for (auto const* const o : options_of(app)) {
    page +=
        fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(words.make_option_name(o, o->get_positional())),
                    roff(words.make_option_opts(o)), roff(o->get_description()));
  }
  return page;
}

std::string man_subcommands(CLI::App const& app) {
  std::string page;
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    page += fmt::format(".SS \"{}\"\n{}\n{}{}", roff(full_name(*sub)), roff(sub->get_description()),
                        man_options(*sub), man_subcommands(*sub));
  }
  return page;
}

std::string man_page(CLI::App const& app) {
  return fmt::format(
      ".TH ISO 1 \"\" \"Isocenter {}\" \"User Commands\"\n"
      ".SH NAME\niso \\- {}\n"
      ".SH SYNOPSIS\n.B iso\n.I SUBCOMMAND\n[OPTIONS]\n"
      ".SH OPTIONS\n{}.SH SUBCOMMANDS\n{}"
      ".SH NOTES\n.nf\n{}\n.fi\n",
      ISO_VERSION, roff(app.get_description()), man_options(app), man_subcommands(app),
      roff(app.get_footer()));
}

/// What an option may be, as its type says: TEXT:{float,double}. Empty where it says nothing.
std::string values_of(CLI::Option const& option) {
  auto const type = option.get_type_name();
  auto const begin = type.find('{');
  auto const end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) {
    return "";
  }
  return fmt::format(
      "{}", fmt::join(CLI::detail::split(type.substr(begin + 1, end - begin - 1), ','), " "));
}

/// The cases of `app` and of all below it: what follows an option that takes a value, and what
/// follows anything else.
void add_cases(CLI::App const& app, std::string& after_option, std::string& after_any) {
  auto const path = full_name(app);
  std::vector<std::string> words;
  for (auto const* const o : options_of(app)) {
    if (o->get_positional()) {
      words.push_back(values_of(*o));
    }
    for (auto const& name : o->get_lnames()) {
      words.push_back("--" + name);
      if (o->get_items_expected_max() > 0) {
        after_option += fmt::format("    '{} --{}') words='{}' ;;\n", path, name, values_of(*o));
      }
    }
  }
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    words.push_back(sub->get_name());
    add_cases(*sub, after_option, after_any);
  }
  after_any += fmt::format("    '{} '*) words='{}' ;;\n", path, fmt::join(words, " "));
}

std::string paths_below(CLI::App const& app) {
  std::string paths;
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    paths += fmt::format("{}'{}'", paths.empty() ? "" : " | ", full_name(*sub));
    auto const below = paths_below(*sub);
    paths += below.empty() ? "" : " | " + below;
  }
  return paths;
}

std::string bash_completion(CLI::App const& app) {
  std::string after_option;
  std::string after_any;
  add_cases(app, after_option, after_any);
  return fmt::format(
      R"(# Completion of iso for bash. Where no word fits, bash offers the names of files.
_iso() {{
  local path=iso words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "$path ${{COMP_WORDS[i]}}" in
      {}) path+=" ${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$path ${{COMP_WORDS[COMP_CWORD - 1]}}" in
{}{}  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}")
}}
complete -o default -F _iso iso
)",
      paths_below(app), after_option, after_any);
}

}  // namespace

command add_manual(CLI::App& app) {
  auto const kind = std::make_shared<std::string>();
  auto* const sub = app.add_subcommand("generate", "The man page, or the completion of bash");
  sub->group("");
  sub->add_option("kind", *kind, "what to print")
      ->check(CLI::IsMember({"man", "completion"}))
      ->required();
  return [&app, kind] {
    fmt::print("{}", *kind == "man" ? man_page(app) : bash_completion(app));
    return int(success);
  };
}

}  // namespace iso::cli
