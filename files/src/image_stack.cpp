// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "memory.hpp"
#include "regular.hpp"
#include "tiff_image.hpp"

#include <iso/files/detail/refuse.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <span>
#include <utility>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::bytes_of;
using detail::image_facts;
using detail::is_tiff;
using detail::refuse;
using detail::to_text;

// ---- names -------------------------------------------------------------------------------------

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
    refuse(folder, fmt::format("cannot be listed ({}); check its permissions", failure.message()));
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
      refuse(name, fmt::format("'{}' and '{}' are of two series (one is expected); name one "
                               "series, with a * for the number",
                               files.front().filename().string(), file.filename().string()));
    }
    if (parts.digits.empty() || parts.digits.size() > 18) {
      refuse(name, fmt::format("'{}' has no number of at most 18 digits (images of a series are "
                               "put in order by it); number the images",
                               file.filename().string()));
    }
    auto const [at, is_new] = numbered.emplace(std::stoull(parts.digits), file);
    if (!is_new) {
      refuse(name, fmt::format("'{}' and '{}' have the same number (images of a series are put in "
                               "order by it); remove or rename one",
                               at->second.filename().string(), file.filename().string()));
    }
  }
  std::vector<fs::path> result;
  auto const begin = numbered.begin()->first;
  for (auto const& [number, file] : numbered) {
    auto const expected = begin + result.size();
    if (number != expected) {
      refuse(name,
             fmt::format("image {} of the series is missing (between '{}' and '{}'); find it, or "
                         "number the images anew",
                         expected, result.back().filename().string(), file.filename().string()));
    }
    result.push_back(file);
  }
  return result;
}

// ---- TIFF --------------------------------------------------------------------------------------

void check_facts(fs::path const& path, image_facts const& got, image_facts const& wanted,
                 char const* whose) {
  if (got.pixels != wanted.pixels) {
    refuse(path,
           fmt::format("has {} x {} pixels ({} {} x {}); bin or crop images to one size",
                       got.pixels[0], got.pixels[1], whose, wanted.pixels[0], wanted.pixels[1]));
  }
}

void check_type(fs::path const& path, pixel_type got, pixel_type wanted) {
  if (got != wanted) {
    refuse(path, fmt::format("stores {} numbers (the images before it {}); write all images alike",
                             to_text(got), to_text(wanted)));
  }
}

/// What all images of the series have, which the first one decides where the caller leaves it open.
class tiff_series {
 public:
  tiff_series(std::vector<fs::path> const& files, image_request const& request) : files_(files) {
    for (auto const& path : files) {
      detail::tiff_file file(path);
      do {
        take(path, file.facts(), request);
      } while (file.next());
    }
  }

  [[nodiscard]] image_facts const& facts() const { return facts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  /// Calls each(path, image) with every image, row by row from the top; it may change it.
  /// \param range  gets the doubles that the files store
  template <class Each>
  void read(detail::float_range& range, Each const& each) const {
    auto const [width, height] = facts_.pixels;
    std::vector<float> image(std::size_t(width * height));
    for (auto const& path : files_) {
      detail::read_unchanged(path, [&] {
        detail::tiff_file file(path);
        do {
          // What has been checked may have been replaced meanwhile.
          auto const now = file.facts();
          check_facts(path, now, facts_, "a moment ago it had");
          check_type(path, now.stored, facts_.stored);
          file.read(facts_, image, range);
          each(path, image);
        } while (file.next());
      });
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
        refuse(path,
               fmt::format(
                   "has {} bytes (not a whole number of raw images of {} x {} {} numbers, {} bytes "
                   "each: cut short, or of another size); check the size and type of its numbers",
                   held, width, height, to_text(facts_.stored), bytes));
      }
      count_ += std::int64_t(held / bytes);
    }
  }

