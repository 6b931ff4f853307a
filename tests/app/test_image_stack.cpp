// SPDX-License-Identifier: BSD-3-Clause
// Series of detector images: rows and columns, names, types, and what is refused. The TIFF files
// are written here by hand, byte by byte.
#include "file_support.hpp"

#include <iso/files/image_stack.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace files = iso::files;
using namespace iso::test;
using files::pixel_type;

namespace {

struct tag {
  std::uint16_t id;
  std::uint16_t type;  // 3: 16 bits, 4: 32 bits
  std::uint32_t value;
};

/// A little-endian TIFF of one strip; `changed` replaces or adds tags.
std::string tiff(std::string const& pixels, std::uint32_t width, std::uint32_t height,
                 std::uint16_t bits, std::uint16_t format, std::vector<tag> const& changed = {}) {
  std::vector<tag> tags = {
      {256, 4, width}, {257, 4, height}, {258, 3, bits},
      {259, 3, 1},     {262, 3, 1},      {273, 4, 8},
      {277, 3, 1},     {278, 4, height}, {279, 4, std::uint32_t(pixels.size())},
      {339, 3, format}};
  for (auto const& other : changed) {
    bool known = false;
    for (auto& own : tags) {
      if (own.id == other.id) {
        own = other;
        known = true;
      }
    }
    if (!known) {
      tags.push_back(other);
    }
  }
  std::sort(tags.begin(), tags.end(), [](tag const& a, tag const& b) { return a.id < b.id; });
  std::string bytes;
  auto const add = [&](auto value) {
    bytes.append(reinterpret_cast<char const*>(&value), sizeof value);
  };
  bytes = "II";
  add(std::uint16_t(42));
  add(std::uint32_t(8 + pixels.size()));
  bytes += pixels;
  add(std::uint16_t(tags.size()));
  for (auto const& t : tags) {
    add(t.id);
    add(t.type);
    add(std::uint32_t(1));
    add(t.value);
  }
  add(std::uint32_t(0));
  return bytes;
}

/// Row by row from the top: value 10 row + column.
template <class T>
std::string rows(int width, int height, T add = T(0)) {
  std::vector<T> values;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      values.push_back(T(10 * row + column) + add);
    }
  }
  return bytes_of(values);
}

std::string refused(std::filesystem::path const& path, files::image_request const& request = {}) {
  return refusal([&] { static_cast<void>(files::read_images(path, request)); });
}

}  // namespace

TEST_CASE("column 0 is u = 0 and the bottom row is v = 0; and the way back") {
  // Two images of 3 columns and 2 rows.
  std::vector<int> const images = {0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112};
  auto const views = files::views_from_images<float, int>(images, 2, 3, 2);
  CHECK(views == std::vector<float>{10, 0, 11, 1, 12, 2, 110, 100, 111, 101, 112, 102});
  CHECK(files::images_from_views<int, float>(views, 2, 3, 2) == images);
}

TEST_CASE("TIFF files of every type that is read, alone and as a series") {
  scratch_folder const folder;
  struct sample {
    char const* name;
    std::string bytes;
    pixel_type type;
  };
  std::vector<sample> const samples = {
      {"a.tif", tiff(rows<std::uint8_t>(4, 3), 4, 3, 8, 1), pixel_type::uint8},
      {"b.TIFF", tiff(rows<std::uint16_t>(4, 3, 60000), 4, 3, 16, 1), pixel_type::uint16},
      {"c.tif", tiff(rows<float>(4, 3, 0.5F), 4, 3, 32, 3), pixel_type::float32},
      {"d.tif", tiff(rows<double>(4, 3, 0.1), 4, 3, 64, 3), pixel_type::float64}};
  double const added[] = {0, 60000, 0.5, 0.1};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    put(folder / samples[i].name, samples[i].bytes);
    auto const stack = files::read_images(folder / samples[i].name, {1, {4, 3}});
    CHECK(stack.extent == std::array<std::int64_t, 3>{1, 4, 3});
    CHECK(stack.stored == samples[i].type);
    for (int u = 0; u < 4; ++u) {
      for (int v = 0; v < 3; ++v) {
        CHECK(stack.values[std::size_t(u * 3 + v)] == float(10 * (2 - v) + u + added[i]));
      }
    }
    // Integers as they are stored; of others none.
    auto const integers = files::read_stored_images(folder / samples[i].name, {1, {4, 3}});
    REQUIRE(integers.has_value() == (i < 2));
    if (integers) {
      CHECK(integers->extent == stack.extent);
      CHECK(std::vector<float>(integers->values.begin(), integers->values.end()) == stack.values);
      CHECK(integers->scale == 1);
      CHECK(integers->offset == 0);
    }
  }
  scratch_folder const series;
  for (int i = 8; i <= 11; ++i) {  // by number, not by name: 8, 9, 10, 11
    put(series / ("scan1_" + std::to_string(i) + ".tif"),
        tiff(rows<std::uint16_t>(4, 3, std::uint16_t(100 * i)), 4, 3, 16, 1));
  }
  put(series / "scan.xtekct", "no image");
  put(series / ".hidden.tif", "no image");
  auto const stack = files::read_images(series.path(), {4, {4, 3}});
  CHECK(stack.extent == std::array<std::int64_t, 3>{4, 4, 3});
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(stack.values[12 * i] == float(100 * (8 + i) + 20));
  }
  // The same by a pattern, in a folder of two series.
  put(series / "flat_1.tif", tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1));
  CHECK(files::read_images(series / "scan1_*.tif", {}).values == stack.values);
  CHECK(files::read_images(series / "flat_*.tif", {}).extent[0] == 1);
  CHECK(names(refused(series.path()), {"'flat_1.tif'", "'scan1_10.tif'", "two series", "*"}));
}

