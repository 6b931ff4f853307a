// SPDX-License-Identifier: BSD-3-Clause
//! Holds the kernels and launches of iso/ct/ray_sums.hpp, for the files that instantiate them.
#pragma once

#include <iso/backend/for_each_index.hpp>
#include <iso/core/detail/added_planes.hpp>
#include <iso/ct/detail/forward_project_impl.hpp>
#include <iso/ct/ray_sums.hpp>
#include <iso/detail/max_abs.hpp>

#include <algorithm>
#include <string>

namespace iso::ct {
namespace detail {

/// Throws unless sums of a volume's rays can be made.
void validate_sums(iso::grid const& whole, voxel_bounds const& bounds,
                   forward_project_options const& options);
/// Throws, naming `function`, unless a volume holds what the samples or chords of `own` read.
void validate_own(slab const& held, slab const& own, std::int64_t halo, iso::grid const& whole,
                  char const* function);
/// Returns the v of pixels whose rays may meet some planes, of any view.
plane_range rows_of(geometry const& g, iso::grid const& whole, slab const& planes);
bool same_scan(geometry const& a, geometry const& b);
bool same_sums(forward_project_options const& a, joseph_groups const& of_a,
               forward_project_options const& b, joseph_groups const& of_b);

/// Finds, in the flags of a launch, those of 32 neighbouring v; index (view, u, v / 32).
struct collect_flags_kernel {
  std::uint32_t const* launched;  ///< as the kernels of forward_project have them
  std::uint32_t* flags;
  std::int64_t num_views;
  std::int64_t num_u;
  std::int64_t num_v;
  std::int64_t rows;  ///< of a column of rays on the fast path; 0: the general kernel's
  bool lanes_along_u;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const words = (num_v + 31) / 32;
    std::int64_t const column = index / words;
    std::int64_t const word = index - column * words;
    if (rows > 0) {
      flags[index] |= launched[column * rows + word];
    } else if (!lanes_along_u) {
      flags[index] |= launched[word * (num_views * num_u) + column];
    } else {
      std::int64_t const view = column / num_u;
      std::int64_t const u = column - view * num_u;
      std::int64_t const lines = num_views * num_v;
      std::uint32_t found = 0;
      for (std::int64_t v = 32 * word; v < num_v && v < 32 * word + 32; ++v) {
        std::uint32_t const of_u = launched[u / 32 * lines + view * num_v + v];
        found |= (of_u >> std::uint32_t(u % 32) & 1U) << std::uint32_t(v % 32);
      }
      flags[index] |= found;
    }
  }
};

/// Adds words to words, or flags to flags.
template <class Word, bool Flags>
struct add_words_kernel {
  Word const* from;
  Word* to;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    to[i] = Flags ? to[i] | from[i] : to[i] + from[i];
  }
};

/// Makes pixels of whole sums; index (view, u, row), of some rows of the detector.
template <class T>
struct finish_sums_kernel {
  Kokkos::View<view_vectors const*, Kokkos::AnonymousSpace, Kokkos::MemoryUnmanaged> views;
  bits_of<T> const* words;
  std::uint32_t const* flags;  ///< may be null
  T* pixels;
  reproducible_scale<T> scale;
  grid g;
  beam kind;
  region within;
  std::int64_t num_u;
  std::int64_t num_v;
  row_range rows;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / rows.count();
    std::int64_t const v = rows.first + index - column * rows.count();
    std::int64_t const view = column / num_u;
    bits_of<T> const word = words[column * num_v + v];
    bool const flagged =
        flags != nullptr &&
        (flags[column * ((num_v + 31) / 32) + v / 32] >> std::uint32_t(v % 32) & 1U) != 0;
    // A ray without length, whose step is NaN, has no samples.
    if (word == 0 && !flagged) {
      pixels[index] = T(0);
      return;
    }
    auto const line = make_line<T>(to_index(views(view), g, kind), kind, g,
                                   double(column - view * num_u), double(v), within);
    T const total = flagged ? Kokkos::bit_cast<T>(float_bits<T>::canonical_nan) : scale.value(word);
    pixels[index] = canonical(total * line.step);
  }
};

/// Makes pixels of whole sums of chords; index (view, u, row), of some rows of the detector.
template <class T>
struct finish_exact_kernel {
  bits_of<T> const* words;
  std::uint32_t const* flags;  ///< may be null
  T* pixels;
  reproducible_scale<T> scale;
  exact_value<T> value;
  std::int64_t num_v;
  row_range rows;

