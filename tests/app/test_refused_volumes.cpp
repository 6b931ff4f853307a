// SPDX-License-Identifier: BSD-3-Clause
// Volumes whose headers and data do not go together are refused, before memory is asked for.
#include "image_support.hpp"
#include "not_run.hpp"

#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

namespace files = iso::files;
using namespace iso::test;

TEST_CASE("several gzip streams are one") {
  scratch_folder const folder;
  auto const bytes = nifti() + bytes_of(file_values<short>());
  put_gz(folder / "a.gz", bytes.substr(0, 360));
  put_gz(folder / "b.gz", bytes.substr(360));
  put(folder / "two.nii.gz", iso::test::get(folder / "a.gz") + iso::test::get(folder / "b.gz"));
  CHECK(files::read_volume(folder / "two.nii.gz").values == small_volume().values);
}

TEST_CASE("a tilted direction matrix is refused") {
  scratch_folder const folder;
  put(folder / "t.mha",
      metaimage("TransformMatrix = 0.8 0.6 0 -0.6 0.8 0 0 0 1\n") + bytes_of(file_values<short>()));
  auto const text = refusal([&] { files::read_volume(folder / "t.mha"); });
  CHECK(names(text, {"t.mha", "direction matrix", "resample"}));
}

TEST_CASE("a direction matrix that leaves an axis without a world axis is refused") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  for (std::string const matrix :
       {"0 0 0 0 1 0 0 0 1", "1 0 0 0 0 0 0 0 1", "1 0 0 0 1 0 0 0 0", "0 0 0 0 0 0 0 0 0",
        "1 0 0 1 0 0 0 0 1", "1 0 0 0 1 0 0 -1 0", "1 0 0 0 2 0 0 0 1", "1 1 0 0 1 0 0 0 1"}) {
    CAPTURE(matrix);
    CHECK(names(read("m.mha", metaimage("TransformMatrix = " + matrix + "\n") + voxels),
                {"m.mha", "direction matrix", "resample"}));
  }
  // The library may refuse these in its own words; it must be a refusal.
  for (std::string const rows :
       {"(0,0,0) (0,1,0) (0,0,1)", "(1,0,0) (1,0,0) (0,0,1)", "(0,0,0) (0,0,0) (0,0,0)"}) {
    CAPTURE(rows);
    CHECK(names(read("m.nrrd", nrrd("space directions: " + rows + "\n") + voxels),
                {"m.nrrd", "direction"}));
  }
}

TEST_CASE("spacing and origin lie within a geometry's limits") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  for (std::string const step : {"0", "-2", "1e300", "9e-7", "1.1e9"}) {
    CAPTURE(step);
    CHECK(names(read("s.mha", metaimage("ElementSpacing = 1 " + step + " 1\n") + voxels),
                {"s.mha", "spacing 1 is", "from 1e-6 to 1e9"}));
  }
  for (std::string const step : {"9e-7", "1.1e9"}) {
    CAPTURE(step);
    CHECK(names(
        read("d.nrrd", nrrd("space directions: (" + step + ",0,0) (0,1,0) (0,0,1)\n") + voxels),
        {"d.nrrd", "spacing 0 is", "from 1e-6 to 1e9"}));
  }
  for (std::string const at : {"1e300", "-1.1e9"}) {
    CAPTURE(at);
    CHECK(names(read("o.mha", metaimage("Offset = 0 " + at + " 0\n") + voxels),
                {"o.mha", "origin 1 is", "between -1e9 and 1e9"}));
    CHECK(names(read("o.nrrd", nrrd("space directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (" +
                                    at + ",0,0)\n") +
                                   voxels),
                {"o.nrrd", "origin 0 is", "between -1e9 and 1e9"}));
  }
  CHECK(
      read("l.mha", metaimage("ElementSpacing = 1e-6 1 1e9\nOffset = 1e9 0 0\n") + voxels).empty());
}

