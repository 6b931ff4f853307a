// SPDX-License-Identifier: BSD-3-Clause
#include "finite.hpp"
#include "hdf5.hpp"
#include "regular.hpp"

#include <iso/files/stack_file.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace iso::files {
namespace {

namespace fs = std::filesystem;
using detail::refuse;

constexpr char const* dataset_name = "projections";

template <class T>
hid_t native_type() {
  return sizeof(T) == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
}

template <class T>
[[noreturn]] void refuse_not_finite(fs::path const& path, std::int64_t view,
                                    detail::not_finite<T> const& at) {
  refuse(path, fmt::format("value at view {}, u {}, v {} of /projections is {} (every value must "
                           "be finite); replace it by a number",
                           view, at.place[1], at.place[2], at.value));
}

template <class T>
void check_finite(fs::path const& path, std::span<T const> values,
                  std::array<std::int64_t, 3> const& extent) {
  if (auto const at = detail::first_not_finite(values, extent)) {
    refuse_not_finite(path, at->place[0], *at);
  }
}

/// Sets what the mask hides to 0. What was hidden before it was measured may be anything.
template <class T>
void hide(std::span<T> values, std::vector<float> const& mask) {
  if (mask.size() == values.size()) {
    std::transform(values.begin(), values.end(), mask.begin(), values.begin(),
                   [](T value, float counts) { return counts == 0 ? T(0) : value; });
  }
}

/// Refuses doubles of which the largest has no float. HDF5 rounds them without a word; a look at
/// what came of that spares reading most files twice.
void check_range(fs::path const& path, detail::hdf5_dataset const& set,
                 std::span<float const> values, std::vector<float> const& mask) {
  detail::float_range rounded;
  for (float const value : values) {
    rounded.add(value);
  }
  if (H5Tget_size(set.type()) > sizeof(float) && (rounded.is_zero() || !rounded.is_kept())) {
    auto stored = set.read<double>(H5T_NATIVE_DOUBLE);
    hide<double>(stored, mask);
    detail::float_range range;
    range.add_all(stored);
    if (!range.is_kept()) {
      refuse(path, range.sentence());
    }
  }
}

/// What integers of 16 bits stand for: offset + scale times the integer.
struct stored_numbers {
  double scale = 1;
  double offset = 0;

  template <class T>
  [[nodiscard]] T number(double integer) const {
    return T(std::fma(scale, integer, offset));
  }
};

/// Returns it where a file's readings are such integers.
std::optional<stored_numbers> stored_numbers_of(fs::path const& path,
                                                detail::hdf5_dataset const& set) {
  if (set.kind() != H5T_INTEGER || H5Tget_size(set.type()) != 2 ||
      H5Tget_sign(set.type()) != H5T_SGN_NONE) {
    return std::nullopt;
  }
  stored_numbers const found{detail::read_number(path, set.id(), "scale").value_or(1),
                             detail::read_number(path, set.id(), "offset").value_or(0)};
  if (!std::isfinite(found.scale) || !std::isfinite(found.offset)) {
    refuse(path, fmt::format("/projections has scale {} and offset {} (must be finite); write what "
                             "its integers stand for",
                             found.scale, found.offset));
  }
  return found;
}

/// Makes readings of integers of 16 bits, which are the same numbers in T, where a file has those.
template <class T>
void decode(fs::path const& path, detail::hdf5_dataset const& set, std::span<T> readings) {
  if (auto const stored = stored_numbers_of(path, set)) {
    for (T& reading : readings) {  // as ct::stored_readings rounds them
      reading = stored->number<T>(double(reading));
    }
  }
}

/// Returns what a stack's file says beside the values of `set`, its projections.
template <class T>
projection_stack<T> header_of(fs::path const& path, hid_t file, detail::hdf5_dataset const& set,
                              stack_geometry geometry) {
  if (set.kind() != H5T_FLOAT && !stored_numbers_of(path, set)) {
    refuse(path,
           "dataset /projections holds other numbers (floating-point ones, or integers of 16 bits "
           "without sign, are expected); store it as one of these");
  }
  projection_stack<T> stack;
  auto const& n = set.extent();
  stack.extent = {std::int64_t(n[0]), std::int64_t(n[1]), std::int64_t(n[2])};
  // What other programs write may have neither.
  stack.unit = detail::read_attribute(path, set.id(), "unit").value_or("");
  if (geometry == stack_geometry::read && detail::has_dataset(file, "geometry")) {
    stack.geometry = detail::hdf5_dataset(path, file, "geometry", 0).read_text();
  }
  return stack;
}

}  // namespace

