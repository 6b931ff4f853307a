// SPDX-License-Identifier: BSD-3-Clause
// Volumes and stacks of several blocks: their values, the memory that they take beside the array,
// and files that change, end or have no room in the midst of it.
#include "image_support.hpp"
#include "not_run.hpp"

#include <iso/files/mapped_array.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <functional>

namespace files = iso::files;
namespace fs = std::filesystem;
using namespace iso::test;

namespace {

constexpr std::int64_t mib = 1 << 20;

/// Returns a number of /proc/self/status in bytes.
std::int64_t status_bytes(std::string const& key) {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word && word != key) {
  }
  std::int64_t kib = 0;
  in >> kib;
  return kib * 1024;
}

/// Returns by how many bytes `action` lets the memory of this process grow at most; below 0 where
/// the system does not say.
std::int64_t growth(std::function<void()> const& action) {
  ::malloc_trim(0);
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;
  if (!reset) {
    return -1;
  }
  auto const before = status_bytes("VmRSS:");
  action();
  return status_bytes("VmHWM:") - before;
}

/// A value for each place, by which one tells which voxel it is.
float value_at(std::int64_t i) { return float(i * 7919 % 16381 - 8000); }

files::host_volume large_volume(std::array<std::int64_t, 3> const& n) {
  files::host_volume volume{n, {0.5, 1.25, 3}, {-7, 8, 9.5}, {}};
  volume.values.resize(std::size_t(n[0] * n[1] * n[2]));
  for (std::size_t i = 0; i < volume.values.size(); ++i) {
    volume.values[i] = value_at(std::int64_t(i));
  }
  return volume;
}

/// Several blocks of 32 MiB, of which the last is smaller.
constexpr std::array<std::int64_t, 3> several = {310, 290, 300};

void set_file_limit(std::uint64_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = bytes;
  ::setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

TEST_CASE("volumes of several blocks are written and read beside one block of memory") {
  scratch_folder const folder;
  auto const volume = large_volume(several);
  auto const bytes = std::int64_t(volume.values.size() * sizeof(float));
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii"}) {
    CAPTURE(name);
    auto const written = growth([&] { files::prepare_volume(folder / name, volume).commit(); });
    files::host_volume read;
    auto const taken = growth([&] { read = files::read_volume(folder / name); });
    CHECK(read.values == volume.values);
    CHECK(read.extent == volume.extent);
    CHECK(read.origin == volume.origin);
    if (written < 0) {
      iso::test::not_run(
          "memory that files take (the system does not tell a process's); mount /proc");
      continue;
    }
    CHECK(written < 40 * mib);
    if (std::string(name) != "v.nii") {  // ITK reads it as a whole
      CHECK(taken < bytes + 40 * mib);
    }
  }
}

TEST_CASE("compressed volumes of several blocks are read as they are written") {
  scratch_folder const folder;
  auto volume = large_volume({64, 300, 440});
  for (std::size_t i = 0; i < volume.values.size(); ++i) {
    volume.values[i] = float(i / 4096 % 251);  // which takes little time to compress
  }
  files::prepare_volume(folder / "v.nii.gz", volume).commit();
  CHECK(files::read_volume(folder / "v.nii.gz").values == volume.values);
  files::prepare_volume(folder / "v.nrrd", volume).commit();
  auto plain = get(folder / "v.nrrd");
  auto const data = plain.find("\n\n") + 2;
  put_gz(folder / "voxels", plain.substr(data));
  auto header = plain.substr(0, data);
  header.replace(header.find("encoding: raw"), 13, "encoding: gzip");
  auto const packed = get(folder / "voxels");
  put(folder / "z.nrrd", header + packed);
  files::host_volume read;
  auto const taken = growth([&] { read = files::read_volume(folder / "z.nrrd"); });
  CHECK(read.values == volume.values);
  CHECK(taken < std::int64_t(plain.size()) + 40 * mib);
  // Cut behind the first block; damaged in its checksum, behind the last voxel.
  put(folder / "z.nrrd", header + packed.substr(0, packed.size() - packed.size() / 8));
  CHECK(
      names(refusal([&] { files::read_volume(folder / "z.nrrd"); }), {"z.nrrd", "do not inflate"}));
  auto damaged = packed;
  damaged[damaged.size() - 8] ^= 1;
  put(folder / "z.nrrd", header + damaged);
  CHECK(
      names(refusal([&] { files::read_volume(folder / "z.nrrd"); }), {"z.nrrd", "do not inflate"}));
  CHECK(files_in(folder.path()) == 4);
}

