// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5.hpp"
#include "regular.hpp"
#include "voxel_file.hpp"

#include <iso/core/detail/fnv1a.hpp>
#include <iso/files/hdf5_kind.hpp>
#include <iso/files/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace iso::files::detail {
namespace {

namespace fs = std::filesystem;
using handle = hdf5_handle;

// Of a text, which HDF5 keeps in one piece and gives no checksum of its own.
constexpr char const* checksum_name = "checksum";

// Messages are ours. Nothing is left for HDF5 to do at the end of the program, where it would write
// once more, and crash, what a full disk did not take.
void start_hdf5() {
  static bool const started = H5dont_atexit() >= 0;
  static_cast<void>(started);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// Returns the shape of pieces of at most a megabyte, which bear a checksum each. The last ones are
/// stored as if they were whole: of the sizes down to 64 kB it is the one that fills them best.
std::vector<hsize_t> pieces_of(std::span<hsize_t const> extent, std::size_t value_bytes) {
  constexpr double most = 0x1p20;
  constexpr double least = 0x1p16;
  std::vector<hsize_t> piece(extent.begin(), extent.end());
  for (std::size_t axis = 0; axis < piece.size(); ++axis) {
    hsize_t const all = piece[axis];
    piece[axis] = 1;
    double const row =
        std::accumulate(piece.begin(), piece.end(), double(value_bytes),
                        [](double product, hsize_t n) { return product * double(n); });
    auto const left_over = [&](hsize_t n) { return (all + n - 1) / n * n - all; };
    hsize_t best = std::max(hsize_t(1), std::min(all, hsize_t(most / row)));
    for (hsize_t n = best; n > 1 && left_over(best) > 0 && double(n - 1) * row >= least;) {
      --n;
      best = left_over(n) < left_over(best) ? n : best;
    }
    piece[axis] = best;
  }
  return piece;
}

/// Returns how many rows of its first axis a piece of a dataset has; 1 where it has no pieces.
hsize_t rows_of_piece(fs::path const& path, hid_t dataset, int axes) {
  handle const creation(path, H5Dget_create_plist(dataset), H5Pclose,
                        "has a dataset without shape (it is damaged); fetch or write it again");
  std::vector<hsize_t> piece(std::size_t(std::max(axes, 1)), 1);
  if (H5Pget_layout(creation) == H5D_CHUNKED) {
    H5Pget_chunk(creation, axes, piece.data());
  }
  return std::max(piece[0], hsize_t(1));
}

/// Calls move(memory space, file space, first byte) for parts of a dataset that make up all of it,
/// or some rows of its first axis, until one fails, and asks the job after each. A part is made of
/// whole pieces, where the dataset has such, and of about 32 MB.
/// \param value_bytes  of a number in memory
/// \param some         the rows; null: all
template <class Move>
bool in_parts(fs::path const& path, hid_t dataset, std::size_t value_bytes, job const& asked,
              hdf5_rows const* some, Move const& move) {
  constexpr hsize_t most = hsize_t(1) << 25;
  char const* const damaged =
      "has a dataset without shape (it is damaged); fetch or write it again";
  handle const space(path, H5Dget_space(dataset), H5Sclose, damaged);
  int const axes = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extent(std::size_t(std::max(axes, 1)), 1);
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  hsize_t const row_bytes =
      std::accumulate(extent.begin() + 1, extent.end(), hsize_t(value_bytes), std::multiplies<>());
  if (some == nullptr && (axes < 1 || extent[0] * row_bytes <= most)) {
    bool const done = move(hid_t(H5S_ALL), hid_t(H5S_ALL), std::size_t(0));
    asked.step(0);
    return done;
  }
  hsize_t const piece = rows_of_piece(path, dataset, axes);
  hsize_t const rows = std::max(most / std::max(row_bytes * piece, hsize_t(1)), hsize_t(1)) * piece;
  hsize_t const begin = some == nullptr ? 0 : some->first;
  hsize_t const end = some == nullptr ? extent[0] : some->first + some->count;
  std::vector<hsize_t> start(extent.size(), 0);
  auto count = extent;
  for (hsize_t first = begin; first < end; first += count[0]) {
    start[0] = first;
    count[0] = std::min(rows - first % piece, end - first);
    handle const part(path, H5Screate_simple(axes, count.data(), nullptr), H5Sclose, damaged);
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
            0 ||
        !move(part, space, std::size_t((first - begin) * row_bytes))) {
      return false;
    }
    asked.step(0);
  }
  return true;
}

/// Returns the checksum of a text that lies in a file, in hexadecimal digits.
std::string checksum_of(std::string_view text) {
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  for (char const c : text) {
    hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(c));
  }
  return fmt::format("{:016x}", hash);
}

