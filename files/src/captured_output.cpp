// SPDX-License-Identifier: BSD-3-Clause
#include "captured_output.hpp"

#include <iostream>
#include <mutex>
#include <streambuf>

namespace iso::files::detail {
namespace {

thread_local std::string* taken_by = nullptr;

/// A buffer that gives text of threads that capture to them, and that of others to the stream's
/// own.
class filter : public std::streambuf {
 public:
  explicit filter(std::ostream& stream) : stream_(stream) {}
  void install() { to_ = stream_.rdbuf(this); }
  void remove() { stream_.rdbuf(to_); }

 protected:
  int_type overflow(int_type c) override {
    if (taken_by == nullptr) {
      return to_->sputc(traits_type::to_char_type(c));
    }
    taken_by->push_back(traits_type::to_char_type(c));
    return c;
  }
  std::streamsize xsputn(char const* from, std::streamsize count) override {
    if (taken_by == nullptr) {
      return to_->sputn(from, count);
    }
    taken_by->append(from, std::size_t(count));
    return count;
  }
  int sync() override { return taken_by == nullptr ? to_->pubsync() : 0; }

 private:
  std::ostream& stream_;
  std::streambuf* to_ = nullptr;
};

/// The filters of both streams, there while any thread captures.
struct filters {
  std::mutex mutex;
  int captures = 0;
  filter errors{std::cerr};
  filter output{std::cout};
};

filters& all_filters() {
  static filters all;
  return all;
}

}  // namespace

captured_output::captured_output() : outer_(taken_by) {
  auto& all = all_filters();
  std::scoped_lock const lock(all.mutex);
  if (all.captures++ == 0) {
    all.errors.install();
    all.output.install();
  }
  taken_by = &text_;
}

captured_output::~captured_output() {
  taken_by = outer_;
  auto& all = all_filters();
  std::scoped_lock const lock(all.mutex);
  if (--all.captures == 0) {
    all.errors.remove();
    all.output.remove();
  }
}

}  // namespace iso::files::detail