  KOKKOS_FUNCTION void operator()(std::int64_t index) const {
    std::int64_t const column = index / rows.count();
    std::int64_t const v = rows.first + index - column * rows.count();
    bool const flagged =
        flags != nullptr &&
        (flags[column * ((num_v + 31) / 32) + v / 32] >> std::uint32_t(v % 32) & 1U) != 0;
    pixels[index] = value(scale, words[column * num_v + v], flagged);
  }
};

template <class T>
struct given_scale_kernel {
  reproducible_scale<T> given;
  ray_sum_scale<T>* scale;
  bool all_finite;
  KOKKOS_FUNCTION void operator()(int) const { *scale = {given, all_finite}; }
};

struct clear_flags_kernel {
  std::uint32_t* flags;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { flags[i] = 0; }
};

template <class T>
reproducible_scale<T> scale_of(iso::grid const& whole, voxel_bounds const& bounds,
                               forward_project_options const& options) {
  return ray_terms::of<T>(whole, options).template scale<T>(bounds.max_abs);
}

/// Returns how many words of flags the kernels may write.
template <class T>
std::int64_t num_flags(joseph_scratch<T> const& s, geometry const& g) {
  return g.num_views() * std::max(g.num_u() * s.rows, g.num_v() * ((g.num_u() + 31) / 32));
}

/// Returns whether a sample may be infinite or NaN: a voxel is, or a blend of voxels as large may
/// be.
template <class T>
bool needs_flags(voxel_bounds const& bounds, forward_project_options const& options) {
  return !bounds.all_finite || (is_joseph(options.method) && !is_finite(T(4) * T(bounds.max_abs)));
}

template <class Exec, class T>
std::int64_t partial_scratch(geometry const& g, iso::grid const& whole,
                             forward_project_options const& options) {
  workspace_parts parts("iso::ct::ray_sums");
  projection_scratch<T>::template make<Exec>(parts, g, whole, options, true);
  return parts.bytes();
}

/// The parts of the memory of sums.
template <class Exec, class T>
struct ray_sums_memory {
  bits_of<T>* words;
  std::uint32_t* flags;  ///< without numbers where all voxels are finite
  std::int64_t scratch_bytes;
  std::byte* scratch;

  ray_sums_memory(workspace_parts& memory, geometry const& g, iso::grid const& whole,
                  voxel_bounds const& bounds, forward_project_options const& options)
      : words(memory.take<bits_of<T>>({g.num_views(), g.num_u(), g.num_v()})),
        flags(memory.take<std::uint32_t>({needs_flags<T>(bounds, options) ? g.num_views() : 0,
                                          g.num_u(), (g.num_v() + 31) / 32})),
        scratch_bytes(partial_scratch<Exec, T>(g, whole, options)),
        scratch(memory.take<std::byte>({scratch_bytes})) {}
};

template <execution_space Exec, real T>
voxel_bounds find_bounds(Exec const& exec,
                         volume_view<T const, typename Exec::memory_space> const& volume) {
  char const* const function = "iso::ct::bounds_of";
  validate_slab(volume, function);
  validate_contiguous(volume.data, "volume data", function);
  Kokkos::View<voxel_range, typename Exec::memory_space> const found(
      Kokkos::view_alloc(exec, std::string(function)));
  iso::detail::max_abs_kernel<T, true> const kernel{volume.data.data(),
                                                    std::int64_t(volume.data.size()), 1,
                                                    &found.data()->most, &found.data()->beyond};
  backend::for_each_lane_group(function, exec, kernel.num_groups, kernel);
  voxel_range here{};
  Kokkos::deep_copy(exec, here, found);
  exec.fence(std::string(function) + ": the bounds are here");
  return {here.most, here.beyond == 0};
}

}  // namespace detail

template <real T, class Space>
template <execution_space Exec>
  requires accesses<Exec, Space>
ray_sums<T, Space>::ray_sums(Exec const& exec, staged_geometry<Space> const& scan,
                             iso::grid const& whole, voxel_bounds const& bounds,
                             forward_project_options const& options, workspace<Space> const& memory)
    : scan_(scan),
      whole_(whole),
      bounds_(bounds),
      options_(options),
      groups_(detail::groups_of(scan.host(), whole, options.path, sizeof(T))),
      halo_(halo_needed(scan.host(), whole, options)) {
  char const* const function = "iso::ct::ray_sums";
  geometry const& g = scan.host();
  std::int64_t const needed = bytes_needed(exec, g, whole, bounds, options);
  ISO_VALIDATE(memory.size() == 0 || memory.size() >= needed,
               "{}: memory of {} bytes ({} are needed); give what bytes_needed returns, or none",
               function, memory.size(), needed);
  options_.sum = summation::reproducible;
  options_.max_abs = bounds.max_abs;
  memory_ = memory.size() > 0 ? memory : workspace<Space>(needed);
  workspace_parts parts(memory_, function);
  detail::ray_sums_memory<Exec, T> const m(parts, g, whole, bounds, options);
  words_ = words_type(m.words, g.num_views(), g.num_u(), g.num_v());
  Kokkos::deep_copy(exec, words_, word(0));
  if (detail::needs_flags<T>(bounds, options)) {
    flags_ = flags_type(m.flags, g.num_views(), g.num_u(), (g.num_v() + 31) / 32);
    Kokkos::deep_copy(exec, flags_, 0U);
  }
  scratch_ =
      workspace<Space>(typename workspace<Space>::storage(m.scratch, std::size_t(m.scratch_bytes)));
  exec.fence("iso::ct::ray_sums: the words are zero");
}

