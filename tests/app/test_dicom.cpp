// SPDX-License-Identifier: BSD-3-Clause
// DICOM series and RT objects: files made by hand, our own read back, refusals.
#include "dicom_support.hpp"
#include "image_support.hpp"
#include "not_run.hpp"

#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <zlib.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace iso::test {
namespace {

namespace fs = std::filesystem;

// The sentence of a refusal, which never names the patient.
template <class Action>
std::string said(Action&& action) {
  auto const sentence = refusal(action);
  CHECK(sentence.find("SECRET") == std::string::npos);
  return sentence;
}

files::host_volume rounded_to(double unit, files::host_volume volume, std::string const& name) {
  for (float& value : volume.values) {
    value = float(std::round(value / unit) * unit);
  }
  volume.unit = name;
  return volume;
}

// As dicom_file, deflated behind what the file begins with.
std::string deflated_file(dicom_elements const& elements) {
  auto plain = encoded(elements);
  std::string packed(plain.size() + 100, '\0');
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = uInt(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out + stream.total_out % 2);
  REQUIRE(deflateEnd(&stream) == Z_OK);
  return dicom_meta(elements.at(0x00080016).value, elements.at(0x00080018).value,
                    "1.2.840.10008.1.2.1.99") +
         packed;
}

}  // namespace

TEST_CASE("a CT series is read in the order of its heights, in Hounsfield units" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {ct_slice(9), ct_slice(3), ct_slice(6)});
  put(folder / "notes.txt", "no DICOM");
  put(folder / "structures.dcm", dicom_file(structure_set({{"a"}})));
  auto const series = files::read_dicom_series(folder);
  auto const& v = series.volume;
  CHECK(v.extent == std::array<std::int64_t, 3>{2, 3, 3});
  CHECK(v.spacing == std::array<double, 3>{0.5, 1.25, 3});
  CHECK(v.origin == std::array<double, 3>{-7, 8, 3});
  CHECK(v.unit == "HU");
  for (int x = 0; x < 2; ++x) {
    for (int y = 0; y < 3; ++y) {
      for (int k = 0; k < 3; ++k) {
        CHECK(v.values[std::size_t((x * 3 + y) * 3 + k)] == float(10 * x + y + 3 * k + 3));
      }
    }
  }
  CHECK(series.other_objects == 1);
  CHECK(series.identity.frame_of_reference == "1.2.3.3");
  CHECK(files::read_volume(folder).values == v.values);
  CHECK(files::read_volume_grid(folder).origin == v.origin);
  // One slice is as thick as it says.
  auto const one = files::read_volume(series_folder(scratch, {ct_slice(9)}));
  CHECK(one.spacing[2] == 3);
}

