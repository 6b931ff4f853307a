// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.hpp"

#include "options.hpp"
#include "projection.hpp"

#include <iso/core/check.hpp>
#include <iso/core/divide_planes.hpp>
#include <iso/ct/ranked.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace iso::python {

namespace {

/// Ranks whose messages an object of Python carries, which calls mpi4py: so this module links no
/// MPI, and goes with any that mpi4py goes with. Called without the GIL.
class carried_ranks final : public backend::communicator {
 public:
  carried_ranks(nb::object carrier, int rank, int size, std::string name)
      : carrier_(carrier.release()), rank_(rank), size_(size), name_(std::move(name)) {}
  ~carried_ranks() override {
    nb::gil_scoped_acquire const gil;
    carrier_.dec_ref();
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] std::string name() const override { return name_; }
  void sum(std::span<std::uint32_t> words) override { reduce("sum", words); }
  void sum(std::span<std::uint64_t> words) override { reduce("sum", words); }
  void maximum(std::span<std::uint32_t> words) override { largest(words); }
  void maximum(std::span<std::uint64_t> words) override { largest(words); }
  void exchange(std::span<backend::parcel const> out,
                std::span<backend::parcel const> in) override {
    backend::detail::validate_parcels(out, size_, "mpi: exchange");
    backend::detail::validate_parcels(in, size_, "mpi: exchange");
    nb::gil_scoped_acquire const gil;
    carrier_.attr("exchange")(list_of(out), list_of(in));
  }
  void broadcast(std::span<std::byte> bytes, int from) override {
    backend::detail::validate_rank(from, size_, "mpi: broadcast");
    nb::gil_scoped_acquire const gil;
    carrier_.attr("broadcast")(lend(bytes.data(), bytes.size()), from);
  }
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override {
    backend::detail::validate_rank(to, size_, "mpi: gather");
    std::vector<backend::parcel> in;
    for (int n = 0; rank_ == to && n < size_; ++n) {
      in.push_back({n, all.data() + std::size_t(n) * bytes.size(), std::int64_t(bytes.size())});
    }
    backend::parcel const out{to, const_cast<std::byte*>(bytes.data()), std::int64_t(bytes.size())};
    exchange({&out, 1}, in);
  }
  void barrier() override {
    nb::gil_scoped_acquire const gil;
    carrier_.attr("barrier")();
  }
  bool meet(double seconds) override {
    nb::gil_scoped_acquire const gil;
    return nb::cast<bool>(carrier_.attr("meet")(seconds));
  }
  [[nodiscard]] backend::device_link* link_devices(int /*device*/) override { return nullptr; }
  [[noreturn]] void abort(int exit_code) override {
    {
      nb::gil_scoped_acquire const gil;
      carrier_.attr("abort")(exit_code);
    }
    std::_Exit(exit_code);
  }

 private:
  /// Returns a memoryview of memory that lives as long as the call.
  static nb::object lend(std::byte const* data, std::size_t bytes) {
    constexpr int may_write = 0x200;
    static std::byte nothing{};
    auto* const place = const_cast<std::byte*>(bytes > 0 ? data : &nothing);
    return nb::steal(
        PyMemoryView_FromMemory(reinterpret_cast<char*>(place), Py_ssize_t(bytes), may_write));
  }
  static nb::list list_of(std::span<backend::parcel const> parcels) {
    nb::list all;
    for (auto const& p : parcels) {
      if (p.bytes > 0) {
        all.append(nb::make_tuple(p.rank, lend(p.data, std::size_t(p.bytes))));
      }
    }
    return all;
  }
  /// As iso::mpi::communicator has it: as numbers with a sign, words with their top bits turned
  /// have the order that they had without one, in which two versions of MPI compare them wrongly.
  template <class Word>
  void largest(std::span<Word> words) {
    constexpr Word top = Word(1) << (8 * sizeof(Word) - 1);
    for (Word& word : words) {
      word ^= top;
    }
    reduce("maximum", words);
    for (Word& word : words) {
      word ^= top;
    }
  }
  template <class Word>
  void reduce(char const* function, std::span<Word> words) {
    nb::gil_scoped_acquire const gil;
    carrier_.attr(function)(
        lend(reinterpret_cast<std::byte const*>(words.data()), words.size_bytes()), sizeof(Word));
  }

