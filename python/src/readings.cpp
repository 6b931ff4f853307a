// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "options.hpp"
#include "reconstruction.hpp"

#include <iso/ct/centre_of_rotation.hpp>
#include <iso/ct/dead_pixels.hpp>
#include <iso/ct/line_integrals.hpp>
#include <iso/ct/noise_of_counts.hpp>
#include <iso/ct/shepp_logan.hpp>
#include <iso/ray/path_options.hpp>
#include <iso/ray/radiological_path.hpp>
#include <iso/ray/sort_rays.hpp>

#include <optional>
#include <vector>

namespace iso::python {

namespace {

/// Returns ellipsoids of rows (centre, half axes, angle, density).
std::vector<ct::ellipsoid> ellipsoids_of(nb::handle x, char const* function) {
  std::vector<double> const n = doubles_of(x, {function, "ellipsoids"}, 8);
  std::vector<ct::ellipsoid> bodies(n.size() / 8);
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    double const* const r = n.data() + 8 * i;
    bodies[i] = {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, r[6], r[7]};
  }
  return bodies;
}

nb::object shepp_logan(double half_size, std::string const& contrast) {
  ISO_VALIDATE(contrast == "modified" || contrast == "original",
               "phantom.shepp_logan: contrast '{}' (there are: modified, original); choose one of "
               "those",
               contrast);
  std::vector<double> n;
  auto const bodies =
      ct::shepp_logan(half_size, contrast == "modified" ? ct::shepp_logan_contrast::modified
                                                        : ct::shepp_logan_contrast::original);
  for (auto const& e : bodies) {
    n.insert(n.end(), {e.centre.x, e.centre.y, e.centre.z, e.half_axes.x, e.half_axes.y,
                       e.half_axes.z, e.angle, e.density});
  }
  return numpy_of(std::move(n), {bodies.size(), 8});
}

nb::object rasterise(any_object ellipsoids, grid const& g, bool is_double, std::int64_t samples,
                     any_object out, std::string const& axes, bool copy, any_object cancel,
                     any_object progress) {
  char const* const name = "phantom.rasterise";
  auto const bodies = ellipsoids_of(ellipsoids, name);
  output x(out, {name, "out"}, volume_placement(is_zyx(axes, name), copy), is_double,
           extents_of(g));
  target const at = x.at();
  call({cancel, progress}, at, [&](job const& control) {
    x.prepare();
    by_type(is_double, [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        ct::rasterise_ellipsoids<Exec, T>(exec, std::span(bodies),
                                          wrap_volume<typename Exec::memory_space>(x.data<T>(), g),
                                          {samples}, control);
        wait_for(exec, name);
      });
    });
    x.finish();
  });
  return x.release();
}

nb::object project_ellipsoids(any_object ellipsoids, scan const& s, bool is_double,
                              std::int64_t subsamples, any_object out, std::string const& axes,
                              bool copy, any_object cancel, any_object progress) {
  char const* const name = "phantom.project";
  auto const bodies = ellipsoids_of(ellipsoids, name);
  auto const n = s.extents();
  output p(out, {name, "out"}, projection_placement(is_zyx(axes, name), copy), is_double, n);
  target const at = p.at();
  call({cancel, progress}, at, [&](job const& control) {
    p.prepare();
    by_type(is_double, [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        ct::project_ellipsoids<Exec, T>(exec, std::span(bodies), ct::stage(exec, *s.geometry),
                                        wrap_projections<space>(p.data<T>(), n[0], n[1], n[2]),
                                        {subsamples}, control);
        wait_for(exec, name);
      });
    });
    p.finish();
  });
  return p.release();
}

/// Returns the extents of images (view, v, u) in the library's order.
std::array<std::int64_t, 3> image_extents(nb::handle x, argument const& what, bool zyx) {
  lent_array const a = borrow(x, what, false);
  ISO_VALIDATE(a.rank == 3,
               "{}: {} of {} axes (images of one detector have 3: the image, v, u); reshape it",
               what.function, what.name, a.rank);
  return {a.extent[0], a.extent[zyx ? 2 : 1], a.extent[zyx ? 1 : 2]};
}