hid_t opened(fs::path const& path, hid_t file, char const* name) {
  H5L_info_t link;
  if (H5Lget_info(file, name, &link, H5P_DEFAULT) < 0) {
    refuse(path, fmt::format("dataset /{} is missing (the format has it); name another file, or "
                             "write it with this dataset",
                             name));
  }
  if (link.type != H5L_TYPE_HARD) {
    refuse(path, fmt::format("/{} is a link (a dataset of this file is expected); copy what it "
                             "leads to into the file",
                             name));
  }
  return H5Dopen2(file, name, H5P_DEFAULT);
}

std::vector<hsize_t> extent_of(fs::path const& path, char const* name, hid_t dataset, int axes) {
  handle const space(
      path, H5Dget_space(dataset), H5Sclose,
      fmt::format("dataset /{} has no shape (it is damaged); fetch or write it again", name));
  int const found = H5Sget_simple_extent_ndims(space);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) {
    refuse(path, fmt::format("dataset /{} is empty (its shape is null); write values to it", name));
  }
  if (found != axes) {
    refuse(path, fmt::format("dataset /{} has {} ({} expected); write it in that shape", name,
                             found == 1 ? "1 axis" : fmt::format("{} axes", found),
                             axes == 0   ? "none is"
                             : axes == 1 ? "1 is"
                                         : fmt::format("{} are", axes)));
  }
  std::vector<hsize_t> extent(static_cast<std::size_t>(axes));
  H5Sget_simple_extent_dims(space, extent.data(), nullptr);
  return extent;
}

}  // namespace

bool has_dataset(hid_t file, char const* name) { return H5Lexists(file, name, H5P_DEFAULT) > 0; }

bool is_hdf5_path(fs::path const& path) {
  auto const end = ending(path);
  return end == ".h5" || end == ".hdf5";
}

hdf5_handle open_hdf5(fs::path const& path) {
  start_hdf5();
  check_regular(path);
  if (H5Fis_hdf5(path.c_str()) == 0) {
    refuse(path, "is not an HDF5 file (it does not begin as one); name another file");
  }
  return {path, H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
          "is not a whole HDF5 file (truncated or damaged); fetch or write it again"};
}

namespace {

/// Returns the properties by which files are written.
hid_t writing() {
  hid_t const access = H5Pcreate(H5P_FILE_ACCESS);
  // From HDF5 1.10 on, what the file says of itself bears checksums. The temporary file has a lock
  // already.
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_LATEST);
  H5Pset_file_locking(access, false, true);
  return access;
}
constexpr char const* no_properties = "cannot be written (HDF5 properties); try another disk";

/// Closes a file that was written; throws iso::file_error where not all of it is.
void finish(fs::path const& path, handle& file) {
  bool const flushed = H5Fflush(file, H5F_SCOPE_GLOBAL) >= 0;
  if (!file.close() || !flushed) {
    refuse(path, "cannot be written (its disk may be full); make room on its disk");
  }
}

}  // namespace

atomic_file prepare_hdf5(fs::path const& path, std::uintmax_t bytes,
                         std::function<void(hid_t)> const& fill, hdf5_content content) {
  start_hdf5();
  constexpr std::uintmax_t max_overhead = 65536;
  atomic_file whole(path, bytes + bytes / 64 + max_overhead);
  handle const access(path, writing(), H5Pclose, no_properties);
  handle const creation(path, H5Pcreate(H5P_FILE_CREATE), H5Pclose, no_properties);
  H5Pset_obj_track_times(creation, 0);  // equal contents are equal bytes
  handle file(path, H5Fcreate(whole.temporary().c_str(), H5F_ACC_TRUNC, creation, access), H5Fclose,
              "cannot be written (HDF5 refused to make the file); make room on its disk");
  fill(file);
  finish(path, file);
  whole.check_written(content == hdf5_content::whole ? bytes : 0);
  return whole;
}

