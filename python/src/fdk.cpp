// SPDX-License-Identifier: BSD-3-Clause
#include "geometry.hpp"
#include "held.hpp"
#include "options.hpp"
#include "projection.hpp"
#include "reconstruction.hpp"

#include <iso/ct/fdk.hpp>
#include <iso/ct/fdk_reconstructor.hpp>
#include <iso/ct/scan_weights.hpp>
#include <iso/ct/streamed_fdk.hpp>

#include <memory>

namespace iso::python {

namespace {

void refuse_add_without_out(bool add, nb::handle out, char const* function) {
  ISO_VALIDATE(!add || !out.is_none(),
               "{}: add without out (there is nothing to add to); give the volume as out",
               function);
}

void refuse_add_with_memory(bool add, std::int64_t memory, char const* function) {
  ISO_VALIDATE(!add || memory == 0,
               "{}: add with memory (slabs of the volume are overwritten); leave {} out", function,
               "one");
}

/// Returns the readings' extents with the columns that the filter adds.
std::array<std::int64_t, 3> filtered_extents(scan const& s, ct::fdk_options const& options) {
  auto const weights = ct::weigh_scan(*s.geometry, options.scan);
  auto n = s.extents();
  n[1] += weights.before + weights.after;
  return n;
}

nb::object filter_projections(scan const& s, any_object projections, any_object out,
                              nb::dict keywords, std::string const& axes, bool copy,
                              any_object cancel, any_object progress) {
  char const* const name = "filter_projections";
  bool const zyx = is_zyx(axes, name);
  auto const options = options_of<ct::fdk_options>(keywords, name);
  placement const where = projection_placement(zyx, copy);
  native_array p(projections, {name, "projections"}, where, s.extents(), false);
  auto const wide = filtered_extents(s, options);
  output f(out, {name, "out"}, where, p.is_double(), wide);
  target const at = target_of(name, {&p}, f);
  call({cancel, progress}, at, [&](job const& control) {
    p.prepare(true);
    f.prepare();
    by_type(p.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        auto const n = s.extents();
        workspace<space> const scratch(
            ct::filter_projections_bytes_needed<T>(exec, *s.geometry, options));
        ct::fdk_plan<space> const plan(exec, *s.geometry, options);
        ct::filter_projections<Exec, T>(
            exec, plan, wrap_projections<space>(p.data<T const>(), n[0], n[1], n[2]),
            wrap_projections<space>(f.data<T>(), wide[0], wide[1], wide[2]), scratch, control);
        wait_for(exec, "isocenter.filter_projections");
      });
    });
    f.finish();
  });
  return f.release();
}

nb::object weighted_back_project(scan const& s, grid const& g, any_object filtered, any_object out,
                                 bool add, nb::dict keywords, std::string const& axes, bool copy,
                                 any_object cancel, any_object progress) {
  char const* const name = "weighted_back_project";
  bool const zyx = is_zyx(axes, name);
  refuse_add_without_out(add, out, name);
  auto const options = options_of<ct::fdk_options>(keywords, name);
  auto const wide = filtered_extents(s, options);
  native_array f(filtered, {name, "filtered"}, projection_placement(zyx, copy), wide, false);
  output x(out, {name, "out"}, volume_placement(zyx, copy), f.is_double(), extents_of(g));
  target const at = target_of(name, {&f}, x);
  call({cancel, progress}, at, [&](job const& control) {
    f.prepare(true);
    x.prepare(add);
    by_type(f.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        workspace<space> const scratch(
            ct::weighted_back_project_bytes_needed<T>(exec, *s.geometry, options));
        ct::fdk_plan<space> const plan(exec, *s.geometry, options);
        ct::weighted_back_project<Exec, T>(
            exec, plan, wrap_projections<space>(f.data<T const>(), wide[0], wide[1], wide[2]),
            wrap_volume<space>(x.data<T>(), g), scratch, add ? onto::stored : onto::zero, control);
        wait_for(exec, "isocenter.weighted_back_project");
      });
    });
    x.finish();
  });
  return x.release();
}

