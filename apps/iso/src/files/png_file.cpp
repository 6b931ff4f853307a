// SPDX-License-Identifier: BSD-3-Clause
#include "image_header.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <itkPNGImageIO.h>

#include <algorithm>
#include <cmath>
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

/// What a PNG may take beyond its pixels.
constexpr std::uintmax_t most_overhead = 65536;

template <class Level>
void write_levels(std::filesystem::path const& path, gray_image const& image,
                  std::vector<Level> const& pixels) {
  atomic_file file(path, pixels.size() * sizeof(Level) + most_overhead);
  try {
    auto const io = itk::PNGImageIO::New();
    io->SetNumberOfDimensions(2);
    itk::ImageIORegion region(2);
    std::int64_t const extent[2] = {image.width, image.height};
    for (unsigned axis = 0; axis < 2; ++axis) {
      io->SetDimensions(axis, itk::SizeValueType(extent[axis]));
      region.SetSize(axis, itk::SizeValueType(extent[axis]));
    }
    io->SetIORegion(region);
    io->SetPixelType(itk::CommonEnums::IOPixel::SCALAR);
    io->SetComponentType(sizeof(Level) == 1 ? itk::CommonEnums::IOComponent::UCHAR
                                            : itk::CommonEnums::IOComponent::USHORT);
    io->SetNumberOfComponents(1);
    io->SetFileName(file.temporary().string());
    io->Write(pixels.data());
  } catch (itk::ExceptionObject const& failure) {
    detail::refuse(path, fmt::format("cannot be written ({})", one_line(failure.GetDescription())));
  }
  file.commit();
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

void write_png(std::filesystem::path const& path, gray_image const& image, gray_window window,
               png_depth depth) {
  if (detail::ending(path) != ".png") {
    detail::refuse(path, "does not end in .png (pictures are PNG) name it so");
  }
  if (image.width < 1 || image.height < 1 ||
      std::int64_t(image.values.size()) != image.width * image.height) {
    detail::refuse(path, fmt::format("a picture of {} x {} pixels from {} values cannot be written",
                                     image.width, image.height, image.values.size()));
  }
  if (depth == png_depth::bits8) {
    write_levels(path, image, levels<std::uint8_t>(image, window));
  } else {
    write_levels(path, image, levels<std::uint16_t>(image, window));
  }
}

}  // namespace iso::files