TEST_CASE("a folder that is not one whole upright series is refused in a sentence" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const refused = [&](std::vector<dicom_elements> const& slices) {
    auto const folder = series_folder(scratch, slices);
    auto const sentence = said([&] { files::read_dicom_series(folder); });
    CHECK(said([&] { files::read_dicom_series_grid(folder); }) == sentence);
    return sentence;
  };
  auto const a = ct_slice(3);
  auto const b = ct_slice(6);
  CHECK(refused({a, b, ct_slice(9)}).empty());
  CHECK(names(refused({a, b, ct_slice(12), ct_slice(15)}), {"lacks a slice between z = 6 and 12"}));
  CHECK(names(refused({a, b, ct_slice(9.5), ct_slice(12.5)}), {"slices 3.5 mm apart at z = 6"}));
  CHECK(names(refused({a, b, b}), {"two slices at z = 6"}));
  CHECK(names(refused({a, with(b, 0x0020000e, {"UI", "1.2.9"})}), {"1.2.3.2 and 1.2.9"}));
  CHECK(names(refused({with(a, 0x00181120, {"DS", "12.5"}), b}), {"tilted by 12.5 degrees"}));
  CHECK(names(refused({with(a, 0x00200032, {"DS", "-7\\9\\3"}), b}), {"leans"}));
  CHECK(names(refused({with(a, 0x00200037, {"DS", "1\\0\\0\\0\\0.98\\0.2"}), b}),
              {"columns along (0, 0.98, 0.2)"}));
  CHECK(names(refused({with(a, 0x00280030, {"DS", "1.25\\0.75"}), b}), {"0.75 x 1.25 mm"}));
  CHECK(names(refused({with(a, 0x00280011, us(3)), b}), {"3 x 3 pixels"}));
  CHECK(names(refused({with(a, 0x00185100, {"CS", "FFS"}), b}), {"positions FFS and HFS"}));
  // A text that is no code is not taken for an absent one.
  for (char const* const position : {"ffs", "hfs", "HFS\\FFS", secret}) {
    CHECK(
        names(refused({with(a, 0x00185100, {"CS", position}), b}), {"positions unknown and HFS"}));
  }
  CHECK(refused({with(a, 0x00185100, {"CS", ""}), b}).empty());
  CHECK(names(refused({with(a, 0x00080060, {"CS", "MR"}), b}), {"modality MR"}));
  CHECK(names(refused({with(a, 0x00200052, {"UI", "1.9"}), b}), {"several frames of reference"}));
  CHECK(names(refused({a, with(b, 0x00100020, {"LO", "SECRET^OTHER"})}), {"name two patients"}));
  CHECK(names(refused({with(a, 0x00281053, {"DS", "1,5"}), b}), {"holds '1,5' as RescaleSlope"}));
  CHECK(names(refused({with(a, 0x00281054, {"LO", "OD"}), b}), {"values in OD"}));
  for (char const* const unit : {"od", "mg/cm3", "1/mm", secret}) {
    CHECK(names(refused({with(a, 0x00281054, {"LO", unit}), b}), {"values in unknown units"}));
  }
  for (char const* const unit : {"HU", "US", ""}) {
    CHECK(refused({with(a, 0x00281054, {"LO", unit}), with(b, 0x00281054, {"LO", unit})}).empty());
  }
  CHECK(names(refused({with(a, 0x00080008, {"CS", "ORIGINAL\\PRIMARY\\LOCALIZER"}), b}),
              {"localizer"}));
  CHECK(names(refused({structure_set({{"a"}})}), {"no CT image", "other DICOM objects"}));
  CHECK(names(refused({}), {"no CT image"}));
  auto const short_one = with(a, 0x7fe00010, {"OW", "xx"});
  auto const folder = series_folder(scratch, {short_one, b});
  CHECK(names(said([&] { files::read_dicom_series(folder); }), {"z = 3 mm that cannot be read"}));
  auto const file = dicom_file(a);
  put(folder / "cut.dcm", file.substr(0, 400));
  CHECK(names(said([&] { files::read_dicom_series(folder); }), {"header is cut short"}));
  CHECK(names(said([&] { files::read_dicom_series(folder / "cut.dcm"); }), {"is not a folder"}));
}

TEST_CASE("a volume in HU comes back from the series that it was written as" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const volume = rounded_to(1, small_volume(), "HU");
  auto const written = [&](fs::path const& folder, fs::path const& like = {}) {
    files::prepare_dicom_series(folder, volume, like).commit();
    return files::read_dicom_series(folder);
  };
  auto const series = written(scratch / "a");
  CHECK(series.volume.extent == volume.extent);
  CHECK(series.volume.spacing == volume.spacing);
  CHECK(series.volume.origin == volume.origin);
  CHECK(series.volume.values == volume.values);
  CHECK(series.identity.study.starts_with("2.25."));
  // The same content, the same files.
  CHECK(written(scratch / "b").identity.series == series.identity.series);
  CHECK(get(scratch / "a" / "ct.00002.dcm") == get(scratch / "b" / "ct.00002.dcm"));
  // Patient, study and frame of another series; its own series.
  auto const like = series_folder(scratch, {ct_slice(9)});
  auto const same = written(scratch / "c", like).identity;
  CHECK(same.study == "1.2.3.1");
  CHECK(same.frame_of_reference == "1.2.3.3");
  CHECK(same.series != series.identity.series);
  CHECK(get(scratch / "c" / "ct.00001.dcm").find(secret) != std::string::npos);
  CHECK(get(scratch / "a" / "ct.00001.dcm").find(secret) == std::string::npos);

  CHECK(names(said([&] { written(scratch / "a"); }), {"is not empty"}));
  auto const refused = [&](files::host_volume const& v) {
    return said([&] { static_cast<void>(files::prepare_dicom_series(scratch / "none", v)); });
  };
  auto odd = volume;
  odd.unit = "1/mm";
  CHECK(names(refused(odd), {"in 1/mm"}));
  odd.unit = "HU";
  odd.values[5] = 40000;
  CHECK(names(refused(odd), {"40000 HU"}));
  CHECK_FALSE(fs::exists(scratch / "none"));
}