nb::object fdk(scan const& s, grid const& g, any_object projections, any_object out, bool add,
               std::int64_t memory, nb::dict keywords, std::string const& axes, bool copy,
               any_object cancel, any_object progress) {
  bool const zyx = is_zyx(axes, "fdk");
  refuse_add_without_out(add, out, "fdk");
  refuse_add_with_memory(add, memory, "fdk");
  auto const options = options_of<ct::fdk_options>(keywords, "fdk");
  native_array p(projections, {"fdk", "projections"}, projection_placement(zyx, copy), s.extents(),
                 false);
  output x(out, {"fdk", "out"}, volume_placement(zyx, copy), p.is_double(), extents_of(g));
  target const at = target_of("fdk", {&p}, x);
  refuse_memory_on_gpu(memory, at, "fdk");
  call({cancel, progress}, at, [&](job const& control) {
    p.prepare(true);
    x.prepare(add);
    by_type(p.is_double(), [&]<class T>() {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        using space = typename Exec::memory_space;
        auto const n = s.extents();
        if (memory > 0) {
          using host = Kokkos::HostSpace;
          auto const device = streaming_instance(exec);
          ct::streamed_fdk<std::remove_const_t<decltype(device)>, T>(
              device, *s.geometry, g, options, {.device_bytes = memory})
              .apply(wrap_projections<host>(p.data<T const>(), n[0], n[1], n[2]),
                     wrap_volume<host>(x.data<T>(), g), control);
          return;
        }
        workspace<space> const scratch(ct::fdk_bytes_needed<T>(exec, *s.geometry, options));
        ct::fdk_plan<space> const plan(exec, *s.geometry, options);
        ct::fdk<Exec, T>(exec, plan, wrap_projections<space>(p.data<T const>(), n[0], n[1], n[2]),
                         wrap_volume<space>(x.data<T>(), g), scratch,
                         add ? onto::stored : onto::zero, control);
        wait_for(exec, "isocenter.fdk");
      });
    });
    x.finish();
  });
  return x.release();
}

/// A reconstructor on one backend, in one precision.
class any_reconstructor {
 public:
  any_reconstructor() = default;
  any_reconstructor(any_reconstructor const&) = delete;
  any_reconstructor& operator=(any_reconstructor const&) = delete;
  virtual ~any_reconstructor() = default;
  virtual void apply(void const* projections, void* volume, onto to, job const& control) const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
  [[nodiscard]] virtual std::string arc() const = 0;
  [[nodiscard]] virtual std::string detector() const = 0;
};

template <class Exec, class T>
class typed_reconstructor final : public any_reconstructor {
 public:
  using space = typename Exec::memory_space;

  typed_reconstructor(Exec const& exec, ct::geometry const& g, grid const& volume,
                      ct::fdk_options const& options)
      : exec_(exec),
        scan_{g.num_views(), g.num_u(), g.num_v()},
        reconstructor_(exec, g, volume, options) {}

  void apply(void const* projections, void* volume, onto to, job const& control) const override {
    reconstructor_.apply(
        wrap_projections<space>(static_cast<T const*>(projections), scan_[0], scan_[1], scan_[2]),
        wrap_volume<space>(static_cast<T*>(volume), reconstructor_.grid()), to, control);
    wait_on_host(exec_, "isocenter.Fdk");
  }
  [[nodiscard]] std::int64_t bytes() const override {
    return reconstructor_.bytes_held() + reconstructor_.plan().bytes_held();
  }
  [[nodiscard]] std::string arc() const override {
    return std::string(to_word(reconstructor_.plan().arc()));
  }
  [[nodiscard]] std::string detector() const override {
    return std::string(to_word(reconstructor_.plan().detector()));
  }

 private:
  Exec exec_;
  std::array<std::int64_t, 3> scan_;
  ct::fdk_reconstructor<Exec, T> reconstructor_;
};

/// The same, of volumes that pass through so much memory of `Device`.
template <class Device, class T>
class streamed_reconstructor final : public any_reconstructor {
 public:
  using host = Kokkos::HostSpace;

  streamed_reconstructor(Device const& device, ct::geometry const& g, grid const& volume,
                         ct::fdk_options const& options, std::int64_t memory)
      : scan_{g.num_views(), g.num_u(), g.num_v()},
        grid_(volume),
        reconstructor_(device, g, volume, options, {.device_bytes = memory}) {}

  void apply(void const* projections, void* volume, onto /*zero*/,
             job const& control) const override {
    reconstructor_.apply(
        wrap_projections<host>(static_cast<T const*>(projections), scan_[0], scan_[1], scan_[2]),
        wrap_volume<host>(static_cast<T*>(volume), grid_), control);
  }
  [[nodiscard]] std::int64_t bytes() const override { return reconstructor_.report().device_bytes; }
  [[nodiscard]] std::string arc() const override {
    return std::string(to_word(reconstructor_.arc()));
  }
  [[nodiscard]] std::string detector() const override {
    return std::string(to_word(reconstructor_.detector()));
  }

 private:
  std::array<std::int64_t, 3> scan_;
  grid grid_;
  mutable ct::streamed_fdk<Device, T> reconstructor_;  ///< one call at a time
};

