// SPDX-License-Identifier: BSD-3-Clause
//! Wraps ITK's readers and writers with our sentences.
#pragma once

#include "captured_output.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <itkImageIOBase.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace iso::files::detail {

/// Returns why ITK could not do what `what` says ("read", "written"), of its own description.
inline std::string reason_of(std::string_view what, std::string_view description) {
  auto reason = one_line(description);
  auto const object = reason.find("): ");  // "ITK ERROR: NrrdImageIO(0x55fe5c7be6f0): "
  reason.erase(0, object == std::string::npos ? 0 : object + 3);
  // "File cannot be read: ... Reason: ", and whatever error the C library met last, if any.
  constexpr std::string_view label = "Reason:";
  auto const why = reason.find(label);
  if (!reason.starts_with("File cannot be") || why == std::string::npos) {
    return reason;
  }
  if (what != "written") {
    return "ITK does not understand its header: a field is missing, out of order or no number";
  }
  auto const begin = reason.find_first_not_of(' ', why + label.size());
  auto const said = begin == std::string::npos ? std::string() : reason.substr(begin);
  return said.empty() || said.starts_with("Success") ? "ITK does not say why: its disk may be full"
                                                     : said;
}

/// Runs `step`, which calls ITK; its exceptions become ours, naming the file. What it prints is
/// dropped: our sentence stands alone.
template <class Step>
void guarded(std::filesystem::path const& path, char const* what, Step&& step) {
  captured_output const dropped;
  try {
    step();
  } catch (itk::ExceptionObject const& failure) {
    refuse(path,
           fmt::format("cannot be {} ({}); {}", what, reason_of(what, failure.GetDescription()),
                       std::string_view(what) == "written"
                           ? "make room on its disk, or write another format"
                           : "fetch or write it again, or convert it"));
  }
}

/// Returns all of an image.
inline itk::ImageIORegion whole_region(itk::ImageIOBase const& io) {
  itk::ImageIORegion region(io.GetNumberOfDimensions());
  for (unsigned axis = 0; axis < io.GetNumberOfDimensions(); ++axis) {
    region.SetSize(axis, io.GetDimensions(axis));
  }
  return region;
}

/// The room for what is not the image in a file of one.
constexpr std::uintmax_t max_overhead = 65536;

/// Writes the image that `io` describes, for `path`, under the temporary name of `file`.
inline void write_image(std::filesystem::path const& path, atomic_file const& file,
                        itk::ImageIOBase& io, void const* pixels) {
  itk::Object::SetGlobalWarningDisplay(false);
  guarded(path, "written", [&] {
    io.SetIORegion(whole_region(io));
    io.SetFileName(file.temporary().string());
    io.Write(pixels);
  });
}

}  // namespace iso::files::detail