TEST_CASE("raw files, one image or several in each") {
  scratch_folder const folder;
  put(folder / "p_0.raw", rows<std::uint16_t>(4, 3) + rows<std::uint16_t>(4, 3, 100));
  put(folder / "p_1.raw", rows<std::uint16_t>(4, 3, 200));
  auto const stack = files::read_images(folder.path(), {3, {4, 3}});
  CHECK(stack.values[0] == 20);
  CHECK(stack.values[12] == 120);
  CHECK(stack.values[24] == 220);
  put(folder / "x.bin", rows<double>(4, 3, 0.25));
  CHECK(files::read_images(folder / "x.bin", {1, {4, 3}, pixel_type::float64}).values[0] == 20.25F);
  put(folder / "p_1.raw", rows<std::uint16_t>(4, 3).substr(0, 23));
  CHECK(names(refused(folder.path(), {3, {4, 3}}), {"p_1.raw", "23 bytes", "24 bytes each"}));
  put(folder / "p_1.raw", "");
  CHECK(names(refused(folder.path(), {3, {4, 3}}), {"p_1.raw", "0 bytes"}));
}

TEST_CASE("doubles of which the largest has no float are refused") {
  scratch_folder const folder;
  auto const said = [&](double scale) {
    std::vector<double> values(12, 3 * scale);
    put(folder / "x.raw", bytes_of(values));
    put(folder / "x.tif", tiff(bytes_of(values), 4, 3, 64, 3));
    return std::pair(refused(folder / "x.raw", {1, {4, 3}, pixel_type::float64}),
                     refused(folder / "x.tif", {1, {4, 3}}));
  };
  for (double const scale : {1e300, 1e-300, 1e-42}) {
    auto const [raw, image] = said(scale);
    CHECK(names(raw, {"x.raw", "holds values up to", "floats"}));
    CHECK(names(image, {"x.tif", "holds values up to", "floats"}));
  }
  CHECK(said(1e-30) == std::pair<std::string, std::string>());
}

TEST_CASE("what is written is read back, and values that 16 bits do not hold are refused") {
  scratch_folder const folder;
  std::vector<float> const view = {0, 1.4F, 2.5F, 3, 65535, 7};
  files::prepare_tiff(folder / "a.tif", view, 3, 2, pixel_type::uint16).commit();
  auto const back = files::read_images(folder / "a.tif", {1, {3, 2}});
  CHECK(back.stored == pixel_type::uint16);
  CHECK(back.values == std::vector<float>{0, 1, 3, 3, 65535, 7});
  files::prepare_tiff(folder / "b.tif", view, 3, 2, pixel_type::float32).commit();
  CHECK(files::read_images(folder / "b.tif", {1, {3, 2}}).values == view);
  for (float const wrong : {-1.0F, 65536.0F, std::numeric_limits<float>::quiet_NaN()}) {
    auto values = view;
    values[3] = wrong;
    CHECK(names(refusal([&] {
                  static_cast<void>(
                      files::prepare_tiff(folder / "c.tif", values, 3, 2, pixel_type::uint16));
                }),
                {"c.tif", "0 to 65535"}));
  }
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("series that are not whole, in one sentence each") {
  scratch_folder const folder;
  auto const image = tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1);
  CHECK(names(refused(folder.path()), {folder.path().string(), "no images lie in this folder"}));
  CHECK(names(refused(folder / "none.tif"), {"none.tif", "no such file"}));
  CHECK(names(refused(folder / "p_*.tif"), {"p_*.tif", "no file has such a name"}));
  put(folder / "p_01.tif", image);
  put(folder / "p_02.tif", image);
  put(folder / "p_04.tif", image);
  CHECK(
      names(refused(folder.path()), {"image 3 of the series is missing", "p_02.tif", "p_04.tif"}));
  put(folder / "p_03.tif", image);
  CHECK(refused(folder.path()).empty());
  CHECK(names(refused(folder.path(), {5, {4, 3}}), {"4 images", "5 views", "missing"}));
  CHECK(names(refused(folder.path(), {3, {4, 3}}), {"4 images", "3 views", "too many"}));
  put(folder / "p_3.tif", image);
  CHECK(names(refused(folder.path()), {"p_03.tif", "p_3.tif", "the same number"}));
}

