// SPDX-License-Identifier: BSD-3-Clause
// Projects and reconstructs on the ranks that mpirun starts, in turn with the same calls in the
// memory of one: how much faster they are together. Both with reproducible sums, float, N^3 voxels,
// upright cone views of cases::cone_scan. The calls of one run on every rank at the same time,
// each on its own device; the slowest counts.
//
//   mpirun -n 2 iso_ranks_speed --backend cuda --size 1024 --views 720
//
// Rank 0 prints a line a row: medians of alternating runs in ms, `speedup`, the first over the
// second, `sent`, the bytes that all ranks send in one call, beside those of the table in
// docs/algorithms/ranks.md, and whether every rank's part has the bits of the whole. `--json FILE`
// has the same. With `--alone` ranks are timed by themselves, for volumes that one memory cannot
// hold.
#include "support/program.hpp"

#include <iso/backend/carrier.hpp>
#include <iso/backend/device_facts.hpp>
#include <iso/backend/registry.hpp>
#include <iso/cases/projection.hpp>
#include <iso/cases/slabs.hpp>
#include <iso/cases/times.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/cgls.hpp>
#include <iso/ct/detail/rank_windows.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/total_variation.hpp>
#include <iso/mpi/communicator.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

namespace iso::perf {
namespace {

using T = float;

struct settings {
  std::string backend = "openmp";
  std::string json_file;
  std::int64_t size = 64;
  std::int64_t views = 64;
  double pitch = 0;  ///< of the detector, degrees
  int repeats = 3;
  bool alone = false;
  bool staged = false;
  std::vector<std::string> rows = {"forward", "adjoint",        "fdk", "sirt", "cgls",
                                   "os_sart", "total_variation"};
};

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
class counting final : public backend::communicator {
 public:
  explicit counting(backend::communicator& ranks) : ranks_(ranks) {}