void write_rows(fs::path const& path, fs::path const& temporary, char const* name,
                hdf5_rows const& rows, hid_t memory, void const* values, job const& asked) {
  start_hdf5();
  handle const access(path, writing(), H5Pclose, no_properties);
  handle file(path, H5Fopen(temporary.c_str(), H5F_ACC_RDWR, access), H5Fclose,
              "cannot be written (its temporary file is not there); name a file on a file system "
              "that all processes see");
  {
    handle const dataset(path, H5Dopen2(file, name, H5P_DEFAULT), H5Dclose,
                         "cannot be written (HDF5 dataset); try another disk");
    auto const part = [&](hid_t of_memory, hid_t of_file, std::size_t first) {
      return H5Dwrite(dataset, memory, of_memory, of_file, H5P_DEFAULT,
                      static_cast<char const*>(values) + first) >= 0;
    };
    if (rows.count > 0 && !in_parts(path, dataset, H5Tget_size(memory), asked, &rows, part)) {
      refuse(path, fmt::format("dataset /{} cannot be written (its disk may be full); make room on "
                               "its disk",
                               name));
    }
  }
  finish(path, file);
  placed_writer(path, temporary, 0).close();  // has it reach the disk
}

hdf5_dataset::hdf5_dataset(fs::path const& path, hid_t file, char const* name, int axes)
    : path_(path),
      name_(name),
      dataset_(path, opened(path, file, name), H5Dclose,
               fmt::format(
                   "dataset /{} cannot be opened (damaged, or no dataset); fetch or write it again",
                   name)),
      type_(path, H5Dget_type(dataset_), H5Tclose,
            fmt::format("dataset /{} has no type (it is damaged); fetch or write it again", name)),
      extent_(extent_of(path, name, dataset_, axes)) {
  check_storage();
}

void hdf5_dataset::check_storage() const {
  handle const creation(
      path_, H5Dget_create_plist(dataset_), H5Pclose,
      fmt::format("dataset /{} cannot be read (it is damaged); fetch or write it again", name_));
  auto const layout = H5Pget_layout(creation);
  if (H5Pget_external_count(creation) != 0 || layout == H5D_VIRTUAL) {
    refuse(path_, fmt::format("the values of dataset /{} lie in other files (one whole file is "
                              "expected); write it in one piece",
                              name_));
  }
  hsize_t const stored = H5Dget_storage_size(dataset_);
  // Compression packs 1032 to 1 at the most. Extents below 2^40 keep three of them and the bytes of
  // a number within 128 bits.
  __extension__ using wide = unsigned __int128;
  wide needed = H5Tget_size(type_);
  bool possible = needed < wide(1) << 8 || extent_.empty();
  for (auto const n : extent_) {
    possible = possible && n < hsize_t(1) << 40;
    needed *= possible ? n : 1;
  }
  std::error_code unknown;
  auto const file_bytes = fs::file_size(path_, unknown);
  if (!possible || needed > wide(stored) * (layout == H5D_CHUNKED ? 1032 : 1) ||
      (!unknown && stored > file_bytes)) {
    refuse(path_, fmt::format("dataset /{} claims {} of {} bytes ({} bytes of them are stored); "
                              "fetch or write it again",
                              name_,
                              extent_.empty() ? std::string("one value")
                                              : fmt::format("{} values", fmt::join(extent_, " x ")),
                              H5Tget_size(type_), stored));
  }
}

std::uint64_t hdf5_dataset::size() const {
  return std::accumulate(extent_.begin(), extent_.end(), std::uint64_t(1), std::multiplies<>());
}

hsize_t hdf5_dataset::rows_of_piece() const {
  return detail::rows_of_piece(path_, dataset_, int(extent_.size()));
}