namespace {

/// Makes the file of a stack without its values, with room for them.
template <class T>
atomic_file frame_of(fs::path const& path, projection_stack<T> const& stack) {
  auto const& n = stack.extent;
  auto const bytes = std::uintmax_t(n[0] * n[1] * n[2]) * sizeof(T);
  auto const fill = [&](hid_t file) {
    std::array<hsize_t, 3> const extent{hsize_t(n[0]), hsize_t(n[1]), hsize_t(n[2])};
    hid_t const stored = sizeof(T) == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE;
    detail::write_dataset(path, file, dataset_name, extent, stored, native_type<T>(), nullptr);
    detail::hdf5_handle const dataset(path, H5Dopen2(file, dataset_name, H5P_DEFAULT), H5Dclose,
                                      "cannot be written (HDF5 dataset); try another disk");
    detail::write_attribute(path, dataset, "unit", stack.unit, detail::text_length::fixed);
    detail::write_attribute(path, dataset, "axes", "view, u, v", detail::text_length::fixed);
    detail::write_text(path, file, "geometry", stack.geometry);
  };
  return detail::prepare_hdf5(path, bytes, fill, detail::hdf5_content::frame);
}

/// Returns the views that so many readings are of, from `first` on.
/// \throws iso::invalid_argument  no whole views, or some that the stack has not
detail::hdf5_rows views_of(fs::path const& path, std::array<std::int64_t, 3> const& extent,
                           std::int64_t first, std::size_t readings) {
  std::int64_t const image = extent[1] * extent[2];
  auto const count = image > 0 ? std::int64_t(readings) / image : 0;
  if (first < 0 || count * image != std::int64_t(readings) || first > extent[0] - count) {
    throw invalid_argument(
        fmt::format("'{}': {} readings from view {} on (it has {} views of {} readings); give "
                    "whole views, of those there are",
                    path.string(), readings, first, extent[0], image));
  }
  return {hsize_t(first), hsize_t(count)};
}

}  // namespace

bool is_stack_path(fs::path const& path) { return detail::is_hdf5_path(path); }

template <class T>
atomic_file prepare_readings(fs::path const& path, projection_stack<T> const& stack,
                             std::span<std::type_identity_t<T> const> readings,
                             job const& control) {
  auto const& n = stack.extent;
  if (std::ranges::min(n) < 0 ||
      double(n[0]) * double(n[1]) * double(n[2]) != double(readings.size())) {
    throw invalid_argument(
        fmt::format("'{}': {} readings for {} x {} x {} places (each has one); give as many",
                    path.string(), readings.size(), n[0], n[1], n[2]));
  }
  // As processes write their views one after the other, so that the bytes are those of theirs.
  auto file = frame_of(path, stack);
  if (!readings.empty()) {
    detail::write_rows(path, file.temporary(), dataset_name, {0, hsize_t(n[0])}, native_type<T>(),
                       readings.data(), job{{}, control.cancelled});
  }
  file.check_written(readings.size_bytes());
  return file;
}

template <class T>
atomic_file prepare_stack_frame(fs::path const& path, projection_stack<T> const& stack) {
  auto const& n = stack.extent;
  if (std::ranges::min(n) < 1) {
    throw invalid_argument(
        fmt::format("'{}': {} views of {} x {} readings (there is nothing to write); give at least "
                    "one of each",
                    path.string(), n[0], n[1], n[2]));
  }
  return frame_of(path, stack);
}

template <class T>
void write_stack_views(fs::path const& path, fs::path const& temporary,
                       std::array<std::int64_t, 3> const& extent, std::int64_t first_view,
                       std::span<T const> readings, job const& control) {
  auto const views = views_of(path, extent, first_view, readings.size());
  detail::write_rows(path, temporary, dataset_name, views, native_type<T>(), readings.data(),
                     job{{}, control.cancelled});
}

template <class T>
atomic_file prepare_stack(fs::path const& path, projection_stack<T> const& stack,
                          job const& control) {
  return prepare_readings<T>(path, stack, stack.values, control);
}

namespace {

/// Reads the readings into `given`, or into the stack's values where that is null.
template <class T>
projection_stack<T> read_to(fs::path const& path, std::span<T> const* given,
                            stack_geometry geometry, std::vector<float> const& mask,
                            finite_values values, job const& control) {
  projection_stack<T> stack;
  std::span<T> to;
  detail::read_unchanged(path, [&] {
    auto const file = detail::open_hdf5(path);
    detail::hdf5_dataset const set(path, file, dataset_name, 3);
    stack = header_of<T>(path, file, set, geometry);
    if (given != nullptr && given->size() != set.size()) {
      throw invalid_argument(
          fmt::format("'{}' has {} readings (memory of {} numbers was given); give one a reading",
                      path.string(), set.size(), given->size()));
    }
    if (given == nullptr) {
      stack.values = set.array<T>();
    }
    to = given == nullptr ? std::span<T>(stack.values) : *given;
    set.read_to(native_type<T>(), to.data(), job{{}, control.cancelled});
    decode(path, set, to);
    hide<T>(to, mask);
    if constexpr (sizeof(T) == sizeof(float)) {
      check_range(path, set, to, mask);
    }
  });
  if (values == finite_values::required) {
    check_finite<T>(path, to, stack.extent);
  }
  return stack;
}

}  // namespace

template <class T>
projection_stack<T> read_stack(fs::path const& path, stack_geometry geometry,
                               std::vector<float> const& mask, finite_values values,
                               job const& control) {
  return read_to<T>(path, nullptr, geometry, mask, values, control);
}

