// SPDX-License-Identifier: BSD-3-Clause
// Volumes whose headers and data do not go together are refused, before memory is asked for.
#include "image_support.hpp"

#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace files = iso::files;
using namespace iso::test;

TEST_CASE("a MetaImage whose voxels lie elsewhere than its fields say is refused") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  std::string packed(1000, '\0');
  uLongf length = packed.size();
  compress(reinterpret_cast<Bytef*>(packed.data()), &length,
           reinterpret_cast<Bytef const*>(voxels.data()), voxels.size());
  packed.resize(length);
  auto const size = [&](int more) {
    return "CompressedData = True\nCompressedDataSize = " + std::to_string(int(length) + more) +
           "\n";
  };
  // The refusal; empty where the right voxels came.
  auto const said = [&](char const* name) {
    bool right = true;
    auto const text =
        refusal([&] { right = files::read_volume(folder / name).values == small_volume().values; });
    return right ? text : "other voxels";
  };
  auto const read = [&](std::string const& bytes) {
    put(folder / "v.mha", bytes);
    return said("v.mha");
  };
  // Where the voxels do lie where the field says, they are read.
  auto const own = metaimage("HeaderSize = 000\n").size();
  for (auto const& field : {std::string("HeaderSize = 0\n"), std::string("HeaderSize = -1\n"),
                            "HeaderSize = " + std::to_string(own) + "\n"}) {
    CHECK(read(metaimage(field) + voxels).empty());
  }
  CHECK(read(metaimage(size(0)) + packed).empty());
  CHECK(names(read(metaimage("HeaderSize = 5\n") + voxels), {"v.mha", "HeaderSize", "is 5"}));
  CHECK(names(read(metaimage("HeaderSize = 5\n" + size(0)) + packed), {"HeaderSize", "is 5"}));
  CHECK(names(read(metaimage("HeaderSize = -1\n" + size(0)) + packed), {"HeaderSize", "is -1"}));
  CHECK(names(read(metaimage("HeaderSize = 5.5\n") + voxels), {"HeaderSize", "whole number"}));
  CHECK(names(read(metaimage("CompressedData = True\n") + packed),
              {"CompressedDataSize", "missing", std::to_string(length)}));
  CHECK(names(read(metaimage(size(-5)) + packed), {"CompressedDataSize", "longer"}));
  CHECK(names(read(metaimage(size(5)) + packed), {"CompressedDataSize", "truncated"}));
  CHECK(names(read(metaimage(size(0)) + packed + "more"), {"CompressedDataSize", "longer"}));
  CHECK(names(read(metaimage(size(4)) + packed + "more"), {"v.mha", "after its compressed data"}));
  // In a file of their own: without its length the library takes all of it for the stream.
  auto const detached = [&](std::string const& fields) {
    auto const header = metaimage(fields);
    put(folder / "d.mhd", header.substr(0, header.find("LOCAL")) + "d.raw\n");
    return said("d.mhd");
  };
  put(folder / "d.raw", "12345" + packed);
  CHECK(detached("HeaderSize = 5\n" + size(0)).empty());
  CHECK(names(detached("HeaderSize = 5\nCompressedData = True\n"),
              {"CompressedDataSize", "missing"}));
  put(folder / "d.raw", packed);
  CHECK(detached("CompressedData = True\n").empty());
  put(folder / "d.raw", "12345" + voxels);
  CHECK(detached("HeaderSize = 5\n").empty());
  CHECK(detached("HeaderSize = -1\n").empty());
}

TEST_CASE("bytes after a compressed stream are refused; several gzip streams are one") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  std::string const grid =
      "space directions: (0.5,0,0) (0,1.25,0) (0,0,3)\nspace origin: (-7,8,9.5)\n";
  std::string header = nrrd(grid);
  header.replace(header.find("raw"), 3, "gzip");
  put_gz(folder / "v.gz", voxels);
  auto const stream = iso::test::get(folder / "v.gz");
  put(folder / "v.nrrd", header + stream);
  CHECK(files::read_volume(folder / "v.nrrd").values == small_volume().values);
  put(folder / "t.nrrd", header + stream + "more");
  CHECK(names(refusal([&] { files::read_volume(folder / "t.nrrd"); }),
              {"t.nrrd", "after its compressed data"}));
  put_gz(folder / "v.nii.gz", nifti() + voxels);
  put(folder / "t.nii.gz", iso::test::get(folder / "v.nii.gz") + "more");
  CHECK(names(refusal([&] { files::read_volume(folder / "t.nii.gz"); }),
              {"t.nii.gz", "after its compressed data"}));
  put_gz(folder / "a.gz", (nifti() + voxels).substr(0, 360));
  put_gz(folder / "b.gz", (nifti() + voxels).substr(360));
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

