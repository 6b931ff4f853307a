// SPDX-License-Identifier: BSD-3-Clause
#include "projection.hpp"

#include "geometry.hpp"
#include "held.hpp"

#include <iso/ct/back_project.hpp>
#include <iso/ct/forward_project.hpp>
#include <iso/ct/projector_pair.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/ct/streamed_pair.hpp>

#include <nanobind/stl/string.h>

#include <memory>

namespace iso::python {

namespace {

template <class Exec>
using scratch_of = workspace<typename Exec::memory_space>;

/// Returns a pair that holds a few planes at a time in so many bytes.
template <class Exec, class T>
ct::streamed_pair<Exec, T> streaming_pair(Exec const& exec, scan const& s, grid const& g,
                                          ct::projector_options const& options,
                                          std::int64_t memory) {
  std::int64_t const views = s.geometry->num_views();
  return ct::streamed_pair<Exec, T>(exec, *s.geometry, g,
                                    ct::split_views(views, views, ct::block_order::sequential),
                                    options, {.device_bytes = memory});
}

nb::object project(scan const& s, grid const& g, any_object volume, any_object out,
                   std::int64_t memory, nb::dict keywords, std::string const& axes, bool copy,
                   any_object cancel, any_object progress) {
  bool const zyx = is_zyx(axes, "project");
  auto const options = options_of<project_keywords>(keywords, "project").options;
  ISO_VALIDATE(memory == 0 || (!options.max_abs && options.path == ct::joseph_path::automatic),
               "project: max_abs or path with memory (what is streamed finds them itself); leave "
               "{} out",
               "them");
  native_array x(volume, {"project", "volume"}, volume_placement(zyx, copy), extents_of(g), false);
  output y(out, {"project", "out"}, projection_placement(zyx, copy), x.is_double(), s.extents());
  target const at = target_of("project", {&x}, y);
  refuse_memory_on_gpu(memory, at, "project");
  call({cancel, progress}, at, [&](job const& control) {
    x.prepare(true);
    y.prepare();
    by_type(x.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        auto const [views, u, v] = s.extents();
        if (memory > 0) {
          auto const device = streaming_instance(exec);
          streaming_pair<std::remove_const_t<decltype(device)>, T>(
              device, s, g,
              {.method = options.method,
               .sum = options.sum,
               .edge = options.edge,
               .within = options.within,
               .oversampling = options.oversampling},
              memory)
              .forward(0, wrap_volume<Kokkos::HostSpace>(x.data<T const>(), g),
                       wrap_projections<Kokkos::HostSpace>(y.data<T>(), views, u, v), control);
          return;
        }
        scratch_of<Exec> const scratch(
            ct::forward_project_bytes_needed<T>(exec, *s.geometry, g, options));
        ct::forward_project<Exec, T>(
            exec, ct::stage(exec, *s.geometry), wrap_volume<space>(x.data<T const>(), g),
            wrap_projections<space>(y.data<T>(), views, u, v), scratch, options, control);
        wait_for(exec, "isocenter.project");
      });
    });
    y.finish();
  });
  return y.release();
}

nb::object back_project(scan const& s, grid const& g, any_object projections, any_object out,
                        bool add, std::int64_t memory, nb::dict keywords, std::string const& axes,
                        bool copy, any_object cancel, any_object progress) {
  bool const zyx = is_zyx(axes, "back_project");
  auto const options = options_of<back_project_keywords>(keywords, "back_project").options;
  ISO_VALIDATE(memory == 0 || (!options.max_abs && options.path == ct::joseph_path::automatic),
               "back_project: max_abs or path with memory (what is streamed finds them itself); "
               "leave {} out",
               "them");
  ISO_VALIDATE(!add || !nb::handle(out).is_none(),
               "back_project: add without out (there is nothing to add to); give the volume as "
               "out{}",
               "");
  native_array y(projections, {"back_project", "projections"}, projection_placement(zyx, copy),
                 s.extents(), false);
  output x(out, {"back_project", "out"}, volume_placement(zyx, copy), y.is_double(), extents_of(g));
  target const at = target_of("back_project", {&y}, x);
  refuse_memory_on_gpu(memory, at, "back_project");
  call({cancel, progress}, at, [&](job const& control) {
    y.prepare(true);
    x.prepare(add);
    by_type(y.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        auto const [views, u, v] = s.extents();
        if (memory > 0) {
          auto const device = streaming_instance(exec);
          streaming_pair<std::remove_const_t<decltype(device)>, T>(
              device, s, g,
              {.method = options.method,
               .sum = summation::reproducible,
               .edge = options.edge,
               .within = options.within,
               .oversampling = options.oversampling,
               .words = options.words},
              memory)
              .adjoint(0, wrap_projections<Kokkos::HostSpace>(y.data<T const>(), views, u, v),
                       wrap_volume<Kokkos::HostSpace>(x.data<T>(), g),
                       add ? onto::stored : onto::zero, control);
          return;
        }
        scratch_of<Exec> const scratch(
            ct::back_project_bytes_needed<T>(exec, *s.geometry, g, options));
        ct::back_project<Exec, T>(exec, ct::stage(exec, *s.geometry),
                                  wrap_projections<space>(y.data<T const>(), views, u, v),
                                  wrap_volume<space>(x.data<T>(), g), scratch, options,
                                  add ? onto::stored : onto::zero, control);
        wait_for(exec, "isocenter.back_project");
      });
    });
    x.finish();
  });
  return x.release();
}