TEST_CASE("a series that is not committed leaves nothing, and no folder" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const volume = rounded_to(1, small_volume(), "HU");
  auto const folder = scratch / "ct";
  {
    auto const prepared = files::prepare_dicom_series(folder, volume);
    CHECK_FALSE(fs::exists(folder));
  }
  CHECK(fs::is_empty(scratch.path()));
  // Into an empty folder, by any of its names.
  fs::create_directory(folder);
  fs::create_directory_symlink("ct", scratch / "link");
  for (auto const* name : {"ct", "ct/", "ct/.", "link"}) {
    CAPTURE(name);
    {
      auto const prepared = files::prepare_dicom_series(scratch / name, volume);
      CHECK(fs::is_empty(folder));
    }
    CHECK(fs::is_empty(folder));
    files::prepare_dicom_series(scratch / name, volume).commit();
    CHECK(files::read_dicom_series(folder).volume.values == volume.values);
    CHECK(files_in(scratch.path()) == 2);
    fs::remove_all(folder);
    fs::create_directory(folder);
  }
}

TEST_CASE("a DICOMDIR beside slices is passed over, and named where it is asked for" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  put(folder / "DICOMDIR", dicom_meta("1.2.840.10008.1.3.10", "2.25.7") +
                               encoded({{0x00041130, {"CS", "SECRET"}},
                                        {0x00041200, {"UL", std::string(4, '\0')}},
                                        {0x00041202, {"UL", std::string(4, '\0')}},
                                        {0x00041212, us(0)},
                                        {0x00041220, {"SQ", ""}}}));
  auto const series = files::read_dicom_series(folder);
  CHECK(series.volume.extent[2] == 2);
  CHECK(series.other_objects == 0);
  for (auto const& sentence : {said([&] { files::read_dicom_identity(folder / "DICOMDIR"); }),
                               said([&] { files::read_rt_dose(folder / "DICOMDIR"); })}) {
    CHECK(names(sentence, {"is a DICOMDIR", "name one of its files"}));
  }
}

TEST_CASE("deflated files are read" * doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const plain = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  auto const folder = scratch / "deflated";
  fs::create_directory(folder);
  for (int const z : {3, 6}) {
    put(folder / std::to_string(z), deflated_file(ct_slice(z)));
  }
  CHECK(files::read_dicom_series(folder).volume.values ==
        files::read_dicom_series(plain).volume.values);
  // Long runs of one number: the file is far smaller than what it holds.
  auto dose = dose_object();
  dose[0x00280010] = us(60);
  dose[0x00280011] = us(40);
  dose[0x7fe00010].value = std::string(std::size_t(60 * 40 * 2) * 2, '\1');
  put(scratch / "plain.dcm", dicom_file(dose));
  put(scratch / "dose.dcm", deflated_file(dose));
  CHECK(fs::file_size(scratch / "dose.dcm") < 2000);
  CHECK(files::read_rt_dose(scratch / "dose.dcm").volume.values ==
        files::read_rt_dose(scratch / "plain.dcm").volume.values);
  dose[0x00280010] = us(60000);
  dose[0x00280011] = us(60000);
  put(scratch / "dose.dcm", deflated_file(dose));
  CHECK(names(said([&] { files::read_rt_dose(scratch / "dose.dcm"); }), {"fewer pixels"}));
  put(scratch / "set.dcm", deflated_file(structure_set({{"cord"}})));
  CHECK(files::read_rt_structure_set(scratch / "set.dcm").structures.size() == 1);
}

