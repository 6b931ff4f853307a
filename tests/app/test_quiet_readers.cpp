// SPDX-License-Identifier: BSD-3-Clause
// What the readers of MetaImage, NIfTI and ITK print of damaged files goes nowhere: a file is
// refused by our sentence alone.
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdio>
#include <iostream>
#include <limits>
#include <thread>

#include "image_support.hpp"

namespace files = iso::files;
using iso::test::bytes_of;
using iso::test::file_values;
using iso::test::metaimage;
using iso::test::names;
using iso::test::put;
using iso::test::refusal;
using iso::test::scratch_folder;

namespace {

/// Returns what `action` prints to standard output and standard error, by whichever library.
template <class Action>
std::string printed_by(std::filesystem::path const& file, Action const& action) {
  std::fflush(nullptr);
  int const output = ::dup(STDOUT_FILENO);
  int const errors = ::dup(STDERR_FILENO);
  int const to = ::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  ::dup2(to, STDOUT_FILENO);
  ::dup2(to, STDERR_FILENO);
  action();
  std::cout.flush();
  std::fflush(nullptr);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  for (int const each : {output, errors, to}) {
    ::close(each);
  }
  return iso::test::get(file);
}

/// Returns the bytes with a number put at a place.
template <class T>
std::string with(std::string bytes, std::size_t place, T number) {
  std::memcpy(bytes.data() + place, &number, sizeof number);
  return bytes;
}

/// A good MetaImage with compressed voxels.
struct packed_image {
  std::string header;
  std::string voxels;

  explicit packed_image(scratch_folder const& folder) {
    iso::test::put_gz(folder / "packed", bytes_of(file_values<short>()));
    voxels = iso::test::get(folder / "packed");
    header = metaimage(
        "CompressedData = True\nCompressedDataSize = " + std::to_string(voxels.size()) + "\n");
  }
};

}  // namespace

TEST_CASE("readers print nothing of damaged files") {
  scratch_folder const folder;
  auto const refused = [&](std::string const& name, std::string const& bytes) {
    CAPTURE(name);
    put(folder / name, bytes);
    std::string sentence;
    auto const printed = printed_by(folder / "printed", [&] {
      sentence = refusal([&] { files::read_volume(folder / name); });
    });
    CHECK(printed == "");
    CHECK(names(sentence, {name}));
  };
  auto const voxels = bytes_of(file_values<short>());
  auto const good = metaimage("") + voxels;
  auto const changed = [&](std::string const& from, std::string const& to) {
    auto bytes = good;
    return bytes.replace(bytes.find(from), from.size(), to);
  };
  refused("axes.mha", changed("NDims = 3", "NDims = 11"));
  refused("two.mha", changed("DimSize = 2 3 4", "DimSize = 2 3"));
  refused("list.mha", changed("LOCAL", "LIST"));
  refused("slices.mha", changed("LOCAL", "slice%d.raw 1 4 1"));
  refused("plain.mha", changed("ElementSpacing", "CompressedData = True\nElementSpacing"));
  packed_image const packed(folder);
  refused("cut.mha", packed.header + packed.voxels.substr(0, packed.voxels.size() - 12));
  for (std::size_t at = 12; at < packed.voxels.size() - 4; at += 3) {
    auto bytes = packed.voxels;
    bytes[at] = char(bytes[at] ^ 0x55);
    refused("flipped.mha", packed.header + bytes);
  }

  files::prepare_volume(folder / "v.nii", iso::test::small_volume()).commit();
  auto const nifti = iso::test::get(folder / "v.nii");
  refused("no-axes.nii", with(nifti, 40, short(0)));
  refused("nine-axes.nii", with(nifti, 40, short(9)));
  refused("negative.nii", with(nifti, 42, short(-3)));
  refused("type.nii", with(nifti, 70, short(9999)));
  refused("type0.nii", with(nifti, 70, short(0)));
  refused("zeros.nii", std::string(400, '\0'));
  refused("direction.nii", with(nifti, 280, std::numeric_limits<float>::quiet_NaN()));
  refused("spacing.nii", with(nifti, 84, std::numeric_limits<float>::infinity()));
  refused("far.nii", with(nifti, 292, 1e38F));
  iso::test::put_gz(folder / "packed.nii.gz", with(nifti, 70, short(9999)));
  refused("packed.nii.gz", iso::test::get(folder / "packed.nii.gz"));
  refused("unpacked.nii", iso::test::get(folder / "packed.nii.gz"));
}

TEST_CASE("readers print nothing of a NRRD whose voxels lie in another file") {
  scratch_folder const folder;
  auto const header = iso::test::nrrd("");
  put(folder / "d.nhdr", header.substr(0, header.rfind("\n\n") + 1) + "data file: d.raw\n\n");
  put(folder / "d.raw", bytes_of(file_values<short>()));
  std::string sentence;
  auto const printed = printed_by(folder / "printed", [&] {
    sentence = refusal([&] { files::read_volume(folder / "d.nhdr"); });
  });
  CHECK(sentence == "");
  CHECK(printed == "");
}

TEST_CASE("readers leave what other threads and the caller print") {
  scratch_folder const folder;
  put(folder / "bad.mha", metaimage("", "MET_SHORT", "2 3") + bytes_of(file_values<short>()));
  auto const printed = printed_by(folder / "printed", [&] {
    std::thread other([] {
      for (int i = 0; i < 1000; ++i) {
        std::cerr << "line\n";
      }
    });
    for (int i = 0; i < 50; ++i) {
      refusal([&] { files::read_volume(folder / "bad.mha"); });
    }
    other.join();
    std::cerr << "end\n";
  });
  CHECK(printed.size() == 5 * 1000 + 4);
}