nb::object mean_of_views(any_object images, any_object weights, any_object out,
                         std::string const& axes, bool copy, any_object cancel) {
  char const* const name = "readings.mean_of_views";
  bool const zyx = is_zyx(axes, name);
  auto const n = image_extents(images, {name, "images"}, zyx);
  native_array p(images, {name, "images"}, projection_placement(zyx, copy), n, false);
  std::vector<double> given;
  if (!nb::handle(weights).is_none()) {
    given = doubles_of(weights, {name, "weights"});
  }
  output mean(out, {name, "out"}, projection_placement(zyx, copy), p.is_double(), {1, n[1], n[2]});
  target const at = target_of(name, {&p}, mean);
  call({cancel, {}}, at, [&](job const&) {
    p.prepare(true);
    mean.prepare();
    by_type(p.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        auto const w = numbers_at(exec, given.data(), given.size(), name);
        ct::mean_of_views<Exec, T>(exec,
                                   wrap_projections<space>(p.data<T const>(), n[0], n[1], n[2]), w,
                                   wrap_projections<space>(mean.data<T>(), 1, n[1], n[2]));
        wait_for(exec, name);
      });
    });
    mean.finish();
  });
  return mean.release();
}

nb::object line_integrals(any_object readings, any_object dark, any_object flat, any_object out,
                          nb::dict keywords, std::string const& axes, bool copy,
                          any_object cancel) {
  char const* const name = "readings.line_integrals";
  bool const zyx = is_zyx(axes, name);
  placement const where = projection_placement(zyx, copy);
  auto const options = options_of<ct::line_integral_options>(keywords, name);
  auto const n = image_extents(readings, {name, "readings"}, zyx);
  native_array from(readings, {name, "readings"}, where, n, false);
  native_array d(dark, {name, "dark"}, where, {1, n[1], n[2]}, false);
  native_array f(flat, {name, "flat"}, where, {1, n[1], n[2]}, false);
  require_type(d, from.is_double(), name, "dark");
  require_type(f, from.is_double(), name, "flat");
  output p(out, {name, "out"}, where, from.is_double(), n);
  target const at = target_of(name, {&from, &d, &f}, p);
  call({cancel, {}}, at, [&](job const&) {
    for (auto* a : {&from, &d, &f}) {
      a->prepare(true);
    }
    p.prepare();
    by_type(from.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        // The library works in place; out may be the readings themselves.
        if (p.data<T>() != from.data<T>()) {
          Kokkos::deep_copy(exec, wrap_projections<space>(p.data<T>(), n[0], n[1], n[2]).data,
                            wrap_projections<space>(from.data<T const>(), n[0], n[1], n[2]).data);
        }
        ct::line_integrals<Exec, T>(exec, wrap_projections<space>(p.data<T>(), n[0], n[1], n[2]),
                                    wrap_projections<space>(d.data<T const>(), 1, n[1], n[2]),
                                    wrap_projections<space>(f.data<T const>(), 1, n[1], n[2]),
                                    options);
        wait_for(exec, name);
      });
    });
    p.finish();
  });
  return p.release();
}

/// Returns 1 where a pixel is dead, [u, v], v fastest.
nb::object find_dead_pixels(any_object dark, any_object flat, nb::dict keywords,
                            std::string const& axes, bool copy, any_object cancel) {
  char const* const name = "readings.find_dead_pixels";
  bool const zyx = is_zyx(axes, name);
  placement const where = projection_placement(zyx, copy);
  auto const options = options_of<ct::dead_pixel_options>(keywords, name);
  auto const n = image_extents(dark, {name, "dark"}, zyx);
  native_array d(dark, {name, "dark"}, where, {1, n[1], n[2]}, false);
  native_array f(flat, {name, "flat"}, where, {1, n[1], n[2]}, false);
  require_type(f, d.is_double(), name, "flat");
  std::vector<std::uint8_t> dead(std::size_t(n[1] * n[2]));
  target const at = target_of(name, {&d, &f});
  call({cancel, {}}, at, [&](job const& control) {
    d.prepare(true);
    f.prepare(true);
    by_type(d.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        using map = ct::pixel_mask<space>;
        auto const found = allocate<map>(name, {n[1], n[2]}, exec, Kokkos::WithoutInitializing);
        ct::find_dead_pixels<Exec, T>(
            exec, wrap_projections<space>(d.data<T const>(), 1, n[1], n[2]),
            wrap_projections<space>(f.data<T const>(), 1, n[1], n[2]), found, options, control);
        // The map is small, and lies on the host.
        Kokkos::deep_copy(
            exec,
            ct::pixel_mask<Kokkos::HostSpace>(dead.data(), std::size_t(n[1]), std::size_t(n[2])),
            found);
        wait_for(exec, name);
      });
    });
  });
  return numpy_of(std::move(dead), {std::size_t(n[1]), std::size_t(n[2])});
}

