// SPDX-License-Identifier: BSD-3-Clause
#include "tiff_image.hpp"

#include "regular.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <optional>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

thread_local std::string tiff_problem;

extern "C" void keep_tiff_problem(char const*, char const* format, std::va_list arguments) {
  char text[256];
  static_cast<void>(std::vsnprintf(text, sizeof text, format, arguments));
  if (tiff_problem.empty()) {
    tiff_problem = text;
  }
}

std::string said() { return tiff_problem.empty() ? "libtiff gives no reason" : tiff_problem; }

std::optional<pixel_type> type_of(unsigned bits, unsigned format) {
  bool const counts = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID;
  if (counts && bits == 8) {
    return pixel_type::uint8;
  }
  if (counts && bits == 16) {
    return pixel_type::uint16;
  }
  if (format == SAMPLEFORMAT_IEEEFP && bits == 32) {
    return pixel_type::float32;
  }
  if (format == SAMPLEFORMAT_IEEEFP && bits == 64) {
    return pixel_type::float64;
  }
  return std::nullopt;
}

template <class T>
T field(TIFF* file, ttag_t tag) {
  T value{};
  return TIFFGetFieldDefaulted(file, tag, &value) == 1 ? value : T{};
}

template <class T>
void write_rows(fs::path const& path, TIFF* file, std::vector<T> image, std::int64_t width,
                std::int64_t height) {
  for (std::int64_t y = 0; y < height; ++y) {
    if (TIFFWriteScanline(file, image.data() + y * width, std::uint32_t(y), 0) != 1) {
      refuse(path, fmt::format("cannot be written ({}); make room on its disk", one_line(said())));
    }
  }
  if (TIFFFlush(file) != 1) {
    refuse(path, fmt::format("cannot be written ({}); make room on its disk", one_line(said())));
  }
}

}  // namespace

namespace detail {

std::string to_text(pixel_type type) {
  switch (type) {
    case pixel_type::uint8:
      return "8-bit unsigned";
    case pixel_type::uint16:
      return "16-bit unsigned";
    case pixel_type::float32:
      return "32-bit float";
    default:
      return "64-bit float";
  }
}

std::int64_t bytes_of(pixel_type type) {
  switch (type) {
    case pixel_type::uint8:
      return 1;
    case pixel_type::uint16:
      return 2;
    case pixel_type::float32:
      return 4;
    default:
      return 8;
  }
}

void put_row(std::byte const* row, pixel_type type, std::int64_t width, float* to,
             float_range& range) {
  auto const as = [&]<class T>(T) {
    for (std::int64_t x = 0; x < width; ++x) {
      T value;
      std::memcpy(&value, row + std::size_t(x) * sizeof(T), sizeof(T));
      if constexpr (sizeof(T) > sizeof(float)) {
        range.add(std::isfinite(value) ? value : 0);
      }
      to[x] = float(value);
    }
  };
  switch (type) {
    case pixel_type::uint8:
      return as(std::uint8_t(0));
    case pixel_type::uint16:
      return as(std::uint16_t(0));
    case pixel_type::float32:
      return as(0.0F);
    default:
      return as(0.0);
  }
}

bool is_tiff(fs::path const& path) {
  auto const end = ending(path);
  return end == ".tif" || end == ".tiff";
}

quiet_tiff::quiet_tiff()
    : errors_(TIFFSetErrorHandler(keep_tiff_problem)), warnings_(TIFFSetWarningHandler(nullptr)) {
  tiff_problem.clear();
}

quiet_tiff::~quiet_tiff() {
  TIFFSetErrorHandler(errors_);
  TIFFSetWarningHandler(warnings_);
}

tiff_file::tiff_file(fs::path const& path) : path_(path), file_(nullptr, &TIFFClose) {
  check_regular(path);
  file_.reset(TIFFOpen(path.c_str(), "r"));
  if (!file_) {
    refuse(path, fmt::format("is not a TIFF file, or damaged ({}); fetch or write it again",
                             one_line(said())));
  }
}

image_facts tiff_file::facts() const {
  auto const bits = field<std::uint16_t>(file_.get(), TIFFTAG_BITSPERSAMPLE);
  auto const format = field<std::uint16_t>(file_.get(), TIFFTAG_SAMPLEFORMAT);
  auto const channels = field<std::uint16_t>(file_.get(), TIFFTAG_SAMPLESPERPIXEL);
  auto const type = type_of(bits, format);
  if (channels != 1) {
    refuse(path_,
           fmt::format("has {} channels (images of one channel are read); convert it to greyscale",
                       channels));
  }
  if (!type) {
    char const* const kind = format == SAMPLEFORMAT_INT      ? "signed integers"
                             : format == SAMPLEFORMAT_IEEEFP ? "floating-point numbers"
                             : format == SAMPLEFORMAT_UINT   ? "unsigned integers"
                                                             : "numbers of unknown kind";
    refuse(path_, fmt::format("stores {} of {} bits (8 or 16 bits unsigned, 32 or 64 bits floating "
                              "point are read); convert it to one of these",
                              kind, bits));
  }
  if (TIFFIsTiled(file_.get()) != 0) {
    refuse(path_, "is stored in tiles (images in strips are read); store it in strips");
  }
  if (auto const shown = field<std::uint16_t>(file_.get(), TIFFTAG_PHOTOMETRIC);
      shown != PHOTOMETRIC_MINISBLACK) {
    refuse(path_, fmt::format("has photometric interpretation {} (1, zero is black, is read); "
                              "convert it to greyscale with black 0",
                              shown));
  }
  if (auto const turned = field<std::uint16_t>(file_.get(), TIFFTAG_ORIENTATION);
      turned != ORIENTATION_TOPLEFT) {
    refuse(
        path_,
        fmt::format(
            "has orientation {} (1, from the top left, is read); store its rows from the top left",
            turned));
  }
  std::int64_t const width = field<std::uint32_t>(file_.get(), TIFFTAG_IMAGEWIDTH);
  std::int64_t const height = field<std::uint32_t>(file_.get(), TIFFTAG_IMAGELENGTH);
  std::int64_t const most = std::int64_t(1) << 20;
  if (width < 1 || height < 1 || width > most || height > most) {
    refuse(path_,
           fmt::format("has {} x {} pixels (1 to {} along either side are read); bin or crop it",
                       width, height, most));
  }
  return {{width, height}, *type};
}

void tiff_file::read(image_facts const& facts, std::vector<float>& image,
                     float_range& range) const {
  auto const [width, height] = facts.pixels;
  // libtiff decides how long a row is in memory.
  std::vector<std::byte> row(std::max(std::size_t(TIFFScanlineSize64(file_.get())),
                                      std::size_t(width * bytes_of(facts.stored))));
  for (std::int64_t y = 0; y < height; ++y) {
    if (TIFFReadScanline(file_.get(), row.data(), std::uint32_t(y), 0) != 1) {
      refuse(path_,
             fmt::format("is cut short or damaged (row {} of {}: {}); fetch or write it again", y,
                         height, one_line(said())));
    }
    put_row(row.data(), facts.stored, width, image.data() + y * width, range);
  }
}

bool tiff_file::next() { return TIFFReadDirectory(file_.get()) == 1; }

}  // namespace detail

