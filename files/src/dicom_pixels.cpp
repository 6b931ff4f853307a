// SPDX-License-Identifier: BSD-3-Clause
// DCMTK decodes RLE and JPEG: GDCM, as distributions build it, ends the program at many damaged
// ones. GDCM decodes JPEG 2000, which DCMTK does not read, and JPEG-LS: DCMTK's decoder of it has
// the same names as the CharLS that GDCM links, and in one program one of the two calls the
// other's.
#include "dicom_slices.hpp"
#include "finite.hpp"

#include <iso/files/detail/refuse.hpp>

#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <fmt/core.h>
#include <gdcmImageReader.h>
#include <gdcmTrace.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;

/// Says why the pixels of a slice cannot be had; null where they can.
using failure = char const*;

template <class T>
failure rescale(T const* stored, slice const& s, float* to) {
  float_range range;
  for (std::size_t i = 0; i < std::size_t(s.columns * s.rows); ++i) {
    double const value = s.slope * double(stored[i]) + s.intercept;
    range.add(value);
    to[i] = float(value);
  }
  return range.is_kept() ? nullptr : "its rescaled values lie beyond those of a float";
}

// Bits of which the low ones count: the sign is the highest of these.
template <class T>
failure plain_pixels(T const* words, std::size_t found, pixel_bits const& bits, slice const& s,
                     float* to) {
  auto const pixels = std::size_t(s.columns * s.rows);
  if (words == nullptr || found < pixels) {
    return "it has fewer pixels than its header says";
  }
  if (found >= 2 * pixels) {
    return "it has more pixels than its header says";
  }
  auto const unused = unsigned(16 - bits.stored);
  std::vector<std::int32_t> stored(pixels);
  std::transform(words, words + pixels, stored.begin(), [&](T word) {
    auto const high = std::uint16_t(word << unused);
    return bits.is_signed ? std::int32_t(std::int16_t(high)) >> unused
                          : std::int32_t(high >> unused);
  });
  return rescale(stored.data(), s, to);
}

// Of what is not compressed, or is no longer.
failure plain_pixels(DcmDataset& set, fs::path const& folder, slice const& s, float* to) {
  auto const bits = bits_of(set, folder);  // decoders set them anew
  if (!is_known(bits) || count_of(set, DCM_SamplesPerPixel, folder).value_or(1) != 1) {
    return "its pixels are not one whole number of 8 to 16 bits each";
  }
  unsigned long found = 0;
  if (bits.allocated == 8) {
    Uint8 const* bytes = nullptr;
    static_cast<void>(set.findAndGetUint8Array(DCM_PixelData, bytes, &found));
    return plain_pixels(bytes, found, bits, s, to);
  }
  Uint16 const* words = nullptr;
  static_cast<void>(set.findAndGetUint16Array(DCM_PixelData, words, &found));
  return plain_pixels(words, found, bits, s, to);
}

failure decode(DcmDataset& set) {
  static bool const registered = [] {
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    return true;
  }();
  return registered && set.chooseRepresentation(EXS_LittleEndianExplicit, nullptr).good()
             ? nullptr
             : "its compressed pixels are damaged, or compressed in a way that is not read";
}

// The first bytes of compressed pixels; none where there are none.
std::string_view first_fragment(DcmDataset& set) {
  DcmElement* element = nullptr;
  if (set.findAndGetElement(DCM_PixelData, element).bad()) {
    return {};
  }
  auto* const pixels = dynamic_cast<DcmPixelData*>(element);
  if (pixels == nullptr) {
    return {};
  }
  E_TransferSyntax syntax = EXS_Unknown;
  DcmRepresentationParameter const* parameter = nullptr;
  pixels->getOriginalRepresentationKey(syntax, parameter);
  DcmPixelSequence* fragments = nullptr;
  DcmPixelItem* fragment = nullptr;
  Uint8* bytes = nullptr;
  if (pixels->getEncapsulatedRepresentation(syntax, parameter, fragments).bad() ||
      fragments == nullptr || fragments->getItem(fragment, 1).bad() || fragment == nullptr ||
      fragment->getUint8Array(bytes).bad() || bytes == nullptr) {
    return {};
  }
  return {reinterpret_cast<char const*>(bytes), fragment->getLength()};
}

std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    number = (number << 8U) | std::uint8_t(bytes[at + i]);
  }
  return number;
}

