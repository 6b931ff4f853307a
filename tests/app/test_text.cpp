// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/text.hpp>

#include <doctest/doctest.h>

namespace files = iso::files;

TEST_CASE("text of several lines becomes one") {
  CHECK(files::one_line("a\n  b\r\n\tc ") == "a b c");
  CHECK(files::one_line("\n one sentence.") == "one sentence.");
  CHECK(files::one_line("").empty());
}

TEST_CASE("what is no letter of UTF-8 becomes a question mark") {
  std::string const text = "a ~\u00e4\u20ac\U0001d11e";
  CHECK(files::printable(text) == text);
  CHECK(files::printable("a\xe4z\x80\xff") == "a?z??");
  CHECK(files::printable("\x1b[2J\t\x7f\u0085") == "?[2J???");
  // Cut, longer than need be, and numbers that stand for no character.
  CHECK(files::printable("\xe2\x82") == "??");
  CHECK(files::printable("a\u202eb\u2066\u200f\u061cc") == "a?b???c");
  CHECK(files::escaped("a\x1b[2J\xff\u00e4\u202e\n") == "a\\x1b[2J\\xff\u00e4\\xe2\\x80\\xae\\x0a");
  CHECK(files::printable("\xc0\xaf\xed\xa0\x80\xf4\x90\x80\x80") == "?????????");
}

TEST_CASE("text is cut between characters") {
  CHECK(files::shortened("short", 5) == "short");
  CHECK(files::shortened("longer", 5) == "lo...");
  // Two, three and four bytes a character; the cut falls inside each of them.
  std::string const text = "\u00e4\u20ac\U0001d11e-";
  CHECK(text.size() == 10);
  CHECK(files::shortened(text, 4) == "...");
  CHECK(files::shortened(text, 5) == "\u00e4...");
  CHECK(files::shortened(text, 7) == "\u00e4...");
  CHECK(files::shortened(text, 8) == "\u00e4\u20ac...");
  CHECK(files::shortened(text, 9) == "\u00e4\u20ac...");
  CHECK(files::shortened(text, 10) == text);
}

TEST_CASE("endings are told apart in small letters") {
  CHECK(files::ending("a/B.PNG") == ".png");
  CHECK(files::ending("a.b/C.Nii.GZ") == ".nii.gz");
  CHECK(files::ending("a.b/c").empty());
}
