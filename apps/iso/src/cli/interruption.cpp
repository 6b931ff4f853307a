// SPDX-License-Identifier: BSD-3-Clause
// What Ctrl-C and SIGTERM do: jobs and files ask whether one came; what does not ask within a
// second is ended.
#include "support.hpp"

#include <iso/core/error.hpp>
#include <iso/files/atomic_file.hpp>

#include <fmt/core.h>
#include <pthread.h>
#include <semaphore.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace iso::cli {
namespace {

/// How a run ends: it is not known; by itself; or by the thread that waits for a signal.
enum class ending_by { nobody, itself, thread };

std::atomic<int> interrupted_by{0};  // the signal's number
std::atomic<ending_by> ends_by{ending_by::nobody};
::sem_t came;
std::mutex of_folders;
std::vector<std::filesystem::path> made_folders;  // the innermost first

void remove_empty_folders() {
  std::lock_guard const lock(of_folders);
  std::error_code is_used;
  for (auto const& one : made_folders) {
    std::filesystem::remove(one, is_used);
  }
}

extern "C" void note_interrupt(int which) {
  int const before = errno;
  int nobody = 0;
  interrupted_by.compare_exchange_strong(nobody, which);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  ::sem_post(&came);
  errno = before;
}

// Libraries that read and write files, start a GPU or convert a matrix do not ask.
extern "C" void* end_what_does_not_ask(void*) {
  while (::sem_wait(&came) != 0) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(800));
  auto expected = ending_by::nobody;
  if (ends_by.compare_exchange_strong(expected, ending_by::thread)) {
    files::abandon_temporaries();
    remove_empty_folders();
    end_progress();
    spdlog::error("{}", interrupted_sentence);
    ::_exit(interruption_code());
  }
  return nullptr;
}

}  // namespace

void watch_for_signals() {
  ::sem_init(&came, 0, 0);
  ::pthread_attr_t small;
  ::pthread_attr_init(&small);
  // What ulimit -v leaves is for the job.
  ::pthread_attr_setstacksize(&small, std::size_t(1) << 18);
  ::pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  ::pthread_t thread{};
  static_cast<void>(::pthread_create(&thread, &small, end_what_does_not_ask, nullptr));
  ::pthread_attr_destroy(&small);
  std::signal(SIGTERM, note_interrupt);
  std::signal(SIGINT, note_interrupt);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

output_folder::output_folder(std::filesystem::path const& folder, char const* option) {
  namespace fs = std::filesystem;
  std::error_code failure;
  {
    std::lock_guard const lock(of_folders);
    made_folders.clear();
    for (auto one = fs::absolute(folder).lexically_normal();
         !one.empty() && !fs::exists(one, failure); one = one.parent_path()) {
      made_folders.push_back(one);
    }
  }
  fs::create_directories(folder, failure);
  if (failure) {
    remove_empty_folders();
    throw file_error(fmt::format("'{}': this folder cannot be made ({}); choose another by {}",
                                 folder.string(), failure.message(), option));
  }
}

output_folder::~output_folder() { remove_empty_folders(); }

job asked_of_user() {
  return {{}, [] { return interrupted_by.load() != 0; }};
}

int interruption_code() { return interrupted_by == SIGTERM ? terminated : cancelled_by_user; }

void ends_by_itself() {
  auto expected = ending_by::nobody;
  if (!ends_by.compare_exchange_strong(expected, ending_by::itself) &&
      expected == ending_by::thread) {
    for (;;) {
      ::pause();
    }
  }
}

}  // namespace iso::cli
