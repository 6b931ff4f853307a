// SPDX-License-Identifier: BSD-3-Clause
#include "dicom.hpp"
#include "memory.hpp"
#include "regular.hpp"

#include <iso/files/dicom_series.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>
#include <gdcmDataSet.h>
#include <gdcmImageReader.h>
#include <gdcmReader.h>
#include <gdcmSequenceOfItems.h>
#include <gdcmTrace.h>
#include <gdcmWriter.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using namespace detail;
using gdcm::Tag;

// GDCM prints what it meets on standard error, with the values of patients.
void be_silent() {
  gdcm::Trace::DebugOff();
  gdcm::Trace::WarningOff();
  gdcm::Trace::ErrorOff();
}

std::string text_of(gdcm::DataSet const& set, Tag tag) {
  auto const* const value =
      set.FindDataElement(tag) ? set.GetDataElement(tag).GetByteValue() : nullptr;
  return value == nullptr ? std::string()
                          : trimmed({value->GetPointer(), std::size_t(value->GetLength())});
}

std::vector<double> numbers_of(gdcm::DataSet const& set, Tag tag) {
  return decimal_numbers(text_of(set, tag));
}

double number_of(gdcm::DataSet const& set, Tag tag, double otherwise) {
  auto const numbers = numbers_of(set, tag);
  return numbers.empty() ? otherwise : numbers.front();
}

// Of an unsigned number of 16 bits.
std::int64_t count_of(gdcm::DataSet const& set, Tag tag) {
  auto const* const value =
      set.FindDataElement(tag) ? set.GetDataElement(tag).GetByteValue() : nullptr;
  std::uint16_t number = 0;
  if (value != nullptr && value->GetLength() >= 2) {
    std::memcpy(&number, value->GetPointer(), 2);
  }
  return number;
}

// A structure set names its frame in a sequence.
std::string frame_of(gdcm::DataSet const& set) {
  auto const own = uid_of(text_of(set, Tag(0x0020, 0x0052)));
  Tag const frames(0x3006, 0x0010);
  if (!own.empty() || !set.FindDataElement(frames)) {
    return own;
  }
  auto const sequence = set.GetDataElement(frames).GetValueAsSQ();
  return !sequence || sequence->GetNumberOfItems() == 0
             ? own
             : uid_of(text_of(sequence->GetItem(1).GetNestedDataSet(), Tag(0x0020, 0x0052)));
}

dicom_identity identity_of(gdcm::DataSet const& set, fs::path const& file) {
  return {code_of(text_of(set, Tag(0x0008, 0x0060))),
          uid_of(text_of(set, Tag(0x0008, 0x0016))),
          uid_of(text_of(set, Tag(0x0008, 0x0018))),
          uid_of(text_of(set, Tag(0x0020, 0x000e))),
          uid_of(text_of(set, Tag(0x0020, 0x000d))),
          frame_of(set),
          file};
}

/// What the header of a slice says.
struct slice {
  dicom_identity identity;
  std::int64_t columns = 0;
  std::int64_t rows = 0;
  std::vector<double> pixel;        ///< mm along y, along x
  std::vector<double> position;     ///< mm, of the first pixel
  std::vector<double> orientation;  ///< of rows and of columns
  double thickness = 0;             ///< mm; 0 where it is not said
  double tilt = 0;                  ///< degrees
  std::int64_t frames = 1;
  double slope = 1;
  double intercept = 0;
  std::string unit;              ///< of rescaled values
  std::string patient_position;  ///< "HFS"; may be empty
  bool is_localizer = false;
};

slice slice_of(gdcm::DataSet const& set, fs::path const& file) {
  slice s;
  s.identity = identity_of(set, file);
  s.columns = count_of(set, Tag(0x0028, 0x0011));
  s.rows = count_of(set, Tag(0x0028, 0x0010));
  s.pixel = numbers_of(set, Tag(0x0028, 0x0030));
  s.position = numbers_of(set, Tag(0x0020, 0x0032));
  s.orientation = numbers_of(set, Tag(0x0020, 0x0037));
  s.thickness = number_of(set, Tag(0x0018, 0x0050), 0);
  s.tilt = number_of(set, Tag(0x0018, 0x1120), 0);
  s.frames = std::int64_t(number_of(set, Tag(0x0028, 0x0008), 1));
  s.slope = number_of(set, Tag(0x0028, 0x1053), 1);
  s.intercept = number_of(set, Tag(0x0028, 0x1052), 0);
  s.unit = code_of(text_of(set, Tag(0x0028, 0x1054)));
  s.patient_position = code_of(text_of(set, Tag(0x0018, 0x5100)));
  s.is_localizer = text_of(set, Tag(0x0008, 0x0008)).find("LOCALIZER") != std::string::npos;
  return s;
}

