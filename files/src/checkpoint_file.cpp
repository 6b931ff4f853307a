// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5.hpp"

#include <iso/core/error.hpp>
#include <iso/files/checkpoint_file.hpp>
#include <iso/files/text.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace iso::files {

namespace fs = std::filesystem;
using detail::refuse;

namespace {

// What this version writes and reads: every array with checksums, total variation without a box.
constexpr char const* format_name = "checkpoint_format";
constexpr char const* format_number = "2";

}  // namespace

template <class T>
std::vector<T> const& checkpoint::at(std::string const& name) const {
  auto const found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](auto const& entry) { return entry.first == name; });
  if (found == arrays.end() || !std::holds_alternative<std::vector<T>>(found->second)) {
    throw invalid_argument(
        fmt::format("iso::files::checkpoint: no array '{}' of that precision (arrays are stored as "
                    "float or double); ask for one that the checkpoint holds",
                    name));
  }
  return std::get<std::vector<T>>(found->second);
}
template std::vector<float> const& checkpoint::at(std::string const&) const;
template std::vector<double> const& checkpoint::at(std::string const&) const;

atomic_file prepare_checkpoint(fs::path const& path, checkpoint const& state) {
  std::uintmax_t bytes = 0;
  for (auto const& entry : state.arrays) {
    bytes += std::visit([](auto const& values) { return values.size() * sizeof(values[0]); },
                        entry.second);
  }
  return detail::prepare_hdf5(path, bytes, [&](hid_t file) {
    for (auto const& [name, values] : state.arrays) {
      std::visit(
          [&, &called = name](auto const& numbers) {
            bool const narrow = sizeof(numbers[0]) == 4;
            std::array<hsize_t, 1> const extent{hsize_t(numbers.size())};
            detail::write_dataset(path, file, called.c_str(), extent,
                                  narrow ? H5T_IEEE_F32LE : H5T_IEEE_F64LE,
                                  narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, numbers.data());
          },
          values);
    }
    detail::hdf5_handle const root(path, H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose,
                                   "cannot be written (HDF5 group); try another disk");
    detail::write_attribute(path, root, format_name, format_number, detail::text_length::fixed);
    for (auto const& [key, value] : state.belongs) {
      detail::write_attribute(path, root, key.c_str(), value, detail::text_length::fixed);
    }
  });
}

checkpoint read_checkpoint(fs::path const& path,
                           std::vector<std::pair<std::string, std::string>> const& belongs,
                           std::vector<std::string> const& names) {
  auto const file = detail::open_hdf5(path);
  checkpoint state{belongs, {}};
  {
    detail::hdf5_handle const root(path, H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose,
                                   "is no checkpoint (it has no root); name another file");
    auto const format = detail::read_attribute(path, root, format_name);
    if (format.value_or(format_number) != format_number ||
        (!format && detail::has_dataset(file, "history"))) {
      refuse(path, fmt::format("is a checkpoint of {} (format {} is read); remove it and begin "
                               "anew, or go on with the version that wrote it",
                               format ? "format " + shortened(*format, 40) : "an earlier version",
                               format_number));
    }
    for (auto const& [key, value] : belongs) {
      auto const found = detail::read_attribute(path, root, key.c_str());
      if (!found) {
        refuse(path,
               fmt::format(
                   "is no checkpoint of this kind (attribute '{}' is missing); name another file",
                   key));
      }
      if (*found != value) {
        refuse(path,
               fmt::format(
                   "is a checkpoint of another {} ({}, here {}); remove it, or name another file",
                   key, shortened(*found, 200), shortened(value, 200)));
      }
    }
  }
  for (auto const& name : names) {
    detail::hdf5_dataset const set(path, file, name.c_str(), 1);
    if (set.kind() != H5T_FLOAT) {
      refuse(path, fmt::format("dataset /{} holds no floating-point numbers (float or double is "
                               "expected); remove the file, or name another",
                               name));
    }
    if (H5Tget_size(set.type()) == 4) {
      state.arrays.emplace_back(name, set.read<float>(H5T_NATIVE_FLOAT));
    } else {
      state.arrays.emplace_back(name, set.read<double>(H5T_NATIVE_DOUBLE));
    }
  }
  return state;
}

}  // namespace iso::files
