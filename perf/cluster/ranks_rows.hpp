// SPDX-License-Identifier: BSD-3-Clause
//! \file  ranks_rows.hpp
//! Times calls on ranks in turn with the same calls in the memory of one, and compares the bits.
#pragma once

#include "support/program.hpp"

#include <iso/backend/carrier.hpp>
#include <iso/backend/communicator.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/memory.hpp>
#include <iso/core/concepts.hpp>
#include <iso/mpi/communicator.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iso::perf {

/// A link that counts what this rank sends to others.
class counting_link final : public backend::device_link {
 public:
  counting_link(backend::device_link& link, int rank, std::int64_t& sent)
      : link_(link), rank_(rank), sent_(sent) {}

  [[nodiscard]] std::string_view name() const override { return link_.name(); }
  void sum(std::span<std::uint32_t> words, void* queue) override {
    counted(words).sum(words, queue);
  }
  void sum(std::span<std::uint64_t> words, void* queue) override {
    counted(words).sum(words, queue);
  }
  void maximum(std::span<std::uint32_t> words, void* queue) override {
    counted(words).maximum(words, queue);
  }
  void maximum(std::span<std::uint64_t> words, void* queue) override {
    counted(words).maximum(words, queue);
  }
  void exchange(std::span<backend::parcel const> out, std::span<backend::parcel const> in,
                void* queue) override {
    for (backend::parcel const& one : out) {
      sent_ += one.rank == rank_ ? 0 : one.bytes;
    }
    link_.exchange(out, in, queue);
  }

 private:
  template <class Words>
  backend::device_link& counted(Words const& words) {
    sent_ += std::int64_t(words.size_bytes());
    return link_;
  }

  backend::device_link& link_;
  int rank_;
  std::int64_t& sent_;
};

/// A communicator that counts what this rank sends to others.
class counting_ranks final : public backend::communicator {
 public:
  explicit counting_ranks(backend::communicator& ranks) : ranks_(ranks) {}

  [[nodiscard]] std::int64_t sent() const { return sent_; }

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] std::string name() const override { return ranks_.name(); }
  void sum(std::span<std::uint32_t> words) override { counted(words).sum(words); }
  void sum(std::span<std::uint64_t> words) override { counted(words).sum(words); }
  void maximum(std::span<std::uint32_t> words) override { counted(words).maximum(words); }
  void maximum(std::span<std::uint64_t> words) override { counted(words).maximum(words); }
  void exchange(std::span<backend::parcel const> out,
                std::span<backend::parcel const> in) override {
    count(out);
    ranks_.exchange(out, in);
  }
  void begin_exchange(std::span<backend::parcel const> out,
                      std::span<backend::parcel const> in) override {
    count(out);
    ranks_.begin_exchange(out, in);
  }
  void end_exchanges() override { ranks_.end_exchanges(); }
  void broadcast(std::span<std::byte> bytes, int from) override { ranks_.broadcast(bytes, from); }
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override {
    ranks_.gather(bytes, all, to);
  }
  void barrier() override { ranks_.barrier(); }
  bool meet(double seconds) override { return ranks_.meet(seconds); }
  [[nodiscard]] backend::device_link* link_devices(int device) override {
    backend::device_link* const link = ranks_.link_devices(device);
    if (link != nullptr && link_ == nullptr) {
      link_ = std::make_unique<counting_link>(*link, rank(), sent_);
    }
    return link != nullptr ? link_.get() : nullptr;
  }
  [[noreturn]] void abort(int exit_code) override {
    ranks_.abort(exit_code);
    std::abort();
  }

 private:
  template <class Words>
  backend::communicator& counted(Words const& words) {
    sent_ += size() > 1 ? std::int64_t(words.size_bytes()) : 0;
    return ranks_;
  }
  void count(std::span<backend::parcel const> out) {
    for (backend::parcel const& one : out) {
      sent_ += one.rank == rank() ? 0 : one.bytes;
    }
  }

  backend::communicator& ranks_;
  std::int64_t sent_ = 0;
  std::unique_ptr<counting_link> link_;
};

/// Counts the floats of two arrays whose bits differ.
template <class A, class B>
struct differing_floats {
  A a;
  B b;
  KOKKOS_FUNCTION void operator()(std::int64_t n, std::int64_t& count) const {
    auto const inner = std::int64_t(a.extent(1) * a.extent(2));
    std::int64_t const i = n / inner;
    std::int64_t const rest = n - i * inner;
    std::int64_t const j = rest / std::int64_t(a.extent(2));
    std::int64_t const k = rest - j * std::int64_t(a.extent(2));
    count +=
        Kokkos::bit_cast<std::uint32_t>(a(i, j, k)) == Kokkos::bit_cast<std::uint32_t>(b(i, j, k))
            ? 0
            : 1;
  }
};

/// The rows of a program: what one memory takes, and all ranks together.
template <execution_space Exec>
class rank_rows {
 public:
  /// Says what carries between the ranks.
  /// \param repeats  of each call
  rank_rows(Exec const& exec, backend::communicator& ranks, int repeats)
      : exec_(exec), ranks_(ranks), repeats_(repeats) {
    backend::carrier<Exec> const by(exec_, ranks_);
    said_["ranks"] = ranks_.size();
    said_["carried"] = std::string(by.name());
    if (ranks_.rank() == 0) {
      std::printf("%d ranks, %s\n", ranks_.size(), std::string(by.name()).c_str());
    }
  }

