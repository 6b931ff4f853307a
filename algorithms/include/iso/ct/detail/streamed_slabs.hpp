// SPDX-License-Identifier: BSD-3-Clause
//! Divides streamed calls: the views of a batch, the planes of a slab, and where they lie.
#pragma once

#include <iso/backend/registry.hpp>
#include <iso/core/grid.hpp>
#include <iso/core/projection_view.hpp>
#include <iso/core/volume_view.hpp>
#include <iso/core/workspace.hpp>
#include <iso/ct/detail/stored_readings_impl.hpp>
#include <iso/ct/detail/voxel_step.hpp>
#include <iso/ct/staged_geometry.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/detail/bus.hpp>
#include <iso/detail/job_parts.hpp>
#include <iso/detail/survey.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace iso::ct::detail {

/// The views that go to or from the device as one piece. Batches are multiples of it: sums of views
/// are made in blocks of so many.
inline constexpr std::int64_t chunk_views = 16;

/// The views of a piece that leaves the device, at most: what the first slab's or the last slab's
/// kernels compute of a batch while other pieces are on their way.
inline constexpr std::int64_t max_chunk_views = 3 * chunk_views;

/// The planes that a kernel's group takes together, or a multiple: a slab of fewer leaves threads
/// of a GPU idle. FDK's kernel takes 128, the adjoint's 64 (float) or 32.
template <class Exec>
inline constexpr std::int64_t slab_grain = backend::is_device<Exec> ? 128 : 32;

/// Returns how many pieces of `size` make up `count`.
inline std::int64_t pieces_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// Returns the piece of planes of that number.
inline slab slab_of(slab const& all, std::int64_t planes, std::int64_t number) {
  return {all.first + number * planes, std::min(all.first + (number + 1) * planes, all.last)};
}

/// The bytes of the device's memory that so many views a batch and planes a slab take.
using plan_bytes = std::function<std::int64_t(std::int64_t views, std::int64_t planes)>;

/// Throws, naming `function`, unless the limits allow what the smallest plan, of so many views,
/// needs.
void validate_limits(char const* function, streaming_options const& limits, std::int64_t views,
                     std::int64_t bytes_needed);

/// Returns the division of fewest batches that is within the limit: of as many planes a slab as
/// fit, up to a number that leaves enough slabs for copies to hide behind kernels. Where none is,
/// the smallest.
/// \param depth      the planes that pass by
/// \param num_views  of the largest block
/// \param grain      slab_grain: slabs are of whole grains or half of one, unless these cost many
///                   batches
streaming_plan divide(std::int64_t depth, std::int64_t num_views, streaming_options const& limits,
                      std::int64_t grain, plan_bytes const& bytes_of);
/// Returns the planes a slab that are within the limit beside so many views a batch: 1, where none
/// are.
std::int64_t planes_within(std::int64_t depth, std::int64_t views, streaming_options const& limits,
                           std::int64_t grain, plan_bytes const& bytes_of);

/// Returns the runs of bytes of planes of a volume in host memory, which holds them.
template <class T>
iso::detail::strided_runs runs_of(volume_view<T, Kokkos::HostSpace> const& v, slab const& planes) {
  auto const& n = v.grid.extent;
  auto* const first = reinterpret_cast<std::byte*>(
      const_cast<std::remove_const_t<T>*>(v.data.data() + planes.first - v.first_plane));
  return {first, n[0] * n[1], planes.count() * std::int64_t(sizeof(T)),
          v.planes().count() * std::int64_t(sizeof(T))};
}
/// Returns the one run of views of a stack in host memory.
template <class T>
iso::detail::strided_runs runs_of(projection_view<T, Kokkos::HostSpace> const& p,
                                  std::int64_t first, std::int64_t count) {
  auto const image = std::int64_t(p.data.extent(1)) * std::int64_t(p.data.extent(2));
  auto* const begin = reinterpret_cast<std::byte*>(
      const_cast<std::remove_const_t<T>*>(p.data.data() + first * image));
  std::int64_t const bytes = count * image * std::int64_t(sizeof(T));
  return {begin, 1, bytes, bytes};
}