TEST_CASE(
    "numbers of which the largest has no float, and scales that are not applied, are refused") {
  scratch_folder const folder;
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  auto doubles = file_values<double>();
  auto const said = [&](double scale) {
    auto scaled = doubles;
    for (double& x : scaled) {
      x *= scale;
    }
    return read("d.mha", metaimage("", "MET_DOUBLE") + bytes_of(scaled));
  };
  CHECK(names(said(1e38), {"d.mha", "holds values up to", "floats"}));
  CHECK(names(said(1e-300), {"d.mha", "holds values up to", "floats"}));
  CHECK(said(1e30).empty());
  doubles.front() = 1e60;  // one number more, of those that were good
  CHECK(names(said(1), {"holds values up to 1e+60"}));
  doubles.front() = 1e-60;  // which rounds to 0, as small numbers do
  CHECK(said(1).empty());
  auto const voxels = bytes_of(file_values<short>());
  auto const scaled = [&](float slope, float offset) {
    auto header = nifti();
    header.replace(112, 8, bytes_of(std::vector<float>{slope, offset}));
    return read("s.nii", header + voxels);
  };
  // ITK takes slopes up to 2.2e-16 for none.
  for (float const slope : {1e-41F, 1e-20F, -2.2e-16F, std::numeric_limits<float>::infinity()}) {
    CHECK(names(scaled(slope, 0), {"s.nii", "has a slope of"}));
  }
  CHECK(scaled(2.3e-16F, 0).empty());
  // It adds an offset where a slope of 0 says that values are as they are stored, and no small one.
  CHECK(names(scaled(0, 5), {"s.nii", "has an offset of 5 for its values beside a slope of 0"}));
  CHECK(names(scaled(1, 1e-17F), {"has an offset of 1e-17"}));
  CHECK(scaled(0, 0).empty());
  CHECK(scaled(1, 5).empty());
  std::string const field = "ElementToIntensityFunction";
  CHECK(names(read("f.mha", metaimage(field + "Slope = 2\n") + voxels),
              {"f.mha", field + "Slope = 2", "as they are stored"}));
  CHECK(names(read("f.mha", metaimage(field + "Offset = 1\n") + voxels), {field + "Offset = 1"}));
  CHECK(read("f.mha", metaimage(field + "Slope = 1\n" + field + "Offset = 0\n") + voxels).empty());
}

TEST_CASE("a packed NIfTI beside one of its name has its own voxels") {
  scratch_folder const folder;
  auto values = file_values<short>();
  put_gz(folder / "v.nii.gz", nifti() + bytes_of(values));
  CHECK(files::read_volume(folder / "v.nii.gz").values == small_volume().values);
  std::reverse(values.begin(), values.end());
  put(folder / "v.nii", nifti() + bytes_of(values));
  CHECK(files::read_volume(folder / "v.nii.gz").values == small_volume().values);
  CHECK(files::read_volume(folder / "v.nii").values.front() == small_volume().values.back());
}