TEST_CASE("an RT Dose is read whichever way its frames are given" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "dose.dcm";
  auto const read = [&](dicom_elements const& elements,
                        files::dose_units units = files::dose_units::gray) {
    put(file, dicom_file(elements));
    return files::read_rt_dose(file, units);
  };
  auto const dose = read(dose_object());
  auto const& v = dose.volume;
  CHECK(v.extent == std::array<std::int64_t, 3>{2, 3, 2});
  CHECK(v.spacing == std::array<double, 3>{0.5, 1.25, 3});
  CHECK(v.origin == std::array<double, 3>{-7, 8, 9});
  CHECK(v.unit == "Gy");
  CHECK(dose.plans == std::vector<std::string>{"1.2.3.6"});
  CHECK(dose.summation == "PLAN");
  for (int i = 0; i < 12; ++i) {
    CHECK(v.values[std::size_t(i)] == float(100 * (i / 6) + 10 * (i / 2 % 3) + i % 2) / 4);
  }
  CHECK(files::read_volume(file).values == v.values);
  CHECK(read(dose_object("9\\12")).volume.values == v.values);
  CHECK(read(dose_object("9\\12")).volume.origin[2] == 9);
  for (auto const* descending : {"0\\-3", "9\\6"}) {
    auto const down = read(dose_object(descending)).volume;
    CHECK(down.origin[2] == 6);
    CHECK(down.spacing[2] == 3);
    CHECK(down.values[0] == v.values[1]);
    CHECK(down.values[1] == v.values[0]);
  }
  // Twice as many bits a pixel.
  auto wide = dose_object();
  std::string pixels;
  for (std::size_t i = 0; i < 24; i += 2) {
    pixels += std::string("\1\0", 2) + wide[0x7fe00010].value.substr(i, 2);
  }
  wide[0x7fe00010].value = pixels;
  wide[0x00280100] = wide[0x00280101] = us(32);
  wide[0x00280102] = us(31);
  CHECK(read(wide).volume.values[7] == float(0.25 * (65536 * 101 + 1)));

  auto const refused = [&](dicom_elements const& elements) {
    return said([&] { read(elements); });
  };
  auto const relative = with(dose_object(), 0x30040002, {"CS", "RELATIVE"});
  CHECK(names(refused(relative), {"relative units (Gy are needed)"}));
  CHECK(read(relative, files::dose_units::any).volume.unit == "relative");
  auto without = dose_object();
  without.erase(0x30040002);
  CHECK(
      names(refused(without), {"does not say its dose's units (Gy are needed); export it in Gy"}));
  CHECK(read(without, files::dose_units::any).volume.unit.empty());
  auto const other = with(dose_object(), 0x30040002, {"CS", "CGY"});
  CHECK(names(refused(other), {"has a dose in CGY (Gy are needed); export it in Gy"}));
  CHECK(read(other, files::dose_units::any).volume.unit == "CGY");
  auto const hidden = with(dose_object(), 0x30040002, {"CS", "SECRET^NAME"});
  CHECK(names(refused(hidden), {"has a dose in unknown units (Gy are needed); export it in Gy"}));
  CHECK(read(with(dose_object(), 0x30040004, {"CS", "error"})).type == "unknown");
  CHECK(names(refused(dose_object("0\\3\\6")), {"3 frame offsets for 2 frames"}));
  CHECK(names(refused(dose_object("4\\7")), {"offsets from 4 mm"}));
  CHECK(names(refused(dose_object("0\\0")), {"two frames"}));
  CHECK(names(refused(with(dose_object(), 0x3004000e, {"DS", "0"})), {"scaling of 0"}));
  CHECK(names(refused(with(dose_object(), 0x00200037, {"DS", "1\\0\\0\\0\\0.8\\0.6"})),
              {"columns along (0, 0.8, 0.6)"}));
  CHECK(names(refused(with(dose_object(), 0x7fe00010, {"OW", "xx"})), {"truncated"}));
  CHECK(names(refused(with(dose_object(), 0x00280100, us(8))), {"8 bits"}));
  CHECK(names(refused(with(dose_object(), 0x00280002, us(3))), {"has 3 numbers a pixel"}));
  CHECK(names(refused(with(dose_object(), 0x00280004, {"CS", "PALETTE COLOR"})),
              {"stand for colours"}));
  auto unsaid = dose_object();
  unsaid.erase(0x00280002);
  CHECK(refused(unsaid).empty());
  CHECK(names(refused(ct_slice(3)), {"is no RT Dose", "name the folder of the CT series"}));
  auto const series = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  CHECK(names(
      said([&] { files::read_rt_dose(series); }),
      {"is the folder of a CT series, no RT Dose (each of these is one file); name the file"}));
  put(file, dicom_file(dose_object()).substr(0, 700));
  CHECK(names(said([&] { files::read_rt_dose(file); }), {"dose.dcm"}));
}