nb::object replace_dead_pixels(any_object projections, any_object dead, any_object out,
                               std::string const& axes, bool copy, any_object cancel) {
  char const* const name = "readings.replace_dead_pixels";
  bool const zyx = is_zyx(axes, name);
  placement const where = projection_placement(zyx, copy);
  auto const n = image_extents(projections, {name, "projections"}, zyx);
  native_array from(projections, {name, "projections"}, where, n, false);
  // Python's side has made it an array of bytes, [u, v] in C order.
  lent_array const mask = borrow(dead, {name, "dead", false, true}, false);
  ISO_VALIDATE(mask.rank == 2 && mask.extent[0] == n[1] && mask.extent[1] == n[2],
               "{}: dead of another shape (the images have {} x {} pixels: u, v); give the map of "
               "this detector",
               name, n[1], n[2]);
  output p(out, {name, "out"}, where, from.is_double(), n);
  target const at = target_of(name, {&from}, p);
  call({cancel, {}}, at, [&](job const&) {
    from.prepare(true);
    p.prepare();
    by_type(from.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        if (p.data<T>() != from.data<T>()) {
          Kokkos::deep_copy(exec, wrap_projections<space>(p.data<T>(), n[0], n[1], n[2]).data,
                            wrap_projections<space>(from.data<T const>(), n[0], n[1], n[2]).data);
        }
        auto const bytes = numbers_at(exec, reinterpret_cast<std::uint8_t const*>(mask.data),
                                      std::size_t(n[1] * n[2]), name);
        ct::replace_dead_pixels<Exec, T>(
            exec, wrap_projections<space>(p.data<T>(), n[0], n[1], n[2]),
            ct::const_pixel_mask<space>(bytes.data(), std::size_t(n[1]), std::size_t(n[2])));
        wait_for(exec, name);
      });
    });
    p.finish();
  });
  return p.release();
}

double centre_of_rotation(any_object mean, nb::dict keywords, std::string const& axes,
                          any_object cancel) {
  char const* const name = "readings.centre_of_rotation";
  bool const zyx = is_zyx(axes, name);
  auto const options = options_of<ct::centre_options>(keywords, name);
  auto const n = image_extents(mean, {name, "mean", false, true}, zyx);
  native_array m(mean, {name, "mean", false, true}, projection_placement(zyx, true), n, false);
  double found = 0;
  call({cancel, {}}, [&](job const& control) {
    // Several images are refused, and need no memory for it.
    std::vector<double> values(std::size_t(n[0] == 1 ? n[1] * n[2] : 0));
    if (!values.empty()) {
      m.prepare(true);
      by_type(m.is_double(),
              [&]<class T>() { std::copy_n(m.data<T const>(), values.size(), values.data()); });
    }
    auto const all = wrap_projections<Kokkos::HostSpace>(static_cast<double const*>(values.data()),
                                                         n[0], n[1], n[2]);
    found = ct::centre_of_rotation(all, options, control);
  });
  return found;
}

double noise_of_counts(any_object readings, double photons, any_object mask,
                       std::string const& axes, bool copy, any_object cancel) {
  char const* const name = "readings.noise_of_counts";
  bool const zyx = is_zyx(axes, name);
  placement const where = projection_placement(zyx, copy);
  auto const n = image_extents(readings, {name, "readings"}, zyx);
  native_array b(readings, {name, "readings"}, where, n, false);
  std::optional<native_array> counted_readings;
  if (!nb::handle(mask).is_none()) {
    counted_readings.emplace(mask, argument{name, "mask"}, where, n, false);
    require_type(*counted_readings, b.is_double(), name, "mask");
  }
  double noise = 0;
  target const at = target_of(name, {&b, counted_readings ? &*counted_readings : nullptr});
  call({cancel, {}}, at, [&](job const& control) {
    b.prepare(true);
    by_type(b.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        projection_view<T const, space> of = {};
        if (counted_readings) {
          counted_readings->prepare(true);
          of = wrap_projections<space>(counted_readings->data<T const>(), n[0], n[1], n[2]);
        }
        noise =
            ct::noise_of_counts<Exec, T>(exec,
                                         projection_view<T const, space>(wrap_projections<space>(
                                             b.data<T const>(), n[0], n[1], n[2])),
                                         photons, of, control);
      });
    });
  });
  return noise;
}

/// Returns rays of rows (origin, direction, t_min, t_max).
template <class T>
std::vector<ray::ray<T>> rays_of(std::vector<double> const& n) {
  std::vector<ray::ray<T>> rays(n.size() / 8);
  for (std::size_t i = 0; i < rays.size(); ++i) {
    double const* const r = n.data() + 8 * i;
    rays[i] = {{T(r[0]), T(r[1]), T(r[2])}, {T(r[3]), T(r[4]), T(r[5])}, T(r[6]), T(r[7])};
  }
  return rays;
}

