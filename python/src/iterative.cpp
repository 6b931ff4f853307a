// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint.hpp"
#include "geometry.hpp"
#include "options.hpp"
#include "projection.hpp"
#include "ranks.hpp"
#include "reconstruction.hpp"

#include <iso/ct/cgls.hpp>
#include <iso/ct/iterate.hpp>
#include <iso/ct/lsqr.hpp>
#include <iso/ct/mlem.hpp>
#include <iso/ct/ranked.hpp>
#include <iso/ct/sart.hpp>
#include <iso/ct/streamed.hpp>
#include <iso/ct/total_variation.hpp>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace iso::python {

namespace {

/// An array of a method, or a number, for a checkpoint.
struct visited {
  std::string name;
  bool is_number;
  std::int64_t size;
};
/// Memory for each array by its name; numbers are one double.
using memories = std::map<std::string, std::byte*>;

/// A method on one backend, in one precision.
class any_method {
 public:
  any_method() = default;
  any_method(any_method const&) = delete;
  any_method& operator=(any_method const&) = delete;
  virtual ~any_method() = default;
  virtual ct::iteration step(job const& control) = 0;
  virtual std::vector<visited> visit() = 0;
  /// Copies what the next iteration depends on to memory of the host, or from there.
  virtual void fetch(memories const& to) = 0;
  virtual void put(memories const& from) = 0;
};

template <class Exec, class T, class Method>
class typed_method final : public any_method {
 public:
  template <class... Args>
  explicit typed_method(Exec const& exec, Args&&... args)
      : exec_(exec), method_(exec, std::forward<Args>(args)...) {}
  ct::iteration step(job const& control) override {
    // The caller may have changed the volume, which it holds, since the step before.
    method_.visit([](char const*, auto&) {});
    return method_.step(control);
  }
  std::vector<visited> visit() override {
    std::vector<visited> all;
    method_.visit([&]<class V>(char const* name, V& value) {
      if constexpr (std::is_arithmetic_v<V>) {
        all.push_back({name, true, 1});
      } else {
        all.push_back({name, false, std::int64_t(value.data.size())});
      }
    });
    return all;
  }
  void fetch(memories const& to) override {
    method_.visit([&]<class V>(char const* name, V& value) {
      if constexpr (std::is_arithmetic_v<V>) {
        *reinterpret_cast<double*>(to.at(name)) = double(value);
      } else {
        Kokkos::deep_copy(exec_, host_array(to.at(name), value.data), value.data);
      }
    });
    exec_.fence("isocenter: checkpoint");
  }
  void put(memories const& from) override {
    method_.visit([&]<class V>(char const* name, V& value) {
      if constexpr (std::is_arithmetic_v<V>) {
        value = V(*reinterpret_cast<double const*>(from.at(name)));
      } else {
        Kokkos::deep_copy(exec_, value.data, host_array(from.at(name), value.data));
      }
    });
    exec_.fence("isocenter: checkpoint");
  }

 private:
  template <class Array>
  static auto host_array(std::byte* memory, Array const& like) {
    return Kokkos::View<T***, Kokkos::LayoutRight, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(
        reinterpret_cast<T*>(memory), like.extent(0), like.extent(1), like.extent(2));
  }