TEST_CASE("a slope that leaves no float of a NIfTI's largest value is refused") {
  scratch_folder const folder;
  auto const swap = [](std::string bytes, std::size_t from, std::size_t size) {
    std::reverse(bytes.begin() + std::ptrdiff_t(from), bytes.begin() + std::ptrdiff_t(from + size));
    return bytes;
  };
  // Voxels that are some hundreds times the scale, or less.
  auto const said = [&](float slope, float scale, std::string const& name, bool swapped = false) {
    auto values = file_values<float>();
    for (float& x : values) {
      x *= scale;
    }
    auto bytes = nifti();
    auto const set = [&](std::size_t at, auto value) {
      std::memcpy(bytes.data() + at, &value, sizeof value);
    };
    set(70, std::int16_t(16));
    set(72, std::int16_t(32));
    set(112, slope);
    if (swapped) {
      bytes = swap(bytes, 0, 4);
      for (std::size_t at : {40, 42, 44, 46, 48, 50, 52, 54, 70, 72, 252, 254}) {
        bytes = swap(bytes, at, 2);
      }
      for (std::size_t at = 76; at < 120; at += 4) {
        bytes = swap(bytes, at, 4);
      }
      for (std::size_t at = 256; at < 328; at += 4) {
        bytes = swap(bytes, at, 4);
      }
    }
    bytes += bytes_of(values);
    if (swapped) {
      for (std::size_t at = 352; at < bytes.size(); at += 4) {
        bytes = swap(bytes, at, 4);
      }
    }
    name.ends_with(".gz") ? put_gz(folder / name, bytes) : put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  for (std::string const name : {"f.nii", "f.nii.gz"}) {
    for (bool const swapped : {false, true}) {
      CAPTURE(name);
      CAPTURE(swapped);
      CHECK(names(said(1e-10F, 1e-38F, name, swapped), {name.c_str(), "holds values up to", "e-"}));
      CHECK(names(said(1e-10F, 1e-32F, name, swapped), {"lose digits below 1.2e-38"}));
      CHECK(said(1e-10F, 1e-26F, name, swapped).empty());
      CHECK(said(1e-10F, 0, name, swapped).empty());  // zeros are zeros
      CHECK(said(2, 1e-40F, name, swapped).empty());  // nothing is lost that the file has
    }
  }
}

TEST_CASE("files that are too short for what they claim are refused") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  for (std::size_t const lost : {1, 2, 20, 48}) {
    CAPTURE(lost);
    auto const part = voxels.substr(0, voxels.size() - lost);
    CHECK(names(read("short.mha", metaimage("") + part), {"short.mha", "truncated"}));
    CHECK(names(read("short.nrrd", nrrd("") + part), {"short.nrrd", "truncated"}));
    CHECK(names(read("short.nii", nifti() + part), {"short.nii", "truncated"}));
    put_gz(folder / "short.nii.gz", nifti() + part);
    CHECK(names(refusal([&] { files::read_volume(folder / "short.nii.gz"); }),
                {"short.nii.gz", "truncated"}));
    auto const header = metaimage("");
    put(folder / "d.raw", part);
    CHECK(names(read("d.mhd", header.substr(0, header.find("LOCAL")) + "d.raw\n"),
                {"d.mhd", "truncated"}));
  }
  // A last byte like the one that the reader leaves there; and voxels whose bytes are turned round.
  auto whole = voxels;
  whole.back() = '\xd3';
  CHECK(read("whole.mha", metaimage("") + whole).empty());
  CHECK(names(read("short.mha", metaimage("") + whole.substr(1)), {"short.mha", "truncated"}));
  auto turned = metaimage("");
  turned.replace(turned.find("MSB = False"), 11, "MSB = True");
  CHECK(read("whole.mha", turned + whole).empty());
  CHECK(names(read("short.mha", turned + whole.substr(1)), {"short.mha", "truncated"}));
}

TEST_CASE("claims that no file of that length holds are refused before memory is asked for") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("huge.mha", metaimage("", "MET_DOUBLE", "1048576 1048576 1048576") + voxels),
              {"huge.mha", "1048576 x 1048576 x 1048576", "truncated"}));
  CHECK(names(read("huge.nrrd", nrrd("", "65536 65536 256") + voxels), {"huge.nrrd", "65536"}));
  CHECK(names(read("huge.nii", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels),
              {"huge.nii", "32767"}));
  put_gz(folder / "huge.nii.gz", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels);
  CHECK(names(refusal([&] { files::read_volume(folder / "huge.nii.gz"); }),
              {"huge.nii.gz", "32767"}));
  CHECK(names(read("packed.mha",
                   metaimage("CompressedData = True\nCompressedDataSize = 1000000000000\n") + "xx"),
              {"packed.mha", "truncated"}));
  // More than any number here can count, and the 93 bytes that claim 2^40 voxels.
  std::string const most = "1099511627775 1099511627775 1099511627775";
  CHECK(names(read("a.mha", metaimage("", "MET_DOUBLE", most) + "xx"), {"a.mha", "truncated"}));
  CHECK(names(read("a.nrrd", nrrd("", most)), {"a.nrrd", "cannot be read"}));
  // Within what compression can do, which these do not use.
  std::vector<std::string> const claim = {"20 x 3 x 4 voxels of 2 bytes", "too short"};
  CHECK(names(read("raw.mha", metaimage("", "MET_SHORT", "20 3 4") + voxels), claim));
  CHECK(names(read("raw.mhd", metaimage("", "MET_SHORT", "20 3 4") + voxels), claim));
  CHECK(names(read("raw.nrrd", nrrd("", "20 3 4") + voxels), claim));
  CHECK(names(read("raw.nhdr", nrrd("", "20 3 4") + voxels), claim));
  std::string const header =
      "NDims = 3\nDimSize = 16384 16384 4096\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
  CHECK(names(read("h.mha", header), {"h.mha", "16384 x 16384 x 4096", "truncated"}));
}