TEST_CASE("a dose comes back from the RT Dose that it was written as" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto volume = small_volume();
  volume.unit = "Gy";
  for (float& value : volume.values) {
    value = std::sqrt(value) / 3;
  }
  auto const written = [&](std::string const& name, files::rt_dose_options const& options = {}) {
    files::prepare_rt_dose(scratch / name, volume, options).commit();
    return files::read_rt_dose(scratch / name);
  };
  auto const dose = written("a.dcm");
  CHECK(dose.volume.extent == volume.extent);
  CHECK(dose.volume.spacing == volume.spacing);
  CHECK(dose.volume.origin == volume.origin);
  double const most = volume.values.back();
  for (std::size_t i = 0; i < volume.values.size(); ++i) {
    // Half a step of the scaling, and what a float rounds.
    CHECK(std::abs(double(dose.volume.values[i]) - volume.values[i]) <=
          most / 8.5e9 + 6e-8 * volume.values[i]);
  }
  CHECK(dose.plans.size() == 1);
  CHECK(dose.plans[0].starts_with("2.25."));
  CHECK(written("b.dcm").identity.sop_instance == dose.identity.sop_instance);
  CHECK(get(scratch / "a.dcm") == get(scratch / "b.dcm"));

  // One frame is as high as it says.
  files::host_volume flat{{2, 2, 1}, {1, 2, 3.5}, {4, 5, 6}, {0, 1, 2, 3}, "Gy"};
  files::prepare_rt_dose(scratch / "flat.dcm", flat).commit();
  CHECK(files::read_volume(scratch / "flat.dcm").spacing == flat.spacing);
  CHECK(files::read_volume(scratch / "flat.dcm").origin == flat.origin);

  // Of a series and a plan.
  auto const ct = series_folder(scratch, {ct_slice(9)});
  auto plan = dicom_object("1.2.840.10008.5.1.4.1.1.481.5", "RTPLAN", "1.2.3.8");
  put(scratch / "plan.dcm", dicom_file(plan));
  auto const whole = written("c.dcm", {ct, scratch / "plan.dcm"});
  CHECK(whole.identity.study == "1.2.3.1");
  CHECK(whole.identity.frame_of_reference == "1.2.3.3");
  CHECK(whole.plans == std::vector<std::string>{"1.2.3.8"});
  CHECK(written("d.dcm", {scratch / "plan.dcm", {}}).plans == whole.plans);
  plan[0x00200052] = {"UI", "1.2.77"};
  put(scratch / "other.dcm", dicom_file(plan));
  CHECK(names(said([&] { written("e.dcm", {ct, scratch / "other.dcm"}); }),
              {"1.2.3.3 and 1.2.77", "another patient"}));
  CHECK(names(said([&] { written("e.dcm", {ct, scratch / "c.dcm"}); }), {"is no RT Plan"}));
  volume.values[3] = -1;
  CHECK(names(said([&] { written("e.dcm"); }), {"a value is -1"}));
  volume.unit = "HU";
  CHECK(names(said([&] { written("e.dcm"); }), {"in HU"}));
  CHECK_FALSE(fs::exists(scratch / "e.dcm"));
}