// The segment of sizes of a codestream (ISO/IEC 15444-1, A.5.1): memory is taken as it says.
failure check_codestream(std::string_view stream, slice const& s) {
  auto const start = stream.find("\xff\x4f\xff\x51");
  if (start == std::string_view::npos || stream.size() < start + 4 + 41) {
    return "its pixels are no stream of JPEG 2000";
  }
  auto const segment = stream.substr(start + 4);
  auto const pair = [&](std::size_t at) {
    return std::array<std::int64_t, 2>{number_at(segment, at, 4), number_at(segment, at + 4, 4)};
  };
  auto const end = pair(4);
  auto const begin = pair(12);
  auto const tile = pair(20);
  auto const first_tile = pair(28);
  std::array<std::int64_t, 2> const size{s.columns, s.rows};
  bool good = number_at(segment, 0, 2) == 41 && number_at(segment, 36, 2) == 1 &&
              int(number_at(segment, 38, 1) & 0x7fU) + 1 <= s.bits.allocated &&
              number_at(segment, 39, 2) == 0x0101U;
  std::int64_t tiles = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    good = good && end[axis] - begin[axis] == size[axis] && tile[axis] > 0 &&
           first_tile[axis] <= begin[axis] && first_tile[axis] + tile[axis] > begin[axis];
    tiles *= good ? (end[axis] - first_tile[axis] - 1) / tile[axis] + 1 : 1;
  }
  return good && tiles <= 65535 ? nullptr
                                : "its JPEG 2000 stream has another size than its header says";
}

// The frame header of JPEG-LS (ISO/IEC 14495-1, C.2.2), likewise.
failure check_frame(std::string_view stream, slice const& s) {
  auto const start = stream.find("\xff\xf7");
  if (start == std::string_view::npos || stream.size() < start + 2 + 8) {
    return "its pixels are no stream of JPEG-LS";
  }
  auto const frame = stream.substr(start + 2);
  bool const good = int(number_at(frame, 2, 1)) <= s.bits.allocated &&
                    std::int64_t(number_at(frame, 3, 2)) == s.rows &&
                    std::int64_t(number_at(frame, 5, 2)) == s.columns &&
                    number_at(frame, 7, 1) == 1;
  return good ? nullptr : "its JPEG-LS stream has another size than its header says";
}

bool is_jpeg_2000(E_TransferSyntax syntax) {
  return syntax == EXS_JPEG2000 || syntax == EXS_JPEG2000LosslessOnly;
}

bool is_jpeg_ls(E_TransferSyntax syntax) {
  return syntax == EXS_JPEGLSLossless || syntax == EXS_JPEGLSLossy;
}

failure unpacked_pixels(DcmDataset& set, slice const& s, float* to) {
  auto const stream = first_fragment(set);
  if (auto const why = is_jpeg_2000(set.getOriginalXfer()) ? check_codestream(stream, s)
                                                           : check_frame(stream, s)) {
    return why;
  }
  // GDCM prints what it meets on standard error.
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
  gdcm::ImageReader reader;
  reader.SetFileName(s.identity.file.c_str());
  if (!reader.Read()) {
    return "it is compressed in a way that GDCM does not know";
  }
  auto const& image = reader.GetImage();
  auto const& format = image.GetPixelFormat();
  auto const pixels = std::size_t(s.columns * s.rows);
  if (format.GetSamplesPerPixel() != 1 || image.GetDimension(0) != std::size_t(s.columns) ||
      image.GetDimension(1) != std::size_t(s.rows) ||
      image.GetBufferLength() < pixels * format.GetPixelSize()) {
    return "its pixels are not one number each";
  }
  std::vector<std::int32_t> aligned((image.GetBufferLength() + 3) / 4);  // for any of the types
  auto* const bytes = reinterpret_cast<char*>(aligned.data());
  if (!image.GetBuffer(bytes)) {
    return "its pixels do not unpack";
  }
  auto const as = [&]<class T>(T /*type*/) {
    return rescale(reinterpret_cast<T const*>(bytes), s, to);
  };
  switch (format.GetScalarType()) {
    case gdcm::PixelFormat::UINT8:
      return as(std::uint8_t());
    case gdcm::PixelFormat::INT8:
      return as(std::int8_t());
    case gdcm::PixelFormat::UINT12:
    case gdcm::PixelFormat::UINT16:
      return as(std::uint16_t());
    case gdcm::PixelFormat::INT12:
    case gdcm::PixelFormat::INT16:
      return as(std::int16_t());
    default:
      return "its pixels are not whole numbers of 8 to 16 bits";
  }
}

}  // namespace

pixel_bits bits_of(DcmItem& set, fs::path const& path) {
  return {count_of(set, DCM_BitsAllocated, path).value_or(0),
          count_of(set, DCM_BitsStored, path).value_or(0),
          count_of(set, DCM_HighBit, path).value_or(0),
          count_of(set, DCM_PixelRepresentation, path) == 1};
}

void read_pixels(fs::path const& folder, slice const& s, float* to) {
  failure why = "it has changed since its header was read";
  with_header(s.identity.file, [&](DcmDataset& set) {
    auto const syntax = set.getOriginalXfer();
    if (is_jpeg_2000(syntax) || is_jpeg_ls(syntax)) {
      why = unpacked_pixels(set, s, to);
      return;
    }
    why = DcmXfer(syntax).isEncapsulated() ? decode(set) : nullptr;
    why = why == nullptr ? plain_pixels(set, folder, s, to) : why;
  });
  if (why != nullptr) {
    refuse(
        folder,
        fmt::format("holds a slice at {} = {} mm that cannot be read ({}); fetch or write it again",
                    "xyz"[s.how.world[2]], s.position[s.how.world[2]], why));
  }
}

}  // namespace iso::files::detail
