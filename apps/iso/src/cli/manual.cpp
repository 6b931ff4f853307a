// SPDX-License-Identifier: BSD-3-Clause
// The man pages and the completion of bash, made of the same tree of options that --help prints.
#include "manual_texts.hpp"
#include "support.hpp"

#include <iso/files/atomic_file.hpp>

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
    if (first && c == '.') {
      escaped += "\\&";
    }
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '\'' ? "\\(aq" : std::string(1, c);
    first = c == '\n';
  }
  return escaped;
}

std::string section(char const* name, std::string const& text) {
  return text.empty() ? "" : fmt::format(".SH {}\n{}", name, text);
}

std::string list_of(std::span<named_text const> entries) {
  std::string text;
  for (auto const& entry : entries) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(entry.name), roff(entry.text));
  }
  return text;
}

/// Options and positionals, as --help has them.
std::string man_options(CLI::App const& app) {
  CLI::Formatter const words;
  std::string text;
  for (auto const* const o : options_of(app)) {
    text +=
        fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(words.make_option_name(o, o->get_positional())),
                    roff(words.make_option_opts(o)), roff(o->get_description()));
  }
  return text;
}

std::string page_name(CLI::App const& app) {
  auto name = full_name(app);
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

/// "iso matrix COMMAND", "iso gamma [OPTIONS] REFERENCE EVALUATED".
std::string synopsis(CLI::App const& app) {
  auto text = fmt::format(".B {}\n[\\fIOPTIONS\\fR]\n", roff(full_name(app)));
  for (auto const* const o : options_of(app)) {
    if (o->get_positional()) {
      auto name = o->get_name(true);
      std::transform(name.begin(), name.end(), name.begin(),
                     [](unsigned char c) { return char(std::toupper(c)); });
      auto const word = fmt::format("\\fI{}\\fR", roff(name));
      text += o->get_required() ? word + "\n" : "[" + word + "]\n";
    }
  }
  return app.get_subcommands(is_shown).empty() ? text : text + "\\fICOMMAND\\fR ...\n";
}

std::string paragraphs(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    all += fmt::format("{}{}\n", all.empty() ? "" : ".PP\n", roff(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::string man_page(CLI::App const& app) {
  auto const& text = manual_text_of(full_name(app));
  std::string commands;
  std::string others;
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    commands +=
        fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(full_name(*sub)), roff(sub->get_description()));
    others += fmt::format(".BR {} (1),\n", roff(page_name(*sub)));
  }
  if (auto const* const above = app.get_parent()) {
    others += fmt::format(".BR {} (1),\n", roff(page_name(*above)));
  }
  others += "docs/README.md\n";
  bool const is_root = app.get_parent() == nullptr;
  auto name = page_name(app);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return char(std::toupper(c)); });
  return fmt::format(".TH {} 1 \"\" \"Isocenter {}\" \"User Commands\"\n", roff(name),
                     ISO_VERSION) +
         section("NAME",
                 fmt::format("{} \\- {}\n", roff(page_name(app)), roff(app.get_description()))) +
         section("SYNOPSIS", synopsis(app)) + section("DESCRIPTION", paragraphs(text.description)) +
         section("COMMANDS", commands) + section("OPTIONS", man_options(app)) +
         section("EXAMPLES", fmt::format(".nf\n{}\n.fi\n", roff(text.examples))) +
         section("FILES", list_of(text.files) +
                              ".PP\nFiles named docs/..., examples/... and "
                              "scripts/... are in " +
                              roff(ISO_DOC_FOLDER) +
                              " below the folder that iso is installed in, and in the source.\n") +
         section("ENVIRONMENT", is_root ? list_of(environment_variables()) : std::string()) +
         section("EXIT STATUS", list_of(exit_codes())) + section("SEE ALSO", others);
}

/// A page for `app` and for each command below it.
void prepare_pages(CLI::App const& app, std::filesystem::path const& folder,
                   std::vector<files::atomic_file>& pages) {
  pages.push_back(files::prepare_text(folder / (page_name(app) + ".1"), man_page(app)));
  for (auto const* const sub : app.get_subcommands(is_shown)) {
    prepare_pages(*sub, folder, pages);
  }
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
  auto const output = std::make_shared<std::string>();
  auto* const sub = app.add_subcommand("generate", "The man pages, or the completion of bash");
  sub->group("");
  sub->add_option("kind", *kind, "what to write")
      ->transform(one_of({"man", "completion"}))
      ->required();
  sub->add_option("output", *output, "man: the folder for its pages; completion: a file")
      ->required();
  return [&app, kind, output] {
    std::vector<files::atomic_file> outputs;
    if (*kind == "man") {
      prepare_pages(app, *output, outputs);
    } else {
      outputs.push_back(files::prepare_text(*output, bash_completion(app)));
    }
    files::atomic_file::commit_all(outputs);
    return int(success);
  };
}

}  // namespace iso::cli