  [[nodiscard]] image_facts const& facts() const { return facts_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

  template <class Each>
  void read(detail::float_range& range, Each const& each) const {
    std::int64_t const pixels = facts_.pixels[0] * facts_.pixels[1];
    std::vector<float> image((std::size_t(pixels)));
    std::vector<std::byte> bytes(std::size_t(pixels * bytes_of(facts_.stored)));
    for (auto const& path : files_) {
      detail::read_unchanged(path, [&] {
        std::ifstream in(path, std::ios::binary);
        auto const images = fs::file_size(path) / bytes.size();
        for (std::uint64_t i = 0; i < images; ++i) {
          if (!in.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size()))) {
            refuse(path, "is cut short (it cannot be read to its end); fetch or write it again");
          }
          detail::put_row(bytes.data(), facts_.stored, pixels, image.data(), range);
          each(path, image);
        }
      });
    }
  }

 private:
  std::vector<fs::path> const& files_;
  image_facts facts_;
  std::int64_t count_ = 0;
};

/// Sets the pixels of an image, row by row from the top, to 0 where its mask [u, v] is 0.
void hide(std::vector<float>& image, std::span<float const> mask, std::int64_t width,
          std::int64_t height) {
  for (std::int64_t u = 0; u < width; ++u) {
    for (std::int64_t v = 0; v < height; ++v) {
      float& pixel = image[std::size_t((height - 1 - v) * width + u)];
      pixel = mask[std::size_t(u * height + v)] == 0 ? 0.0F : pixel;
    }
  }
}

/// Reads the values of a series, and returns its other facts.
template <class Series, class To>
image_stack read_series(fs::path const& name, Series const& series, image_request const& request,
                        std::vector<To>& values) {
  std::int64_t const width = series.facts().pixels[0];
  std::int64_t const height = series.facts().pixels[1];
  if (request.count > 0 && series.count() != request.count) {
    refuse(name, fmt::format("has {} images (the geometry has {} views); {}", series.count(),
                             request.count,
                             series.count() < request.count ? "find those that are missing"
                                                            : "leave out those that are too many"));
  }
  auto const whole = std::size_t(series.count() * width * height);
  detail::with_memory(
      name, fmt::format("its {} images of {} x {} pixels", series.count(), width, height),
      std::uint64_t(whole) * sizeof(To), [&] {
        values.reserve(whole);
        detail::float_range range;
        series.read(range, [&](fs::path const& path, std::vector<float>& image) {
          auto const before = values.size();
          if (request.mask.size() == whole && before < whole) {
            hide(image, request.mask.subspan(before, image.size()), width, height);
          }
          if (auto const bad = detail::first_not_finite(image, {1, height, width})) {
            if (std::isinf(bad->value) && range.is_too_large()) {
              refuse(path, range.sentence());
            }
            refuse(path, fmt::format("pixel in row {}, column {} is {} (every value must be "
                                     "finite); replace it by a number",
                                     bad->place[1], bad->place[2], bad->value));
          }
          auto const view = views_from_images<To, float>(image, 1, width, height);
          values.insert(values.end(), view.begin(), view.end());
        });
        if (range.is_too_small()) {
          refuse(name, range.sentence());
        }
      });
  if (values.size() != whole) {
    refuse(name, "changed while it was read (images came or went); read it again");
  }
  return {{series.count(), width, height}, series.facts().stored, {}};
}

/// Calls f(series) with the series that `name` stands for.
template <class F>
auto with_series(fs::path const& name, image_request const& request, F const& f) {
  auto const files = image_series(name);
  if (is_tiff(files.front())) {
    detail::quiet_tiff const quiet;
    return f(tiff_series(files, request));
  }
  return f(raw_series(files, request));
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
      refuse(name,
             "no images lie in this folder (.tif, .tiff or .raw are expected); name the folder of "
             "the images");
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
    refuse(
        name,
        "no file has such a name (a number is expected in place of the *); check folder and name");
  }
  return in_order(name, files);
}

image_stack read_images(fs::path const& name, image_request const& request) {
  return with_series(name, request, [&](auto const& series) {
    std::vector<float> values;
    auto stack = read_series(name, series, request, values);
    stack.values = std::move(values);
    return stack;
  });
}

std::optional<stored_stack> read_stored_images(fs::path const& name, image_request const& request) {
  return with_series(name, request, [&](auto const& series) {
    std::optional<stored_stack> stack;
    auto const type = series.facts().stored;
    if (type == pixel_type::uint8 || type == pixel_type::uint16) {
      std::vector<std::uint16_t> values;
      auto const facts = read_series(name, series, request, values);
      stack = {facts.extent, std::move(values), 1, 0};
    }
    return stack;
  });
}

}  // namespace iso::files
