// SPDX-License-Identifier: BSD-3-Clause
// Files alone: no Kokkos.
#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>
#include <iso/files/checkpoint_file.hpp>
#include <iso/files/dicom_rt.hpp>
#include <iso/files/dicom_series.hpp>
#include <iso/files/hdf5_kind.hpp>
#include <iso/files/image_stack.hpp>
#include <iso/files/mapped_array.hpp>
#include <iso/files/matrix_file.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/reorder.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/text.hpp>
#include <iso/files/volume_file.hpp>
#include <iso/files/xtekct_file.hpp>

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

/// An empty folder that is the current one for as long as this lives.
class in_a_folder {
 public:
  in_a_folder() : before_(std::filesystem::current_path()) {
    std::string name = (std::filesystem::temp_directory_path() / "iso-calls-XXXXXX").string();
    std::filesystem::current_path(::mkdtemp(name.data()));
  }
  in_a_folder(in_a_folder const&) = delete;
  in_a_folder& operator=(in_a_folder const&) = delete;
  ~in_a_folder() {
    auto const folder = std::filesystem::current_path();
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder);
  }

 private:
  std::filesystem::path before_;
};

}  // namespace

TEST_CASE("texts") {
  in_a_folder const here;
  iso::files::prepare_text("a.txt", "some text").commit();
  CHECK(iso::files::read_text("a.txt", 100) == "some text");
  CHECK(iso::files::temporaries_of_others("b.txt").empty());
  iso::files::atomic_file file("b.txt");
  iso::files::prepare_text(file.temporary(), "text").commit();
  file.commit();
  CHECK(iso::files::lower_case("AbC") == "abc");
  CHECK(iso::files::ending("ct.NII.gz") == ".nii.gz");
  CHECK(iso::files::one_line("a\n b") == "a b");
  CHECK(iso::files::printable("a\x01") == "a?");
  CHECK(iso::files::escaped("a\x01") == "a\\x01");
  CHECK(iso::files::shortened("a long text", 6) == "a l...");
}

TEST_CASE("arrays in files") {
  in_a_folder const here;
  iso::files::mapped_array<float> array(".", 3);
  array.data()[2] = 1;
  CHECK(array.values()[2] == 1);
  iso::files::mapped_array<double> const kept("kept.raw", 2, iso::files::mapped_file::kept);
  CHECK(kept.size() == 2);
}

TEST_CASE("volumes") {
  in_a_folder const here;
  iso::files::prepare_volume("v.mha", {{1, 1, 2}, {1, 2, 3}, {0, 0, 0}, {0.5F, 2}, "Gy"}).commit();
  CHECK(iso::files::read_volume("v.mha").unit == "Gy");
  CHECK(iso::files::read_volume_grid("v.mha").extent[2] == 2);
  std::vector<float> const pixels{1, 2, 3, 4};
  iso::files::prepare_projection_image("p.mha", pixels, {1, 2, 2}, {1, 1}).commit();
  CHECK(iso::files::is_image_path("p.mha"));
  CHECK(iso::files::reorder<double>(pixels, 0, iso::files::last_axis_fastest({2, 2, 1})) ==
        std::vector<double>{1, 3, 2, 4});
  CHECK(iso::files::reorder<float, float>(pixels, 0, {{{1, 4}, {1, 4}, {4, 1}}}) == pixels);
  std::vector<float> two(2);
  CHECK(iso::files::read_voxels("v.mha", two).extent[2] == 2);
  iso::files::prepare_voxels("w.mha", {{1, 1, 2}, {1, 1, 1}, {}, {}}, two).commit();
  CHECK(iso::files::read_planes("w.mha", 1, std::span(two).first(1)) == 4);
  CHECK(iso::files::takes_planes("f.nrrd"));
  iso::files::host_volume const column{{1, 1, 2}, {1, 1, 1}, {}, {}};
  auto frame = iso::files::prepare_frame("f.nrrd", column);
  iso::files::write_planes("f.nrrd", frame.file.temporary(), frame.offset, column, 0, two);
  frame.file.commit();
  CHECK(iso::files::read_volume("f.nrrd").values == two);
  auto views = iso::files::prepare_projection_frame<float>("q.mha", {1, 2, 2}, {1, 1});
  iso::files::write_projection_views<float>("q.mha", views.file.temporary(), views.offset,
                                            {1, 2, 2}, 0, pixels);
  views.file.commit();
  CHECK(iso::files::read_volume("q.mha").values == iso::files::read_volume("p.mha").values);
  std::vector<double> turned(4);
  iso::files::copy_axes(pixels.data(), turned.data(), {{{1, 4, 4}, {1, 4, 4}, {4, 1, 1}}});
  CHECK(turned[3] == pixels[3]);
}