  Exec exec_;
  Method method_;
};

/// The classes of the library by the names of their options.
template <class Options>
struct method_of;
template <>
struct method_of<ct::sart_options> {
  template <class Exec, class T>
  using type = ct::sart<Exec, T>;
  static constexpr auto name = "Sart";
};
template <>
struct method_of<ct::mlem_options> {
  template <class Exec, class T>
  using type = ct::mlem<Exec, T>;
  static constexpr auto name = "Mlem";
};
template <>
struct method_of<ct::cgls_options> {
  template <class Exec, class T>
  using type = ct::cgls<Exec, T>;
  static constexpr auto name = "Cgls";
};
template <>
struct method_of<ct::lsqr_options> {
  template <class Exec, class T>
  using type = ct::lsqr<Exec, T>;
  static constexpr auto name = "Lsqr";
};
template <>
struct method_of<ct::total_variation_options> {
  template <class Exec, class T>
  using type = ct::total_variation<Exec, T>;
  static constexpr auto name = "TotalVariation";
};

/// What Python's classes of iterative methods hold: the volume on which the method works, and what
/// every iteration has told.
template <class Options>
class iterations {
 public:
  iterations(scan const& s, grid const& g, any_object readings, any_object start,
             any_object voxel_mask, any_object reading_mask, any_object into, std::int64_t memory,
             any_object share, bool has_checkpoint, nb::dict keywords, std::string const& axes,
             bool copy, any_object cancel, any_object progress)
      : grid_(g), memory_(memory), zyx_(is_zyx(axes, name)) {
    if (!nb::handle(share).is_none()) {
      share_ = nb::cast<rank_share>(nb::handle(share));
    }
    auto const voxels_here = share_ ? share_->volume_extents() : extents_of(g);
    auto const readings_here = share_ ? share_->projection_extents() : s.extents();
    auto const options = options_of<Options>(keywords, name);
    placement const of_scan = projection_placement(zyx_, copy);
    placement const of_volume = volume_placement(zyx_, copy);
    native_array b(readings, {name, "readings"}, of_scan, readings_here, false);
    std::optional<native_array> x;
    std::optional<native_array> counted_readings;
    auto const optional = [&](auto& to, nb::handle from, char const* what, placement const& where,
                              std::array<std::int64_t, 3> const& extents) {
      if (!from.is_none()) {
        to.emplace(from, argument{name, what}, where, extents, false);
        require_type(*to, b.is_double(), name, what);
      }
    };
    optional(x, start, "start", of_volume, voxels_here);
    optional(voxels_, voxel_mask, "voxel_mask", of_volume, voxels_here);
    optional(counted_readings, reading_mask, "reading_mask", of_scan, readings_here);
    is_double_ = b.is_double();
    output volume(into, {name, "the volume"}, of_volume, is_double_, voxels_here);
    auto const given = [](std::optional<native_array> const& a) { return a ? &*a : nullptr; };
    at_ = target_of(name, {&b, given(x), given(voxels_), given(counted_readings)}, volume);
    refuse_memory_on_gpu(memory, at_, name);
    ISO_VALIDATE(!has_checkpoint || at_.where != place::cuda,
                 "{}: a checkpoint of readings on a GPU (a hash of them is made on the host); give "
                 "readings on the host",
                 name);
    call(
        {cancel, progress}, at_,
        [&](job const& control) {
          b.prepare(true);
          volume.prepare();
          for (auto* array : {&x, &voxels_, &counted_readings}) {
            if (*array) {
              (*array)->prepare(true);
            }
          }
          if (voxels_) {
            voxels_->keep();
          }
          by_type(is_double_, [&]<class T>() {
            T* const values = volume.data<T>();
            on_backend(at_, [&]<class Exec>(Exec const& exec) {
              using space = typename Exec::memory_space;
              auto const voxels = volume_of<space>(values);
              if (x) {
                Kokkos::deep_copy(exec, voxels.data, volume_of<space>(x->data<T const>()).data);
              } else {
                Kokkos::deep_copy(exec, voxels.data, T(0));
              }
              at_.where = place_of<Exec>;
              make<Exec, T>(exec, s, values, b, counted_readings, options, control);
            });
            if (has_checkpoint) {
              ask();  // hashes of large arrays take a good part of a second
              belongs_ = belongings_of<T>(options, s, b, given(counted_readings), given(x));
            }
          });
        },
        who());
    volume_ = volume.release();
  }

  ct::iteration step(any_object cancel, any_object progress) {
    ct::iteration now;
    auto const method = check();
    call(
        {cancel, progress}, at_,
        [&](job const& control) {
          in_use const one(busy_, name);
          in_turn_at(at_, [&] { now = method->step(control); });
          keep(now);
        },
        who());
    return now;
  }

  /// Runs until a rule ends it; what iterations have told stays where the run is interrupted.
  /// \param total  whether iterations before count
  void run(nb::dict keywords, any_object proceed, bool total, any_object cancel,
           any_object progress) {
    auto rules = options_of<ct::stopping_rules>(keywords, name);
    if (total) {
      std::lock_guard const alone(history_mutex_);
      auto const made = std::int64_t(history_.size());
      ISO_VALIDATE(made == 0 || made <= rules.iterations,
                   "{}: {} iterations (the checkpoint has made {}); ask for as many, or name "
                   "another file",
                   name, rules.iterations, made);
      rules.iterations -= made;
      if (made > 0 && (rules.iterations == 0 || rules.met_by(history_.back()))) {
        return;
      }
    }
    std::optional<nb::python_error> raised;
    if (!nb::handle(proceed).is_none()) {
      // The handle lives as long as this call.
      rules.proceed = [handle = nb::handle(proceed), &raised](ct::iteration const& now) {
        nb::gil_scoped_acquire const gil;
        try {
          return nb::cast<bool>(nb::bool_(handle(tuple_of(now))));
        } catch (nb::python_error& e) {
          raised.emplace(std::move(e));
          return false;
        }
      };
    }
    auto const method = check();
    call(
        {cancel, progress}, at_,
        [&](job const& control) {
          in_use const one(busy_, name);
          ct::iterate(recorder{*method, *this}, rules, control);
        },
        who());
    if (raised) {
      throw nb::python_error(std::move(*raised));
    }
  }