  [[nodiscard]] std::int64_t sent() const { return sent_; }

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] std::string_view name() const override { return ranks_.name(); }
  void sum(std::span<std::uint32_t> words) override { counted(words).sum(words); }
  void sum(std::span<std::uint64_t> words) override { counted(words).sum(words); }
  void maximum(std::span<std::uint32_t> words) override { counted(words).maximum(words); }
  void maximum(std::span<std::uint64_t> words) override { counted(words).maximum(words); }
  void exchange(std::span<backend::parcel const> out,
                std::span<backend::parcel const> in) override {
    for (backend::parcel const& one : out) {
      sent_ += one.rank == rank() ? 0 : one.bytes;
    }
    ranks_.exchange(out, in);
  }
  void broadcast(std::span<std::byte> bytes, int from) override { ranks_.broadcast(bytes, from); }
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override {
    ranks_.gather(bytes, all, to);
  }
  void barrier() override { ranks_.barrier(); }
  bool meet(double seconds) override { return ranks_.meet(seconds); }
  [[nodiscard]] backend::device_link* link_devices(int device) override {
    backend::device_link* const link = ranks_.link_devices(device);
    if (link != nullptr && counting_ == nullptr) {
      counting_ = std::make_unique<counting_link>(*link, rank(), sent_);
    }
    return link != nullptr ? counting_.get() : nullptr;
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

  backend::communicator& ranks_;
  std::unique_ptr<counting_link> counting_;  ///< there is one device a rank
  std::int64_t sent_ = 0;
};

/// Returns the bytes that a call, or an iteration, sends by the table in docs/algorithms/ranks.md:
/// of planes, words and readings. Every voxel is finite.
std::int64_t bytes_by_table(std::string const& what, ct::rank_plan const& plan,
                            std::int64_t blocks) {
  ct::geometry const& scan = plan.scan();
  auto const pixels_elsewhere = [&](ct::detail::rank_windows const& needed) {
    std::int64_t pixels = 0;
    for (int rank = 0; rank < plan.size(); ++rank) {
      ct::row_range const rows = plan.rows(rank);
      for (ct::pixel_window const& w : needed[std::size_t(rank)]) {
        if (!w.empty()) {
          std::int64_t const own = std::max<std::int64_t>(
              0, std::min(w.last_v, rows.last) - std::max(w.first_v, rows.first));
          pixels += (w.last_u - w.first_u) * (w.last_v - w.first_v - own);
        }
      }
    }
    return pixels;
  };
  std::int64_t const halo = ct::ray_sums<T, Kokkos::HostSpace>::halo_needed(scan, plan.grid(), {});
  auto const planes = [&](std::int64_t of_halo) {
    std::int64_t count = 0;
    for (int rank = 0; rank < plan.size(); ++rank) {
      slab const own = plan.planes(rank);
      count += std::min(of_halo, own.first) + std::min(of_halo, plan.grid().extent[2] - own.last);
    }
    return count * plan.grid().extent[0] * plan.grid().extent[1];
  };
  auto const forward = blocks * planes(halo) + pixels_elsewhere(ct::detail::windows_of(plan, halo));
  auto const adjoint = pixels_elsewhere(ct::detail::windows_of(plan, 0));
  std::int64_t const numbers =
      what == "forward"   ? forward
      : what == "adjoint" ? adjoint
      : what == "fdk"
          ? pixels_elsewhere(ct::detail::fdk_windows_of(plan))
          : forward + adjoint + (what == "total_variation" ? 3 * planes(1) / 2 : std::int64_t(0));
  return numbers * std::int64_t(sizeof(T));
}

double median(std::vector<double> x) {
  auto const middle = x.begin() + std::ptrdiff_t(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

/// Returns the sum over the ranks.
std::int64_t total(backend::communicator& ranks, std::int64_t of_rank) {
  auto word = std::uint64_t(of_rank);
  ranks.sum({&word, 1});
  return std::int64_t(word);
}

/// Counts the numbers of two arrays whose bits differ.
template <class A, class B>
struct other_bits {
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

template <execution_space Exec>
class measurement {
 public:
  using space = typename Exec::memory_space;
  using volume = volume_view<T, space>;
  using projections = projection_view<T, space>;

  measurement(settings const& s, backend::communicator& ranks)
      : settings_(s),
        ranks_(ranks),
        phantom_(cases::smooth_volume(s.size)),
        scan_(ct::turn_detector(cases::cone_scan(s.size, s.views),
                                {.pitch = s.pitch * std::numbers::pi / 180})),
        plan_(scan_, phantom_.box, divide_planes(phantom_.box, ranks.size())),
        x_part_(ct::make_volume_part<T>(exec_, "x", plan_, ranks.rank())),
        p_part_(ct::make_projections_part<T>(exec_, "p", plan_, ranks.rank())) {
    if (!settings_.alone) {
      x_ = make_volume<T, space>(exec_, "x", phantom_.box);
      p_ = make_projections<T, space>(exec_, "p", s.views, scan_.num_u(), scan_.num_v());
    }
    backend::carrier<Exec> const by(exec_, ranks_);
    said_["carried"] = std::string(by.name());
    if (ranks_.rank() == 0) {
      std::printf("%d ranks, %s, %s\n", ranks_.size(), std::string(ranks_.name()).c_str(),
                  std::string(by.name()).c_str());
    }
  }

  json run() {
    for (std::string const& what : settings_.rows) {
      if (what == "forward" || what == "adjoint") {
        pair(what == "forward");
      } else if (what == "fdk") {
        fdk();
      } else if (what == "sirt") {
        method<ct::sart<Exec, T>>(what, ct::sart_options{});
      } else if (what == "os_sart") {
        method<ct::sart<Exec, T>>(what,
                                  ct::sart_options{.block_views = settings_.views / 4,
                                                   .columns = ct::column_sums::of_scan},
                                  4);
      } else if (what == "blocks_of_8") {
        method<ct::sart<Exec, T>>(
            what, ct::sart_options{.block_views = 8, .columns = ct::column_sums::of_scan},
            settings_.views / 8);
      } else if (what == "cgls") {
        method<ct::cgls<Exec, T>>(what, ct::cgls_options{});
      } else if (what == "total_variation") {
        method<ct::total_variation<Exec, T>>(
            what, ct::total_variation_options{.weight = 0.01, .box = {.lower = 0, .upper = 0.1}});
      } else {
        throw std::runtime_error("no row '" + what + "'");
      }
    }
    return said_;
  }

 private:
  /// Puts the volume and its projections into x_ and p_, and this rank's parts of them.
  void reset() {
    if (settings_.alone) {
      auto const whole = phantom_.template on<T>(exec_);
      Kokkos::deep_copy(exec_, x_part_.data,
                        cases::part_of(whole.data, plan_.planes(ranks_.rank())));
      ct::ranked_pair<Exec, T>(exec_, ranks_, plan_).forward(0, x_part_, p_part_);
      exec_.fence("iso_ranks_speed: the parts are there");
      return;
    }
    if (given_x_.data.size() == 0) {
      given_x_ = make_volume<T, space>(exec_, "given x", phantom_.box);
      given_p_ = make_projections<T, space>(exec_, "given p", scan_.num_views(), scan_.num_u(),
                                            scan_.num_v());
      Kokkos::deep_copy(exec_, given_x_.data, phantom_.template on<T>(exec_).data);
      ct::projector_pair<Exec, T>(exec_, scan_, phantom_.box, in_one_block(),
                                  {.sum = summation::reproducible})
          .forward(0, given_x_, given_p_);
    }
    Kokkos::deep_copy(exec_, x_.data, given_x_.data);
    Kokkos::deep_copy(exec_, p_.data, given_p_.data);
    take_parts();
  }
  ct::view_blocks in_one_block() const {
    return ct::split_views(settings_.views, settings_.views, ct::block_order::sequential);
  }
  void take_parts() {
    Kokkos::deep_copy(exec_, x_part_.data, whole_planes());
    Kokkos::deep_copy(exec_, p_part_.data, whole_rows());
    exec_.fence("iso_ranks_speed: the parts are there");
  }
  /// Overwrites a result, so that one that is not written differs.
  template <class Part>
  void spoil(Part const& part) {
    Kokkos::deep_copy(exec_, part, T(-1));
    exec_.fence("iso_ranks_speed: the last result is gone");
  }
  auto whole_planes() const { return cases::part_of(x_.data, plan_.planes(ranks_.rank())); }
  auto whole_rows() const {
    ct::row_range const rows = plan_.rows(ranks_.rank());
    return cases::part_of(p_.data, {rows.first, rows.last});
  }

  template <class Whole, class Part>
  bool agree(Whole const& whole, Part const& part) {
    std::int64_t count = 0;
    Kokkos::parallel_reduce("iso_ranks_speed: bits",
                            Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                                exec_, 0, std::int64_t(part.size())),
                            other_bits<Whole, Part>{whole, part}, count);
    exec_.fence("iso_ranks_speed: bits");
    return total(ranks_, count) == 0;
  }

  /// Returns the ms of a call of f by the slowest rank.
  template <class F>
  double time(F const& f) {
    ranks_.barrier();
    double const seconds = cases::seconds_of(exec_, f);
    auto word = std::uint64_t(1e9 * seconds);
    ranks_.maximum({&word, 1});
    return 1e-6 * double(word);
  }

  /// Times calls in turn, and prints the row.
  /// \param one  null: ranks are timed by themselves
  void row(std::string const& what, std::int64_t blocks, std::function<void()> const& one,
           std::function<void()> const& all, std::function<bool()> const& same) {
    if (one) {
      time(one);
    }
    time(all);
    std::vector<double> of_one;
    std::vector<double> of_all;
    std::int64_t sent = 0;
    for (int n = 0; n < settings_.repeats; ++n) {
      if (one) {
        of_one.push_back(time(one));
      }
      std::int64_t const before = ranks_.sent();
      of_all.push_back(time(all));
      sent = ranks_.sent() - before;
    }
    std::int64_t const bytes = total(ranks_, sent);
    std::int64_t const by_table = bytes_by_table(what, plan_, blocks);
    double const ms = median(of_all);
    bool const first = ranks_.rank() == 0;
    if (first) {
      std::printf("%-16s %d ranks  %9.1f ms  sent %.4e  by table %.4e", what.c_str(), ranks_.size(),
                  ms, double(bytes), double(by_table));
    }
    json said{{"what", what}, {"ms", ms}, {"bytes_sent", bytes}, {"bytes_by_table", by_table}};
    if (one) {
      double const ms_one = median(of_one);
      bool const agree = same();
      said["ms_one"] = ms_one;
      said["speedup"] = ms_one / ms;
      said["bits_agree"] = agree;
      if (first) {
        std::printf("  one %9.1f ms  speedup %.3f  bits %s", ms_one, ms_one / ms,
                    agree ? "agree" : "DIFFER");
      }
    }
    if (first) {
      std::printf("\n");
      std::fflush(stdout);
    }
    said_["rows"].push_back(said);
  }

  void pair(bool forward) {
    reset();
    ct::projector_options const options{.sum = summation::reproducible};
    std::optional<ct::projector_pair<Exec, T>> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, phantom_.box, in_one_block(), options);
    }
    ct::ranked_pair<Exec, T> all(exec_, ranks_, plan_, options);
    if (forward) {
      spoil(p_part_.data);
      row(
          "forward", 1, one ? [&] { one->forward(0, x_, p_); } : std::function<void()>(),
          [&] { all.forward(0, x_part_, p_part_); },
          [&] { return agree(whole_rows(), p_part_.data); });
    } else {
      spoil(x_part_.data);
      row(
          "adjoint", 1, one ? [&] { one->adjoint(0, p_, x_); } : std::function<void()>(),
          [&] { all.adjoint(0, p_part_, x_part_); },
          [&] { return agree(whole_planes(), x_part_.data); });
    }
  }
  void fdk() {
    reset();
    std::optional<ct::fdk_reconstructor<Exec, T>> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, phantom_.box);
    }
    ct::ranked_fdk<Exec, T> all(exec_, ranks_, plan_);
    spoil(x_part_.data);
    row(
        "fdk", 1, one ? [&] { one->apply(p_, x_); } : std::function<void()>(),
        [&] { all.apply(p_part_, x_part_); }, [&] { return agree(whole_planes(), x_part_.data); });
  }
  template <class Method, class Options>
  void method(std::string const& what, Options options, std::int64_t blocks = 1) {
    reset();
    options.projector.sum = summation::reproducible;
    if (!settings_.alone) {
      Kokkos::deep_copy(exec_, x_.data, T(0));
    }
    Kokkos::deep_copy(exec_, x_part_.data, T(0));
    std::optional<Method> one;
    if (!settings_.alone) {
      one.emplace(exec_, scan_, p_, x_, options);
    }
    Method all(exec_, scan_, p_part_, x_part_, options, {}, {}, ct::ranked(exec_, ranks_, plan_));
    row(
        what, blocks, one ? [&] { one->step(); } : std::function<void()>(), [&] { all.step(); },
        [&] { return agree(whole_planes(), x_part_.data); });
  }

