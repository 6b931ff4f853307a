// SPDX-License-Identifier: BSD-3-Clause
#include <iso/files/text.hpp>

#include <doctest/doctest.h>

namespace files = iso::files;

TEST_CASE("text of several lines becomes one") {
  CHECK(files::one_line("a\n  b\r\n\tc ") == "a b c");
  CHECK(files::one_line("\n one sentence.") == "one sentence.");
  CHECK(files::one_line("").empty());
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