/// Returns numbers without gaps as views of a stack.
template <class Space, class T>
projection_view<T, Space> views_at(T* numbers, std::int64_t views, std::int64_t num_u,
                                   std::int64_t num_v) {
  return {typename projection_view<T, Space>::data_type(numbers, views, num_u, num_v)};
}

/// The device's memory for slabs: two, one of which a kernel works on while the other is copied.
template <class T>
struct slab_buffers {
  T* data[2];
  iso::grid grid;

  slab_buffers(workspace_parts& memory, iso::grid const& g, std::int64_t planes)
      : data{memory.take<T>({g.extent[0], g.extent[1], std::min(planes, g.extent[2])}),
             memory.take<T>({g.extent[0], g.extent[1], std::min(planes, g.extent[2])})},
        grid(g) {}

  /// Returns planes that have the place of piece `number`.
  template <class Space>
  [[nodiscard]] volume_view<T, Space> at(std::int64_t number, slab const& planes) const {
    using data_type = typename volume_view<T, Space>::data_type;
    return {grid, data_type(data[number % 2], grid.extent[0], grid.extent[1], planes.count()),
            planes.first};
  }
  [[nodiscard]] std::byte* place(std::int64_t number) const {
    return reinterpret_cast<std::byte*>(data[number % 2]);
  }
};

/// The device's memory for pieces of a stack.
template <class T>
struct chunk_buffers {
  T* data[2];
  std::int64_t num_u;
  std::int64_t num_v;

  chunk_buffers(workspace_parts& memory, std::int64_t views, std::int64_t u, std::int64_t v)
      : data{memory.take<T>({views, u, v}), memory.take<T>({views, u, v})}, num_u(u), num_v(v) {}

  template <class Space>
  [[nodiscard]] projection_view<T, Space> at(std::int64_t number, std::int64_t views) const {
    return views_at<Space>(data[number % 2], views, num_u, num_v);
  }
  [[nodiscard]] std::byte* place(std::int64_t number) const {
    return reinterpret_cast<std::byte*>(data[number % 2]);
  }
};

/// The readings in host memory that come to a device piece by piece: numbers, which go where they
/// are wanted, or integers of 16 bits, which have a place of their own and are turned into numbers.
template <class Exec, class T>
struct incoming_readings {
  using host = Kokkos::HostSpace;
  using space = typename Exec::memory_space;

  projection_view<T const, host> numbers;
  ct::stored_readings<host> stored;

  incoming_readings(projection_view<T const, host> const& p) : numbers(p) {}
  /// \param allowed  the limits say that such readings come
  incoming_readings(ct::stored_readings<host> const& p, bool allowed, char const* function)
      : stored(p) {
    ISO_VALIDATE(allowed,
                 "{}: stored readings (the limits keep no place for them); set "
                 "streaming_options::stored_readings",
                 function);
  }

