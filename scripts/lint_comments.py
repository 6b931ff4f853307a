#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks how the comment of a type begins: with a noun phrase, as "Bounds of a brick". A verb is
for functions, and for types that are functions: those with an operator() of their own, whatever
they are called.

A comment is read where it stands right before a struct, class, enum, union or concept. What it
begins with is looked up in a list, for "Reads" is a verb and "Counts" may be a noun. Words that
are both are nouns before a preposition or a sign, and verbs otherwise.

Usage: lint_comments.py FILE...   prints file:line of each; exit status 1 where one is
       lint_comments.py --self-test
"""
import re
import sys

from harness import lint
from lint_messages import split

VERBS = set("""
accepts adds allocates applies asks backprojects becomes calls clears collects compares computes
contains converts copies deals decides describes determines divides does evaluates fills finds
follows gathers gives has hashes holds interpolates is joins keeps knows lays lets lists looks
makes merges minimises multiplies narrows owns prints produces puts reads refuses removes repeats
replaces represents returns rounds runs says searches selects sends sets specifies splits stands
stores takes tells wants weighs writes
""".split())
NOUNS_TOO = set("""
bounds counts draws groups maps marks measures moves names orders places plans projects registers
samples scales shares sorts starts states steps sums tests traces turns uses views waits walks
""".split())
AFTER_NOUNS = set("""
about across after along among and are around as at before below between beyond beside by for from
in inside into of off on onto or out outside over per so taken than that through to towards under
up when where which while whose with within without
""".split())

COMMENT = re.compile(r"^[ \t]*//(?!/?<).*\n(?:[ \t]*//.*\n)*", re.M)
# Attributes and templates may stand before the word.
TYPE = re.compile(r"\s*(?:template\s*<(?P<parameters>[^{};]*?)>\s*(?:requires\b[^{};]*?\s)?)?"
                  r"(?P<kind>struct|class|enum(?: class| struct)?|union|concept)\s+"
                  r"(?:alignas\([^()]*\)\s*)?(?P<name>\w+)(?P<head>[^{};()]*)(?P<end>[{;(])")


def is_verb(comment):
    words = re.findall(r"[\w'-]+|[^\w\s]", comment)
    if not words:
        return False
    first = words[0].lower()
    follows = words[1].lower() if len(words) > 1 else ""
    return first in VERBS or (first in NOUNS_TOO and follows.isalpha() and
                              follows not in AFTER_NOUNS)


def check(text, _=None):
    """(line, the name and how its comment begins) of each type whose comment begins with a verb."""
    for comment in COMMENT.finditer(text):
        made = TYPE.match(text, comment.end())
        if not made or "\n\n" in text[comment.end():made.start("kind")]:
            continue
        if made["end"] == "(" and made["kind"] != "concept":
            continue
        if (parameters := made["parameters"]) and parameters.count("<") != parameters.count(">"):
            continue  # a class that is a parameter
        words = " ".join(re.sub(r"^\s*//[/!]?", "", line).strip()
                         for line in comment.group().splitlines())
        if not is_verb(words):
            continue
        if made["end"] == "{" and "operator()" in split(text, "\0", made.end())[0][0][1]:
            continue
        line = text.count("\n", 0, comment.start()) + 1
        yield line, f'{made["name"]}: "{" ".join(words.split()[:6])} ..."'


SELF_TEST = """
/// Reads a file.
struct first { int a; };

/// Sums of all rows.
struct second { int a; };

/// Sums the rows.
template <class T, class... Rest>
  requires(sizeof(T) == 4)
class third final : public other<T> {
};

/// Adds two numbers.
struct fourth { struct { int a; } b; int operator()(int, int) const; };

/// Adds two numbers.
struct fifth { struct { int a; } b; };
struct other { int operator()(int, int) const; };

  // Says which
  // of two.
  enum class sixth : int { a, b };

/// Reads.
int seventh(struct first);

  int a;  ///< Reads.
  struct eighth { int a; };
"""
SELF_TEST_FAULTS = ["first", "third", "fifth", "sixth"]


def self_test():
    return [said.split(":")[0] for _, said in check(SELF_TEST)] == SELF_TEST_FAULTS


if __name__ == "__main__":
    sys.exit(lint(__doc__, self_test, check))