  [[nodiscard]] counting_ranks& ranks() { return ranks_; }
  [[nodiscard]] json const& said() const { return said_; }

  /// Returns whether no rank's part has other bits than the whole; rank-3 views of floats.
  template <class Whole, class Part>
  bool agree(Whole const& whole, Part const& part) {
    std::int64_t count = 0;
    Kokkos::parallel_reduce("iso::perf: bits",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                exec_, 0, std::int64_t(part.size())),
                            differing_floats<Whole, Part>{whole, part}, count);
    exec_.fence("iso::perf: bits");
    return none(count);
  }
  /// Returns whether no rank counts any.
  bool none(std::int64_t count) { return total(count) == 0; }
  /// Overwrites a result, so that one that is not written differs.
  template <class Array>
  void spoil(Array const& array) {
    Kokkos::deep_copy(exec_, array, typename Array::non_const_value_type(-1));
    exec_.fence("iso::perf: the last result is gone");
  }

  /// Times one() and all() in turn, and prints a row. All ranks run both at the same time, and the
  /// slowest counts.
  /// \param one       null: ranks are timed by themselves
  /// \param by_table  the bytes that all ranks send, as the documents have them
  void row(std::string const& what, std::function<void()> const& one,
           std::function<void()> const& all, std::function<bool()> const& same,
           std::optional<std::int64_t> by_table = {}) {
    if (one) {
      time(one);
    }
    time(all);
    std::vector<double> of_one;
    std::vector<double> of_all;
    std::int64_t sent = 0;
    for (int n = 0; n < repeats_; ++n) {
      if (one) {
        of_one.push_back(time(one));
      }
      std::int64_t const before = ranks_.sent();
      of_all.push_back(time(all));
      sent = ranks_.sent() - before;
    }
    double const ms = median(of_all);
    json said{{"what", what}, {"ms", ms}, {"bytes_sent", total(sent)}};
    std::string text = text_of("%-16s %9.2f ms  sent %.4e", what.c_str(), ms,
                               double(said["bytes_sent"].get<std::int64_t>()));
    if (by_table) {
      said["bytes_by_table"] = *by_table;
      text += text_of("  by table %.4e", double(*by_table));
    }
    if (one) {
      double const ms_one = median(of_one);
      bool const agree = same();
      said["ms_one"] = ms_one;
      said["speedup"] = ms_one / ms;
      said["bits_agree"] = agree;
      text += text_of("  one %9.2f ms  speedup %.3f  bits %s", ms_one, ms_one / ms,
                      agree ? "agree" : "DIFFER");
    }
    if (ranks_.rank() == 0) {
      std::printf("%s\n", text.c_str());
      std::fflush(stdout);
    }
    said_["rows"].push_back(said);
  }

 private:
  template <class... Args>
  static std::string text_of(char const* format, Args... args) {
    std::array<char, 200> text{};
    std::snprintf(text.data(), text.size(), format, args...);
    return text.data();
  }
  static double median(std::vector<double> x) {
    auto const middle = x.begin() + std::ptrdiff_t(x.size() / 2);
    std::nth_element(x.begin(), middle, x.end());
    return *middle;
  }
  std::int64_t total(std::int64_t of_rank) {
    auto word = std::uint64_t(of_rank);
    ranks_.sum(std::span<std::uint64_t>(&word, 1));
    return std::int64_t(word);
  }
  /// Returns the ms of a call of f by the slowest rank.
  template <class F>
  double time(F const& f) {
    ranks_.barrier();
    double const seconds = cases::seconds_of(exec_, f);
    auto word = std::uint64_t(1e9 * seconds);
    ranks_.maximum(std::span<std::uint64_t>(&word, 1));
    return 1e-6 * double(word);
  }

  Exec exec_;
  counting_ranks ranks_;
  int repeats_;
  json said_{{"rows", json::array()}};
};

/// What the command lines of the programs share.
struct ranks_settings {
  std::string backend = "openmp";
  std::string json_file;
  int repeats = 3;
  bool staged = false;
  std::vector<std::string> rows;

  /// \param of_rows  what --help says of the rows
  void add_to(CLI::App& app, char const* of_rows) {
    app.add_option("--backend", backend)->capture_default_str();
    app.add_option("--repeats", repeats, "of each")->capture_default_str();
    app.add_flag("--staged", staged, "send by way of the host's memory");
    app.add_option("--rows", rows, of_rows);
    app.add_option("--json", json_file, "file to write");
  }
};

/// Runs a program on ranks, whose measure(exec, ranks) returns what the file has beside the
/// machine. A rank that fails ends the others.
template <class Measure>
int run_ranks(CLI::App& app, int argc, char** argv, ranks_settings const& s,
              Measure const& measure) {
  mpi::scope const mpi(argc, argv);
  mpi::communicator whole(MPI_COMM_WORLD);
  int const code = run_program(app, argc, argv, [&] {
    mpi::communicator ranks(MPI_COMM_WORLD, {.link_gpus = !s.staged});
    backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec_space = typename Tag::execution_space;
      auto const facts = backend::facts(exec_space());
      json said = measure(exec_space(), ranks);
      said["processor"] = facts.processor;
      said["git_revision"] = facts.git_revision;
      if (ranks.rank() == 0 && !s.json_file.empty()) {
        std::ofstream(s.json_file) << said.dump(2) << "\n";
      }
    });
  });
  if (code != 0) {
    whole.abort(code);
  }
  return code;
}

}  // namespace iso::perf