  /// Throws, naming `function`, unless the readings are of this scan, and without gaps.
  void validate(Kokkos::Array<std::int64_t, 3> const& scan, char const* function) const {
    if (is_stored()) {
      detail::validate(stored, scan, function);
    } else {
      iso::validate(numbers, scan, function);
      validate_contiguous(numbers.data, "projections", function);
    }
  }
  [[nodiscard]] bool is_stored() const { return stored.data.data() != nullptr; }
  /// Returns the largest absolute value that is finite.
  [[nodiscard]] double largest_size() const {
    Kokkos::DefaultHostExecutionSpace const exec;
    if (!is_stored()) {
      return iso::detail::survey_of("iso::ct::streamed: readings", exec, numbers.data.data(),
                                    std::int64_t(numbers.data.size()))
          .largest_size;
    }
    Kokkos::MinMaxScalar<std::uint16_t> ends{};
    auto const* const x = stored.data.data();
    Kokkos::parallel_reduce(
        "iso::ct::streamed: readings",
        Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::int64_t>>(
            exec, 0, std::int64_t(stored.data.size())),
        [=](std::int64_t i, Kokkos::MinMaxScalar<std::uint16_t>& found) {
          found.min_val = x[i] < found.min_val ? x[i] : found.min_val;
          found.max_val = x[i] > found.max_val ? x[i] : found.max_val;
        },
        Kokkos::MinMax<std::uint16_t>(ends));
    // A number rises or falls with its integer.
    double most = 0;
    for (std::uint16_t const end : {ends.min_val, ends.max_val}) {
      auto const number = double(stored.template number<T>(end));
      most = is_finite(number) ? std::max(most, std::abs(number)) : most;
    }
    return most;
  }
  /// Returns piece n, of `views` from `first` on, which `place(n)` or `to` will hold.
  [[nodiscard]] typename iso::detail::bus<Exec>::piece piece(
      chunk_buffers<std::uint16_t> const& places, std::int64_t n, std::int64_t first,
      std::int64_t views, std::byte* to) const {
    if (is_stored()) {
      return {places.place(n),
              runs_of(projection_view<std::uint16_t const, host>{stored.data}, first, views),
              {}};
    }
    return {to, runs_of(numbers, first, views), {}};
  }
  /// Enqueues what is left to do where piece n is there.
  void arrive(Exec const& exec, chunk_buffers<std::uint16_t> const& places, std::int64_t n,
              projection_view<T, space> const& to) const {
    if (is_stored()) {
      auto const views = std::int64_t(to.data.extent(0));
      decode_readings<Exec, T>(
          exec, {places.template at<space>(n, views).data, stored.scale, stored.offset}, to);
    }
  }
};

/// Has a functor with a value of its own, as Kokkos::parallel_reduce takes it, go through `count`
/// numbers, and enqueues that its value goes to the memory of `exec`.
template <execution_space Exec, class F>
void find_in_numbers(char const* label, Exec const& exec, std::int64_t count, F const& f,
                     typename F::value_type* to) {
  using result = Kokkos::View<typename F::value_type, typename Exec::memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::parallel_reduce(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, count), f,
      result(to));
}
/// Returns such values, and waits for `exec`.
template <execution_space Exec, class Value>
std::vector<Value> found_in_numbers(Exec const& exec, Value const* from, std::int64_t count) {
  using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  std::vector<Value> here(std::size_t(count), Value{});
  Kokkos::deep_copy(
      exec, Kokkos::View<Value*, Kokkos::HostSpace, unmanaged>(here.data(), std::size_t(count)),
      Kokkos::View<Value const*, typename Exec::memory_space, unmanaged>(from, std::size_t(count)));
  exec.fence("iso::ct::streamed: what was found is here");
  return here;
}
/// Returns the places of so many results in front of other numbers: what keeps those aligned.
inline std::int64_t padded_results(std::int64_t count) { return pieces_of(count, 16) * 16; }

/// Returns the views of a piece with so many companions, whose two places each and what is found of
/// each piece of `views` lie in the place of a slab; 0: none do. A buffer holds the companions.
template <class T>
std::int64_t views_beside(iso::grid const& volume, std::int64_t planes, std::int64_t views,
                          std::int64_t image, std::int64_t companions) {
  auto const& n = volume.extent;
  std::int64_t const place = n[0] * n[1] * std::min(planes, n[2]) * std::int64_t(sizeof(T));
  auto const bytes_of = [&](std::int64_t size) {
    return 2 * companions * size * image * std::int64_t(sizeof(T)) +
           padded_results(pieces_of(views, size)) * std::int64_t(sizeof(misfit_bounds));
  };
  std::int64_t size = std::min(views, max_chunk_views) / companions;
  while (size > 0 && bytes_of(size) > place) {
    --size;
  }
  return size;
}

/// Returns a part of an algorithm's memory as another's workspace.
template <class Space>
workspace<Space> part_of_memory(std::byte* first, std::int64_t bytes) {
  return workspace<Space>(typename workspace<Space>::storage(first, std::size_t(bytes)));
}
/// Returns what is left of a memory behind its first bytes.
template <class Space>
workspace<Space> rest_of(workspace<Space> const& memory, std::int64_t bytes) {
  return part_of_memory<Space>(memory.data() + bytes, memory.size() - bytes);
}