// Whether the file has the mark of a DICOM file; some have none.
bool is_marked(fs::path const& file) {
  std::FILE* const stream = std::fopen(file.c_str(), "rb");
  std::array<char, 132> start{};
  bool const whole = stream != nullptr && std::fread(start.data(), 1, 132, stream) == 132;
  if (stream != nullptr) {
    static_cast<void>(std::fclose(stream));
  }
  return whole && std::string_view(start.data() + 128, 4) == "DICM";
}

/// Reads a file's header and gives it to `use`; returns whether it is DICOM.
template <class Use>
bool with_header(fs::path const& file, Use&& use) {
  be_silent();
  gdcm::Reader reader;
  reader.SetFileName(file.c_str());
  if (!reader.ReadUpToTag(Tag(0x7fe0, 0x0010))) {
    return false;
  }
  auto const& set = reader.GetFile().GetDataSet();
  if (text_of(set, Tag(0x0008, 0x0016)).empty()) {
    return false;
  }
  use(set);
  return true;
}

struct folder_content {
  std::vector<slice> slices;
  std::int64_t other_objects = 0;
};

folder_content headers_of(fs::path const& folder) {
  std::error_code failure;
  if (!fs::is_directory(folder, failure)) {
    refuse(folder, "is not a folder (a CT series is one, with a file for each slice)");
  }
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    std::error_code unknown;
    if (at->is_regular_file(unknown)) {
      files.push_back(at->path());
    }
  }
  if (failure) {
    refuse(folder, fmt::format("cannot be read ({})", failure.message()));
  }
  std::sort(files.begin(), files.end());
  folder_content content;
  for (auto const& file : files) {
    bool const is_dicom = with_header(file, [&](gdcm::DataSet const& set) {
      auto s = slice_of(set, file);
      auto const& m = s.identity.modality;
      if (m.empty() || m.starts_with("RT") || m == "REG" || m == "SR" || m == "PR") {
        ++content.other_objects;
        return;
      }
      if (m != "CT" || s.identity.sop_class != ct_image_class || s.frames != 1) {
        refuse(folder,
               fmt::format("holds {} of modality {}, series {} (only CT images of one frame "
                           "each are read) keep the CT series in a folder of its own",
                           s.frames > 1 ? "a file of several frames" : "an image", m,
                           s.identity.series));
      }
      if (s.identity.series.empty()) {
        refuse(folder,
               "holds a CT image that names no series (its header is cut short) fetch or "
               "write it again");
      }
      content.slices.push_back(std::move(s));
    });
    if (!is_dicom && is_marked(file)) {
      refuse(folder,
             "holds a DICOM file that is truncated or damaged (its header cannot be read) "
             "fetch or write it again");
    }
  }
  if (content.slices.empty()) {
    refuse(folder, fmt::format("holds no CT image ({})",
                               content.other_objects > 0
                                   ? "only other DICOM objects"
                                   : "a CT series is a folder with a DICOM file for each slice"));
  }
  return content;
}

void check_one_series(fs::path const& folder, std::vector<slice> const& slices) {
  std::set<std::string> series;
  for (auto const& s : slices) {
    series.insert(s.identity.series);
  }
  if (series.size() > 1) {
    refuse(folder, fmt::format("holds {} CT series, {} and {}{} (one is read) put each into a "
                               "folder of its own",
                               series.size(), *series.begin(), *std::next(series.begin()),
                               series.size() > 2 ? " among them" : ""));
  }
}