  [[nodiscard]] nb::object volume() const { return volume_; }
  [[nodiscard]] nb::list history() const {
    std::vector<ct::iteration> told;
    {
      std::lock_guard const alone(history_mutex_);
      told = history_;
    }
    nb::list all;
    for (auto const& now : told) {
      all.append(tuple_of(now));
    }
    return all;
  }
  void close() { method_.reset(); }

  [[nodiscard]] ct::detail::belongings const& belongs() const { return belongs_; }
  [[nodiscard]] bool is_double() const { return is_double_; }
  /// Returns the names, whether each is a number, and the sizes of what a checkpoint holds.
  [[nodiscard]] nb::list parts() {
    nb::list all;
    for (auto const& part : check()->visit()) {
      all.append(nb::make_tuple(part.name, part.is_number, part.size));
    }
    return all;
  }
  /// Copies what a checkpoint holds into arrays of one axis, by name, or from them. Called by the
  /// callback of a run too, between two iterations.
  void exchange(nb::dict arrays, bool puts) {
    auto const method = check();
    std::vector<lent_array> borrowed;
    memories at;
    for (auto const& part : method->visit()) {
      lent_array a =
          borrow(arrays[part.name.c_str()], {name, part.name.c_str(), false, true}, !puts);
      auto const wanted = part.is_number || is_double_ ? element::f64 : element::f32;
      ISO_VALIDATE(a.type == wanted && a.size() == part.size,
                   "{}: {} of the checkpoint does not fit (another precision or number of values); "
                   "remove the file",
                   name, part.name);
      at[part.name] = a.data;
      borrowed.push_back(std::move(a));
    }
    call({}, at_, [&](job const&) {
      in_turn_at(at_, [&] {
        if (puts) {
          method->put(at);
        } else {
          method->fetch(at);
        }
      });
    });
  }
  /// Sets what iterations have told, in four numbers each.
  void set_history(any_object rows) {
    auto const numbers = doubles_of(rows, {name, "history"});
    std::lock_guard const alone(history_mutex_);
    history_.clear();
    for (std::size_t i = 0; i + 4 <= numbers.size(); i += 4) {
      history_.push_back({std::int64_t(i / 4 + 1), numbers[i + 1], numbers[i + 2], numbers[i + 3]});
    }
  }

  static nb::tuple tuple_of(ct::iteration const& now) {
    return nb::make_tuple(now.number, now.residual, now.relative_residual, now.gap);
  }
  static constexpr auto name = method_of<Options>::name;

 private:
  /// A method that keeps what each step tells.
  struct recorder {
    any_method& method;
    iterations& of;

    ct::iteration step(job const& control) {
      ct::iteration now;
      in_turn_at(of.at_, [&] { now = method.step(control); });
      of.keep(now);
      return now;
    }
  };

  /// Without the GIL: other threads may read the history meanwhile.
  void keep(ct::iteration const& now) {
    std::lock_guard const alone(history_mutex_);
    history_.push_back(now);
  }

  /// Returns a copy: another thread may close the method meanwhile.
  [[nodiscard]] std::shared_ptr<any_method> check() const {
    ISO_VALIDATE(method_ != nullptr, "{}: it was closed (its memory is given back); make another",
                 name);
    return method_;
  }

  template <class Exec, class T>
  void make(Exec const& exec, scan const& s, T* values, native_array const& readings,
            std::optional<native_array> const& counted_readings, Options const& options,
            job const& control) {
    using space = typename Exec::memory_space;
    ct::iterative_masks<T, space> masks;
    if (voxels_) {
      masks.voxels = volume_of<space>(voxels_->data<T const>()).data;
    }
    if (counted_readings) {
      masks.readings = readings_of<space>(s, counted_readings->data<T const>()).data;
    }
    using method = typename method_of<Options>::template type<Exec, T>;
    method_ = std::make_shared<typed_method<Exec, T, method>>(
        exec, *s.geometry, readings_of<space>(s, readings.data<T const>()),
        volume_of<space>(values), options, masks, control, place_of_arrays(exec));
  }

