// SPDX-License-Identifier: BSD-3-Clause
// Files where there is no room for them: every writer, on a disk that is full after any byte.
#include "matrix_support.hpp"

#include <iso/files/atomic_file.hpp>
#include <iso/files/png_file.hpp>
#include <iso/files/stack_file.hpp>
#include <iso/files/volume_file.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <functional>
#include <stdexcept>

namespace {

// What the next call of fsync or close fails with; 0: it does its work.
int fsync_failure = 0;
int close_failure = 0;

}  // namespace

// In place of the C library's, for the files library too: a disk that is full only then, as network
// file systems are.
extern "C" int fsync(int descriptor) {
  errno = fsync_failure;
  return fsync_failure != 0 ? -1 : int(::syscall(SYS_fsync, descriptor));
}
extern "C" int close(int descriptor) {
  int const status = int(::syscall(SYS_close, descriptor));
  if (close_failure != 0) {
    errno = close_failure;
    return -1;
  }
  return status;
}

namespace files = iso::files;
namespace fs = std::filesystem;
using namespace iso::test;

namespace {

/// While it lives no file grows beyond `bytes`: writing more fails, as on a full disk.
class full_disk {
 public:
  explicit full_disk(std::size_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit const now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
  }
  full_disk(full_disk const&) = delete;
  full_disk& operator=(full_disk const&) = delete;
  ~full_disk() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

struct writer {
  std::string name;
  std::function<files::atomic_file(fs::path const&)> prepare;
};

std::vector<writer> writers() {
  std::vector<float> const values(24, 0.5F);
  files::host_volume const volume{{2, 3, 4}, {1, 1, 1}, {}, values};
  files::gray_image const image{6, 4, values};
  std::vector<writer> all;
  all.push_back({"t.json", [](auto const& path) { return files::prepare_text(path, "{}\n"); }});
  all.push_back({"s.h5", [=](auto const& path) {
                   return files::prepare_stack<float>(path, {{2, 3, 4}, values, "1", "{}"});
                 }});
  all.push_back(
      {"v.h5", [](auto const& path) { return files::prepare_vector(path, {1, 2, 3, 4}); }});
  all.push_back({"p.mha", [=](auto const& path) {
                   return files::prepare_projection_image(path, values, {2, 3, 4}, {1, 1});
                 }});
  for (auto const* name : {"m.h5", "m.mtx"}) {
    all.push_back(
        {name, [](auto const& path) { return files::prepare_matrix(path, small_half()); }});
  }
  for (auto const* name : {"v.mha", "v.nrrd", "v.nii", "v.nii.gz"}) {
    all.push_back({name, [=](auto const& path) { return files::prepare_volume(path, volume); }});
  }
  for (auto const depth : {files::png_depth::bits8, files::png_depth::bits16}) {
    all.push_back({"i.png", [=](auto const& path) {
                     return files::prepare_png(path, image, {0, 1}, depth);
                   }});
  }
  return all;
}

unsigned mode_of(fs::path const& path) {
  struct stat status{};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

}  // namespace

TEST_CASE("a disk that is full after any byte leaves the old file, and a sentence") {
  for (auto const& [name, prepare] : writers()) {
    CAPTURE(name);
    scratch_folder const folder;
    prepare(folder / name).commit();
    auto const size = get(folder / name).size();
    REQUIRE(size > 0);
    put(folder / name, "old");
    for (std::size_t const most : {std::size_t(0), std::size_t(1), size / 2, size - 1}) {
      CAPTURE(most);
      std::string sentence;
      {
        full_disk const full(most);
        sentence = refusal([&] { prepare(folder / name).commit(); });
      }
      CHECK(names(sentence, {name}));
      CAPTURE(sentence);
      CHECK(!names(sentence, {"header"}));  // that is said of files that are read
      CHECK(!names(sentence, {"Success"}));
      CHECK(get(folder / name) == "old");
      CHECK(files_in(folder.path()) == 1);
    }
    // What is compressed takes room for what is not.
    bool const is_packed = name == "i.png" || name.ends_with(".nii.gz");
    full_disk const enough(is_packed ? size + (1 << 17) : size);
    prepare(folder / name).commit();
    CHECK(get(folder / name).size() == size);
  }
}

TEST_CASE("a disk that says only at the end that it is full leaves the old file") {
  for (int* const failure : {&fsync_failure, &close_failure}) {
    scratch_folder const folder;
    put(folder / "t.txt", "old");
    auto file = files::prepare_text(folder / "t.txt", "new");
    *failure = ENOSPC;
    auto const sentence = refusal([&] { file.commit(); });
    *failure = 0;
    CHECK(names(sentence, {"t.txt", "No space left", "make room on its disk"}));
    CHECK(get(folder / "t.txt") == "old");
  }
}

TEST_CASE("a file system that cannot flush is written all the same") {
  scratch_folder const folder;
  fsync_failure = EINVAL;
  CHECK(refusal([&] { files::prepare_text(folder / "t.txt", "new").commit(); }).empty());
  fsync_failure = 0;
  CHECK(get(folder / "t.txt") == "new");
}

TEST_CASE("a file that is replaced hands on its permission bits; a new one has the usual") {
  scratch_folder const folder;
  auto const target = folder / "t.txt";
  for (unsigned const mode : {0640U, 0600U, 0666U, 0444U, 0755U}) {
    CAPTURE(mode);
    put(folder / "old.txt", "old");
    fs::rename(folder / "old.txt", target);
    ::chmod(target.c_str(), mode);
    auto file = files::prepare_text(target, "new");
    CHECK((mode_of(file.temporary()) & 077U) == 0);  // nobody reads it meanwhile
    file.commit();
    CHECK(mode_of(target) == mode);
    CHECK(get(target) == "new");
  }
  mode_t const before = ::umask(027);
  files::prepare_text(folder / "new.txt", "new").commit();
  ::umask(before);
  CHECK(mode_of(folder / "new.txt") == 0640);
}

TEST_CASE("names as long as the file system takes are written, longer ones refused at once") {
  scratch_folder const folder;
  std::string umlauts;
  for (int i = 0; i < 125; ++i) {
    umlauts += "\u00fc";
  }
  for (auto const& name :
       {std::string(250, 'a') + ".json", umlauts + ".json", umlauts.substr(2) + "x.json"}) {
    put(folder / name, "old");
    files::prepare_text(folder / name, "new").commit();
    CHECK(get(folder / name) == "new");
  }
  CHECK(files_in(folder.path()) == 3);
  auto const longer = std::string(251, 'a') + ".json";
  CHECK(names(refusal([&] { files::atomic_file const file(folder / longer); }),
              {longer, "File name too long"}));
  CHECK(files_in(folder.path()) == 3);
}

TEST_CASE("where printing fails, none of the files appears") {
  scratch_folder const folder;
  std::vector<files::atomic_file> both;
  both.push_back(files::prepare_text(folder / "a.txt", "a"));
  both.push_back(files::prepare_text(folder / "b.txt", "b"));
  auto const fail = [] { throw std::runtime_error("a closed pipe"); };
  CHECK_THROWS_AS(files::atomic_file::commit_all(both, fail), std::runtime_error);
  both.clear();
  CHECK(files_in(folder.path()) == 0);
}

TEST_CASE("a folder appears with all of its files, or not at all") {
  scratch_folder const scratch;
  auto const target = scratch / "all";
  auto const filled = [&](fs::path const& path) {
    auto folder = files::atomic_file::folder(path);
    put(folder.temporary() / "a", "1");
    put(folder.temporary() / "b", "2");
    return folder;
  };
  {
    auto const dropped = filled(target);
    CHECK_FALSE(fs::exists(target));
  }
  for (int* const failure : {&fsync_failure, &close_failure}) {
    auto folder = filled(target);
    *failure = ENOSPC;
    auto const sentence = refusal([&] { folder.commit(); });
    *failure = 0;
    CHECK(names(sentence, {"all", "No space left"}));
  }
  CHECK(files_in(scratch.path()) == 0);
  mode_t const before = ::umask(027);
  filled(target / "").commit();
  ::umask(before);
  CHECK(files_in(scratch.path()) == 1);
  CHECK(files_in(target) == 2);
  CHECK(mode_of(target) == 0750);
  CHECK(names(refusal([&] { filled(target); }), {"all", "is not empty"}));
  CHECK(names(refusal([&] { filled(target / "a"); }), {"something of that name is there"}));
  CHECK(names(refusal([&] { filled(scratch / "no/all"); }), {"no/all", "cannot be written"}));
  CHECK(get(target / "a") == "1");
}

TEST_CASE("an empty folder is filled with all files, or stays empty, and keeps its permissions") {
  scratch_folder const scratch;
  auto const target = scratch / "all";
  auto const filled = [](fs::path const& path) {
    auto folder = files::atomic_file::folder(path);
    put(folder.temporary() / "a", "1");
    put(folder.temporary() / "b", "2");
    return folder;
  };
  auto const here = fs::current_path();
  // By its name, and as the folder of this process, which must stay the same one.
  for (bool const is_own : {false, true}) {
    CAPTURE(is_own);
    fs::create_directory(target);
    ::chmod(target.c_str(), 02750);
    if (is_own) {
      fs::current_path(target);
    }
    fs::path const name = is_own ? fs::path(".") : target;
    {
      auto const dropped = filled(name);
      CHECK(fs::is_empty(target));
    }
    {
      auto late = filled(name);
      put(target / "mine", "3");
      CHECK(names(refusal([&] { late.commit(); }), {"is not empty"}));
    }
    CHECK(files_in(target) == 1);
    fs::remove(target / "mine");
    filled(name).commit();
    CHECK(files_in(scratch.path()) == 1);
    CHECK(files_in(is_own ? fs::path(".") : target) == 2);
    CHECK(mode_of(target) == 02750);
    fs::current_path(here);
    fs::remove_all(target);
  }
}

TEST_CASE("a pipe that nobody reads is a sentence") {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  CHECK(names(
      refusal([&] { files::prepare_text("/dev/fd/" + std::to_string(ends[1]), "text").commit(); }),
      {"/dev/fd/", "Broken pipe"}));
  ::close(ends[1]);
}

TEST_CASE("what killed runs left is removed; what a run that lives writes stays") {
  scratch_folder const folder;
  auto const child_with = [&](bool dies, bool whole_folder) {
    pid_t const child = ::fork();
    if (child == 0) {
      auto const file = whole_folder ? files::atomic_file::folder(folder / "all")
                                     : files::atomic_file(folder / "t.txt");
      put(whole_folder ? file.temporary() / "a" : file.temporary(), "half");
      put(folder / "ready", "1");
      if (!dies) {
        ::pause();
      }
      ::kill(::getpid(), SIGKILL);
    }
    while (!fs::exists(folder / "ready")) {
      ::usleep(1000);
    }
    fs::remove(folder / "ready");
    if (dies) {
      ::waitpid(child, nullptr, 0);
    }
    return child;
  };
  child_with(true, false);
  child_with(true, true);
  CHECK(files_in(folder.path()) <= 2);  // the second run may have removed what the first one left
  auto const end = [](pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  };
  pid_t const living = child_with(false, false);
  CHECK(files_in(folder.path()) == 1);
  pid_t const other = child_with(false, true);
  CHECK(files_in(folder.path()) == 2);  // what lives has a lock
  end(living);
  end(other);
  // Each run looks once, so that this one looks last.
  files::prepare_text(folder / "t.txt", "whole").commit();
  CHECK(files_in(folder.path()) == 1);
  CHECK(get(folder / "t.txt") == "whole");
}

TEST_CASE("old temporary files of other machines are named, and stay") {
  scratch_folder const folder;
  put(folder / ".iso-elsewhere-1-0-t.txt", "half");
  CHECK(files::temporaries_of_others(folder / "t.txt").empty());
  fs::last_write_time(folder / ".iso-elsewhere-1-0-t.txt",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  files::prepare_text(folder / "t.txt", "whole").commit();
  CHECK(files::temporaries_of_others(folder / "t.txt").size() == 1);
  CHECK(files_in(folder.path()) == 2);
}

TEST_CASE("files of a machine whose name begins with this one's stay, and what is no temporary") {
  scratch_folder const folder;
  std::string own;
  {
    files::atomic_file const file(folder / "t.txt");
    auto const name = file.temporary().filename().string();
    own = name.substr(0, name.rfind('-', name.rfind('-', name.rfind('-') - 1) - 1));
  }
  CAPTURE(own);
  REQUIRE(own.rfind(".iso-", 0) == 0);
  CHECK(own.find('-', 5) == std::string::npos);
  scratch_folder const inner;  // each folder is looked at once
  for (auto const* name :
       {"=1-999999-0-t.txt", "-notes.txt", "-999999-notes.txt", "-999999999-0-t.txt"}) {
    put(inner / (own + name), "half");
  }
  files::prepare_text(inner / "t.txt", "whole").commit();
  CHECK(fs::exists(inner / (own + "=1-999999-0-t.txt")));
  CHECK(fs::exists(inner / (own + "-notes.txt")));
  CHECK(fs::exists(inner / (own + "-999999-notes.txt")));
  CHECK(!fs::exists(inner / (own + "-999999999-0-t.txt")));
}

TEST_CASE("a pipe without a writer is a sentence after a second; with one it is read") {
  scratch_folder const folder;
  auto const pipe = folder / "g.json";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  auto const begin = std::chrono::steady_clock::now();
  CHECK(names(refusal([&] { files::read_text(pipe, 1000); }), {"g.json", "nobody writes to"}));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  // Written in two parts, the first after a while.
  pid_t const child = ::fork();
  if (child == 0) {
    int const to = ::open(pipe.c_str(), O_WRONLY);
    ::usleep(1'500'000);
    bool const first = ::write(to, "{\"a\"", 4) == 4;
    ::usleep(100'000);
    bool const second = ::write(to, ": 1}", 4) == 4;
    ::_exit(first && second ? 0 : 1);
  }
  CHECK(files::read_text(pipe, 1000) == "{\"a\": 1}");
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a pipe whose writer is silent: a job is asked") {
  scratch_folder const folder;
  auto const pipe = folder / "g.json";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (std::string_view const first : {"", "{"}) {
    int const both = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::write(both, first.data(), first.size()) == ssize_t(first.size()));
    int asked = 0;
    auto const begin = std::chrono::steady_clock::now();
    iso::job const stopping{{}, [&] { return ++asked == 3; }};
    CHECK_THROWS_AS(files::read_text(pipe, 1000, stopping), iso::cancelled);
    CHECK(asked == 3);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
    ::close(both);
  }
}

TEST_CASE("writers ask their job, and leave nothing where it stops them") {
  scratch_folder const folder;
  files::host_volume volume{{128, 128, 160}, {1, 1, 1}, {}, {}, "Gy"};
  volume.values.resize(128 * 128 * 160);
  for (std::size_t n = 0; n < volume.values.size(); ++n) {
    volume.values[n] = float(n * n % 1013);
  }
  files::projection_stack<double> const stack{
      {160, 128, 256}, std::vector<double>(160 * 128 * 256, 0.5), "1", "{}"};
  files::host_matrix matrix{200000, 1, {}, {}, std::vector<double>(200000, 0.5)};
  matrix.indices.assign(200000, 0);
  for (std::int64_t row = 0; row <= 200000; ++row) {
    matrix.offsets.push_back(row);
  }
  struct writer {
    char const* name;
    int least;  // questions
    std::function<files::atomic_file(fs::path const&, iso::job const&)> prepare;
    std::function<void(fs::path const&, iso::job const&)> read;
  };
  auto const as_volume = [&](char const* name, int least) {
    return writer{
        name, least,
        [&](auto const& path, auto const& c) { return files::prepare_volume(path, volume, c); },
        [](auto const& path, auto const& c) {
          files::read_volume(path, files::finite_values::required, files::subfolders::left_out, c);
        }};
  };
  auto const as_matrix = [&](char const* name, int least) {
    return writer{
        name, least,
        [&](auto const& path, auto const& c) { return files::prepare_matrix(path, matrix, c); },
        [](auto const& path, auto const& c) { files::read_matrix(path, c); }};
  };
  for (auto const &one : {as_volume("v.nii.gz", 10), as_volume("v.mha", 1), as_matrix("m.h5", 4),
                          as_matrix("m.mtx", 4),
                          writer{"s.h5", 2,
                                 [&](auto const& path, auto const& c) {
                                   return files::prepare_stack(path, stack, c);
                                 },
                                 [](auto const& path, auto const& c) {
                                   files::read_stack<double>(path, files::stack_geometry::read, {},
                                                             files::finite_values::required, c);
                                 }}}) {
    CAPTURE(one.name);
    auto const path = folder / one.name;
    auto const bytes = [&] {
      std::ifstream in(path, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    one.prepare(path, {}).commit();
    auto const alone = bytes();
    int asked = 0;
    one.prepare(path, {{}, [&] { return ++asked < 0; }}).commit();
    CHECK(bytes() == alone);
    CHECK(asked >= one.least);
    for (int const stop_at : {1, (asked + 1) / 2, asked}) {
      int now = 0;
      CHECK_THROWS_AS(one.prepare(path, {{}, [&] { return ++now == stop_at; }}), iso::cancelled);
      CHECK(now == stop_at);
    }
    CHECK(bytes() == alone);
    asked = 0;
    one.read(path, {{}, [&] { return ++asked < 0; }});
    CHECK(asked >= one.least);
    int now = 0;
    CHECK_THROWS_AS(one.read(path, {{}, [&] { return ++now == asked; }}), iso::cancelled);
    fs::remove(path);
  }
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("a program that ends at once leaves no temporary file") {
  scratch_folder const folder;
  pid_t const child = ::fork();
  if (child == 0) {
    files::atomic_file const one(folder / "one.txt");
    auto const other = files::atomic_file::folder(folder / "other");
    std::ofstream(other.temporary() / "file") << "text";
    auto gone = files::prepare_text(folder / "gone.txt", "text");
    gone.commit();
    files::abandon_temporaries();
    ::_exit(fs::exists(one.temporary()) || fs::exists(other.temporary()) ? 1 : 0);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
  CHECK(fs::exists(folder / "gone.txt"));
}