TEST_CASE("blocks of a file whose axes are turned go where they belong") {
  scratch_folder const folder;
  // File axis 0 runs along z, 1 along -x, 2 along -y; shorts, their bytes swapped.
  std::int64_t const n0 = 300, n1 = 270, n2 = 290;
  std::string bytes(std::size_t(n0 * n1 * n2 * 2), '\0');
  for (std::int64_t i = 0; i < n0 * n1 * n2; ++i) {
    auto const value = std::uint16_t(std::int16_t(value_at(i)));
    bytes[std::size_t(2 * i)] = char(value >> 8);
    bytes[std::size_t(2 * i + 1)] = char(value & 255);
  }
  auto header = metaimage("TransformMatrix = 0 0 1 -1 0 0 0 -1 0\n", "MET_SHORT", "300 270 290");
  header.replace(header.find("MSB = False"), 11, "MSB = True");
  put(folder / "t.mha", header + bytes);
  header.replace(header.find("LOCAL"), 5, "t.raw");
  put(folder / "d.mhd", "HeaderSize = 100\n" + header);
  put(folder / "t.raw", std::string(100, 'x') + bytes);
  put(folder / "e.mhd", "HeaderSize = -1\n" + header);
  for (auto const* name : {"t.mha", "d.mhd", "e.mhd"}) {
    CAPTURE(name);
    auto const read = files::read_volume(folder / name);
    REQUIRE(read.extent == std::array<std::int64_t, 3>{n1, n2, n0});
    bool same = true;
    for (std::int64_t x = 0; x < n1; ++x) {
      for (std::int64_t y = 0; y < n2; ++y) {
        for (std::int64_t z = 0; z < n0; ++z) {
          std::int64_t const i = z + n0 * (n1 - 1 - x + n1 * (n2 - 1 - y));
          same = same && read.values[std::size_t((x * n2 + y) * n0 + z)] == value_at(i);
        }
      }
    }
    CHECK(same);
  }
}

TEST_CASE("stacks of several blocks are written and read beside one block of memory") {
  scratch_folder const folder;
  files::projection_stack<float> stack{several, large_volume(several).values, "1", "{}"};
  auto const bytes = std::int64_t(stack.values.size() * sizeof(float));
  auto const written = growth([&] { files::prepare_stack(folder / "p.h5", stack).commit(); });
  files::projection_stack<float> read;
  auto const taken = growth([&] { read = files::read_stack<float>(folder / "p.h5"); });
  CHECK(read.values == stack.values);
  CHECK(written < 40 * mib);
  CHECK(taken < bytes + 40 * mib);
  auto const pictured = growth([&] {
    files::prepare_projection_image(folder / "p.mha", stack.values, several, {1, 1}).commit();
  });
  CHECK(pictured < 40 * mib);
  // [view, u, v] has u along x, v along y, views along z.
  auto const image = files::read_volume(folder / "p.mha");
  auto const [views, nu, nv] = several;
  bool same = true;
  for (std::int64_t i = 0; i < views * nu * nv; i += 11) {
    std::int64_t const view = i / (nu * nv), u = i / nv % nu, v = i % nv;
    same = same && image.values[std::size_t((u * nv + v) * views + view)] == value_at(i);
  }
  CHECK(same);
}

