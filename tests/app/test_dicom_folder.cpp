// SPDX-License-Identifier: BSD-3-Clause
// Folders of slices as they are handed over: files that are damaged, otherwise named, in
// subfolders.
#include "dicom_support.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace iso::test {
namespace {

namespace fs = std::filesystem;

std::string said_of_folder(fs::path const& folder) {
  auto const sentence = refusal([&] { files::read_dicom_series(folder); });
  CHECK(sentence.find("SECRET") == std::string::npos);
  return sentence;
}

}  // namespace

TEST_CASE("what looks like DICOM and is not read is told, with the reason" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {ct_slice(3), ct_slice(6), ct_slice(9)});
  put(folder / "notes.txt", "no DICOM");
  put(folder / "empty.txt", "");
  put(folder / ".hidden", "");
  CHECK(files::read_dicom_series(folder).volume.unread.empty());
  put(folder / "ct012.dcm", "");
  put(folder / "IM0005", "");
  put(folder / "1.2.840.4", dicom_file(ct_slice(12)).substr(0, 131));
  put(folder / "x.IMA", std::string(400, 'x'));
  put(folder / "more.zip", "PK\3\4 and so on");
  auto const volume = files::read_volume(folder);
  CHECK(volume.extent[2] == 3);
  CHECK(volume.unread.size() == 5);
  CHECK(files::count_reasons(volume.unread) ==
        "1 cut short, 1 damaged or no DICOM, 2 empty, 1 zip archive");
  CHECK(files::read_volume_grid(folder).unread.size() == 5);
  // A slice that was not fetched, as git-annex leaves it, and what a program may wait at for ever.
  fs::create_symlink(scratch / "nothing", folder / "ct015.dcm");
  REQUIRE(::mkfifo((folder / "ct018.dcm").c_str(), 0600) == 0);
  CHECK(files::count_reasons(files::read_volume(folder).unread) ==
        "1 a link to nothing, 1 cut short, 1 damaged or no DICOM, 2 empty, 1 no regular file, "
        "1 zip archive");
  fs::remove(folder / "ct015.dcm");
  fs::remove(folder / "ct018.dcm");
  auto const bare = scratch / "bare";
  fs::create_directory(bare);
  put(bare / "SECRET.zip", "PK\3\4 and so on");
  CHECK(names(said_of_folder(bare), {"no CT image", "1 zip archive"}));
}

TEST_CASE("a CT image by its SOP class is read or refused, whatever else its header says" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const last = ct_slice(9);
  for (char const* const modality : {"ct", "CU", "C\x14", "", "RTPLAN", secret}) {
    CAPTURE(modality);
    CHECK(names(said_of_folder(series_folder(
                    scratch, {ct_slice(3), ct_slice(6), with(last, 0x00080060, {"CS", modality})})),
                {"holds a CT image of modality", "header is damaged"}));
  }
  // The mark, and with it the beginning of the file, in pieces.
  auto bytes = dicom_file(last);
  bytes[131] = 'N';
  auto const folder = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  put(folder / "SECRET", bytes);
  CHECK(names(said_of_folder(folder), {"truncated or damaged"}));
}

TEST_CASE("DICOM is known by its mark, whatever the file's name is; an archive is refused" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  for (char const* const name : {"RD.1.2.840.7", "dose", "dose.IMA", "dose.bin"}) {
    CAPTURE(name);
    CHECK_FALSE(files::is_dicom_path(scratch / name));
    put(scratch / name, dicom_file(dose_object()));
    CHECK(files::is_dicom_path(scratch / name));
    CHECK(files::read_volume(scratch / name).extent[2] == 2);
    CHECK(files::read_volume_grid(scratch / name).unit == "Gy");
  }
  for (char const* const name : {"ct.zip", "ct.dcm", "ct"}) {
    put(scratch / name, "PK\3\4 and so on");
    for (auto const& sentence : {refusal([&] { files::read_volume(scratch / name); }),
                                 refusal([&] { files::read_dicom_identity(scratch / name); })}) {
      CHECK(names(sentence, {"is a zip archive (files in it are not read); unpack it"}));
    }
  }
}

TEST_CASE("elements of unknown kind are read by the dictionary" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const plain = ct_slice(3);
  auto slice = plain;
  for (auto& [tag, element] : slice) {
    element.kind = tag == 0x7fe00010 ? "OW" : "UN";
  }
  CHECK(files::read_volume(series_folder(scratch, {slice})).values ==
        files::read_volume(series_folder(scratch, {plain})).values);
  auto dose = dose_object();
  for (auto const tag : {0x00200032U, 0x00280010U, 0x00280030U, 0x3004000cU, 0x3004000eU}) {
    dose[tag].kind = "UN";
  }
  put(scratch / "dose.dcm", dicom_file(dose));
  CHECK(files::read_rt_dose(scratch / "dose.dcm").volume.extent[2] == 2);
}

TEST_CASE("slices in folders within a folder are read where these are searched" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const top = scratch / "top";
  fs::create_directories(top / "a" / "b");
  put(top / "a" / "IM1", dicom_file(ct_slice(3)));
  put(top / "a" / "b" / "IM1", dicom_file(ct_slice(6)));
  put(top / "a" / "b" / "IM2", "");
  CHECK(names(said_of_folder(top), {"no CT image (2 in folders within it)"}));
  auto const all = files::subfolders::searched;
  auto const series = files::read_dicom_series(top, all);
  CHECK(series.volume.extent[2] == 2);
  CHECK(series.volume.unread.size() == 1);
  CHECK(files::read_volume(top, files::finite_values::required, all).values ==
        series.volume.values);
  CHECK(files::read_volume_grid(top, all).extent[2] == 2);
  CHECK(files::read_dicom_identity(top, all).file == top / "a" / "IM1");
}

TEST_CASE("slices of a series in folders that are not searched are told" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const top = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  fs::create_directories(top / "more" / "again");
  put(top / "more" / "IM1", dicom_file(with(ct_slice(9), 0x0020000e, {"UI", "1.2.3.22"})));
  put(top / "more" / "dose.dcm", dicom_file(dose_object()));
  put(top / "more" / "empty.dcm", "");
  CHECK(files::read_volume_grid(top).unread.empty());
  put(top / "more" / "IM2", dicom_file(ct_slice(9)));
  put(top / "more" / "again" / "IM3", dicom_file(ct_slice(12)));
  auto const volume = files::read_volume(top);
  CHECK(volume.extent[2] == 2);
  CHECK(files::count_reasons(volume.unread) == "2 in a folder within");
  CHECK(volume.unread.at(0).is_in_subfolder);
}

TEST_CASE("an archive beside slices is told, whether or not it is compressed" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  put(folder / "more.zip", "PK\3\4 and so on" + dicom_file(ct_slice(9)));
  CHECK(files::count_reasons(files::read_volume(folder).unread) == "1 zip archive");
}

}  // namespace iso::test