void check_slice(fs::path const& folder, slice const& s) {
  if (s.is_localizer) {
    refuse(folder, "holds a localizer among its CT images (it is no slice) remove it");
  }
  if (!s.patient_position.empty() && s.patient_position != "HFS") {
    refuse(folder,
           fmt::format("shows a patient in position {} (until others are handled, only HFS, "
                       "head first supine, is read)",
                       s.patient_position));
  }
  check_axial(folder, s.orientation);
  if (std::abs(s.tilt) > 1e-3) {
    refuse(folder, fmt::format("was scanned with the gantry tilted by {} degrees (its planes are "
                               "not perpendicular to z) resample it",
                               s.tilt));
  }
  if (s.position.size() != 3 || s.pixel.size() != 2 || s.columns < 1 || s.rows < 1) {
    refuse(folder,
           "holds an image without position, pixel spacing or size (a slice has all three)");
  }
  check_spacing(folder, s.pixel[0]);
  check_spacing(folder, s.pixel[1]);
  for (double const coordinate : s.position) {
    check_coordinate(folder, coordinate);
  }
  if (!s.unit.empty() && s.unit != "HU" && s.unit != "US") {
    refuse(folder, fmt::format("holds values in {} (Hounsfield units, HU, are expected)", s.unit));
  }
}

void check_alike(fs::path const& folder, slice const& first, slice const& s) {
  double const slack = 0.01;  // mm
  if (s.columns != first.columns || s.rows != first.rows ||
      std::abs(s.pixel[0] - first.pixel[0]) * double(s.rows) > slack ||
      std::abs(s.pixel[1] - first.pixel[1]) * double(s.columns) > slack) {
    refuse(folder, fmt::format("holds slices of {} x {} pixels of {} x {} mm and of {} x {} pixels "
                               "of {} x {} mm (all must be alike) resample them",
                               first.columns, first.rows, first.pixel[1], first.pixel[0], s.columns,
                               s.rows, s.pixel[1], s.pixel[0]));
  }
  if (std::abs(s.position[0] - first.position[0]) > slack ||
      std::abs(s.position[1] - first.position[1]) > slack) {
    refuse(folder, fmt::format("has slices that begin at ({}, {}) mm and at ({}, {}) mm (the stack "
                               "leans: a tilted gantry?) resample it",
                               first.position[0], first.position[1], s.position[0], s.position[1]));
  }
  if (s.identity.frame_of_reference != first.identity.frame_of_reference) {
    refuse(folder,
           "holds slices of several frames of reference (their positions cannot be "
           "compared) put each into a folder of its own");
  }
}

/// Ascending in z, with their grid.
std::pair<std::vector<slice>, dicom_series> ordered(fs::path const& folder) {
  auto content = headers_of(folder);
  auto& slices = content.slices;
  check_one_series(folder, slices);
  for (auto const& s : slices) {
    check_slice(folder, s);
  }
  std::sort(slices.begin(), slices.end(),
            [](slice const& a, slice const& b) { return a.position[2] < b.position[2]; });
  std::vector<double> heights;
  for (auto const& s : slices) {
    check_alike(folder, slices.front(), s);
    heights.push_back(s.position[2]);
  }
  auto const& first = slices.front();
  if (slices.size() == 1 && !(first.thickness > 0)) {
    refuse(folder, "holds one slice without a thickness (its voxels have no height)");
  }
  double const distance =
      slices.size() == 1 ? first.thickness : even_distance(folder, "slice", heights);
  check_spacing(folder, distance);
  dicom_series series;
  series.identity = first.identity;
  series.volume.extent = {first.columns, first.rows, std::int64_t(slices.size())};
  series.volume.spacing = {first.pixel[1], first.pixel[0], distance};
  series.volume.origin = {first.position[0], first.position[1], first.position[2]};
  series.volume.unit = "HU";
  series.other_objects = content.other_objects;
  return {std::move(slices), std::move(series)};
}

template <class T>
void rescale(std::vector<char> const& bytes, slice const& s, float* to) {
  for (std::size_t i = 0; i < std::size_t(s.columns * s.rows); ++i) {
    T stored{};
    std::memcpy(&stored, bytes.data() + i * sizeof(T), sizeof(T));
    to[i] = float(s.slope * double(stored) + s.intercept);
  }
}