TEST_CASE("a MetaImage of two compressed streams is refused: the library reads the first") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  put_gz(folder / "a.gz", voxels.substr(0, 24));
  put_gz(folder / "b.gz", voxels.substr(24));
  auto const both = iso::test::get(folder / "a.gz") + iso::test::get(folder / "b.gz");
  put(folder / "two.mha", metaimage("CompressedData = True\nCompressedDataSize = " +
                                    std::to_string(both.size()) + "\n") +
                              both);
  CHECK(names(refusal([&] { files::read_volume(folder / "two.mha"); }),
              {"two.mha", "second compressed stream"}));
  put_gz(folder / "v.gz", voxels);
  auto const one = iso::test::get(folder / "v.gz");
  put(folder / "one.mha", metaimage("CompressedData = True\nCompressedDataSize = " +
                                    std::to_string(one.size()) + "\n") +
                              one);
  CHECK(files::read_volume(folder / "one.mha").values == small_volume().values);
  auto header = nrrd("");
  header.replace(header.find("raw"), 3, "gzip");
  put(folder / "two.nrrd", header + both);
  CHECK(files::read_volume(folder / "two.nrrd").values == small_volume().values);
}

TEST_CASE("MetaImage fields that the library would take for others are refused") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& fields) {
    put(folder / "c.mha", metaimage(fields) + voxels);
    return refusal([&] { files::read_volume(folder / "c.mha"); });
  };
  for (std::string const line :
       {"HeaderSize: 10 = 10", "CompressedData : True = 1",
        "ElementType:MET_DOUBLE =", "DimSize: 2 2 2 =", "Comment = x\rHeaderSize = 10",
        "Comment:x\ty = 1", " = 3", "HeaderSize : = 10"}) {
    CAPTURE(line);
    CHECK(names(read(line + "\n"), {"c.mha", "plain name"}));
  }
  for (std::size_t const length : {101, 255, 256, 1000}) {
    CHECK(names(read(std::string(length, 'k') + " = 1\n"), {"c.mha", "plain name"}));
  }
  for (std::size_t const length : {255, 256, 470}) {
    for (std::string const field : {"Comment", "Name", "ObjectSubType"}) {
      CHECK(names(read(field + " = " + std::string(length, 'v') + "\n"),
                  {"c.mha", field, "at most 254"}));
    }
  }
  CHECK(read("Comment = " + std::string(254, 'v') + "\n").empty());
  CHECK(read("Comment = at 12:30\n0008|0060 = CT\n").empty());
  CHECK(files::read_volume(folder / "c.mha").values == small_volume().values);
}

TEST_CASE("where voxels lie is said, in mm, within a geometry's limits") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  for (std::string const step : {"1e-300", "1e300", "9e-7", "1.1e9"}) {
    CAPTURE(step);
    CHECK(names(read("s.mha", metaimage("ElementSpacing = 1 " + step + " 1\n") + voxels),
                {"s.mha", "ElementSpacing", "from 1e-6 to 1e9"}));
    CHECK(names(read("s.nrrd", nrrd("spacings: 1 1 " + step + "\n") + voxels),
                {"s.nrrd", "spacings", "from 1e-6 to 1e9"}));
    CHECK(names(
        read("d.nrrd", nrrd("space directions: (" + step + ",0,0) (0,1,0) (0,0,1)\n") + voxels),
        {"d.nrrd", "space directions", "from 1e-6 to 1e9"}));
  }
  for (std::string const at : {"1e300", "-1.1e9"}) {
    CAPTURE(at);
    CHECK(names(read("o.mha", metaimage("Offset = 0 " + at + " 0\n") + voxels),
                {"o.mha", "Offset", "between -1e9 and 1e9"}));
    CHECK(names(read("o.nrrd", nrrd("space directions: (1,0,0) (0,1,0) (0,0,1)\nspace origin: (" +
                                    at + ",0,0)\n") +
                                   voxels),
                {"o.nrrd", "space origin", "between -1e9 and 1e9"}));
  }
  CHECK(
      read("l.mha", metaimage("ElementSpacing = 1e-6 1 1e9\nOffset = 1e9 0 0\n") + voxels).empty());
  auto header = nifti();
  float const far = 1e30F;
  std::memcpy(header.data() + 292, &far, sizeof far);
  CHECK(names(read("o.nii", header + voxels), {"o.nii", "srow_x", "between -1e9 and 1e9"}));
  for (std::size_t const at : {256, 280, 284, 288, 296, 300, 304, 312, 316, 320}) {
    for (float const huge : {3.4e38F, -3.4e38F}) {
      CAPTURE(at);
      auto steep = nifti();
      std::memcpy(steep.data() + at, &huge, sizeof huge);
      CHECK(names(read("d.nii", steep + voxels), {"d.nii", "direction", "between -1e9 and 1e9"}));
    }
  }
  std::string const grid = "space directions: (1,0,0) (0,1,0) (0,0,1)\nspace units: ";
  CHECK(names(read("cm.nrrd", nrrd(grid + "\"mm\" \"cm\" \"mm\"\n") + voxels),
              {"cm.nrrd", "space units", "'cm'", "mm"}));
  CHECK(names(read("um.nrrd", nrrd("spacings: 1 1 1\nUnits: \"\" \"\" \"um\"\n") + voxels),
              {"um.nrrd", "units", "'um'"}));
  CHECK(read("mm.nrrd", nrrd(grid + "\"mm\" \"mm\" \"mm\"\n") + voxels).empty());
  auto scalar = nrrd("spacings: 1 1 1\nunits: \"mm\" \"\" \"\"\n");
  scalar.erase(scalar.find("space: "), std::string("space: left-posterior-superior\n").size());
  CHECK(read("none.nrrd", scalar + voxels).empty());
  // Without a spacing, or with a misspelt one, there is no spacing to assume.
  auto bare = metaimage("");
  bare.replace(bare.find("ElementSpacing"), 14, "ElementSpacin");
  CHECK(names(read("bare.mha", bare + voxels), {"bare.mha", "ElementSpacing", "missing"}));
  auto plain = nrrd("");
  plain.erase(plain.find("space directions"), plain.size());
  plain += "\n";
  CHECK(names(read("bare.nrrd", plain + voxels), {"bare.nrrd", "spacings", "missing"}));
  CHECK(read("size.mha", bare.replace(bare.find("ElementSpacin"), 13, "ElementSize") + voxels)
            .empty());
}

