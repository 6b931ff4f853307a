// SPDX-License-Identifier: BSD-3-Clause
// Slices whose pixels are compressed: read as their plain twins, and refused where they are
// damaged.
#include "dicom_support.hpp"

#include <iso/files/dicom_series.hpp>

#include <doctest/doctest.h>
#include <gdcmImageChangeTransferSyntax.h>
#include <gdcmImageReader.h>
#include <gdcmImageWriter.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <utility>

namespace iso::test {
namespace {

namespace fs = std::filesystem;

/// 24 x 20 pixels of 8 bits, or of 16 of which 12 count.
dicom_elements slice_of(int bits, bool is_signed) {
  auto slice = ct_slice(3);
  int const stored = bits == 8 ? 8 : 12;
  slice[0x00280010] = us(20);
  slice[0x00280011] = us(24);
  slice[0x00280100] = us(bits);
  slice[0x00280101] = us(stored);
  slice[0x00280102] = us(stored - 1);
  slice[0x00280103] = us(is_signed ? 1 : 0);
  std::string pixels;
  for (int n = 0; n < 20 * 24; ++n) {
    int const value = (n * n / 7) % (1 << stored) - (is_signed ? 1 << (stored - 1) : 0);
    pixels += bytes_of_number(std::uint64_t(value), bits / 8);
  }
  slice[0x7fe00010] = {bits == 8 ? "OB" : "OW", pixels};
  return slice;
}

/// The same file with its pixels compressed by GDCM.
std::string compressed(fs::path const& plain, gdcm::TransferSyntax::TSType how) {
  gdcm::Trace::WarningOff();
  gdcm::ImageReader reader;
  reader.SetFileName(plain.c_str());
  REQUIRE(reader.Read());
  gdcm::ImageChangeTransferSyntax change;
  change.SetTransferSyntax(how);
  change.SetInput(reader.GetImage());
  REQUIRE(change.Change());
  auto const path = plain.parent_path() / "compressed";
  gdcm::ImageWriter writer;
  writer.SetFileName(path.c_str());
  writer.SetFile(reader.GetFile());
  writer.SetImage(change.GetOutput());
  REQUIRE(writer.Write());
  auto bytes = get(path);
  fs::remove(path);
  return bytes;
}

struct scheme {
  char const* name;
  gdcm::TransferSyntax::TSType syntax;
};

constexpr scheme rle{"RLE", gdcm::TransferSyntax::RLELossless};
constexpr scheme jpeg{"JPEG", gdcm::TransferSyntax::JPEGLosslessProcess14_1};
constexpr scheme jpeg_ls{"JPEG-LS", gdcm::TransferSyntax::JPEGLSLossless};
constexpr scheme jpeg_2000{"JPEG 2000", gdcm::TransferSyntax::JPEG2000Lossless};

/// A folder of one such slice.
class slice_folder {
 public:
  slice_folder(scheme const& how, int bits, bool is_signed) {
    put(scratch_ / "plain", dicom_file(slice_of(bits, is_signed)));
    fs::create_directory(folder());
    bytes_ = compressed(scratch_ / "plain", how.syntax);
    place(bytes_);
  }
  [[nodiscard]] fs::path folder() const { return scratch_ / "ct"; }
  [[nodiscard]] std::string const& bytes() const { return bytes_; }
  /// Where the bytes of the Pixel Data element begin, its tag's first.
  [[nodiscard]] std::size_t pixels() const {
    return bytes_.rfind(std::string("\xe0\x7f\x10\0", 4));
  }
  void place(std::string const& bytes) const { put(folder() / "slice", bytes); }
  [[nodiscard]] std::string said() const {
    return refusal([&] { files::read_dicom_series(folder()); });
  }

 private:
  scratch_folder scratch_;
  std::string bytes_;
};

}  // namespace

TEST_CASE("compressed slices have the values of their plain twins" *
          doctest::skip(!files::has_dicom)) {
  for (int const bits : {8, 16}) {
    for (bool const is_signed : {false, true}) {
      scratch_folder const scratch;
      auto const plain =
          files::read_dicom_series(series_folder(scratch, {slice_of(bits, is_signed)})).volume;
      CHECK(plain.values[0] == float(is_signed ? -0.5 * (bits == 8 ? 128 : 2048) - 1000 : -1000));
      for (auto const& how : {rle, jpeg, jpeg_ls, jpeg_2000}) {
        CAPTURE(std::string(how.name));
        CAPTURE(bits);
        CAPTURE(is_signed);
        slice_folder const one(how, bits, is_signed);
        CHECK(files::read_dicom_series(one.folder()).volume.values == plain.values);
      }
    }
  }
}

TEST_CASE("damaged compressed slices do not end the program" * doctest::skip(!files::has_dicom)) {
  {
    slice_folder const one(rle, 16, false);
    auto bytes = one.bytes();
    bytes[one.pixels() + 35] = char(0x80);
    one.place(bytes);
    CHECK(names(one.said(), {"z = 3 mm that cannot be read (its compressed pixels are damaged"}));
  }
  {
    slice_folder const one(jpeg_2000, 16, false);
    auto bytes = one.bytes();
    bytes[one.pixels() + 42] = char(0x33);
    one.place(bytes);
    CHECK(names(one.said(), {"its JPEG 2000 stream has another size than its header says"}));
  }
  for (auto const& how : {rle, jpeg}) {
    CAPTURE(std::string(how.name));
    slice_folder const one(how, 16, false);
    std::mt19937 random(45);
    int refused = 0;
    auto const first = one.pixels() + 28;  // after lengths and the table of offsets
    for (int i = 0; i < 200; ++i) {
      auto bytes = one.bytes();
      for (auto flips = 1 + random() % 3; flips > 0; --flips) {
        // Half of them in what the stream begins with.
        auto const room = random() % 2 == 0 ? std::size_t(64) : bytes.size() - first;
        bytes[first + random() % std::min(room, bytes.size() - first)] = char(random());
      }
      one.place(bytes);
      refused += one.said().empty() ? 0 : 1;
    }
    CHECK(refused > 10);
  }
  {
    slice_folder const one(jpeg_ls, 16, false);
    auto const frame = one.bytes().find("\xff\xf7", one.pixels());
    for (std::size_t at = 4; at < 10; ++at) {
      auto bytes = one.bytes();
      bytes[frame + at] = char(bytes[frame + at] ^ 0x41);
      one.place(bytes);
      CHECK(names(one.said(), {"its JPEG-LS stream has another size than its header says"}));
    }
  }
  // The size that the stream states, byte by byte: memory is taken as it says. A tile (from byte 52
  // to 59) may be larger than the image.
  slice_folder const one(jpeg_2000, 16, false);
  for (std::size_t at = 36; at < 70; ++at) {
    if (at >= 52 && at < 60) {
      continue;
    }
    CAPTURE(at);
    auto bytes = one.bytes();
    bytes[one.pixels() + at] = char(bytes[one.pixels() + at] ^ 0x41);
    one.place(bytes);
    CHECK_FALSE(one.said().empty());
  }
}

}  // namespace iso::test