  /// Returns what a checkpoint belongs to. Null arrays are none.
  template <class T>
  [[nodiscard]] ct::detail::belongings belongings_of(Options const& options, scan const& s,
                                                     native_array const& readings,
                                                     native_array const* counted_readings,
                                                     native_array const* start) const {
    auto const [views, u, v] = s.extents();
    std::int64_t const pixels = views * u * v;
    auto const floats_of = [](native_array const* a, std::int64_t size) {
      return a == nullptr ? std::vector<float>()
                          : std::vector<float>(a->data<T const>(), a->data<T const>() + size);
    };
    auto const of_readings = floats_of(counted_readings, pixels);
    auto const of_start = floats_of(start, grid_.size());
    auto const of_voxels = floats_of(voxels_ ? &*voxels_ : nullptr, grid_.size());
    return ct::detail::belongings_of<T>(
        method_named(options), options, *s.geometry, grid_,
        {{readings.data<T const>(), std::size_t(pixels)}, of_readings, of_start, of_voxels});
  }
  [[nodiscard]] made_by who() const { return share_ ? made_by::all_ranks : made_by::one; }
  /// Returns where volume and readings lie.
  template <class Exec>
  [[nodiscard]] ct::elsewhere place_of_arrays(Exec const& exec) const {
    if (share_) {
      return ct::ranked(exec, *share_->ranks, *share_->plan);
    }
    if (memory_ > 0) {
      return ct::streamed(streaming_instance(exec), {.device_bytes = memory_});
    }
    return {};
  }
  /// Returns the voxels, or readings, that lie in this process.
  template <class Space, class T>
  [[nodiscard]] volume_view<T, Space> volume_of(T* data) const {
    return share_ ? share_->template volume<Space>(data) : wrap_volume<Space>(data, grid_);
  }
  template <class Space, class T>
  [[nodiscard]] projection_view<T, Space> readings_of(scan const& s, T* data) const {
    auto const [views, u, v] = s.extents();
    return share_ ? share_->template projections<Space>(data)
                  : wrap_projections<Space>(data, views, u, v);
  }

  grid grid_;
  std::optional<rank_share> share_;  ///< what this process holds, where others have the rest
  std::int64_t memory_;              ///< through which volumes pass; 0: they do not
  bool zyx_;
  bool is_double_ = false;
  bool busy_ = false;
  ct::detail::belongings belongs_;
  nb::object volume_;
  std::optional<native_array> voxels_;  ///< that the method reads
  target at_ = {place::serial};         ///< where it was made, in which stream
  mutable std::mutex history_mutex_;    ///< never held while the GIL is waited for
  std::vector<ct::iteration> history_;
  std::shared_ptr<any_method> method_;
};

template <class Options>
void bind_method(nb::module_& m) {
  using type = iterations<Options>;
  nb::class_<type>(m, type::name)
      .def(nb::init<scan const&, grid const&, any_object, any_object, any_object, any_object,
                    any_object, std::int64_t, any_object, bool, nb::dict, std::string const&, bool,
                    any_object, any_object>())
      .def("step", [](type& self, any_object cancel,
                      any_object progress) { return type::tuple_of(self.step(cancel, progress)); })
      .def("run", &type::run)
      .def("close", &type::close)
      .def("parts", &type::parts)
      .def("exchange", &type::exchange)
      .def("set_history", &type::set_history)
      .def_prop_ro("belongs", &type::belongs)
      .def_prop_ro("is_double", &type::is_double)
      .def_prop_ro("volume", &type::volume)
      .def_prop_ro("history", &type::history);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields[(std::string(type::name) + "Options").c_str()] = fields_of<Options>();
}

}  // namespace

void bind_iterative(nb::module_& m) {
  bind_method<ct::sart_options>(m);
  bind_method<ct::mlem_options>(m);
  bind_method<ct::cgls_options>(m);
  bind_method<ct::lsqr_options>(m);
  bind_method<ct::total_variation_options>(m);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["StoppingRules"] = fields_of<ct::stopping_rules>();
}

}  // namespace iso::python