/// What Python's class Fdk holds.
class reconstructor {
 public:
  reconstructor(scan s, grid const& g, bool is_double, std::int64_t memory, nb::dict keywords,
                std::string const& axes, bool copy)
      : scan_(std::move(s)),
        grid_(g),
        memory_(memory),
        is_double_(is_double),
        zyx_(is_zyx(axes, "Fdk")),
        copy_(copy) {
    options_ = options_of<ct::fdk_options>(keywords, "Fdk");
    parts_.begin([this](auto const& exec) { return make(exec); });
  }

  nb::object apply(any_object projections, any_object out, bool add, any_object cancel,
                   any_object progress) {
    refuse_add_without_out(add, out, "Fdk");
    refuse_add_with_memory(add, memory_, "Fdk");
    native_array p(projections, {"Fdk", "projections"}, projection_placement(zyx_, copy_),
                   scan_.extents(), false);
    require_type(p, is_double_, "Fdk", "projections");
    output x(out, {"Fdk", "out"}, volume_placement(zyx_, copy_), is_double_, extents_of(grid_));
    target const at = target_of("Fdk", {&p}, x);
    refuse_memory_on_gpu(memory_, at, "Fdk");
    parts_.in_turn(
        "Fdk", {cancel, progress}, at, [this](auto const& exec) { return make(exec); },
        [&](any_reconstructor const& held, job const& control) {
          p.prepare(true);
          x.prepare(add);
          held.apply(p.data<void>(), x.data<void>(), add ? onto::stored : onto::zero, control);
          x.finish();
        });
    return x.release();
  }

  void close() { parts_.close(); }
  [[nodiscard]] std::int64_t bytes() const { return parts_.bytes(); }
  [[nodiscard]] std::string arc() const {
    auto const held = parts_.first();
    return held ? held->arc() : "";
  }
  [[nodiscard]] std::string detector() const {
    auto const held = parts_.first();
    return held ? held->detector() : "";
  }

 private:
  /// Makes a reconstructor.
  template <class Exec>
  [[nodiscard]] std::shared_ptr<any_reconstructor> make(Exec const& exec) const {
    return by_type(is_double_, [&]<class T>() -> std::shared_ptr<any_reconstructor> {
      if (memory_ > 0) {
        auto const device = streaming_instance(exec);
        return std::make_shared<streamed_reconstructor<std::remove_const_t<decltype(device)>, T>>(
            device, *scan_.geometry, grid_, options_, memory_);
      }
      return std::make_shared<typed_reconstructor<Exec, T>>(exec, *scan_.geometry, grid_, options_);
    });
  }

  scan scan_;
  grid grid_;
  std::int64_t memory_;
  bool is_double_;
  bool zyx_;
  bool copy_;
  ct::fdk_options options_;
  held_parts<any_reconstructor> parts_;
};

nb::dict weigh_scan(scan const& s, nb::dict keywords) {
  auto const w =
      ct::weigh_scan(*s.geometry, options_of<ct::scan_options>(keywords, "scan_weights"));
  nb::dict result;
  result["arc"] = std::string(to_word(w.arc));
  result["detector"] = std::string(to_word(w.detector));
  result["angles"] = numpy_of(w.angles, {w.angles.size()});
  result["before"] = w.before;
  result["after"] = w.after;
  auto const rows = std::size_t(w.rows);
  result["redundancy_weights"] =
      numpy_of(w.redundancy_weights, {rows, rows == 0 ? 0 : w.redundancy_weights.size() / rows});
  return result;
}

nb::object ramp_taps(std::int64_t count, nb::dict keywords) {
  auto taps = ct::ramp_taps(count, options_of<ct::fdk_options>(keywords, "ramp_taps"));
  std::size_t const n = taps.size();
  return numpy_of(std::move(taps), {n});
}

}  // namespace

void bind_fdk(nb::module_& m) {
  m.def("fdk", fdk);
  m.def("filter_projections", filter_projections);
  m.def("filtered_extents", [](scan const& s, nb::dict keywords) {
    auto const n = filtered_extents(s, options_of<ct::fdk_options>(keywords, "filter_projections"));
    return nb::make_tuple(n[0], n[1], n[2]);
  });
  m.def("weighted_back_project", weighted_back_project);
  m.def("weigh_scan", weigh_scan);
  m.def("ramp_taps", ramp_taps);
  nb::class_<reconstructor>(m, "Fdk")
      .def(nb::init<scan, grid const&, bool, std::int64_t, nb::dict, std::string const&, bool>())
      .def("apply", &reconstructor::apply)
      .def("close", &reconstructor::close)
      .def_prop_ro("bytes", &reconstructor::bytes)
      .def_prop_ro("arc", &reconstructor::arc)
      .def_prop_ro("detector", &reconstructor::detector);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["FdkOptions"] = fields_of<ct::fdk_options>();
  fields["ScanOptions"] = fields_of<ct::scan_options>();
}

}  // namespace iso::python