void read_pixels(fs::path const& folder, slice const& s, float* to) {
  auto const failed = [&](char const* why) {
    refuse(
        folder,
        fmt::format("holds a slice at z = {} mm that cannot be read ({}) fetch or write it again",
                    s.position[2], why));
  };
  gdcm::ImageReader reader;
  reader.SetFileName(s.identity.file.c_str());
  if (!reader.Read()) {
    failed("it is truncated, damaged or compressed in a way that GDCM does not know");
  }
  auto const& image = reader.GetImage();
  auto const& format = image.GetPixelFormat();
  auto const pixels = std::size_t(s.columns * s.rows);
  if (format.GetSamplesPerPixel() != 1 || image.GetDimension(0) != std::size_t(s.columns) ||
      image.GetDimension(1) != std::size_t(s.rows)) {
    failed("its pixels are not one number each");
  }
  // GDCM fills up what plain pixels lack.
  auto const* const plain = image.GetDataElement().GetByteValue();
  if (image.GetBufferLength() < pixels * format.GetPixelSize() ||
      (plain != nullptr && plain->GetLength() < pixels * format.GetPixelSize())) {
    failed("it has fewer pixels than its header says");
  }
  std::vector<char> bytes(image.GetBufferLength());
  if (!image.GetBuffer(bytes.data())) {
    failed("its pixels do not unpack");
  }
  switch (format.GetScalarType()) {
    case gdcm::PixelFormat::UINT8:
      return rescale<std::uint8_t>(bytes, s, to);
    case gdcm::PixelFormat::INT8:
      return rescale<std::int8_t>(bytes, s, to);
    case gdcm::PixelFormat::UINT12:
    case gdcm::PixelFormat::UINT16:
      return rescale<std::uint16_t>(bytes, s, to);
    case gdcm::PixelFormat::INT12:
    case gdcm::PixelFormat::INT16:
      return rescale<std::int16_t>(bytes, s, to);
    case gdcm::PixelFormat::UINT32:
      return rescale<std::uint32_t>(bytes, s, to);
    case gdcm::PixelFormat::INT32:
      return rescale<std::int32_t>(bytes, s, to);
    default:
      failed("its pixels are not whole numbers of 8 to 32 bits");
  }
}

/// An element that every file of a series or a study has, and how it is written.
struct element {
  Tag tag;
  gdcm::VR::VRType representation;
};

// Patient and study, and the frame of reference: of `like`, or empty.
constexpr std::uint32_t study_tag = 0x0020000d;
constexpr std::uint32_t frame_tag = 0x00200052;
std::vector<element> const& inherited() {
  static std::vector<element> const all{
      {Tag(0x0008, 0x0005), gdcm::VR::CS},  // character set
      {Tag(0x0010, 0x0010), gdcm::VR::PN},  // patient: name, number, birth, sex
      {Tag(0x0010, 0x0020), gdcm::VR::LO},
      {Tag(0x0010, 0x0030), gdcm::VR::DA},
      {Tag(0x0010, 0x0040), gdcm::VR::CS},
      {Tag(study_tag), gdcm::VR::UI},  // study: date, time, number, who referred, id
      {Tag(0x0008, 0x0020), gdcm::VR::DA},
      {Tag(0x0008, 0x0030), gdcm::VR::TM},
      {Tag(0x0008, 0x0050), gdcm::VR::SH},
      {Tag(0x0008, 0x0090), gdcm::VR::PN},
      {Tag(0x0020, 0x0010), gdcm::VR::SH},
      {Tag(frame_tag), gdcm::VR::UI},
      {Tag(0x0020, 0x1040), gdcm::VR::LO}};  // position reference
  return all;
}

void put(gdcm::DataSet& set, Tag tag, gdcm::VR::VRType representation, std::string value) {
  if (value.size() % 2 != 0) {
    value.push_back(representation == gdcm::VR::UI ? '\0' : ' ');
  }
  gdcm::DataElement e(tag, 0, representation);
  e.SetByteValue(value.data(), std::uint32_t(value.size()));
  set.Replace(e);
}

void put(gdcm::DataSet& set, Tag tag, std::uint16_t number) {
  gdcm::DataElement e(tag, 0, gdcm::VR::US);
  e.SetByteValue(reinterpret_cast<char const*>(&number), 2);
  set.Replace(e);
}