/// Checks the array that paths are written into.
lent_array lent_paths(nb::handle out, native_array const& volume, std::size_t count,
                      char const* name) {
  argument const what{name, "out", true};
  lent_array a = borrow(out, what, true);
  ISO_VALIDATE(a.rank == 1 && a.size() == std::int64_t(count) &&
                   a.type == (volume.is_double() ? element::f64 : element::f32),
               "{}: out of another shape or type (a number a ray is needed, {} in all, of the "
               "volume's type); give such an array",
               name, count);
  ISO_VALIDATE((a.device >= 0) == volume.on_gpu(),
               "{}: out and the volume lie in two places (one of them on {}); copy one of them",
               name, "a GPU");
  return a;
}

nb::object radiological_path(any_object rays, grid const& g, any_object volume, any_object out,
                             std::string const& method, std::string const& axes, bool copy,
                             any_object cancel, any_object progress) {
  char const* const name = "rays.radiological_path";
  std::vector<double> const numbers = doubles_of(rays, {name, "rays"}, 8);
  auto const walk = from_word<ray::traversal>(method);
  ISO_VALIDATE(walk.has_value(), "{}: method '{}' (there are: {}); choose one of those", name,
               method, all_words<ray::traversal>());
  native_array x(volume, {name, "volume"}, volume_placement(is_zyx(axes, name), copy),
                 extents_of(g), false);
  std::size_t const count = numbers.size() / 8;
  bool const makes = nb::handle(out).is_none();
  target const at = target_of(name, {&x}, !makes);
  lent_array const given = makes ? lent_array() : lent_paths(out, x, count, name);
  owned_memory memory{nullptr, nullptr};
  call({cancel, progress}, at, [&](job const& control) {
    x.prepare(true);
    if (makes) {
      memory = own(std::int64_t(count) * (x.is_double() ? 8 : 4), name);
    }
    by_type(x.is_double(), [&]<class T>() {
      auto const all = rays_of<T>(numbers);
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        void* const paths = makes ? memory.get() : given.data;
        ray::radiological_path(
            exec, numbers_at(exec, all.data(), count, name),
            volume_view<T const, space>(wrap_volume<space>(x.data<T const>(), g)),
            Kokkos::View<T*, space>(static_cast<T*>(paths), count), {.method = *walk}, control);
        wait_for(exec, name);
      });
    });
  });
  return makes ? numpy_of(std::move(memory), x.is_double() ? element::f64 : element::f32, {count},
                          {1})
               : nb::borrow(nb::handle(out));
}

nb::object sort_rays(any_object rays, grid const& g, std::string const& order, any_object cancel) {
  char const* const name = "rays.sort";
  std::vector<double> const numbers = doubles_of(rays, {name, "rays"}, 8);
  ISO_VALIDATE(order == "entry_and_exit" || order == "octant_then_entry",
               "{}: order '{}' (there are: entry_and_exit, octant_then_entry); choose one of those",
               name, order);
  std::size_t const count = numbers.size() / 8;
  std::vector<std::int64_t> permutation(count);
  call({cancel, {}}, [&](job const& control) {
    auto const all = rays_of<double>(numbers);
    on_backend([&]<class Exec>(Exec const& exec) {
      using space = typename Exec::memory_space;
      workspace<space> const scratch(ray::sort_rays_bytes_needed(exec, std::int64_t(count)));
      ray::sort_rays(exec, Kokkos::View<ray::ray<double> const*, space>(all.data(), count), g,
                     Kokkos::View<std::int64_t*, space>(permutation.data(), count), scratch,
                     order == "entry_and_exit" ? ray::ray_order::entry_and_exit
                                               : ray::ray_order::octant_then_entry,
                     control);
      exec.fence(name);
    });
  });
  return numpy_of(std::move(permutation), {count});
}

}  // namespace

void bind_readings(nb::module_& m) {
  m.def("shepp_logan", shepp_logan);
  m.def("rasterise", rasterise);
  m.def("project_ellipsoids", project_ellipsoids);
  m.def("mean_of_views", mean_of_views);
  m.def("line_integrals", line_integrals);
  m.def("find_dead_pixels", find_dead_pixels);
  m.def("replace_dead_pixels", replace_dead_pixels);
  m.def("axis_pixel", [](scan const& s) { return ct::axis_pixel(*s.geometry); });
  m.def("mirror_weights", [](scan const& s) {
    auto weights = ct::mirror_weights(*s.geometry);
    std::size_t const n = weights.size();
    return numpy_of(std::move(weights), {n});
  });
  m.def("centre_of_rotation", centre_of_rotation);
  m.def("noise_of_counts", noise_of_counts);
  m.def("radiological_path", radiological_path);
  m.def("sort_rays", sort_rays);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["LineIntegralOptions"] = fields_of<ct::line_integral_options>();
  fields["DeadPixelOptions"] = fields_of<ct::dead_pixel_options>();
  fields["CentreOptions"] = fields_of<ct::centre_options>();
}

}  // namespace iso::python