TEST_CASE("volumes and stacks are read into memory that is given, and written from it") {
  scratch_folder const folder;
  auto const volume = large_volume({150, 290, 310});
  auto const count = std::int64_t(volume.values.size());
  files::mapped_array<float> array(folder.path(), count);
  std::ranges::copy(volume.values, array.data());
  auto const bare = files::host_volume{volume.extent, volume.spacing, volume.origin, {}, "HU"};
  files::prepare_voxels(folder / "v.mha", bare, array.values()).commit();
  std::ranges::fill(array.values(), 0.0F);
  files::host_volume read;
  auto const taken = growth([&] { read = files::read_voxels(folder / "v.mha", array.values()); });
  CHECK(taken < count * 4 + 40 * mib);  // pages of the array that are in memory, too
  CHECK(std::ranges::equal(array.values(), volume.values));
  CHECK(read.unit == "HU");
  CHECK(read.extent == volume.extent);
  CHECK(read.values.empty());
  files::projection_stack<float> const stack{volume.extent, {}, "1", "{}"};
  files::prepare_readings<float>(folder / "p.h5", stack, array.values()).commit();
  std::ranges::fill(array.values(), 0.0F);
  CHECK(files::read_readings<float>(folder / "p.h5", array.values()).geometry == "{}");
  CHECK(std::ranges::equal(array.values(), volume.values));
  auto const few = array.values().first(array.values().size() - 1);
  auto const said = [](auto const& action) {
    try {
      action();
    } catch (iso::invalid_argument const& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(names(said([&] { files::read_voxels(folder / "v.mha", few); }), {"v.mha", "13484999"}));
  CHECK(names(said([&] { files::read_readings<float>(folder / "p.h5", few); }),
              {"p.h5", "13484999"}));
  CHECK(names(said([&] { files::prepare_voxels(folder / "x.mha", bare, few).commit(); }),
              {"x.mha", "13484999"}));
  CHECK(names(said([&] { files::prepare_readings<float>(folder / "x.h5", stack, few).commit(); }),
              {"x.h5", "13484999"}));
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("files that change while they are read are refused") {
  scratch_folder const folder;
  auto const volume = large_volume({200, 200, 240});
  files::projection_stack<float> const stack{volume.extent, volume.values, "1", "{}"};
  files::prepare_volume(folder / "v.mha", volume).commit();
  files::prepare_volume(folder / "v.nrrd", small_volume()).commit();
  files::prepare_volume(folder / "v.nii", small_volume()).commit();
  files::prepare_stack(folder / "p.h5", stack).commit();
  auto header = metaimage("");
  put(folder / "d.mhd", header.replace(header.find("LOCAL"), 5, "d.raw"));
  put(folder / "d.raw", bytes_of(file_values<short>()));
  for (auto const& [name, changed] :
       {std::pair{"v.mha", "v.mha"}, std::pair{"v.nrrd", "v.nrrd"}, std::pair{"v.nii", "v.nii"},
        std::pair{"p.h5", "p.h5"}, std::pair{"d.mhd", "d.raw"}}) {
    for (auto const* how : {"longer", "shorter", "touched", "replaced"}) {
      CAPTURE(name);
      CAPTURE(how);
      fs::path const path = folder / changed;
      fs::path const kept = folder / "kept";
      fs::copy_file(path, kept, fs::copy_options::overwrite_existing);
      fs::last_write_time(kept, fs::last_write_time(path));
      bool done = false;
      auto const change = [&] {
        if (!done && std::string(how) == "longer") {
          std::ofstream(path, std::ios::app | std::ios::binary) << "more";
        } else if (!done && std::string(how) == "shorter") {
          fs::resize_file(path, fs::file_size(path) / 2);
        } else if (!done && std::string(how) == "touched") {
          fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(2));
        } else if (!done) {
          fs::rename(kept, path);  // of the same size and time
        }
        done = true;
        return false;
      };
      iso::job const control{{}, change};
      auto const said = refusal([&] {
        if (std::string(name) == "p.h5") {
          files::read_stack<float>(folder / name, files::stack_geometry::read, {},
                                   files::finite_values::required, control);
        } else {
          files::read_volume(folder / name, files::finite_values::required,
                             files::subfolders::left_out, control);
        }
      });
      CHECK(names(said, {changed, "was changed while it was read"}));
      if (std::string(how) == "shorter" || std::string(how) == "longer") {
        fs::copy_file(kept, path, fs::copy_options::overwrite_existing);
      }
    }
  }
}

TEST_CASE("a disk that is full within a block leaves the old file and nothing else") {
  scratch_folder const folder;
  auto const volume = large_volume(several);
  files::projection_stack<float> const stack{several, volume.values, "1", "{}"};
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii", "p.h5", "p.mha"}) {
    CAPTURE(name);
    put(folder / name, "old");
    std::string said;
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    set_file_limit(45 * mib + 13);
    said = refusal([&] {
      if (std::string(name) == "p.h5") {
        files::prepare_stack(folder / name, stack).commit();
      } else if (std::string(name) == "p.mha") {
        files::prepare_projection_image(folder / name, stack.values, several, {1, 1}).commit();
      } else {
        files::prepare_volume(folder / name, volume).commit();
      }
    });
    ::setrlimit(RLIMIT_FSIZE, &before);
    CHECK(names(said, {name, "cannot be written", "make room on its disk"}));
    CHECK(get(folder / name) == "old");
    CHECK(files_in(folder.path()) == 1);
    fs::remove(folder / name);
  }
  CHECK(names(refusal([&] { files::prepare_volume("/proc/v.mha", volume).commit(); }),
              {"/proc/v.mha"}));
}
