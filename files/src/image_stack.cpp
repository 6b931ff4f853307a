// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "memory.hpp"
#include "regular.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

// ---- names -------------------------------------------------------------------------------------

bool is_tiff(fs::path const& path) {
  auto const end = ending(path);
  return end == ".tif" || end == ".tiff";
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name cut at its last number.
struct numbered_name {
  std::string before;
  std::string digits;
  std::string after;
};

numbered_name cut(std::string const& name) {
  auto const stem = name.substr(0, name.rfind('.'));
  auto const last = std::find_if(stem.rbegin(), stem.rend(), is_digit);
  auto const first = std::find_if_not(last, stem.rend(), is_digit);
  auto const begin = std::size_t(std::distance(first, stem.rend()));
  auto const end = std::size_t(std::distance(last, stem.rend()));
  return {name.substr(0, begin), name.substr(begin, end - begin), name.substr(end)};
}

std::vector<fs::path> entries(fs::path const& folder,
                              std::function<bool(std::string const&)> const& wanted) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    auto const name = at->path().filename().string();
    if (!name.starts_with('.') && at->is_regular_file(failure) && wanted(name)) {
      files.push_back(at->path());
    }
  }
  if (failure) {
    refuse(folder, fmt::format("cannot be listed ({})", failure.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<fs::path> in_order(fs::path const& name, std::vector<fs::path> const& files) {
  if (files.size() == 1) {
    return files;
  }
  auto const first = cut(files.front().filename().string());
  std::map<std::uint64_t, fs::path> numbered;
  for (auto const& file : files) {
    auto const parts = cut(file.filename().string());
    if (parts.before != first.before || parts.after != first.after) {
      refuse(name, fmt::format("'{}' and '{}' are of two series (one is expected) name one, with a "
                               "* for the number",
                               files.front().filename().string(), file.filename().string()));
    }
    if (parts.digits.empty() || parts.digits.size() > 18) {
      refuse(name,
             fmt::format("'{}' has no number of at most 18 digits (images of a series are put "
                         "in order by it)",
                         file.filename().string()));
    }
    auto const [at, is_new] = numbered.emplace(std::stoull(parts.digits), file);
    if (!is_new) {
      refuse(name, fmt::format("'{}' and '{}' have the same number", at->second.filename().string(),
                               file.filename().string()));
    }
  }
  std::vector<fs::path> result;
  auto const begin = numbered.begin()->first;
  for (auto const& [number, file] : numbered) {
    auto const expected = begin + result.size();
    if (number != expected) {
      refuse(name,
             fmt::format("image {} of the series is missing (between '{}' and '{}')", expected,
                         result.back().filename().string(), file.filename().string()));
    }
    result.push_back(file);
  }
  return result;
}

// ---- TIFF --------------------------------------------------------------------------------------

thread_local std::string tiff_problem;

extern "C" void keep_tiff_problem(char const*, char const* format, std::va_list arguments) {
  char text[256];
  static_cast<void>(std::vsnprintf(text, sizeof text, format, arguments));
  if (tiff_problem.empty()) {
    tiff_problem = text;
  }
}

/// libtiff's messages are kept instead of printed while this lives.
class quiet_tiff {
 public:
  quiet_tiff()
      : errors_(TIFFSetErrorHandler(keep_tiff_problem)), warnings_(TIFFSetWarningHandler(nullptr)) {
    tiff_problem.clear();
  }
  quiet_tiff(quiet_tiff const&) = delete;
  quiet_tiff& operator=(quiet_tiff const&) = delete;
  ~quiet_tiff() {
    TIFFSetErrorHandler(errors_);
    TIFFSetWarningHandler(warnings_);
  }

 private:
  TIFFErrorHandler errors_;
  TIFFErrorHandler warnings_;
};

using tiff_handle = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

std::string said() { return tiff_problem.empty() ? "libtiff gives no reason" : tiff_problem; }

tiff_handle open_tiff(fs::path const& path) {
  detail::check_regular(path);
  tiff_handle file(TIFFOpen(path.c_str(), "r"), &TIFFClose);
  if (!file) {
    refuse(path, fmt::format("is not a TIFF file, or damaged ({})", one_line(said())));
  }
  return file;
}

struct image_facts {
  std::array<std::int64_t, 2> pixels{};
  pixel_type stored = pixel_type::uint16;
};

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

image_facts facts_of(fs::path const& path, TIFF* file) {
  auto const bits = field<std::uint16_t>(file, TIFFTAG_BITSPERSAMPLE);
  auto const format = field<std::uint16_t>(file, TIFFTAG_SAMPLEFORMAT);
  auto const channels = field<std::uint16_t>(file, TIFFTAG_SAMPLESPERPIXEL);
  auto const type = type_of(bits, format);
  if (channels != 1) {
    refuse(path, fmt::format("has {} channels (images of one channel are read)", channels));
  }
  if (!type) {
    char const* const kind = format == SAMPLEFORMAT_INT      ? "signed integers"
                             : format == SAMPLEFORMAT_IEEEFP ? "floating-point numbers"
                             : format == SAMPLEFORMAT_UINT   ? "unsigned integers"
                                                             : "numbers of unknown kind";
    refuse(path, fmt::format("stores {} of {} bits (8 or 16 bits unsigned, 32 or 64 bits "
                             "floating point are read)",
                             kind, bits));
  }
  if (TIFFIsTiled(file) != 0) {
    refuse(path, "is stored in tiles (images in strips are read) write it without tiles");
  }
  if (auto const shown = field<std::uint16_t>(file, TIFFTAG_PHOTOMETRIC);
      shown != PHOTOMETRIC_MINISBLACK) {
    refuse(path,
           fmt::format("has photometric interpretation {} (1, zero is black, is read)", shown));
  }
  if (auto const turned = field<std::uint16_t>(file, TIFFTAG_ORIENTATION);
      turned != ORIENTATION_TOPLEFT) {
    refuse(path, fmt::format("has orientation {} (1, from the top left, is read)", turned));
  }
  std::int64_t const width = field<std::uint32_t>(file, TIFFTAG_IMAGEWIDTH);
  std::int64_t const height = field<std::uint32_t>(file, TIFFTAG_IMAGELENGTH);
  std::int64_t const most = std::int64_t(1) << 20;
  if (width < 1 || height < 1 || width > most || height > most) {
    refuse(path, fmt::format("has {} x {} pixels (1 to {} along either side are read)", width,
                             height, most));
  }
  return {{width, height}, *type};
}

void check_facts(fs::path const& path, image_facts const& got, image_facts const& wanted,
                 char const* whose) {
  if (got.pixels != wanted.pixels) {
    refuse(path, fmt::format("has {} x {} pixels ({} {} x {})", got.pixels[0], got.pixels[1], whose,
                             wanted.pixels[0], wanted.pixels[1]));
  }
}

void check_type(fs::path const& path, pixel_type got, pixel_type wanted) {
  if (got != wanted) {
    refuse(path, fmt::format("stores {} numbers (the images before it {}) write all images alike",
                             to_text(got), to_text(wanted)));
  }
}

/// Rows of T from a row's bytes, as float.
void put_row(std::byte const* row, pixel_type type, std::int64_t width, float* to) {
  auto const as = [&]<class T>(T) {
    for (std::int64_t x = 0; x < width; ++x) {
      T value;
      std::memcpy(&value, row + std::size_t(x) * sizeof(T), sizeof(T));
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

/// What all images of the series have, which the first one decides where the caller leaves it open.
class tiff_series {
 public:
  tiff_series(std::vector<fs::path> const& files, image_request const& request) : files_(files) {
    for (auto const& path : files) {
      auto const file = open_tiff(path);
      do {
        take(path, facts_of(path, file.get()), request);
      } while (TIFFReadDirectory(file.get()) == 1);
    }
  }

  [[nodiscard]] image_facts const& facts() const { return facts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Calls each(path, image) with every image, row by row from the top.
  template <class Each>
  void read(Each const& each) const {
    auto const [width, height] = facts_.pixels;
    std::vector<float> image(std::size_t(width * height));
    for (auto const& path : files_) {
      auto const file = open_tiff(path);
      do {
        // What has been checked may have been replaced meanwhile.
        auto const now = facts_of(path, file.get());
        check_facts(path, now, facts_, "a moment ago it had");
        check_type(path, now.stored, facts_.stored);
        read_image(path, file.get(), image);
        each(path, image);
      } while (TIFFReadDirectory(file.get()) == 1);
    }
  }

 private:
  void take(fs::path const& path, image_facts const& got, image_request const& request) {
    if (count_ == 0) {
      facts_ = got;
      if (request.pixels[0] > 0) {
        check_facts(path, got, {request.pixels, got.stored}, "the geometry's detector has");
      }
    }
    check_facts(path, got, facts_, "the images before it have");
    check_type(path, got.stored, facts_.stored);
    ++count_;
  }

  void read_image(fs::path const& path, TIFF* file, std::vector<float>& image) const {
    auto const [width, height] = facts_.pixels;
    // libtiff decides how long a row is in memory.
    std::vector<std::byte> row(std::max(std::size_t(TIFFScanlineSize64(file)),
                                        std::size_t(width * bytes_of(facts_.stored))));
    for (std::int64_t y = 0; y < height; ++y) {
      if (TIFFReadScanline(file, row.data(), std::uint32_t(y), 0) != 1) {
        refuse(path,
               fmt::format("is cut short or damaged (row {} of {}: {}) fetch or write it again", y,
                           height, one_line(said())));
      }
      put_row(row.data(), facts_.stored, width, image.data() + y * width);
    }
  }

  std::vector<fs::path> const& files_;
  image_facts facts_;
  std::int64_t count_ = 0;
};

// ---- raw ---------------------------------------------------------------------------------------

class raw_series {
 public:
  raw_series(std::vector<fs::path> const& files, image_request const& request)
      : files_(files), facts_{request.pixels, request.raw} {
    auto const [width, height] = facts_.pixels;
    auto const bytes = std::uint64_t(width * height * bytes_of(facts_.stored));
    for (auto const& path : files) {
      detail::check_regular(path);
      auto const held = std::uint64_t(fs::file_size(path));
      if (bytes == 0 || held == 0 || held % bytes != 0) {
        refuse(path, fmt::format("has {} bytes (not a whole number of raw images of {} x {} {} "
                                 "numbers, {} bytes each: cut short, or of another size)",
                                 held, width, height, to_text(facts_.stored), bytes));
      }
      count_ += std::int64_t(held / bytes);
    }
  }

  [[nodiscard]] image_facts const& facts() const { return facts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  template <class Each>
  void read(Each const& each) const {
    auto const [width, height] = facts_.pixels;
    std::vector<float> image(std::size_t(width * height));
    std::vector<std::byte> bytes(std::size_t(width * height * bytes_of(facts_.stored)));
    for (auto const& path : files_) {
      std::ifstream in(path, std::ios::binary);
      auto const images = fs::file_size(path) / bytes.size();
      for (std::uint64_t i = 0; i < images; ++i) {
        if (!in.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()))) {
          refuse(path, "is cut short (it cannot be read to its end)");
        }
        put_row(bytes.data(), facts_.stored, width * height, image.data());
        each(path, image);
      }
    }
  }

 private:
  std::vector<fs::path> const& files_;
  image_facts facts_;
  std::int64_t count_ = 0;
};

template <class Series>
image_stack read_series(fs::path const& name, Series const& series, image_request const& request) {
  auto const [width, height] = series.facts().pixels;
  if (request.count > 0 && series.count() != request.count) {
    refuse(name, fmt::format("has {} images (the geometry has {} views) {}", series.count(),
                             request.count,
                             series.count() < request.count ? "find those that are missing"
                                                            : "leave out those that are too many"));
  }
  image_stack stack{{series.count(), width, height}, series.facts().stored, {}};
  auto const image_size = width * height;
  detail::with_memory(
      name, fmt::format("its {} images of {} x {} pixels", series.count(), width, height),
      std::uint64_t(series.count() * image_size) * sizeof(float), [&] {
        stack.values.reserve(std::size_t(series.count() * image_size));
        series.read([&](fs::path const& path, std::vector<float> const& image) {
          if (auto const bad = detail::first_not_finite(image, {1, height, width})) {
            refuse(path,
                   fmt::format("pixel in row {}, column {} is {} (every value must be finite)",
                               bad->place[1], bad->place[2], bad->value));
          }
          auto const view = views_from_images<float, float>(image, 1, width, height);
          stack.values.insert(stack.values.end(), view.begin(), view.end());
        });
      });
  if (std::int64_t(stack.values.size()) != series.count() * image_size) {
    refuse(name, "changed while it was read (images came or went) read it again");
  }
  return stack;
}

template <class T>
void write_rows(fs::path const& path, TIFF* file, std::vector<T> image, std::int64_t width,
                std::int64_t height) {
  for (std::int64_t y = 0; y < height; ++y) {
    if (TIFFWriteScanline(file, image.data() + y * width, std::uint32_t(y), 0) != 1) {
      refuse(path, fmt::format("cannot be written ({})", one_line(said())));
    }
  }
  if (TIFFFlush(file) != 1) {
    refuse(path, fmt::format("cannot be written ({})", one_line(said())));
  }
}

}  // namespace

std::vector<fs::path> image_series(fs::path const& name) {
  auto const pattern = name.filename().string();
  std::error_code unknown;
  if (fs::is_directory(name, unknown)) {
    auto files = entries(name, [](std::string const& file) { return is_tiff(file); });
    if (files.empty()) {
      files = entries(name, [](std::string const& file) { return ending(file) == ".raw"; });
    }
    if (files.empty()) {
      refuse(name, "no images lie in this folder (.tif, .tiff or .raw are expected)");
    }
    return in_order(name, files);
  }
  auto const star = pattern.find('*');
  if (star == std::string::npos) {
    detail::check_regular(name);
    return {name};
  }
  auto const before = pattern.substr(0, star);
  auto const after = pattern.substr(star + 1);
  auto const folder = name.has_parent_path() ? name.parent_path() : fs::path(".");
  auto const files = entries(folder, [&](std::string const& file) {
    return file.size() > before.size() + after.size() && file.starts_with(before) &&
           file.ends_with(after) &&
           std::all_of(file.begin() + std::ptrdiff_t(before.size()),
                       file.end() - std::ptrdiff_t(after.size()), is_digit);
  });
  if (files.empty()) {
    refuse(name, "no file has such a name (a number is expected in place of the *)");
  }
  return in_order(name, files);
}

image_stack read_images(fs::path const& name, image_request const& request) {
  auto const files = image_series(name);
  if (is_tiff(files.front())) {
    quiet_tiff const quiet;
    return read_series(name, tiff_series(files, request), request);
  }
  return read_series(name, raw_series(files, request), request);
}

atomic_file prepare_tiff(fs::path const& path, std::span<float const> view, std::int64_t width,
                         std::int64_t height, pixel_type stored) {
  if (!is_tiff(path)) {
    refuse(path, "does not end in .tif or .tiff (the image is one) name it so");
  }
  bool const counts = stored == pixel_type::uint16;
  if ((!counts && stored != pixel_type::float32) || std::int64_t(view.size()) != width * height ||
      width < 1 || height < 1) {
    refuse(path, fmt::format("{} x {} {} pixels from {} values cannot be written", width, height,
                             to_text(stored), view.size()));
  }
  if (counts) {
    for (float const x : view) {
      if (!(x >= 0 && x <= 65535)) {
        refuse(path, fmt::format("a value is {} (16 bits hold 0 to 65535)", x));
      }
    }
  }
  quiet_tiff const quiet;
  atomic_file file(path, view.size() * std::size_t(bytes_of(stored)));
  {
    tiff_handle const out(TIFFOpen(file.temporary().c_str(), "w"), &TIFFClose);
    if (!out) {
      refuse(path, fmt::format("cannot be written ({})", one_line(said())));
    }
    TIFFSetField(out.get(), TIFFTAG_IMAGEWIDTH, std::uint32_t(width));
    TIFFSetField(out.get(), TIFFTAG_IMAGELENGTH, std::uint32_t(height));
    TIFFSetField(out.get(), TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(out.get(), TIFFTAG_BITSPERSAMPLE, int(8 * bytes_of(stored)));
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
  file.check_written(view.size() * std::size_t(bytes_of(stored)));
  return file;
}

}  // namespace iso::files