/// A projection and its adjoint on one backend, in one precision.
class any_pair {
 public:
  any_pair() = default;
  any_pair(any_pair const&) = delete;
  any_pair& operator=(any_pair const&) = delete;
  virtual ~any_pair() = default;
  virtual void forward(void const* x, void* y, job const& control) const = 0;
  virtual void adjoint(void const* y, void* x, onto to, job const& control) const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

template <class Exec, class T>
class typed_pair final : public any_pair {
 public:
  using space = typename Exec::memory_space;

  typed_pair(Exec const& exec, ct::geometry const& g, grid const& volume,
             ct::projector_options const& options, std::int64_t memory)
      : pair_(exec, g, volume,
              ct::split_views(g.num_views(), g.num_views(), ct::block_order::sequential), options,
              memory > 0 ? ct::streamed(streaming_instance(exec), {.device_bytes = memory})
                         : ct::streamed()) {}

  void forward(void const* x, void* y, job const& control) const override {
    auto const n = pair_.scan();
    pair_.forward(0, wrap_volume<space>(static_cast<T const*>(x), pair_.grid()),
                  wrap_projections<space>(static_cast<T*>(y), n[0], n[1], n[2]), control);
    wait_on_host(pair_.exec(), "isocenter.Projector");
  }
  void adjoint(void const* y, void* x, onto to, job const& control) const override {
    auto const n = pair_.scan();
    pair_.adjoint(0, wrap_projections<space>(static_cast<T const*>(y), n[0], n[1], n[2]),
                  wrap_volume<space>(static_cast<T*>(x), pair_.grid()), to, control);
    wait_on_host(pair_.exec(), "isocenter.Projector");
  }
  [[nodiscard]] std::int64_t bytes() const override {
    auto const n = pair_.scan();
    auto const streamed = pair_.streaming();
    return pair_.bytes_held() + n[0] * std::int64_t(sizeof(ct::view_vectors)) +
           (streamed ? streamed->device_bytes : 0);
  }

 private:
  ct::projector_pair<Exec, T> pair_;
};

/// What Python's class Projector holds. Calls that share it come one after the other.
class projector {
 public:
  projector(scan s, grid const& g, bool is_double, std::int64_t memory, nb::dict keywords,
            std::string const& axes, bool copy)
      : scan_(std::move(s)),
        grid_(g),
        is_double_(is_double),
        zyx_(is_zyx(axes, "Projector")),
        copy_(copy) {
    options_ = options_of<ct::projector_options>(keywords, "Projector");
    memory_ = memory;
    parts_.begin([this](auto const& exec) { return make(exec); });
  }

  nb::object forward(any_object volume, any_object out, any_object cancel, any_object progress) {
    native_array x(volume, {"Projector", "volume"}, volume_placement(zyx_, copy_),
                   extents_of(grid_), false);
    check_type(x, "volume");
    output y(out, {"Projector", "out"}, projection_placement(zyx_, copy_), is_double_,
             scan_.extents());
    in_turn({cancel, progress}, target_of("Projector", {&x}, y),
            [&](any_pair const& pair, job const& control) {
              x.prepare(true);
              y.prepare();
              pair.forward(x.data<void>(), y.data<void>(), control);
              y.finish();
            });
    return y.release();
  }

  nb::object adjoint(any_object projections, any_object out, bool add, any_object cancel,
                     any_object progress) {
    ISO_VALIDATE(!add || !nb::handle(out).is_none(),
                 "Projector: add without out (there is nothing to add to); give the volume as "
                 "out{}",
                 "");
    native_array y(projections, {"Projector.T", "projections"}, projection_placement(zyx_, copy_),
                   scan_.extents(), false);
    check_type(y, "projections");
    output x(out, {"Projector.T", "out"}, volume_placement(zyx_, copy_), is_double_,
             extents_of(grid_));
    in_turn({cancel, progress}, target_of("Projector.T", {&y}, x),
            [&](any_pair const& pair, job const& control) {
              y.prepare(true);
              x.prepare(add);
              pair.adjoint(y.data<void>(), x.data<void>(), add ? onto::stored : onto::zero,
                           control);
              x.finish();
            });
    return x.release();
  }

  void close() { parts_.close(); }
  [[nodiscard]] std::int64_t bytes() const { return parts_.bytes(); }

 private:
  /// Makes a pair.
  template <class Exec>
  [[nodiscard]] std::shared_ptr<any_pair> make(Exec const& exec) const {
    return by_type(is_double_, [&]<class T>() -> std::shared_ptr<any_pair> {
      return std::make_shared<typed_pair<Exec, T>>(exec, *scan_.geometry, grid_, options_, memory_);
    });
  }
  template <class Body>
  void in_turn(asked const& how, target const& at, Body&& body) {
    refuse_memory_on_gpu(memory_, at, "Projector");
    parts_.in_turn("Projector", how, at, [this](auto const& exec) { return make(exec); }, body);
  }
  void check_type(native_array const& a, char const* name) const {
    require_type(a, is_double_, "Projector", name);
  }

  scan scan_;
  grid grid_;
  bool is_double_;
  bool zyx_;
  bool copy_;
  std::int64_t memory_ = 0;
  ct::projector_options options_;
  held_parts<any_pair> parts_;
};

}  // namespace

void bind_projection(nb::module_& m) {
  m.def("project", project);
  m.def("back_project", back_project);
  nb::class_<projector>(m, "Projector")
      .def(nb::init<scan, grid const&, bool, std::int64_t, nb::dict, std::string const&, bool>())
      .def("forward", &projector::forward)
      .def("adjoint", &projector::adjoint)
      .def("close", &projector::close)
      .def_prop_ro("bytes", &projector::bytes);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["ProjectOptions"] = fields_of<project_keywords>();
  fields["BackProjectOptions"] = fields_of<back_project_keywords>();
  fields["ProjectorOptions"] = fields_of<ct::projector_options>();
}

}  // namespace iso::python