TEST_CASE("NRRD fields in capitals are the same fields") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  put(folder / "c.nrrd", nrrd("Byteskip: 4\n") + voxels);
  CHECK(names(refusal([&] { files::read_volume(folder / "c.nrrd"); }), {"byteskip", "skipping"}));
  put(folder / "t.nrrd", nrrd("Spacings: 1 1 1\nspacings: 2 2 2\n") + voxels);
  CHECK(names(refusal([&] { files::read_volume(folder / "t.nrrd"); }), {"spacings", "twice"}));
}

TEST_CASE("files that lie about their size are refused before memory is asked for") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("short.mha", metaimage("") + voxels.substr(1)),
              {"short.mha", "truncated", "2 x 3 x 4"}));
  CHECK(names(read("long.mha", metaimage("") + voxels + "x"), {"long.mha", "longer"}));
  CHECK(names(read("huge.mha", metaimage("", "MET_DOUBLE", "1048576 1048576 1048576") + voxels),
              {"huge.mha", "1048576 x 1048576 x 1048576", "truncated"}));
  CHECK(names(read("short.nrrd", nrrd("") + voxels.substr(2)), {"short.nrrd", "truncated"}));
  CHECK(names(read("huge.nrrd", nrrd("", "65536 65536 256") + voxels), {"huge.nrrd", "65536"}));
  CHECK(names(read("short.nii", nifti() + voxels.substr(1)), {"short.nii", "truncated"}));
  CHECK(names(read("huge.nii", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels),
              {"huge.nii", "32767"}));
  put_gz(folder / "short.nii.gz", nifti() + voxels.substr(1));
  CHECK(names(refusal([&] { files::read_volume(folder / "short.nii.gz"); }),
              {"short.nii.gz", "truncated"}));
  put_gz(folder / "huge.nii.gz", nifti({3, 32767, 32767, 32767, 1, 1, 1, 1}) + voxels);
  CHECK(names(refusal([&] { files::read_volume(folder / "huge.nii.gz"); }),
              {"huge.nii.gz", "cannot hold"}));
}

TEST_CASE("more voxels than any number here can count are refused") {
  scratch_folder const folder;
  std::string const most = "1099511627775 1099511627775 1099511627775";
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("a.mha", metaimage("", "MET_DOUBLE", most) + "xx"), {"a.mha", "truncated"}));
  CHECK(names(
      read("b.mha",
           metaimage("CompressedData = True\nCompressedDataSize = 2\n", "MET_DOUBLE", most) + "xx"),
      {"b.mha", "cannot hold"}));
  CHECK(names(read("c.nrrd", nrrd("", most)), {"c.nrrd", "truncated"}));
  // 3.3e38 voxels, 7e12 along each side.
  std::string const wider = "6918000000000 6918000000000 6918000000000";
  CHECK(names(read("d.mha", metaimage("", "MET_DOUBLE", wider) + "xx"), {"DimSize", "2^40"}));
  CHECK(names(read("e.nrrd", nrrd("", wider)), {"sizes", "2^40"}));
}

