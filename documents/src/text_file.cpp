// SPDX-License-Identifier: BSD-3-Clause
#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>

#include <fmt/core.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <thread>

namespace iso::files {
namespace {

namespace fs = std::filesystem;

/// A descriptor that closes itself.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor const&) = delete;
  descriptor& operator=(descriptor const&) = delete;
  ~descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  operator int() const { return number_; }

 private:
  int number_;
};

// Returns the first that comes through a pipe: a read finds nothing at all where there is no
// writer, and says "not yet" where there is one.
std::string wait_for_writer(fs::path const& source, int descriptor, std::string& piece,
                            job const& control) {
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do {
    auto const count = ::read(descriptor, piece.data(), piece.size());
    if (count > 0) {
      return piece.substr(0, std::size_t(count));
    }
    if (count < 0 && errno != EINTR) {
      return {};
    }
    control.step(0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  } while (std::chrono::steady_clock::now() < end);
  throw file_error(
      fmt::format("'{}' is a pipe that nobody writes to, or that is empty (waited for a second); "
                  "start its writer first, or name a file",
                  source.string()));
}

// Returns when there is something to read, or the end: a read would wait for ever, since it is
// begun again after a signal.
void wait_to_read(int descriptor, job const& control) {
  constexpr int tenth_of_second = 100;
  for (;;) {
    ::pollfd one{descriptor, POLLIN, 0};
    int const ready = ::poll(&one, 1, tenth_of_second);
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return;
    }
    control.step(0);
  }
}

}  // namespace

atomic_file prepare_text(fs::path const& target, std::string_view text) {
  atomic_file file(target);
  std::ofstream out(file.temporary(), std::ios::binary);
  out.write(text.data(), std::streamsize(text.size()));
  out.close();
  if (!out) {
    throw file_error(fmt::format(
        "'{}' cannot be written (its disk may be full); make room on its disk", target.string()));
  }
  return file;
}

std::string read_text(fs::path const& source, std::size_t most, job const& control) {
  // Not blocking, since a pipe that nobody writes to would never open.
  descriptor const from(::open(source.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (from < 0 || ::fstat(from, &status) != 0 || S_ISDIR(status.st_mode)) {
    throw file_error(fmt::format(
        "'{}' cannot be opened (no such file, or not readable); check its name and permissions",
        source.string()));
  }
  std::string text;
  std::string piece(std::size_t(1) << 16, '\0');
  if (S_ISFIFO(status.st_mode)) {
    text = wait_for_writer(source, from, piece, control);
  }
  static_cast<void>(::fcntl(from, F_SETFL, 0));
  // By pieces: `most` may be far more than there is.
  while (text.size() <= most) {
    wait_to_read(from, control);
    auto const count = ::read(from, piece.data(), piece.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      break;
    }
    text.append(piece, 0, std::size_t(count > 0 ? count : 0));
  }
  if (text.size() > most) {
    throw file_error(
        fmt::format("'{}' is longer than {} bytes (text of that length is not expected); check "
                    "that this is the file you mean",
                    source.string(), most));
  }
  return text;
}

}  // namespace iso::files