// What all slices share, but for their UIDs.
gdcm::DataSet series_elements(host_volume const& v, fs::path const& like, std::string const& uid) {
  using vr = gdcm::VR;
  gdcm::DataSet set;
  for (auto const& e : inherited()) {
    put(set, e.tag, e.representation, "");
  }
  if (!like.empty()) {
    auto const identity = read_dicom_identity(like);
    with_header(identity.file, [&](gdcm::DataSet const& from) {
      for (auto const& e : inherited()) {
        put(set, e.tag, e.representation, text_of(from, e.tag));
      }
    });
    put(set, Tag(frame_tag), vr::UI, identity.frame_of_reference);
  }
  if (text_of(set, Tag(0x0008, 0x0005)).empty()) {
    put(set, Tag(0x0008, 0x0005), vr::CS, "ISO_IR 192");
  }
  for (auto const tag : {study_tag, frame_tag}) {
    if (text_of(set, Tag(tag)).empty()) {
      uid_maker maker;
      maker.add(uid);
      maker.add(tag == study_tag ? "study" : "frame of reference");
      put(set, Tag(tag), vr::UI, maker.uid());
    }
  }
  put(set, Tag(0x0008, 0x0008), vr::CS, "DERIVED\\SECONDARY\\AXIAL");
  put(set, Tag(0x0008, 0x0016), vr::UI, ct_image_class);
  put(set, Tag(0x0008, 0x0060), vr::CS, "CT");
  put(set, Tag(0x0008, 0x0070), vr::LO, "Isocenter");
  put(set, Tag(0x0008, 0x103e), vr::LO, "Isocenter");
  put(set, Tag(0x0018, 0x0050), vr::DS, decimal_string(v.spacing[2]));
  put(set, Tag(0x0018, 0x0060), vr::DS, "");  // tube voltage: not known
  put(set, Tag(0x0018, 0x5100), vr::CS, "HFS");
  put(set, Tag(0x0020, 0x000e), vr::UI, uid);
  put(set, Tag(0x0020, 0x0011), vr::IS, "");
  put(set, Tag(0x0020, 0x0012), vr::IS, "");
  put(set, Tag(0x0020, 0x0060), vr::CS, "");  // laterality: of no paired organ
  put(set, Tag(0x0020, 0x0037), vr::DS, "1\\0\\0\\0\\1\\0");
  put(set, Tag(0x0028, 0x0002), 1);
  put(set, Tag(0x0028, 0x0004), vr::CS, "MONOCHROME2");
  put(set, Tag(0x0028, 0x0010), std::uint16_t(v.extent[1]));
  put(set, Tag(0x0028, 0x0011), std::uint16_t(v.extent[0]));
  put(set, Tag(0x0028, 0x0030), vr::DS, joined({v.spacing[1], v.spacing[0]}));
  put(set, Tag(0x0028, 0x0100), 16);
  put(set, Tag(0x0028, 0x0101), 16);
  put(set, Tag(0x0028, 0x0102), 15);
  put(set, Tag(0x0028, 0x0103), 1);
  put(set, Tag(0x0028, 0x1052), vr::DS, "0");
  put(set, Tag(0x0028, 0x1053), vr::DS, "1");
  put(set, Tag(0x0028, 0x1054), vr::LO, "HU");
  return set;
}

void check_series(fs::path const& folder, host_volume const& v) {
  if (v.unit != "HU") {
    refuse(folder, fmt::format("cannot be a CT series (its values are in {}, not in Hounsfield "
                               "units)",
                               v.unit.empty() ? "no known unit" : v.unit));
  }
  for (auto const n : v.extent) {
    if (n < 1 || n > 65535) {
      refuse(folder,
             fmt::format("cannot be a CT series ({} x {} x {} voxels; DICOM takes 1 to 65535 "
                         "along each axis)",
                         v.extent[0], v.extent[1], v.extent[2]));
    }
  }
  for (float const value : v.values) {
    if (!(value >= -32768.0F && value <= 32767.0F)) {
      refuse(folder, fmt::format("cannot be a CT series (a value is {} HU; DICOM's 16 bits hold "
                                 "-32768 to 32767)",
                                 value));
    }
  }
}