void hdf5_dataset::read_to(hid_t memory_type, void* values, job const& asked,
                           hdf5_rows const* some) const {
  auto const part = [&](hid_t memory, hid_t file, std::size_t first) {
    return H5Dread(dataset_, memory_type, memory, file, H5P_DEFAULT,
                   static_cast<char*>(values) + first) >= 0;
  };
  if (!in_parts(path_, dataset_, H5Tget_size(memory_type), asked, some, part)) {
    refuse(path_,
           fmt::format("dataset /{} cannot be read (truncated or damaged); fetch or write it again",
                       name_));
  }
}

std::string hdf5_dataset::read_text() const {
  if (kind() != H5T_STRING) {
    refuse(path_,
           fmt::format("dataset /{} holds no text (a string is expected); write one to it", name_));
  }
  if (H5Tis_variable_str(type_) > 0) {
    char* start = nullptr;
    read_to(type_, static_cast<void*>(&start), {});
    std::string text(start == nullptr ? "" : start);
    H5free_memory(start);
    return text;
  }
  std::string text;
  with_memory(path_, fmt::format("dataset /{}", name_), H5Tget_size(type_),
              [&] { text.resize(H5Tget_size(type_)); });
  read_to(type_, text.data(), {});
  text.resize(std::min(text.find('\0'), text.size()));
  if (read_attribute(path_, dataset_, checksum_name).value_or(checksum_of(text)) !=
      checksum_of(text)) {
    refuse(path_, fmt::format("dataset /{} is not what its checksum says (it is damaged); fetch or "
                              "write it again",
                              name_));
  }
  return text;
}

void write_dataset(fs::path const& path, hid_t file, char const* name,
                   std::span<hsize_t const> extent, hid_t stored, hid_t memory, void const* values,
                   job const& asked) {
  handle const space(path,
                     extent.empty() ? H5Screate(H5S_SCALAR)
                                    : H5Screate_simple(int(extent.size()), extent.data(), nullptr),
                     H5Sclose, "cannot be written (HDF5 shape); try another disk");
  handle const creation(path, H5Pcreate(H5P_DATASET_CREATE), H5Pclose,
                        "cannot be written (HDF5 properties); try another disk");
  H5Pset_obj_track_times(creation, 0);  // equal contents are equal bytes
  bool const some = H5Sget_simple_extent_npoints(space) > 0;
  if (some && !extent.empty()) {
    auto const piece = pieces_of(extent, H5Tget_size(stored));
    if (H5Pset_chunk(creation, int(piece.size()), piece.data()) < 0 ||
        H5Pset_fletcher32(creation) < 0) {
      refuse(path, "cannot be written (HDF5 checksums); try another disk");
    }
  }
  handle const dataset(path,
                       H5Dcreate2(file, name, stored, space, H5P_DEFAULT, creation, H5P_DEFAULT),
                       H5Dclose, "cannot be written (HDF5 dataset); try another disk");
  auto const part = [&](hid_t of_memory, hid_t of_file, std::size_t first) {
    return H5Dwrite(dataset, memory, of_memory, of_file, H5P_DEFAULT,
                    static_cast<char const*>(values) + first) >= 0;
  };
  if (some && values != nullptr &&
      !in_parts(path, dataset, H5Tget_size(memory), asked, nullptr, part)) {
    refuse(path, fmt::format(
                     "dataset /{} cannot be written (its disk may be full); make room on its disk",
                     name));
  }
}

void write_text(fs::path const& path, hid_t file, char const* name, std::string const& text) {
  // A dataset: longer than an attribute may be.
  handle const type = text_type(path, text.size() + 1);
  write_dataset(path, file, name, {}, type, type, text.c_str());
  handle const dataset(path, H5Dopen2(file, name, H5P_DEFAULT), H5Dclose,
                       "cannot be written (HDF5 dataset); try another disk");
  write_attribute(path, dataset, checksum_name, checksum_of(text.substr(0, text.find('\0'))),
                  text_length::fixed);
}

namespace {

/// An attribute that is there.
struct open_attribute {
  std::string damaged;  ///< what is said of one that is
  handle attribute;
  handle type;
  std::int64_t count;  ///< of its values