  nb::handle carrier_;
  int rank_;
  int size_;
  std::string name_;
};

/// Makes the ranks and has them carry words that are known.
job_ranks make_ranks(nb::object carrier, int rank, int size, std::string const& name) {
  job_ranks made{std::make_shared<carried_ranks>(std::move(carrier), rank, size, name)};
  bool good = false;
  {
    nb::gil_scoped_release const released;
    good = backend::carries_well(*made.all);
  }
  if (!good) {
    throw iso::error(
        "mpi.Ranks: sums, maxima or messages of known words are wrong by way of mpi4py (MPI, or "
        "how it was configured, is at fault); choose another MPI");
  }
  return made;
}

rank_share make_plan(job_ranks const& ranks, scan const& s, grid const& g,
                     std::vector<double> const& speeds) {
  return {ranks.all, std::make_shared<ct::rank_plan const>(
                         *s.geometry, g, divide_planes(g, ranks.all->size(), speeds))};
}

nb::tuple planes_of(rank_share const& share, int rank) {
  auto const& own = share.plan->planes(rank);
  return nb::make_tuple(own.first, own.last);
}

nb::tuple rows_of(rank_share const& share, int rank) {
  auto const& own = share.plan->rows(rank);
  return nb::make_tuple(own.first, own.last);
}

rank_planes make_planes(job_ranks const& ranks, grid const& g, std::vector<double> const& speeds) {
  return {ranks.all, g, divide_planes(g, ranks.all->size(), speeds)};
}

nb::tuple own_planes(rank_planes const& share, int rank) {
  backend::detail::validate_rank(rank, share.ranks->size(), "mpi.Planes");
  auto const& own = share.all[std::size_t(rank)];
  return nb::make_tuple(own.first, own.last);
}

/// What all calls on one scan are given after their arrays.
struct ranked_call {
  char const* name;
  nb::handle out;
  placement of_input;
  placement of_result;
  std::array<std::int64_t, 3> input_extents;
  std::array<std::int64_t, 3> result_extents;
  asked how;
};

/// Runs `body.template operator()<Exec, T>(exec, from, to, control)` where the arrays lie, by all
/// ranks.
template <class Body>
nb::object on_all_ranks(ranked_call const& c, nb::handle input, char const* named,
                        Body const& body) {
  native_array from(input, {c.name, named}, c.of_input, c.input_extents, false);
  output to(c.out, {c.name, "out"}, c.of_result, from.is_double(), c.result_extents);
  target const at = target_of(c.name, {&from}, to);
  call(
      c.how, at,
      [&](job const& control) {
        from.prepare(true);
        to.prepare();
        by_type(from.is_double(), [&]<class T>() {
          on_backend(at, [&]<class Exec>(Exec const& exec) {
            body.template operator()<Exec, T>(exec, from.data<T const>(), to.data<T>(), control);
          });
        });
        to.finish();
      },
      made_by::all_ranks);
  return to.release();
}

nb::object project(rank_share const& share, any_object volume, any_object out,
                   std::int64_t batch_views, nb::dict keywords, std::string const& axes, bool copy,
                   any_object cancel, any_object progress) {
  char const* const name = "mpi.project";
  bool const zyx = is_zyx(axes, name);
  auto const options = options_of<ct::projector_options>(keywords, name);
  return on_all_ranks(
      {name,
       out,
       volume_placement(zyx, copy),
       projection_placement(zyx, copy),
       share.volume_extents(),
       share.projection_extents(),
       {cancel, progress}},
      volume, "volume",
      [&]<class Exec, class T>(Exec const& exec, T const* x, T* y, job const& control) {
        using space = typename Exec::memory_space;
        ct::ranked_pair<Exec, T>(exec, *share.ranks, *share.plan, options, batch_views)
            .forward(0, share.volume<space>(x), share.projections<space>(y), control);
      });
}

nb::object back_project(rank_share const& share, any_object projections, any_object out,
                        std::int64_t batch_views, nb::dict keywords, std::string const& axes,
                        bool copy, any_object cancel, any_object progress) {
  char const* const name = "mpi.back_project";
  bool const zyx = is_zyx(axes, name);
  auto const options = options_of<ct::projector_options>(keywords, name);
  return on_all_ranks(
      {name,
       out,
       projection_placement(zyx, copy),
       volume_placement(zyx, copy),
       share.projection_extents(),
       share.volume_extents(),
       {cancel, progress}},
      projections, "projections",
      [&]<class Exec, class T>(Exec const& exec, T const* y, T* x, job const& control) {
        using space = typename Exec::memory_space;
        ct::ranked_pair<Exec, T>(exec, *share.ranks, *share.plan, options, batch_views)
            .adjoint(0, share.projections<space>(y), share.volume<space>(x), onto::zero, control);
      });
}

nb::object fdk(rank_share const& share, any_object projections, any_object out,
               std::int64_t batch_views, nb::dict keywords, std::string const& axes, bool copy,
               any_object cancel, any_object progress) {
  char const* const name = "mpi.fdk";
  bool const zyx = is_zyx(axes, name);
  auto const options = options_of<ct::fdk_options>(keywords, name);
  return on_all_ranks(
      {name,
       out,
       projection_placement(zyx, copy),
       volume_placement(zyx, copy),
       share.projection_extents(),
       share.volume_extents(),
       {cancel, progress}},
      projections, "projections",
      [&]<class Exec, class T>(Exec const& exec, T const* y, T* x, job const& control) {
        using space = typename Exec::memory_space;
        ct::ranked_fdk<Exec, T>(exec, *share.ranks, *share.plan, options, batch_views)
            .apply(share.projections<space>(y), share.volume<space>(x), onto::zero, control);
      });
}

}  // namespace

void bind_ranks(nb::module_& m) {
  nb::class_<job_ranks>(m, "Ranks").def_static("make", make_ranks);
  nb::class_<rank_share>(m, "RankPlan")
      .def_static("make", make_plan)
      .def("planes", planes_of)
      .def("rows", rows_of)
      .def_prop_ro("idle", [](rank_share const& share) { return share.plan->idle(); });
  nb::class_<rank_planes>(m, "RankPlanes")
      .def_static("make", make_planes)
      .def("planes", own_planes);
  m.def("ranked_project", project);
  m.def("ranked_back_project", back_project);
  m.def("ranked_fdk", fdk);
}

}  // namespace iso::python