template <real T, class Space>
template <execution_space Exec>
std::int64_t ray_sums<T, Space>::bytes_needed(Exec const&, geometry const& g,
                                              iso::grid const& whole, voxel_bounds const& bounds,
                                              forward_project_options const& options) {
  detail::validate_sums(whole, bounds, options);
  workspace_parts parts("iso::ct::ray_sums");
  detail::ray_sums_memory<Exec, T>(parts, g, whole, bounds, options);
  return parts.bytes();
}

template <real T, class Space>
template <execution_space Exec>
  requires accesses<Exec, Space>
void ray_sums<T, Space>::add(Exec const& exec, volume_view<T const, Space> const& volume,
                             slab const& own, job const& control) {
  char const* const function = "iso::ct::ray_sums::add";
  present_.check("iso::ct::ray_sums");
  validate_slab(volume, function);
  validate_contiguous(volume.data, "volume data", function);
  ISO_VALIDATE(volume.grid == whole_,
               "{}: a slab of another grid (sums are of one volume); give the slabs of one grid",
               function);
  detail::validate_own(volume.planes(), own, halo_, whole_, function);
  iso::detail::join_planes(planes_, {own}, function);
  Kokkos::Profiling::ScopedRegion const region("iso::ct::ray_sums::add");
  geometry const& g = scan_.host();
  workspace_parts parts(scratch_, function);
  auto const s =
      detail::projection_scratch<T>::template make<Exec>(parts, g, whole_, options_, true);
  bool const chords = !detail::is_joseph(options_.method);
  bool const flagged = detail::needs_flags<T>(bounds_, options_);
  auto* const scale = chords ? s.exact.scale : s.joseph.scale;
  backend::for_each_index("iso::ct::ray_sums::scale", exec, 1,
                          detail::given_scale_kernel<T>{
                              detail::scale_of<T>(whole_, bounds_, options_), scale, !flagged});
  detail::joseph_field<T, Space> const of{
      volume, own, true, groups_,
      detail::rows_of(g, whole_,
                      {std::max(own.first - halo_, std::int64_t(0)),
                       std::min(own.last + halo_, whole_.extent[2])})};
  std::int64_t const views = g.num_views();
  std::int64_t const batch = detail::parts_a_launch(
      exec, views, double(views) * detail::samples_of_view(g, whole_, options_.method));
  std::int64_t const image = g.num_u() * g.num_v();
  std::int64_t const flag_words = g.num_u() * ((g.num_v() + 31) / 32);
  for (std::int64_t first = 0; first < views; first += batch) {
    std::int64_t const count = std::min(batch, views - first);
    auto const some = count == views ? scan_ : scan_.subset(first, count);
    auto* const sums = reinterpret_cast<T*>(words_.data() + first * image);
    std::uint32_t* const flags = flagged ? flags_.data() + first * flag_words : nullptr;
    job const part = iso::detail::part_of(control, double(first) / double(views),
                                          double(first + count) / double(views));
    if (chords) {
      detail::project_exact_sums<Exec, T>(exec, some, volume, own, {sums, flags, scale, true},
                                          options_, part);
      continue;
    }
    backend::for_each_index("iso::ct::ray_sums::no flags", exec, detail::num_flags(s.joseph, g),
                            detail::clear_flags_kernel{s.joseph.flags});
    detail::project_joseph<Exec, T, detail::reproducible_sum<T>>(exec, some, of, sums, s.joseph,
                                                                 options_, part);
    if (flagged) {
      backend::for_each_index(
          "iso::ct::ray_sums::flags", exec, count * flag_words,
          detail::collect_flags_kernel{s.joseph.flags, flags, count, g.num_u(), g.num_v(),
                                       groups_.fast ? s.joseph.rows : 0, groups_.along_u});
    }
  }
}

template <real T, class Space>
template <execution_space Exec>
  requires accesses<Exec, Space>