/// The slabs of a volume in host memory that pass by, and their places on the device.
template <class Exec, class T, class U>
struct slab_pieces {
  slab_buffers<T> const& buffers;
  volume_view<U, Kokkos::HostSpace> const& v;
  slab all;             ///< the planes that pass by: those of v, or those between halos that it has
  std::int64_t planes;  ///< of a slab
  std::int64_t halo;    ///< planes beyond that come in, below and above, as far as v has them

  [[nodiscard]] std::int64_t count() const { return pieces_of(all.count(), planes); }
  [[nodiscard]] slab own(std::int64_t n) const { return slab_of(all, planes, n); }
  [[nodiscard]] slab held(std::int64_t n) const {
    slab const there = v.planes();
    return {std::max(own(n).first - halo, there.first), std::min(own(n).last + halo, there.last)};
  }
  /// Returns the planes that are held, on the device.
  [[nodiscard]] volume_view<T, typename Exec::memory_space> at(std::int64_t n) const {
    return buffers.template at<typename Exec::memory_space>(n, held(n));
  }
  [[nodiscard]] typename iso::detail::bus<Exec>::piece piece(std::int64_t n, bool comes,
                                                             bool goes) const {
    auto const runs = runs_of(v, held(n));
    return {buffers.place(n), comes ? runs : iso::detail::strided_runs{},
            goes ? runs : iso::detail::strided_runs{}};
  }
};

/// The part of a job that a piece of so many is.
inline job step_of(job const& control, std::int64_t n, std::int64_t count) {
  return iso::detail::part_of(control, double(n) / double(count), double(n + 1) / double(count));
}

/// Calls f(first, count, part) for each batch of a block's views, with its part of the job.
template <class F>
void for_each_view_batch(std::int64_t views, std::int64_t batch, job const& control, F const& f) {
  for (std::int64_t first = 0; first < views; first += batch) {
    std::int64_t const count = std::min(batch, views - first);
    f(first, count,
      iso::detail::part_of(control, double(first) / double(views),
                           double(first + count) / double(views)));
  }
}

/// Returns the first view and the number of views of a piece.
inline std::pair<std::int64_t, std::int64_t> views_of(std::int64_t views, std::int64_t size,
                                                      std::int64_t number) {
  return {number * size, std::min(size, views - number * size)};
}

/// Has the first slab take a batch of views piece by piece as they come in, in the place of slab 0:
/// calls work(piece, first view, views, onto, job) for each. The slab itself comes in before them
/// where it is added to.
template <class Exec, class T, class U, class PieceOf, class Work>
void pass_first_slab(Exec const& exec, iso::detail::bus<Exec>& by,
                     slab_pieces<Exec, T, U> const& slabs, onto to, std::int64_t count,
                     std::int64_t size, job const& control, PieceOf const& piece_of,
                     Work const& work) {
  if (to == onto::stored) {
    by.carry(
        exec, 1, [&](std::int64_t) { return slabs.piece(0, true, false); }, [](std::int64_t) {});
  }
  std::int64_t const pieces = pieces_of(count, size);
  by.carry(
      exec, pieces,
      [&](std::int64_t n) {
        auto const [first, views] = views_of(count, size, n);
        return piece_of(n, first, views);
      },
      [&](std::int64_t n) {
        auto const [first, views] = views_of(count, size, n);
        work(n, first, views, n == 0 ? to : onto::stored, step_of(control, n, pieces));
      });
}

/// Has the other slabs pass by, and all of them go out: calls work(number) for each but the first.
template <class Exec, class T, class U, class Work>
void pass_other_slabs(Exec const& exec, iso::detail::bus<Exec>& by,
                      slab_pieces<Exec, T, U> const& slabs, onto to, Work const& work) {
  by.carry(
      exec, slabs.count(),
      [&](std::int64_t n) { return slabs.piece(n, n > 0 && to == onto::stored, true); },
      [&](std::int64_t n) {
        if (n > 0) {
          work(n);
        }
      });
}