atomic_file prepare_tiff(fs::path const& path, std::span<float const> view, std::int64_t width,
                         std::int64_t height, pixel_type stored) {
  if (!detail::is_tiff(path)) {
    refuse(path, "does not end in .tif or .tiff (the image is one); name it NAME.tif");
  }
  bool const counts = stored == pixel_type::uint16;
  if ((!counts && stored != pixel_type::float32) || std::int64_t(view.size()) != width * height ||
      width < 1 || height < 1) {
    refuse(path,
           fmt::format(
               "{} x {} {} pixels from {} values cannot be written (their numbers disagree, or the "
               "type is none to write); give a value for each pixel, as uint16 or float32",
               width, height, detail::to_text(stored), view.size()));
  }
  if (counts) {
    for (float const x : view) {
      if (!(x >= 0 && x <= 65535)) {
        refuse(
            path,
            fmt::format(
                "a value is {} (16 bits hold 0 to 65535); scale the image, or store it as float32",
                x));
      }
    }
  }
  detail::quiet_tiff const quiet;
  atomic_file file(path, view.size() * std::size_t(detail::bytes_of(stored)));
  {
    detail::tiff_handle const out(TIFFOpen(file.temporary().c_str(), "w"), &TIFFClose);
    if (!out) {
      refuse(path, fmt::format("cannot be written ({}); check that its folder exists and has room",
                               one_line(said())));
    }
    TIFFSetField(out.get(), TIFFTAG_IMAGEWIDTH, std::uint32_t(width));
    TIFFSetField(out.get(), TIFFTAG_IMAGELENGTH, std::uint32_t(height));
    TIFFSetField(out.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(out.get(), TIFFTAG_BITSPERSAMPLE, int(8 * detail::bytes_of(stored)));
    TIFFSetField(out.get(), TIFFTAG_SAMPLEFORMAT, counts ? SAMPLEFORMAT_UINT : SAMPLEFORMAT_IEEEFP);
    TIFFSetField(out.get(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(out.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
    TIFFSetField(out.get(), TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(out.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    TIFFSetField(out.get(), TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(out.get(), 0));
    auto const image = images_from_views<float, float>(view, 1, width, height);
    if (counts) {
      std::vector<std::uint16_t> levels(image.size());
      std::transform(image.begin(), image.end(), levels.begin(),
                     [](float x) { return std::uint16_t(std::lround(x)); });
      write_rows(path, out.get(), levels, width, height);
    } else {
      write_rows(path, out.get(), image, width, height);
    }
  }
  file.check_written(view.size() * std::size_t(detail::bytes_of(stored)));
  return file;
}

}  // namespace iso::files