  open_attribute(fs::path const& path, hid_t object, char const* name)
      : damaged(fmt::format(
            "attribute '{}' cannot be read (it is damaged); fetch or write the file again", name)),
        attribute(path, H5Aopen(object, name, H5P_DEFAULT), H5Aclose, damaged),
        type(path, H5Aget_type(attribute), H5Tclose, damaged),
        count(std::int64_t(H5Sget_simple_extent_npoints(
            handle(path, H5Aget_space(attribute), H5Sclose, damaged)))) {}
};

}  // namespace

std::optional<double> read_number(fs::path const& path, hid_t object, char const* name) {
  if (H5Aexists(object, name) <= 0) {
    return std::nullopt;
  }
  open_attribute const found(path, object, name);
  auto const kind = H5Tget_class(found.type);
  if ((kind != H5T_FLOAT && kind != H5T_INTEGER) || found.count != 1) {
    refuse(path, fmt::format("attribute '{}' is not one number (another would stand for it); write "
                             "it as a number",
                             name));
  }
  double number = 0;
  if (H5Aread(found.attribute, H5T_NATIVE_DOUBLE, &number) < 0) {
    refuse(path, found.damaged);
  }
  return number;
}

std::optional<std::string> read_attribute(fs::path const& path, hid_t object, char const* name) {
  if (H5Aexists(object, name) <= 0) {
    return std::nullopt;
  }
  open_attribute const found(path, object, name);
  auto const& [damaged, attribute, type, count] = found;
  if (H5Tget_class(type) != H5T_STRING || count != 1) {
    return std::nullopt;
  }
  if (H5Tis_variable_str(type) > 0) {
    char* text = nullptr;
    handle const memory(path, H5Tcopy(type), H5Tclose, damaged);
    if (H5Aread(attribute, memory, static_cast<void*>(&text)) < 0) {
      refuse(path, damaged);
    }
    std::string result(text == nullptr ? "" : text);
    H5free_memory(text);
    return result;
  }
  constexpr std::size_t most = std::size_t(1) << 20;
  std::string text(std::min(H5Tget_size(type), most), '\0');
  if (H5Tget_size(type) > most || H5Aread(attribute, type, text.data()) < 0) {
    refuse(path, damaged);
  }
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

hdf5_handle text_type(fs::path const& path, std::size_t bytes) {
  hid_t const type = H5Tcopy(H5T_C_S1);
  bool const made =
      type >= 0 && H5Tset_size(type, bytes) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
  return {path, made ? type : -1, H5Tclose,
          "cannot be written (HDF5 type of text); try another disk"};
}

void write_attribute(fs::path const& path, hid_t object, char const* name, std::string const& text,
                     text_length length) {
  bool const varies = length == text_length::variable;  // what h5py reads as str, not bytes
  handle const type = text_type(path, varies ? H5T_VARIABLE : text.size() + 1);
  handle const space(path, H5Screate(H5S_SCALAR), H5Sclose,
                     "cannot be written (HDF5 shape); try another disk");
  handle const attribute(path, H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose, "cannot be written (HDF5 attribute); try another disk");
  char const* const start = text.c_str();
  if (H5Awrite(attribute, type, varies ? static_cast<void const*>(&start) : start) < 0) {
    refuse(path,
           fmt::format(
               "attribute '{}' cannot be written (its disk may be full); make room on its disk",
               name));
  }
}

}  // namespace iso::files::detail

namespace iso::files {

hdf5_kind read_hdf5_kind(std::filesystem::path const& path) {
  auto const file = detail::open_hdf5(path);
  auto const has = [&](char const* name) { return detail::has_dataset(file, name); };
  return has("projections")                               ? hdf5_kind::stack
         : has("data") && has("indices") && has("indptr") ? hdf5_kind::matrix
         : has("values")                                  ? hdf5_kind::vector
         : has("volume") && has("history")                ? hdf5_kind::checkpoint
                                                          : hdf5_kind::other;
}

std::string name_of(hdf5_kind kind) {
  switch (kind) {
    case hdf5_kind::stack:
      return "stack of projections";
    case hdf5_kind::matrix:
      return "matrix";
    case hdf5_kind::vector:
      return "vector";
    case hdf5_kind::checkpoint:
      return "checkpoint of an iterative reconstruction";
    case hdf5_kind::other:
      break;
  }
  return "file of another program";
}

}  // namespace iso::files