TEST_CASE("voxels that lie in another file are read, whatever the header's ending") {
  scratch_folder const folder;
  put(folder / "d.raw", bytes_of(file_values<short>()));
  auto const header = metaimage("");
  auto const detached = header.substr(0, header.find("LOCAL")) + "d.raw\n";
  auto const nrrd_detached = nrrd("data file: d.raw\n");
  for (auto const& [name, bytes] : {std::pair{"a.mha", detached}, std::pair{"a.mhd", detached},
                                    std::pair{"a.nhdr", nrrd_detached}}) {
    CAPTURE(name);
    put(folder / name, bytes);
    CHECK(files::read_volume(folder / name).values.size() == 24);
  }
}

TEST_CASE("a damaged or truncated compressed file is refused") {
  scratch_folder const folder;
  std::vector<short> large(20 * 30 * 40);
  for (std::size_t i = 0; i < large.size(); ++i) {
    large[i] = short(i * i % 1009);
  }
  auto const voxels = bytes_of(large);
  put_gz(folder / "w.gz", voxels);
  auto const packed = iso::test::get(folder / "w.gz");
  put_gz(folder / "w.gz", nifti({3, 20, 30, 40, 1, 1, 1, 1}) + voxels);
  auto const packed_nifti = iso::test::get(folder / "w.gz");
  auto zipped = nrrd("", "20 30 40");
  zipped.replace(zipped.find("raw"), 3, "gzip");
  struct format {
    char const* name;
    std::string header;
    std::string packed;
  };
  for (auto const& [name, header, whole] :
       {format{"v.mha",
               metaimage("CompressedData = True\nCompressedDataSize = " +
                             std::to_string(packed.size()) + "\n",
                         "MET_SHORT", "20 30 40"),
               packed},
        format{"v.nrrd", zipped, packed}, format{"v.nii.gz", "", packed_nifti}}) {
    CAPTURE(name);
    auto const read = [&, &name = name, &header = header](std::string const& bytes) {
      put(folder / name, header + bytes);
      return refusal([&] { files::read_volume(folder / name); });
    };
    CHECK(read(whole).empty());
    CHECK(names(read(whole.substr(0, whole.size() / 2)), {name}));
    auto damaged = whole;
    damaged[whole.size() / 2] = char(damaged[whole.size() / 2] ^ 0x55);
    CHECK(names(read(damaged), {name}));
  }
}

TEST_CASE("headers that make no sense are refused") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return names(refusal([&] { files::read_volume(folder / name); }), {name});
  };
  CHECK(read("a.mha", metaimage("ElementSpacing = 1 nan 1\n") + voxels));
  CHECK(read("b.mha", metaimage("ElementSpacing = 1 1\n") + voxels));
  CHECK(read("c.mha", metaimage("", "MET_SHORT", "2 -3 4") + voxels));
  CHECK(read("d.mha", metaimage("ElementNumberOfChannels = 3\n") + voxels));
  CHECK(read("e.mha", metaimage("Offset = 0 0 inf\n") + voxels));
  CHECK(read("f.mha", "what is this\n"));
  auto text = metaimage("");
  text.replace(text.find("BinaryData = True"), 17, "BinaryData = False");
  CHECK(read("g.mha", text + "1 2 3"));
  auto const detached = metaimage("").substr(0, metaimage("").find("LOCAL"));
  CHECK(read("h.mhd", detached + "none.raw\n"));
  CHECK(read("i.mhd", detached + "LIST\n"));
  CHECK(read("a.nrrd", nrrd("spacings: 1 1 -2\n") + voxels));
  CHECK(read("b.nrrd", nrrd("byte skip: 4\n") + voxels));
  CHECK(read("c.nrrd", "NOPE\n"));
  CHECK(read("d.nrrd", nrrd("spacings: 1 1 1\nspacings: 2 2 2\n") + voxels));
  CHECK(read("a.nii", nifti({4, 2, 3, 4, 9, 1, 1, 1}) + voxels + voxels));
  CHECK(read("b.nii", nifti({3, 2, 3, 4, 1, 1, 1, 1}, -1) + voxels));
  CHECK(read("c.nii", std::string(400, 'x')));
  CHECK(read("d.nii", "x"));
  CHECK(names(refusal([&] { files::read_volume(folder / "x.jpg"); }), {".jpg", ".nii.gz"}));
  for (auto const* name : {"none.mha", "none.nii.gz"}) {
    CHECK(names(refusal([&] { files::read_volume(folder / name); }), {name, "no such file"}));
  }
}