  settings settings_;
  counting ranks_;
  Exec exec_;
  cases::input_volume phantom_;
  ct::geometry scan_;
  ct::rank_plan plan_;
  volume given_x_;
  projections given_p_;
  volume x_;
  projections p_;
  volume x_part_;
  projections p_part_;
  json said_{{"rows", json::array()}};
};

}  // namespace
}  // namespace iso::perf

int main(int argc, char** argv) {
  iso::perf::settings s;
  CLI::App app("Ranks beside one memory", "iso_ranks_speed");
  app.add_option("--backend", s.backend)->capture_default_str();
  app.add_option("--size", s.size, "voxels along a side, and pixels")->capture_default_str();
  app.add_option("--views", s.views, "a multiple of 4")->capture_default_str();
  app.add_option("--pitch", s.pitch, "of the detector, degrees")->capture_default_str();
  app.add_option("--repeats", s.repeats, "of each")->capture_default_str();
  app.add_flag("--alone", s.alone, "time ranks by themselves");
  app.add_flag("--staged", s.staged, "send by way of the host's memory");
  app.add_option("--rows", s.rows, "what to time: also blocks_of_8");
  app.add_option("--json", s.json_file, "file to write");
  iso::mpi::scope const mpi(argc, argv);
  iso::mpi::communicator whole(MPI_COMM_WORLD);
  int const code = iso::perf::run_program(app, argc, argv, [&] {
    iso::mpi::communicator ranks(MPI_COMM_WORLD, {.link_gpus = !s.staged});
    iso::backend::with_name(s.backend, [&]<class Tag>(Tag) {
      using exec_space = typename Tag::execution_space;
      auto const facts = iso::backend::facts(exec_space());
      iso::perf::json said = iso::perf::measurement<exec_space>(s, ranks).run();
      said["processor"] = facts.processor;
      said["git_revision"] = facts.git_revision;
      said["ranks"] = ranks.size();
      said["size"] = s.size;
      said["views"] = s.views;
      said["pitch"] = s.pitch;
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