TEST_CASE("structures are read, and those that bound no volume are refused when asked for" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  auto const read = [&](std::vector<structure_text> const& structures) {
    put(file, dicom_file(structure_set(structures)));
    return files::read_rt_structure_set(file);
  };
  auto const set = read({{"cord"},
                         {"iso", "POINT", "1\\2\\3"},
                         {"bare", ""},
                         {"ptv"},
                         {"ptv"},
                         {"parted", "CLOSEDPLANAR_XOR"},
                         {"between", "INTERPOLATED_PLANAR"},
                         {"odd", "BLOB"}});
  CHECK(set.structures.size() == 8);
  auto const& cord = files::find_structure(file, set, "cord");
  using points = std::vector<iso::vec3<double>>;
  REQUIRE(cord.contours.size() == 1);
  CHECK(cord.contours[0].points == points{{0, 0, 9}, {4, 0, 9}, {4, 5, 9}});
  CHECK(cord.colour == std::array<int, 3>{255, 0, 7});
  CHECK(cord.type == "PTV");
  auto const refused = [&](std::string const& name) {
    return said([&] { files::find_structure(file, set, name); });
  };
  CHECK(names(refused("iso"), {"POINT contours"}));
  CHECK(names(refused("between"),
              {"INTERPOLATED_PLANAR contours", "CLOSEDPLANAR_XOR ones are read"}));
  CHECK(names(refused("odd"), {"'odd' that has BLOB contours"}));
  CHECK(files::find_structure(file, set, "parted").contours.at(0).points ==
        cord.contours[0].points);
  CHECK(names(refused("bare"), {"without contours"}));
  CHECK(names(refused("ptv"), {"two structures", "numbers 4 and 5"}));
  CHECK(names(refused("lung"), {"no structure 'lung'", "cord, iso, bare"}));
  auto const cut = read({{"cord", "CLOSED_PLANAR", "0\\0\\9\\4"}});
  CHECK(names(said([&] { files::find_structure(file, cut, "cord"); }), {"4 numbers"}));
  CHECK_NOTHROW(files::check_same_frame("a", set.identity.frame_of_reference, "b", "1.2.3.3"));
  CHECK(names(said([&] { files::check_same_frame("a", "1.2", "b", ""); }), {"1.2 and none"}));
  put(file, dicom_file(ct_slice(3)));
  CHECK(names(said([&] { files::read_rt_structure_set(file); }), {"is no RT Structure Set"}));
  // A set of two frames of reference.
  put(file, dicom_file(structure_set(
                {{"cord"}, {"ptv", "CLOSED_PLANAR", "0\\0\\9\\4\\0\\9\\4\\5\\9", {}, "1.2.3.9"}})));
  auto const two = files::read_rt_structure_set(file);
  CHECK(two.identity.frame_of_reference == "1.2.3.3");
  CHECK(files::find_structure(file, two, "cord").frame_of_reference == "1.2.3.3");
  CHECK(files::find_structure(file, two, "ptv").frame_of_reference == "1.2.3.9");
}