/// Has the other slabs pass by, of which steps are made: calls work(number) for each but the first,
/// then step(number). None of them goes out, but x does; it and the weights have one place each.
template <class Exec, class T, class Work, class Step>
void pass_steps(Exec const& exec, iso::detail::bus<Exec>& by, slab_pieces<Exec, T, T> const& slabs,
                onto to, volume_view<T, Kokkos::HostSpace> const& x, std::byte* x_place,
                volume_view<T const, Kokkos::HostSpace> const& weights, std::byte* weights_place,
                Work const& work, Step const& step) {
  using piece = typename iso::detail::bus<Exec>::piece;
  // Three pieces a slab. The weights come behind the step of the slab before, and x behind them.
  by.carry(
      exec, 3 * slabs.count(),
      [&](std::int64_t n) -> piece {
        std::int64_t const number = n / 3;
        slab const own = slabs.own(number);
        switch (n % 3) {
          case 0:
            return slabs.piece(number, number > 0 && to == onto::stored, false);
          case 1:
            return {weights_place, runs_of(weights, own), {}};
          default:
            return {x_place, runs_of(x, own), runs_of(x, own)};
        }
      },
      [&](std::int64_t n) {
        if (n % 3 == 0 && n > 0) {
          work(n / 3);
        } else if (n % 3 == 2) {
          step(n / 3);
        }
      });
}

/// Returns the bytes of the staging buffers of a division: of pieces in and out.
template <class T>
std::pair<std::int64_t, std::int64_t> staging_bytes(iso::grid const& volume, std::int64_t planes_in,
                                                    std::int64_t planes_out, std::int64_t views,
                                                    std::int64_t image) {
  auto const& n = volume.extent;
  std::int64_t const chunk = std::min(views, max_chunk_views) * image;
  auto const of = [&](std::int64_t planes) {
    return std::int64_t(sizeof(T)) * std::max(n[0] * n[1] * std::min(planes, n[2]), chunk);
  };
  return {of(planes_in), of(planes_out)};
}

/// Puts the bytes of staging buffers into a report, and what its calls take of the host's memory.
template <class Exec>
void set_host_bytes(streaming_report& report, std::int64_t in, std::int64_t out) {
  report.staging_bytes = iso::detail::bus<Exec>::bytes_needed(in, out);
  report.host_bytes = report.staging_bytes + (backend::is_device<Exec> ? 0 : report.device_bytes);
}

/// The numbers that say what a streamed call carries.
struct streamed_sizes {
  iso::grid volume;
  std::vector<std::int64_t> views;  ///< of each block
  std::int64_t pixels;              ///< of a view
  std::int64_t voxel_bytes;
  std::int64_t reading_bytes;  ///< as readings come in

  /// Returns the plan with what a projection of every block carries.
  [[nodiscard]] streaming_plan of_forward(streaming_plan plan, std::int64_t halo) const;
  /// Returns the plan with what filtered backprojections or adjoints of every block carry, onto
  /// zero; `beside` volumes come in with the last batch.
  [[nodiscard]] streaming_plan of_adjoint(streaming_plan plan, std::int64_t beside = 0) const;
};

/// Returns a report with what a bus has carried.
template <class Exec>
streaming_report with_traffic(streaming_report report, iso::detail::bus<Exec> const& by) {
  report.bytes_in = by.bytes_in();
  report.bytes_out = by.bytes_out();
  return report;
}

/// Throws, naming `function`, unless host arrays are whole, without gaps, and of this grid and
/// scan.
template <class Exec, class T, class U>
void validate_streamed_arrays(volume_view<U, Kokkos::HostSpace> const& x, iso::grid const& box,
                              incoming_readings<Exec, T> const& p,
                              Kokkos::Array<std::int64_t, 3> const& scan, char const* function) {
  validate(x, function);
  validate_contiguous(x.data, "volume data", function);
  ISO_VALIDATE(x.grid == box,
               "{}: a volume on another grid (what streams is for one); make another", function);
  p.validate(scan, function);
}

inline std::int64_t views_bytes(geometry const& g) {
  return g.num_views() * std::int64_t(sizeof(view_vectors));
}

}  // namespace iso::ct::detail