void ray_sums<T, Space>::add(Exec const& exec, ray_sums const& other) {
  char const* const function = "iso::ct::ray_sums::add";
  present_.check("iso::ct::ray_sums");
  other.present_.check("iso::ct::ray_sums");
  ISO_VALIDATE(detail::same_scan(scan_.host(), other.scan_.host()) && whole_ == other.whole_ &&
                   bounds_ == other.bounds_ &&
                   detail::same_sums(options_, groups_, other.options_, other.groups_),
               "{}: sums of another scan, grid, options or bounds of voxels (their words count in "
               "other units); make both of the same",
               function);
  iso::detail::join_planes(planes_, other.planes_, function);
  backend::for_each_index(
      "iso::ct::ray_sums::add", exec, std::int64_t(words_.size()),
      detail::add_words_kernel<word, false>{other.words_.data(), words_.data()});
  backend::for_each_index(
      "iso::ct::ray_sums::add flags", exec, std::int64_t(flags_.size()),
      detail::add_words_kernel<std::uint32_t, true>{other.flags_.data(), flags_.data()});
}

template <real T, class Space>
template <execution_space Exec>
  requires accesses<Exec, Space>
void ray_sums<T, Space>::finish(Exec const& exec, projection_view<T, Space> const& projections,
                                std::int64_t first_view, row_range const& rows) const {
  char const* const function = "iso::ct::ray_sums::finish";
  present_.check("iso::ct::ray_sums");
  geometry const& g = scan_.host();
  auto const count = std::int64_t(projections.data.extent(0));
  ISO_VALIDATE(first_view >= 0 && count >= 1 && count <= g.num_views() - first_view,
               "{}: {} views from {} on (the scan has {}); give views of the scan", function, count,
               first_view, g.num_views());
  ISO_VALIDATE(rows.first >= 0 && rows.count() >= 1 && rows.last <= g.num_v(),
               "{}: rows {} to {} (the detector has {}); give rows of the detector", function,
               rows.first, rows.last - 1, g.num_v());
  validate(projections, {count, g.num_u(), rows.count()}, function);
  validate_contiguous(projections.data, "projections", function);
  iso::detail::validate_complete(planes_, whole_, function);
  std::int64_t const columns = first_view * g.num_u();
  auto const* const words = words_.data() + columns * g.num_v();
  std::uint32_t const* const flags =
      flags_.size() == 0 ? nullptr : flags_.data() + columns * ((g.num_v() + 31) / 32);
  auto const scale = detail::scale_of<T>(whole_, bounds_, options_);
  auto const pixels = std::int64_t(projections.data.size());
  if (!detail::is_joseph(options_.method)) {
    return backend::for_each_index(
        "iso::ct::ray_sums::finish", exec, pixels,
        detail::finish_exact_kernel<T>{words, flags, projections.data.data(), scale,
                                       detail::value_of<T>(whole_, options_), g.num_v(), rows});
  }
  Kokkos::View<view_vectors const*, Space, Kokkos::MemoryUnmanaged> const views(
      scan_.views().data() + first_view, std::size_t(count));
  backend::for_each_index(
      "iso::ct::ray_sums::finish", exec, pixels,
      detail::finish_sums_kernel<T>{views, words, flags, projections.data.data(), scale, whole_,
                                    g.kind(), options_.within, g.num_u(), g.num_v(), rows});
}

#define ISO_CT_BOUNDS_OF(linkage, Exec, T)                    \
  linkage template voxel_bounds detail::find_bounds<Exec, T>( \
      Exec const&, volume_view<T const, Exec::memory_space> const&);
#define ISO_CT_RAY_SUMS(linkage, Exec, T)                                                         \
  ISO_CT_BOUNDS_OF(linkage, Exec, T)                                                              \
  linkage template ray_sums<T, Exec::memory_space>::ray_sums(                                     \
      Exec const&, staged_geometry<Exec::memory_space> const&, iso::grid const&,                  \
      voxel_bounds const&, forward_project_options const&, workspace<Exec::memory_space> const&); \
  linkage template std::int64_t ray_sums<T, Exec::memory_space>::bytes_needed(                    \
      Exec const&, geometry const&, iso::grid const&, voxel_bounds const&,                        \
      forward_project_options const&);                                                            \
  linkage template void ray_sums<T, Exec::memory_space>::add(                                     \
      Exec const&, volume_view<T const, Exec::memory_space> const&, slab const&, job const&);     \
  linkage template void ray_sums<T, Exec::memory_space>::add(Exec const&, ray_sums const&);       \
  linkage template void ray_sums<T, Exec::memory_space>::finish(                                  \
      Exec const&, projection_view<T, Exec::memory_space> const&, std::int64_t, row_range const&) \
      const;
ISO_FOR_EACH_INSTANCE(ISO_CT_RAY_SUMS, extern)

}  // namespace iso::ct