TEST_CASE("images of another size or type, cut short, or of a kind that is not read") {
  scratch_folder const folder;
  auto const good = tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1);
  auto const second = [&](std::string const& bytes) {
    put(folder / "p_1.tif", good);
    put(folder / "p_2.tif", bytes);
    return refused(folder.path(), {2, {4, 3}});
  };
  CHECK(second(good).empty());
  CHECK(names(second(tiff(rows<std::uint16_t>(3, 4), 3, 4, 16, 1)), {"p_2.tif", "3 x 4", "4 x 3"}));
  CHECK(names(second(tiff(rows<std::uint8_t>(4, 3), 4, 3, 8, 1)),
              {"p_2.tif", "8-bit unsigned", "16-bit unsigned"}));
  CHECK(names(second(tiff(rows<std::int16_t>(4, 3), 4, 3, 16, 2)), {"signed integers of 16 bits"}));
  CHECK(names(second(tiff(rows<std::uint32_t>(4, 3), 4, 3, 32, 1)),
              {"unsigned integers of 32 bits"}));
  CHECK(names(second(tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1, {{277, 3, 3}})), {"3 channels"}));
  CHECK(names(second(tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1, {{262, 3, 0}})),
              {"photometric interpretation 0"}));
  CHECK(names(second(tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1, {{274, 3, 3}})),
              {"orientation 3"}));
  CHECK(names(second(tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1, {{273, 4, 1000}})),
              {"p_2.tif", "cut short or damaged", "row 0 of 3"}));
  CHECK(names(second(good.substr(0, 20)), {"p_2.tif", "not a TIFF file, or damaged"}));
  CHECK(names(second(""), {"p_2.tif", "not a TIFF file, or damaged"}));
  CHECK(names(second("text"), {"p_2.tif", "not a TIFF file, or damaged"}));
  put(folder / "p_1.tif", tiff(rows<std::uint16_t>(5, 3), 5, 3, 16, 1));
  CHECK(
      names(refused(folder / "p_1.tif", {1, {4, 3}}), {"5 x 3", "geometry's detector has 4 x 3"}));
  // A header that lies about its size is seen before memory is taken.
  put(folder / "p_1.tif", tiff(rows<std::uint16_t>(4, 3), 4, 3, 16, 1,
                               {{256, 4, 1U << 24}, {257, 4, 1U << 24}, {278, 4, 1U << 24}}));
  CHECK(names(refused(folder / "p_1.tif", {1, {4, 3}}), {"16777216 x 16777216"}));
  auto values = std::vector<float>(12, 1);
  values[6] = std::numeric_limits<float>::infinity();
  put(folder / "p_1.tif", tiff(bytes_of(values), 4, 3, 32, 3));
  CHECK(names(refused(folder / "p_1.tif"), {"row 1, column 2 is inf"}));
  // A mask [images, u, v] hides it, and what else it is 0 for: here of the second of two images.
  put(folder / "p_2.tif", tiff(bytes_of(values), 4, 3, 32, 3));
  put(folder / "p_1.tif", tiff(bytes_of(std::vector<float>(12, 2)), 4, 3, 32, 3));
  std::vector<float> mask(24, 0.5F);
  mask[12] = 0;
  auto const masked = [&] { return refused(folder.path(), {2, {4, 3}, pixel_type::uint16, mask}); };
  CHECK(names(masked(), {"p_2.tif", "row 1, column 2 is inf"}));
  mask[12 + 2 * 3 + 1] = 0;
  CHECK(masked().empty());
  std::vector<float> expected(24, 2);
  std::fill(expected.begin() + 12, expected.end(), 1.0F);
  expected[12] = 0;
  expected[12 + 2 * 3 + 1] = 0;
  CHECK(files::read_images(folder.path(), {2, {4, 3}, pixel_type::uint16, mask}).values ==
        expected);
  mask.pop_back();
  CHECK(names(masked(), {"p_2.tif", "row 1, column 2 is inf"}));
}