TEST_CASE("the 93-byte header that claims 2^40 voxels") {
  scratch_folder const folder;
  std::string const header =
      "NDims = 3\nDimSize = 16384 16384 4096\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n";
  put(folder / "h.mha", header.substr(0, 93));
  CHECK(names(refusal([&] { files::read_volume(folder / "h.mha"); }), {"h.mha", "truncated"}));
}

TEST_CASE("a damaged or truncated compressed file is refused") {
  scratch_folder const folder;
  put_gz(folder / "w.nii.gz", nifti() + bytes_of(file_values<short>()));
  auto bytes = iso::test::get(folder / "w.nii.gz");
  put(folder / "cut.nii.gz", bytes.substr(0, bytes.size() - 9));
  CHECK(names(refusal([&] { files::read_volume(folder / "cut.nii.gz"); }),
              {"cut.nii.gz", "truncated"}));
  bytes[bytes.size() - 6] = char(bytes[bytes.size() - 6] ^ 1);  // a bit of the check sum
  put(folder / "bad.nii.gz", bytes);
  CHECK(names(refusal([&] { files::read_volume(folder / "bad.nii.gz"); }),
              {"bad.nii.gz", "check sum"}));
}

TEST_CASE("headers that make no sense are refused by field") {
  scratch_folder const folder;
  auto const voxels = bytes_of(file_values<short>());
  auto const read = [&](std::string const& name, std::string const& bytes) {
    put(folder / name, bytes);
    return refusal([&] { files::read_volume(folder / name); });
  };
  CHECK(names(read("a.mha", metaimage("ElementSpacing = 1 nan 1\n") + voxels),
              {"a.mha", "ElementSpacing", "nan"}));
  CHECK(names(read("b.mha", metaimage("ElementSpacing = 1 0 1\n") + voxels),
              {"ElementSpacing", "from 1e-6"}));
  CHECK(names(read("c.mha", metaimage("ElementSpacing = 1 1\n") + voxels),
              {"ElementSpacing", "2 numbers"}));
  CHECK(names(read("d.mha", metaimage("", "MET_SHORT", "2 -3 4") + voxels), {"DimSize", "2 -3 4"}));
  CHECK(names(read("e.mha", metaimage("", "MET_SHORT_ARRAY") + voxels),
              {"ElementType", "MET_SHORT_ARRAY"}));
  CHECK(names(read("f.mha", metaimage("ElementNumberOfChannels = 3\n") + voxels),
              {"ElementNumberOfChannels"}));
  CHECK(names(read("g.mha", "what is this\n"), {"g.mha", "ElementDataFile"}));
  CHECK(names(read("h.mha", metaimage("Offset = 0 0 inf\n") + voxels), {"Offset", "inf"}));
  CHECK(names(read("i.mha", "NDims = 4\n" + metaimage("") + voxels), {"NDims", "twice"}));
  CHECK(names(read("a.nrrd", nrrd("spacings: 1 1 -2\n") + voxels), {"spacings", "-2"}));
  CHECK(names(read("b.nrrd", nrrd("byte skip: 4\n") + voxels), {"byte skip"}));
  CHECK(names(read("c.nrrd", "NOPE\n"), {"c.nrrd", "NRRD000"}));
  CHECK(names(read("a.nii", nifti({3, 2, 0, 4, 1, 1, 1, 1}) + voxels), {"dim[2]"}));
  CHECK(names(read("b.nii", nifti({4, 2, 3, 4, 9, 1, 1, 1}) + voxels), {"dim[4]", "series"}));
  CHECK(names(read("c.nii", nifti({3, 2, 3, 4, 1, 1, 1, 1}, -1) + voxels), {"pixdim[1]"}));
  CHECK(names(read("d.nii", std::string(400, 'x')), {"magic"}));
  float const nan = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t const at :
       {std::size_t(256), std::size_t(276), std::size_t(280), std::size_t(324)}) {
    auto header = nifti();
    std::memcpy(header.data() + at, &nan, sizeof nan);
    CHECK(names(read("f.nii", header + voxels), {"f.nii", "not finite"}));
  }
  CHECK(names(read("e.nii", "x"), {"e.nii", "truncated"}));
  CHECK(names(read("x.jpg", "x"), {".jpg", ".nii.gz"}));
  CHECK(names(refusal([&] { files::read_volume(folder / "none.mha"); }),
              {"none.mha", "cannot be opened"}));
  CHECK(names(refusal([&] { files::read_volume(folder / "none.nii.gz"); }),
              {"none.nii.gz", "cannot be opened"}));
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
    MESSAGE("skipped: no files with holes of " << bytes << " bytes");
    return;
  }
  auto const sentence = shortage(2 * bytes, [&] { files::read_volume(path); });
  CHECK(names(sentence, {"large.mha", "8192 x 8192 x 8192", "4398046511104 bytes", "are free"}));
}