TEST_CASE("names of structures become UTF-8, whatever letters the file has" *
          doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const file = scratch / "set.dcm";
  auto const name_of = [&](std::string const& letters, std::string const& name) {
    auto set = structure_set({{name}});
    if (!letters.empty()) {
      set[0x00080005] = {"CS", letters};
    }
    put(file, dicom_file(set));
    return files::read_rt_structure_set(file).structures.at(0).name;
  };
  CHECK(name_of("ISO_IR 100",
                "Gr\xf6\xdf"
                "e") == "Gr\u00f6\u00dfe");
  CHECK(name_of("ISO_IR 192", "Gr\u00f6\u00dfe") == "Gr\u00f6\u00dfe");
  CHECK(name_of("ISO_IR 144", "\xbf\xc2\xb2") == "\u041f\u0422\u0412");
  CHECK(name_of("GBK", "\xc7\xb0\xc1\xd0\xcf\xd9") == "\u524d\u5217\u817a");
  // A character whose second byte is a backslash.
  CHECK(name_of("GB18030", "\x81\\ 2") == "\u4e57 2");
  CHECK(name_of("\\ISO 2022 IR 87", "\x1b$BA0N)A#\x1b(B 1") == "\u524d\u7acb\u817a 1");
  // Letters that the file does not say, or that are none of those it says.
  CHECK(name_of("", "Gr\u00f6\u00dfe") == "Gr\u00f6\u00dfe");
  CHECK(name_of("",
                "Gr\xf6\xdf"
                "e") == "Gr??e");
  CHECK(name_of("ISO_IR 192",
                "Gr\xf6\xdf"
                "e") == "Gr??e");
  CHECK(name_of("KLINGON",
                "Gr\xf6\xdf"
                "e") == "Gr??e");
}

TEST_CASE("damaged files are read or refused" * doctest::skip(!files::has_dicom)) {
  scratch_folder const scratch;
  auto const folder = series_folder(scratch, {ct_slice(3), ct_slice(6)});
  auto const file = scratch / "damaged.dcm";
  auto const check = [&](std::string const& whole, fs::path const& path, auto const& read) {
    std::mt19937 random(20);
    int refused = 0;
    for (int i = 0; i < 100; ++i) {
      auto bytes = whole;
      auto const at = 128 + random() % (bytes.size() - 128);
      switch (random() % 4) {
        case 0:
          bytes[at] = char(random());
          break;
        case 1:
          bytes.erase(at, 1 + random() % 8);
          break;
        case 2:
          bytes.resize(at);
          break;
        default:
          bytes.insert(at, std::string(1 + random() % 8, "0129- \\="[random() % 8]));
      }
      put(path, bytes);
      refused += said(read).empty() ? 0 : 1;
    }
    CHECK(refused > 50);
  };
  check(dicom_file(ct_slice(9)), folder / "third.dcm", [&] { files::read_dicom_series(folder); });
  check(dicom_file(dose_object()), file, [&] { files::read_rt_dose(file); });
  check(dicom_file(structure_set({{"a"}})), file, [&] { files::read_rt_structure_set(file); });
}

// The plan of scripts/get_example_data.sh.
TEST_CASE("a real plan's slice, dose and structures are read") {
  char const* const from = std::getenv("ISO_TEST_PLAN");
  if (from == nullptr || !fs::exists(from) || !files::has_dicom) {
    iso::test::not_run(
        "a real plan's objects (the plan or DCMTK is not there); run scripts/get_example_data.sh, "
        "or "
        "install libdcmtk-dev");
    return;
  }
  fs::path const plan = from;
  auto const ct = files::read_dicom_series(plan);
  CHECK(ct.volume.extent == std::array<std::int64_t, 3>{512, 512, 1});
  CHECK(ct.volume.spacing == std::array<double, 3>{1.074219, 1.074219, 3});
  CHECK(ct.other_objects == 3);
  auto const dose = files::read_rt_dose(plan / "rtdose.dcm");
  CHECK(dose.volume.extent == std::array<std::int64_t, 3>{194, 129, 98});
  CHECK(dose.volume.spacing == std::array<double, 3>{2.5, 2.5, 3});
  files::check_same_frame(plan, ct.identity.frame_of_reference, plan / "rtdose.dcm",
                          dose.identity.frame_of_reference);
  auto const set = files::read_rt_structure_set(plan / "rtss.dcm");
  CHECK(set.structures.size() == 10);
  CHECK(set.identity.frame_of_reference == ct.identity.frame_of_reference);
}

}  // namespace iso::test