TEST_CASE("images") {
  in_a_folder const here;
  std::vector<float> const view{1, 2, 3, 4};
  iso::files::prepare_tiff("i_1.tif", view, 2, 2, iso::files::pixel_type::float32).commit();
  CHECK(iso::files::image_series("i_*.tif").size() == 1);
  CHECK(iso::files::read_images("i_1.tif", {}).values == view);
  CHECK_FALSE(iso::files::read_stored_images("i_1.tif", {}));
  auto const images = iso::files::images_from_views<float>(view, 1, 2, 2);
  CHECK(iso::files::views_from_images<float>(images, 1, 2, 2) == view);
  CHECK(iso::files::images_from_views<float, float>(view, 1, 2, 2) == images);
  CHECK(iso::files::views_from_images<float, float>(images, 1, 2, 2) == view);
  iso::files::prepare_png("g.png", {2, 2, {0, 1, 2, 3}}, {.black = 0, .white = 3}).commit();
  iso::files::prepare_png("c.png", iso::files::rgb_image{1, 1, {255, 0, 0}}).commit();
  CHECK(iso::files::full_window({2, 1, {0, 3}}).white == 3);
  CHECK(iso::files::percentile_window({1, 2, 3, 4}, 0, 1).white == 4);
}

TEST_CASE("stacks, matrices and checkpoints") {
  in_a_folder const here;
  iso::files::projection_stack<float> const stack{{1, 2, 2}, {1, 2, 3, 4}};
  iso::files::prepare_stack("s.h5", stack).commit();
  CHECK(iso::files::read_stack<double>("s.h5").values[3] == 4);
  std::vector<double> four(4);
  iso::files::read_readings<double>("s.h5", four);
  iso::files::prepare_readings<double>("r.h5", {{1, 2, 2}, {}}, four).commit();
  CHECK(iso::files::read_stack_header("s.h5").extent[1] == 2);
  CHECK_FALSE(iso::files::read_stored_stack("s.h5"));
  CHECK(iso::files::is_stack_path("S.H5"));
  CHECK(iso::files::views_of_piece("s.h5") == 1);
  CHECK(iso::files::read_views<double>("s.h5", 0, four) == 16);
  auto views = iso::files::prepare_stack_frame("f.h5", stack);
  iso::files::write_stack_views<float>("f.h5", views.temporary(), stack.extent, 0, stack.values);
  views.commit();
  CHECK(iso::files::read_stack<float>("f.h5").values == stack.values);
  CHECK(iso::files::read_hdf5_kind("s.h5") == iso::files::hdf5_kind::stack);
  CHECK(iso::files::name_of(iso::files::hdf5_kind::matrix) == "matrix");

  iso::files::host_matrix const matrix{2, 2, {0, 1, 2}, {0, 1}, std::vector<float>{1, 2}};
  iso::files::prepare_matrix("m.h5", matrix).commit();
  CHECK(iso::files::read_matrix("m.h5").entries() == 2);
  iso::files::prepare_hdf5_matrix("h.h5", matrix).commit();
  CHECK(iso::files::read_hdf5_matrix("h.h5").entries() == 2);
  iso::files::prepare_matrix_market("m.mtx", matrix).commit();
  CHECK(iso::files::read_matrix_market("m.mtx").entries() == 2);
  iso::files::check_matrix("m.h5", matrix);
  iso::files::check_matrix_ending("m.h5");
  iso::files::prepare_vector("v.h5", {1, 2}).commit();
  CHECK(iso::files::read_vector("v.h5").size() == 2);
  iso::files::check_vector_ending("v.h5");
  CHECK(iso::files::from_half(0x3c00) == 1);

  iso::files::prepare_checkpoint("c.h5", {{{"method", "cgls"}}, {{"x", std::vector<float>{1, 2}}}})
      .commit();
  auto const state = iso::files::read_checkpoint("c.h5", {{"method", "cgls"}}, {"x"});
  CHECK(state.at<float>("x").size() == 2);
}

TEST_CASE("scanners and DICOM") {
  in_a_folder const here;
  CHECK_THROWS_AS(iso::files::read_xtekct("none.xtekct"), iso::file_error);
  CHECK(iso::files::is_dicom_path("dose.dcm"));
  CHECK(iso::files::count_reasons({{"ct/1", "empty"}, {"ct/2", "empty"}}) == "2 empty");
  iso::files::check_same_frame("a", "1.2", "b", "1.2");
  CHECK_THROWS_AS(iso::files::read_rt_structure_set("none.dcm"), iso::file_error);
  CHECK_THROWS_AS(iso::files::find_structure("set.dcm", {}, "PTV"), iso::file_error);
  if (!iso::files::has_dicom) {
    return;
  }
  iso::files::host_volume volume{{2, 2, 2}, {1, 1, 1}, {0, 0, 0}, {0, 1, 2, 3, 4, 5, 6, 7}, "HU"};
  iso::files::prepare_dicom_series("ct", volume).commit();
  CHECK(iso::files::read_dicom_series("ct").volume.values == volume.values);
  CHECK(iso::files::read_dicom_series_grid("ct").volume.extent[2] == 2);
  CHECK(iso::files::read_dicom_identity("ct").modality == "CT");
  volume.unit = "Gy";
  iso::files::prepare_rt_dose("dose.dcm", volume, {.like = "ct"}).commit();
  CHECK(iso::files::read_rt_dose("dose.dcm").volume.values.size() == 8);
  CHECK(iso::files::read_rt_dose_grid("dose.dcm").volume.unit == "Gy");
}