template <class T>
projection_stack<T> read_readings(fs::path const& path, std::span<T> readings,
                                  stack_geometry geometry, finite_values values,
                                  job const& control) {
  return read_to<T>(path, &readings, geometry, {}, values, control);
}

std::optional<stored_stack> read_stored_stack(fs::path const& path, job const& control) {
  std::optional<stored_stack> stack;
  detail::read_unchanged(path, [&] {
    stack.reset();
    auto const file = detail::open_hdf5(path);
    detail::hdf5_dataset const set(path, file, dataset_name, 3);
    auto const found = stored_numbers_of(path, set);
    // A number rises or falls with its integer.
    if (found && std::isfinite(found->number<float>(0)) &&
        std::isfinite(found->number<float>(65535))) {
      auto const extent = header_of<float>(path, file, set, stack_geometry::leave).extent;
      stack = {extent, set.array<std::uint16_t>(), found->scale, found->offset};
      set.read_to(H5T_NATIVE_UINT16, stack->values.data(), job{{}, control.cancelled});
    }
  });
  return stack;
}

template <class T>
std::int64_t read_views(fs::path const& path, std::int64_t first_view, std::span<T> readings,
                        finite_values values, job const& control) {
  std::int64_t bytes = 0;
  std::array<std::int64_t, 3> part{};
  detail::read_unchanged(path, [&] {
    auto const file = detail::open_hdf5(path);
    detail::hdf5_dataset const set(path, file, dataset_name, 3);
    part = header_of<T>(path, file, set, stack_geometry::leave).extent;
    auto const views = views_of(path, part, first_view, readings.size());
    if (views.count == 0) {
      return;
    }
    set.read_to(native_type<T>(), readings.data(), job{{}, control.cancelled}, &views);
    decode(path, set, readings);
    // HDF5 rounds doubles without a word. Whether the largest of all is too small, a part of them
    // does not tell.
    if (values == finite_values::required && sizeof(T) == sizeof(float) &&
        H5Tget_size(set.type()) > sizeof(float) &&
        std::ranges::any_of(readings, [](T x) { return std::isinf(x); })) {
      std::vector<double> stored(readings.size());
      set.read_to(H5T_NATIVE_DOUBLE, stored.data(), {}, &views);
      detail::float_range range;
      range.add_all(stored);
      if (range.is_too_large()) {
        refuse(path, range.sentence());
      }
    }
    // Whole pieces, of those that there are.
    auto const piece = set.rows_of_piece();
    auto const begin = views.first / piece * piece;
    auto const end =
        std::min((views.first + views.count + piece - 1) / piece * piece, hsize_t(part[0]));
    bytes = std::int64_t((end - begin) * H5Tget_size(set.type())) * part[1] * part[2];
  });
  if (values == finite_values::required) {
    if (auto const at = detail::first_not_finite(readings, part)) {
      refuse_not_finite(path, at->place[0] + first_view, *at);
    }
  }
  return bytes;
}

std::int64_t views_of_piece(fs::path const& path) {
  auto const file = detail::open_hdf5(path);
  return std::int64_t(detail::hdf5_dataset(path, file, dataset_name, 3).rows_of_piece());
}

projection_stack<float> read_stack_header(fs::path const& path, stack_geometry geometry) {
  auto const file = detail::open_hdf5(path);
  return header_of<float>(path, file, detail::hdf5_dataset(path, file, dataset_name, 3), geometry);
}

template atomic_file prepare_stack(fs::path const&, projection_stack<float> const&, job const&);
template atomic_file prepare_stack(fs::path const&, projection_stack<double> const&, job const&);
template atomic_file prepare_readings(fs::path const&, projection_stack<float> const&,
                                      std::span<float const>, job const&);
template atomic_file prepare_readings(fs::path const&, projection_stack<double> const&,
                                      std::span<double const>, job const&);
template atomic_file prepare_stack_frame(fs::path const&, projection_stack<float> const&);
template atomic_file prepare_stack_frame(fs::path const&, projection_stack<double> const&);
template void write_stack_views(fs::path const&, fs::path const&,
                                std::array<std::int64_t, 3> const&, std::int64_t,
                                std::span<float const>, job const&);
template void write_stack_views(fs::path const&, fs::path const&,
                                std::array<std::int64_t, 3> const&, std::int64_t,
                                std::span<double const>, job const&);
template std::int64_t read_views(fs::path const&, std::int64_t, std::span<float>, finite_values,
                                 job const&);
template std::int64_t read_views(fs::path const&, std::int64_t, std::span<double>, finite_values,
                                 job const&);
template projection_stack<float> read_stack(fs::path const&, stack_geometry,
                                            std::vector<float> const&, finite_values, job const&);
template projection_stack<double> read_stack(fs::path const&, stack_geometry,
                                             std::vector<float> const&, finite_values, job const&);
template projection_stack<float> read_readings(fs::path const&, std::span<float>, stack_geometry,
                                               finite_values, job const&);
template projection_stack<double> read_readings(fs::path const&, std::span<double>, stack_geometry,
                                                finite_values, job const&);

}  // namespace iso::files
