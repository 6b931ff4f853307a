// SPDX-License-Identifier: BSD-3-Clause
#include "file_support.hpp"
#include "not_run.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/stack_file.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <hdf5.h>
#include <itkPNGImageIO.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace files = iso::files;
using iso::test::files_in;
using iso::test::get;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;

namespace {

template <class T>
files::projection_stack<T> small_stack() {
  files::projection_stack<T> stack;
  stack.extent = {2, 3, 4};
  for (int i = 0; i < 24; ++i) {
    stack.values.push_back(T(i) / T(3));
  }
  stack.geometry = R"({"type":"circular_parallel"})";
  return stack;
}

}  // namespace

TEST_CASE_TEMPLATE("integers of 16 bits are read as the numbers that they stand for", T, float,
                   double) {
  scratch_folder const folder;
  auto const path = folder / "p.h5";
  std::vector<std::uint16_t> const integers{0, 1, 2, 3, 65534, 65535};
  /// Writes them with the attributes that are given.
  auto const write = [&](std::vector<std::pair<char const*, double>> const& attributes,
                         hid_t stored) {
    hid_t const file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t const extent[3] = {1, 2, 3};
    hid_t const space = H5Screate_simple(3, extent, nullptr);
    hid_t const set =
        H5Dcreate2(file, "projections", stored, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Dwrite(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, integers.data()) >= 0);
    hid_t const one = H5Screate(H5S_SCALAR);
    for (auto const& [name, value] : attributes) {
      hid_t const attribute = H5Acreate2(set, name, H5T_IEEE_F64LE, one, H5P_DEFAULT, H5P_DEFAULT);
      REQUIRE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0);
      H5Aclose(attribute);
    }
    H5Sclose(one);
    H5Dclose(set);
    H5Sclose(space);
    H5Fclose(file);
  };
  write({{"scale", 1e-4}, {"offset", -0.3}}, H5T_STD_U16LE);
  auto const read = files::read_stack<T>(path);
  for (std::size_t i = 0; i < integers.size(); ++i) {
    CHECK(read.values[i] == T(std::fma(1e-4, double(integers[i]), -0.3)));
  }
  auto const kept = files::read_stored_stack(path);
  REQUIRE(kept);
  CHECK(kept->extent == read.extent);
  CHECK(kept->values == integers);
  CHECK(kept->scale == 1e-4);
  CHECK(kept->offset == -0.3);
  // Where one stands for no float, read_stack refuses them.
  write({{"scale", 1e36}}, H5T_STD_U16LE);
  CHECK_FALSE(files::read_stored_stack(path));
  files::prepare_stack(path, small_stack<T>()).commit();
  CHECK_FALSE(files::read_stored_stack(path));
  write({}, H5T_STD_U16BE);
  CHECK(files::read_stored_stack(path)->values == integers);
  CHECK(files::read_stack<T>(path).values == std::vector<T>(integers.begin(), integers.end()));
  write({{"scale", std::numeric_limits<double>::infinity()}}, H5T_STD_U16LE);
  CHECK(refusal([&] { files::read_stack<T>(path); }) ==
        "'" + path.string() +
            "': /projections has scale inf and offset 0 (must be finite); write what its integers "
            "stand for");
  // Scales of a view each, or a text, are no scale of all.
  {
    write({}, H5T_STD_U16LE);
    hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t const set = H5Dopen2(file, "projections", H5P_DEFAULT);
    hsize_t const two = 2;
    hid_t const space = H5Screate_simple(1, &two, nullptr);
    hid_t const attribute =
        H5Acreate2(set, "scale", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
    double const scales[2] = {1, 2};
    REQUIRE(H5Awrite(attribute, H5T_NATIVE_DOUBLE, scales) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
  }
  CHECK(refusal([&] { files::read_stack<T>(path); }) ==
        "'" + path.string() +
            "': attribute 'scale' is not one number (another would stand for it); write it as a "
            "number");
  write({}, H5T_STD_I16LE);
  CHECK(refusal([&] { files::read_stack<T>(path); }) ==
        "'" + path.string() +
            "': dataset /projections holds other numbers (floating-point ones, or integers of 16 "
            "bits without sign, are expected); store it as one of these");
}

TEST_CASE_TEMPLATE("a stack comes back bit for bit", T, float, double) {
  scratch_folder const folder;
  auto stack = small_stack<T>();
  stack.geometry +=
      std::string(200000, ' ');  // a list of vectors is longer than an attribute may be
  files::prepare_stack(folder / "p.h5", stack).commit();
  auto const read = files::read_stack<T>(folder / "p.h5");
  CHECK(read.extent == stack.extent);
  CHECK(read.values == stack.values);
  CHECK(read.unit == stack.unit);
  CHECK(read.geometry == stack.geometry);
  CHECK(files_in(folder.path()) == 1);
  auto const header = files::read_stack_header(folder / "p.h5");
  CHECK(header.extent == stack.extent);
  CHECK(header.values.empty());
  CHECK(header.unit == stack.unit);
  CHECK(header.geometry == stack.geometry);
  CHECK(files::read_stack_header(folder / "p.h5", files::stack_geometry::leave).geometry.empty());
}

TEST_CASE_TEMPLATE("views are read and written some at a time", T, float, double) {
  scratch_folder const folder;
  // Pieces of half a megabyte, of which the last one lacks a view.
  constexpr std::int64_t n = 67;
  constexpr std::int64_t image = 64 * 64;
  files::projection_stack<T> stack{{n, 64, 64}, {}, "1", R"({"type":"circular_parallel"})"};
  for (int i = 0; i < n * image; ++i) {
    stack.values.push_back(T(i) / T(3));
  }
  files::prepare_stack(folder / "s.h5", stack).commit();
  std::int64_t const piece = files::views_of_piece(folder / "s.h5");
  CHECK(piece == (sizeof(T) == 4 ? 34 : 17));
  auto const views_of = [&](std::int64_t first, std::int64_t last) {
    return std::span<T const>(stack.values)
        .subspan(std::size_t(first * image), std::size_t((last - first) * image));
  };
  for (std::int64_t first = 0; first < n; first += 3) {
    for (std::int64_t last = first; last <= n; last += 4) {
      std::vector<T> some(std::size_t((last - first) * image));
      auto const bytes = files::read_views<T>(folder / "s.h5", first, some);
      CHECK(std::ranges::equal(some, views_of(first, last)));
      auto const whole_pieces =
          first == last ? 0
                        : std::min((last + piece - 1) / piece * piece, n) - first / piece * piece;
      CHECK(bytes == whole_pieces * image * std::int64_t(sizeof(T)));
    }
  }
  std::vector<T> one(static_cast<std::size_t>(image));
  for (std::int64_t const first : {std::int64_t(-1), n}) {
    CHECK_THROWS_AS(files::read_views<T>(folder / "s.h5", first, one), iso::invalid_argument);
  }
  CHECK_THROWS_WITH_AS(files::read_views<T>(folder / "s.h5", 0, std::span(one).first(7)),
                       doctest::Contains("give whole views"), iso::invalid_argument);
  // One after the other, in any order, and byte for byte what is written at once.
  {
    auto file =
        files::prepare_stack_frame<T>(folder / "v.h5", {stack.extent, {}, "1", stack.geometry});
    auto const put = [&](std::int64_t first, std::int64_t last) {
      files::write_stack_views<T>(folder / "v.h5", file.temporary(), stack.extent, first,
                                  views_of(first, last));
    };
    put(0, 20);
    put(20, 41);
    put(41, n);
    CHECK(!std::filesystem::exists(folder / "v.h5"));
    file.commit();
  }
  CHECK(get(folder / "v.h5") == get(folder / "s.h5"));
  CHECK(files::read_stack<T>(folder / "v.h5").values == stack.values);
  CHECK(files::read_stack_header(folder / "v.h5").geometry == stack.geometry);
  CHECK_THROWS_WITH_AS(files::write_stack_views<T>(folder / "v.h5", folder / "none", stack.extent,
                                                   0, views_of(0, 1)),
                       doctest::Contains("a file system that all processes see"), iso::file_error);
  CHECK_THROWS_AS(
      static_cast<void>(files::prepare_stack_frame<T>(folder / "e.h5", {{0, 1, 1}, {}})),
      iso::invalid_argument);
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("of some views what is not finite is named, and what no float holds is refused") {
  scratch_folder const folder;
  files::projection_stack<double> stack{{4, 2, 3}, std::vector<double>(24, 1.5)};
  stack.values[3 * 6 + 4] = std::numeric_limits<double>::infinity();
  stack.values[1 * 6] = 1e300;
  files::prepare_stack(folder / "s.h5", stack).commit();
  std::vector<float> one(6);
  CHECK(names(refusal([&] { files::read_views<float>(folder / "s.h5", 3, one); }),
              {"view 3, u 1, v 1 of /projections is inf"}));
  files::read_views<float>(folder / "s.h5", 3, one, files::finite_values::not_required);
  CHECK(names(refusal([&] { files::read_views<float>(folder / "s.h5", 1, one); }),
              {"holds values up to 1e+300"}));
  // A mask may hide it, which the caller knows.
  files::read_views<float>(folder / "s.h5", 1, one, files::finite_values::not_required);
  CHECK(std::isinf(one[0]));
  CHECK(files::read_views<float>(folder / "s.h5", 2, one) > 0);
}

TEST_CASE("a stack in the other precision is converted") {
  scratch_folder const folder;
  files::prepare_stack(folder / "p.h5", small_stack<double>()).commit();
  CHECK(files::read_stack<float>(folder / "p.h5").values[1] == float(1.0 / 3.0));
}

TEST_CASE("doubles of which the largest has no float are refused, unless a mask hides it") {
  scratch_folder const folder;
  auto stack = small_stack<double>();
  std::vector<float> mask(24, 1);
  auto const read = [&] {
    files::prepare_stack(folder / "p.h5", stack).commit();
    return refusal(
        [&] { files::read_stack<float>(folder / "p.h5", files::stack_geometry::read, mask); });
  };
  stack.values[5] = 1e300;
  CHECK(names(read(), {"p.h5", "holds values up to 1e+300", "floats"}));
  CHECK(files::read_stack<double>(folder / "p.h5").values == stack.values);
  mask[5] = 0;
  CHECK(read().empty());
  mask[5] = 1;
  stack.values[5] = 1e-300;
  CHECK(read().empty());
  for (double& x : stack.values) {
    x *= 1e-42;
  }
  CHECK(names(read(), {"p.h5", "floats"}));
  for (double& x : stack.values) {
    x *= 1e-42;
  }
  CHECK(names(read(), {"p.h5", "floats"}));
  stack.values.assign(24, 0);
  CHECK(read().empty());
}

TEST_CASE("what other programs write: text of variable length, no unit, no geometry") {
  scratch_folder const folder;
  auto const path = folder / "other.h5";
  auto const stack = small_stack<float>();
  hid_t const file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  hsize_t const extent[3] = {2, 3, 4};
  auto const add = [&](char const* name, hid_t type, hid_t space, void const* values) {
    hid_t const set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    H5Dclose(set);
    H5Sclose(space);
  };
  add("projections", H5T_NATIVE_FLOAT, H5Screate_simple(3, extent, nullptr), stack.values.data());
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  auto const bare = files::read_stack<float>(path);
  CHECK(bare.values == stack.values);
  CHECK(bare.unit.empty());
  CHECK(bare.geometry.empty());
  hid_t const text = H5Tcopy(H5T_C_S1);
  H5Tset_size(text, H5T_VARIABLE);
  char const* const start = stack.geometry.c_str();
  add("geometry", text, H5Screate(H5S_SCALAR), static_cast<void const*>(&start));
  H5Tclose(text);
  H5Fclose(file);
  CHECK(files::read_stack<float>(path).geometry == stack.geometry);
}

TEST_CASE("a /geometry of any kind is left alone where another is known") {
  scratch_folder const folder;
  auto const path = folder / "other.h5";
  auto const stack = small_stack<float>();
  // What `add` makes of /geometry, and what is said of it.
  auto const check = [&](auto const& add, std::string const& sentence) {
    CAPTURE(sentence);
    hid_t const file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hsize_t const extent[3] = {2, 3, 4};
    hid_t const space = H5Screate_simple(3, extent, nullptr);
    hid_t const set = H5Dcreate2(file, "projections", H5T_NATIVE_FLOAT, space, H5P_DEFAULT,
                                 H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, stack.values.data()) >=
            0);
    H5Dclose(set);
    H5Sclose(space);
    add(file);
    H5Fclose(file);
    auto const left = files::read_stack<float>(path, files::stack_geometry::leave);
    CHECK(left.values == stack.values);
    CHECK(left.geometry.empty());
    std::string read;
    auto const said = refusal([&] { read = files::read_stack<float>(path).geometry; });
    CHECK(read.empty());
    CHECK(said == (sentence.empty() ? "" : "'" + path.string() + "': " + sentence));
  };
  auto const text_of_size = [](std::size_t size) {
    hid_t const text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, size);
    return text;
  };
  // A dataset of one type and space, with or without a value.
  auto const add_set = [](hid_t file, hid_t type, hid_t space, void const* value) {
    hid_t const set =
        H5Dcreate2(file, "geometry", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(set >= 0);
    if (value != nullptr) {
      REQUIRE(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0);
    }
    H5Dclose(set);
    H5Sclose(space);
  };
  check([](hid_t) {}, "");
  check(
      [](hid_t file) {
        H5Gclose(H5Gcreate2(file, "geometry", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
      },
      "dataset /geometry cannot be opened (damaged, or no dataset); fetch or write it again");
  double const list[2] = {1, 2};
  check(
      [&](hid_t file) {
        hsize_t const two = 2;
        add_set(file, H5T_NATIVE_DOUBLE, H5Screate_simple(1, &two, nullptr), list);
      },
      "dataset /geometry has 1 axis (none is expected); write it in that shape");
  check(
      [&](hid_t file) {
        hsize_t const extent[2] = {1, 2};
        add_set(file, H5T_NATIVE_DOUBLE, H5Screate_simple(2, extent, nullptr), list);
      },
      "dataset /geometry has 2 axes (none is expected); write it in that shape");
  check([&](hid_t file) { add_set(file, H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), list); },
        "dataset /geometry holds no text (a string is expected); write one to it");
  check([&](hid_t file) { add_set(file, text_of_size(9), H5Screate(H5S_NULL), nullptr); },
        "dataset /geometry is empty (its shape is null); write values to it");
  check([&](hid_t file) { add_set(file, text_of_size(9), H5Screate(H5S_SCALAR), nullptr); },
        "dataset /geometry claims one value of 9 bytes (0 bytes of them are stored); fetch or "
        "write it again");
  // Texts of no length.
  check([&](hid_t file) { add_set(file, text_of_size(1), H5Screate(H5S_SCALAR), "\0"); }, "");
  char const* const nothing = "";
  check(
      [&](hid_t file) {
        add_set(file, text_of_size(H5T_VARIABLE), H5Screate(H5S_SCALAR),
                static_cast<void const*>(&nothing));
      },
      "");
}

TEST_CASE("stacks that are cut, damaged or something else are refused") {
  scratch_folder const folder;
  files::prepare_stack(folder / "p.h5", small_stack<float>()).commit();
  auto const bytes = get(folder / "p.h5");
  for (std::size_t const length :
       {bytes.size() - 1, bytes.size() / 2, std::size_t(7), std::size_t(0)}) {
    CAPTURE(length);
    put(folder / "cut.h5", bytes.substr(0, length));
    CHECK(names(refusal([&] { files::read_stack<float>(folder / "cut.h5"); }),
                {"cut.h5", length < 8 ? "not an HDF5 file" : "truncated"}));
  }
  CHECK(names(refusal([&] { files::read_stack<float>(folder / "none.h5"); }),
              {"none.h5", "no such file"}));
  auto stack = small_stack<float>();
  stack.values[(1 * 3 + 2) * 4 + 1] = std::numeric_limits<float>::quiet_NaN();
  files::prepare_stack(folder / "nan.h5", stack).commit();
  CHECK(names(refusal([&] { files::read_stack<float>(folder / "nan.h5"); }),
              {"view 1, u 2, v 1", "finite"}));
  // A mask hides it, and what else it is 0 for.
  std::vector<float> mask(stack.values.size(), 0.5F);
  mask[0] = 0;
  auto const masked = [&] {
    return files::read_stack<float>(folder / "nan.h5", files::stack_geometry::leave, mask);
  };
  CHECK(names(refusal([&] { masked(); }), {"view 1, u 2, v 1", "finite"}));
  mask[(1 * 3 + 2) * 4 + 1] = 0;
  auto expected = small_stack<float>().values;
  expected[0] = 0;
  expected[(1 * 3 + 2) * 4 + 1] = 0;
  CHECK(masked().values == expected);
  mask.pop_back();
  CHECK(names(refusal([&] { masked(); }), {"view 1, u 2, v 1", "finite"}));
}

TEST_CASE("a killed writer leaves the old file whole") {
  scratch_folder const folder;
  auto const target = folder / "text.json";
  files::prepare_text(target, "old").commit();
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    files::atomic_file file(target);
    put(file.temporary(), "half of the ne");
    ::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(get(target) == "old");
  CHECK(files_in(folder.path()) == 2);  // the half file stays under its own name
  files::prepare_text(target, "new").commit();
  CHECK(get(target) == "new");
}

TEST_CASE("a writer that fails leaves the old file and no other") {
  scratch_folder const folder;
  auto const target = folder / "text.json";
  files::prepare_text(target, "old").commit();
  {
    files::atomic_file file(target);
    put(file.temporary(), "new");
  }
  CHECK(get(target) == "old");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a folder that is not there, and one in the file's place") {
  scratch_folder const folder;
  CHECK(names(refusal([&] { files::prepare_text(folder / "no/such.json", "").commit(); }),
              {"such.json", "folder"}));
  CHECK(names(refusal([&] { files::prepare_text(folder.path(), "").commit(); }), {"is a folder"}));
}

TEST_CASE("pictures have the size and depth asked for") {
  scratch_folder const folder;
  files::gray_image const image{3, 2, {0, 1, 2, 3, 4, 5}};
  auto const window = files::full_window(image);
  CHECK(window.black == 0);
  CHECK(window.white == 5);
  auto const check = [&](files::png_depth depth, auto white) {
    files::prepare_png(folder / "p.png", image, window, depth).commit();
    auto const io = itk::PNGImageIO::New();
    io->SetFileName((folder / "p.png").string());
    io->ReadImageInformation();
    REQUIRE(io->GetDimensions(0) == 3);
    REQUIRE(io->GetDimensions(1) == 2);
    CHECK(io->GetNumberOfComponents() == 1);
    REQUIRE(io->GetComponentSize() == sizeof white);
    std::vector<decltype(white)> pixels(6);
    io->SetIORegion(itk::ImageIORegion(2));
    io->Read(pixels.data());
    for (std::size_t pixel = 0; pixel < 6; ++pixel) {
      CHECK(unsigned(pixels[pixel]) == unsigned(pixel) * white / 5);
    }
  };
  check(files::png_depth::bits8, std::uint8_t(255));
  check(files::png_depth::bits16, std::uint16_t(65535));
  CHECK(names(refusal([&] { files::prepare_png(folder / "p.jpg", image, window).commit(); }),
              {"p.jpg", ".png"}));
  CHECK(names(refusal([&] { files::prepare_png(folder / "e.png", {2, 2, {1}}, window).commit(); }),
              {"e.png", "2 x 2"}));
}

TEST_CASE("pictures in colours have the pixels that were given") {
  scratch_folder const folder;
  files::rgb_image const image{
      2, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 20, 30, 40, 50, 160, 170, 180, 190}};
  files::prepare_png(folder / "c.png", image).commit();
  auto const io = itk::PNGImageIO::New();
  io->SetFileName((folder / "c.png").string());
  io->ReadImageInformation();
  REQUIRE(io->GetDimensions(0) == 2);
  REQUIRE(io->GetDimensions(1) == 3);
  REQUIRE(io->GetNumberOfComponents() == 3);
  std::vector<std::uint8_t> pixels(18);
  io->SetIORegion(itk::ImageIORegion(2));
  io->Read(pixels.data());
  CHECK(pixels == image.values);
  CHECK(names(refusal([&] { files::prepare_png(folder / "e.png", {2, 3, {1}}).commit(); }),
              {"e.png", "2 x 3"}));
}

TEST_CASE("links lead to the file that is replaced; pipes are written straight") {
  scratch_folder const folder;
  std::filesystem::create_directory(folder / "there");
  put(folder / "there/file.txt", "old");
  std::filesystem::create_symlink("there/file.txt", folder / "near.txt");
  std::filesystem::create_symlink(folder / "near.txt", folder / "far.txt");
  std::filesystem::create_symlink("there/new.txt", folder / "hanging.txt");
  files::prepare_text(folder / "far.txt", "new").commit();
  files::prepare_text(folder / "hanging.txt", "made").commit();
  CHECK(get(folder / "there/file.txt") == "new");
  CHECK(get(folder / "there/new.txt") == "made");
  for (auto const* link : {"near.txt", "far.txt", "hanging.txt"}) {
    CHECK(std::filesystem::is_symlink(folder / link));
  }
  std::filesystem::create_symlink("round.txt", folder / "round.txt");
  CHECK(names(refusal([&] { files::prepare_text(folder / "round.txt", "x").commit(); }),
              {"round.txt", "symbolic link"}));

  auto const pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::string const text(200000, 'x');  // more than a pipe holds
  std::string got;
  std::thread reader([&] { got = get(pipe); });
  files::prepare_text(pipe, text).commit();
  reader.join();
  CHECK(got == text);
  CHECK(std::filesystem::is_fifo(pipe));
  CHECK(files_in(folder.path()) == 6);
}

TEST_CASE("a descriptor gets what is written after what it got before") {
  scratch_folder const folder;
  put(folder / "log.txt", "");
  int const descriptor = ::open((folder / "log.txt").c_str(), O_WRONLY);
  REQUIRE(::write(descriptor, "one ", 4) == 4);
  files::prepare_text("/dev/fd/" + std::to_string(descriptor), "two ").commit();
  REQUIRE(::write(descriptor, "three", 5) == 5);
  ::close(descriptor);
  CHECK(get(folder / "log.txt") == "one two three");
  CHECK(files_in(folder.path()) == 1);
}

TEST_CASE("a stack whose extents multiply to 2^128 is refused") {
  scratch_folder const folder;
  auto const path = folder / "wide.h5";
  files::prepare_stack(path, small_stack<float>()).commit();
  hid_t const file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "projections", H5P_DEFAULT);
  hsize_t const extent[3] = {hsize_t(1) << 43, hsize_t(1) << 43, hsize_t(1) << 42};
  hsize_t const chunk[3] = {1, 1, 1024};
  hid_t const creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 3, chunk);
  hid_t const space = H5Screate_simple(3, extent, nullptr);
  hid_t const set =
      H5Dcreate2(file, "projections", H5T_IEEE_F32LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  REQUIRE(set >= 0);
  H5Dclose(set);
  H5Sclose(space);
  H5Pclose(creation);
  H5Fclose(file);
  CHECK(names(refusal([&] { files::read_stack<float>(path); }), {"wide.h5", "8796093022208"}));
}

TEST_CASE("what a device does not take is said, and the device stays") {
  if (!std::filesystem::is_character_file("/dev/full")) {
    iso::test::not_run("writing to a full device (/dev/full is not there); mount one");
    return;
  }
  CHECK(names(refusal([] { files::prepare_text("/dev/full", "text").commit(); }),
              {"/dev/full", "space"}));
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("a file that does not fit, or was cut short, never replaces an old one") {
  scratch_folder const folder;
  auto const target = folder / "old.txt";
  files::prepare_text(target, "old").commit();
  CHECK(names(refusal([&] { files::atomic_file const file(target, std::uintmax_t(1) << 62); }),
              {"old.txt", "free in its folder", "make room"}));
  CHECK(names(refusal([&] {
                files::atomic_file const file(target, 10);
                file.check_written(10);
              }),
              {"old.txt", "cut short", "0 of 10"}));
  CHECK(get(target) == "old");
}
