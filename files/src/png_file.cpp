// SPDX-License-Identifier: BSD-3-Clause
#include "image_io.hpp"

#include <iso/files/png_file.hpp>
#include <iso/files/text.hpp>

#include <fcntl.h>
#include <fmt/core.h>
#include <itkPNGImageIO.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace iso::files {
namespace {

template <class Level>
std::vector<Level> levels(gray_image const& image, gray_window window) {
  double const most = std::numeric_limits<Level>::max();
  double const width = window.white - window.black;
  std::vector<Level> result(image.values.size());
  std::transform(image.values.begin(), image.values.end(), result.begin(), [&](float value) {
    double const part = width > 0 ? (double(value) - window.black) / width : 0;
    return Level(part > 0 ? std::lround(std::min(part, 1.0) * most) : 0);
  });
  return result;
}

// ITK's writer of PNG crashes where the disk is full: a file of that length is tried first.
void take_room(std::filesystem::path const& path, atomic_file const& file, std::uintmax_t bytes) {
  int const descriptor = ::open(file.temporary().c_str(), O_WRONLY | O_CLOEXEC);
  int const failure = ::posix_fallocate(descriptor, 0, off_t(bytes));
  ::close(descriptor);
  if (failure != 0) {
    detail::refuse(
        path, fmt::format("cannot be written ({}); make room on its disk", std::strerror(failure)));
  }
}

template <class Level>
atomic_file written(std::filesystem::path const& path, std::int64_t width, std::int64_t height,
                    std::vector<Level> const& pixels) {
  bool const gray = std::int64_t(pixels.size()) == width * height;
  auto const io = itk::PNGImageIO::New();
  io->SetNumberOfDimensions(2);
  io->SetDimensions(0, itk::SizeValueType(width));
  io->SetDimensions(1, itk::SizeValueType(height));
  io->SetPixelType(gray ? itk::CommonEnums::IOPixel::SCALAR : itk::CommonEnums::IOPixel::RGB);
  io->SetNumberOfComponents(gray ? 1 : 3);
  io->SetComponentType(sizeof(Level) == 1 ? itk::CommonEnums::IOComponent::UCHAR
                                          : itk::CommonEnums::IOComponent::USHORT);
  auto const room = pixels.size() * sizeof(Level) + detail::max_overhead;
  atomic_file file(path, room);
  take_room(path, file, room);
  detail::write_image(path, file, *io, pixels.data());
  return file;
}

void check_size(std::filesystem::path const& path, std::int64_t width, std::int64_t height,
                std::size_t values, std::int64_t channels) {
  if (ending(path) != ".png") {
    detail::refuse(path, "does not end in .png (pictures are PNG); name it NAME.png");
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (width < 1 || height < 1 || width > most || height > most ||
      std::int64_t(values) != width * height * channels) {
    detail::refuse(
        path, fmt::format("a picture of {} x {} pixels from {} values cannot be written (their "
                          "numbers disagree, or are none or too many); give a value for each pixel",
                          width, height, values));
  }
}

}  // namespace

gray_window full_window(gray_image const& image) {
  gray_window window{std::numeric_limits<double>::infinity(),
                     -std::numeric_limits<double>::infinity()};
  for (float const value : image.values) {
    if (std::isfinite(value)) {
      window.black = std::min(window.black, double(value));
      window.white = std::max(window.white, double(value));
    }
  }
  return window.black <= window.white ? window : gray_window{};
}

gray_window percentile_window(std::vector<float> values, double low, double high) {
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) {
    return {};
  }
  auto const at = [&](double part) {
    auto const place = std::ptrdiff_t(std::lround(part * double(values.size() - 1)));
    std::nth_element(values.begin(), values.begin() + place, values.end());
    return double(values[std::size_t(place)]);
  };
  return {at(low), at(high)};
}

atomic_file prepare_png(std::filesystem::path const& path, gray_image const& image,
                        gray_window window, png_depth depth) {
  check_size(path, image.width, image.height, image.values.size(), 1);
  return depth == png_depth::bits8
             ? written(path, image.width, image.height, levels<std::uint8_t>(image, window))
             : written(path, image.width, image.height, levels<std::uint16_t>(image, window));
}

atomic_file prepare_png(std::filesystem::path const& path, rgb_image const& image) {
  check_size(path, image.width, image.height, image.values.size(), 3);
  return written(path, image.width, image.height, image.values);
}

}  // namespace iso::files