TEST_CASE("what ITK's reader of MetaImages does not say or survive is said") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("t.mha", "hello\n"), {"t.mha", "is no MetaImage", "line 1", "ending"}));
  put_gz(folder / "packed.gz", nifti() + voxels);
  CHECK(names(read("z.mha", iso::test::get(folder / "packed.gz")), {"z.mha", "MetaImage"}));
  CHECK(names(read("e.mha", ""), {"e.mha", "no field NDims"}));
  CHECK(names(read("c.mha", "NDims = 3\nDimSize = 2 3 4\n"), {"no field ElementType"}));
  CHECK(names(read("l.mha", metaimage("").substr(0, metaimage("").find("ElementDataFile"))),
              {"no field ElementDataFile"}));
  // Its buffers.
  std::string const fits(254, 'x');
  CHECK(read("fits.mha", metaimage(fits + " = " + fits + "\n") + voxels).empty());
  CHECK(names(read("long.mha", metaimage("Comment = x" + fits + "\n") + voxels),
              {"long.mha", "line 6", "255 characters"}));
  CHECK(names(read("long.mha", metaimage("x" + fits + " = 1\n") + voxels),
              {"long.mha", "line 6", "255 characters"}));
  CHECK(names(read("long.mha", metaimage("C = " + std::string(9000, 'x') + "\n") + voxels),
              {"long.mha", "line 6", "characters"}));
  auto const detached = metaimage("").substr(0, metaimage("").find("LOCAL"));
  CHECK(names(read("d.mhd", detached + "none.raw\n"), {"d.mhd", "data file 'none.raw' is not"}));
  // What is left for it to refuse: no word of the C library's last error, whatever that was.
  for (std::string const fields :
       {"ElementSpacing = 1 1\n", "ElementSpacing = 1 nan 1\n", "Offset = 0 0 inf\n"}) {
    auto const said = read("s.mha", metaimage(fields) + voxels);
    CHECK(names(said, {"s.mha", "cannot be read", "header"}));
    CHECK(!names(said, {"Reason"}));
  }
}

TEST_CASE("NIfTI numbers are scaled as its header says") {
  scratch_folder const folder;
  auto header = nifti();
  float const scale[2] = {0.5F, -3};
  std::memcpy(header.data() + 112, scale, sizeof scale);
  put(folder / "s.nii", header + bytes_of(file_values<short>()));
  auto const read = files::read_volume(folder / "s.nii");
  for (std::size_t i = 0; i < read.values.size(); ++i) {
    CHECK(read.values[i] == small_volume().values[i] / 2 - 3);
  }
}

TEST_CASE("a voxel that is not finite is refused by place, or kept where that is asked for") {
  scratch_folder const folder;
  auto volume = small_volume();
  volume.values[std::size_t((1 * 3 + 2) * 4 + 3)] = std::numeric_limits<float>::quiet_NaN();
  files::prepare_volume(folder / "n.mha", volume).commit();
  CHECK(names(refusal([&] { files::read_volume(folder / "n.mha"); }),
              {"n.mha", "(1, 2, 3)", "finite"}));
  CHECK_NOTHROW(files::read_volume(folder / "n.mha", files::finite_values::not_required));
  volume.values.back() = 0;
  volume.values.front() = std::numeric_limits<float>::infinity();
  files::prepare_volume(folder / "i.nrrd", volume).commit();
  CHECK(names(refusal([&] { files::read_volume(folder / "i.nrrd"); }), {"(0, 0, 0)", "inf"}));
}

TEST_CASE("a volume that no memory holds is refused before it is read, with both figures") {
  scratch_folder const folder;
  auto const path = folder / "large.mha";
  put(path,
      "NDims = 3\nDimSize = 8192 8192 8192\nElementSpacing = 1 1 1\nElementType = MET_FLOAT\n"
      "ElementDataFile = LOCAL\n");
  auto const bytes = std::uint64_t(1) << 41;
  std::error_code failure;  // a hole, where the file system makes one
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + bytes, failure);
  if (failure) {
    iso::test::not_run(
        "a file of " + std::to_string(bytes) +
        " bytes (this file system makes no holes in files); set TMPDIR to another one");
    return;
  }
  // The voxels, and a block of those of the file.
  auto const sentence = shortage(bytes, [&] { files::read_volume(path); });
  CHECK(names(sentence, {"large.mha", "8192 x 8192 x 8192", "2203318222848 bytes", "are free"}));
}