void make_folder(fs::path const& folder) {
  std::error_code failure;
  if (fs::is_directory(folder, failure)) {
    if (!fs::is_empty(folder, failure) || failure) {
      refuse(folder, "is not empty (slices would lie among other files) name a new folder");
    }
    return;
  }
  failure.clear();
  if (!fs::create_directory(folder, failure)) {
    refuse(folder, fmt::format("cannot be made ({})",
                               failure ? failure.message() : "something of that name is there"));
  }
}

}  // namespace

dicom_series read_dicom_series_grid(fs::path const& folder) { return ordered(folder).second; }

dicom_series read_dicom_series(fs::path const& folder) {
  auto [slices, series] = ordered(folder);
  auto const& n = series.volume.extent;
  auto const pixels = n[0] * n[1];
  with_memory(folder, fmt::format("its {} x {} x {} voxels", n[0], n[1], n[2]),
              std::uint64_t(pixels * n[2]) * 8, [&, &slices = slices, &series = series] {
                std::vector<float> values(std::size_t(pixels * n[2]));
                for (std::size_t k = 0; k < slices.size(); ++k) {
                  read_pixels(folder, slices[k], values.data() + k * std::size_t(pixels));
                }
                series.volume.values = reorder<float, float>(values, 0, last_axis_fastest(n));
              });
  return std::move(series);
}

dicom_identity read_dicom_identity(fs::path const& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) {
    return read_dicom_series_grid(path).identity;
  }
  check_regular(path);
  std::optional<dicom_identity> identity;
  if (!with_header(path, [&](gdcm::DataSet const& set) { identity = identity_of(set, path); })) {
    refuse(path, "is no DICOM file, or a damaged one (its header cannot be read)");
  }
  return *identity;
}

std::vector<atomic_file> prepare_dicom_series(fs::path const& folder, host_volume const& volume,
                                              fs::path const& like) {
  be_silent();
  check_series(folder, volume);
  auto const& n = volume.extent;
  uid_maker series;
  if (!like.empty()) {
    auto const identity = read_dicom_identity(like);
    series.add(identity.study);
    series.add(identity.frame_of_reference);
  }
  series.add(joined({double(n[0]), double(n[1]), double(n[2])}));
  series.add(std::as_bytes(std::span(volume.spacing)));
  series.add(std::as_bytes(std::span(volume.origin)));
  series.add(std::as_bytes(std::span(volume.values)));
  auto const uid = series.uid();
  auto shared = series_elements(volume, like, uid);
  make_folder(folder);
  auto const values =
      reorder<float, float>(volume.values, 0, last_axis_fastest({n[2], n[1], n[0]}));
  auto const pixels = std::size_t(n[0] * n[1]);
  std::vector<std::int16_t> stored(pixels);
  std::vector<atomic_file> files;
  for (std::int64_t k = 0; k < n[2]; ++k) {
    std::transform(values.begin() + k * std::int64_t(pixels),
                   values.begin() + (k + 1) * std::int64_t(pixels), stored.begin(),
                   [](float value) { return std::int16_t(std::lrint(value)); });
    uid_maker instance;
    instance.add(uid);
    instance.add(std::to_string(k));
    gdcm::Writer writer;
    auto& set = writer.GetFile().GetDataSet();
    set = shared;
    put(set, Tag(0x0008, 0x0018), gdcm::VR::UI, instance.uid());
    put(set, Tag(0x0020, 0x0013), gdcm::VR::IS, std::to_string(k + 1));
    put(set, Tag(0x0020, 0x0032), gdcm::VR::DS,
        joined({volume.origin[0], volume.origin[1],
                volume.origin[2] + double(k) * volume.spacing[2]}));
    gdcm::DataElement data(Tag(0x7fe0, 0x0010), 0, gdcm::VR::OW);
    data.SetByteValue(reinterpret_cast<char const*>(stored.data()), std::uint32_t(pixels * 2));
    set.Replace(data);
    writer.GetFile().GetHeader().SetDataSetTransferSyntax(
        gdcm::TransferSyntax::ExplicitVRLittleEndian);
    files.emplace_back(folder / fmt::format("ct.{:05}.dcm", k + 1), pixels * 2);
    writer.SetFileName(files.back().temporary().c_str());
    if (!writer.Write()) {
      refuse(folder, "cannot be written (is the disk full?)");
    }
    files.back().check_written(pixels * 2);
  }
  return files;
}

}  // namespace iso::files
