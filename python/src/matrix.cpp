// SPDX-License-Identifier: BSD-3-Clause
#include "held.hpp"
#include "options.hpp"
#include "ranks.hpp"
#include "treatment.hpp"

#include <iso/detail/agreement.hpp>
#include <iso/sparse/dose_matrix.hpp>
#include <iso/sparse/rank_plan.hpp>
#include <iso/sparse/ranked_product.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace iso::python {

namespace {

using host = Kokkos::HostSpace;
using direction = sparse::dose_matrix_options::directions;

/// Puts described fields into a dictionary.
struct report_fields {
  nb::dict to;

  template <class T>
  void operator()(T const& value, field const& f) const {
    auto const key = keyword_of(f);
    if constexpr (described<T const>) {
      describe(*this, value);
    } else if constexpr (worded<T>) {
      to[key.c_str()] = std::string(to_word(value));
    } else {
      to[key.c_str()] = value;
    }
  }
};

/// Checks an array of a matrix: one axis of this type.
lent_array array_of(nb::handle x, element type, char const* name, char const* type_name,
                    bool host_only = false) {
  lent_array a = borrow(x, {"DoseMatrix", name, false, host_only}, false);
  ISO_VALIDATE(a.rank == 1 && a.type == type,
               "DoseMatrix: {} of another kind (one axis of {} is needed); convert it", name,
               type_name);
  return a;
}

/// Returns a lent array of one axis as a View where it lies.
template <class T, class Space>
auto view_of(lent_array const& a) {
  return Kokkos::View<T const*, Kokkos::LayoutRight, Space, Kokkos::MemoryUnmanaged>(
      reinterpret_cast<T const*>(a.data), std::size_t(a.size()));
}

/// The arrays of a matrix, by rows or by columns.
struct lent_matrix {
  bool by_rows;
  std::int64_t rows;
  std::int64_t cols;
  lent_array offsets;
  lent_array indices;
  lent_array values;
};

/// One product: vectors of float or double.
struct product {
  lent_array const& x;
  void* result;
  std::int64_t length;  ///< of a result's vector
  std::int64_t vectors;
  bool is_double;
  bool transposed;
  sparse::spmv_options options;
};

/// A matrix in one memory.
class any_matrix {
 public:
  any_matrix() = default;
  any_matrix(any_matrix const&) = delete;
  any_matrix& operator=(any_matrix const&) = delete;
  virtual ~any_matrix() = default;
  virtual void multiply(target const& at, product const& p) = 0;
  [[nodiscard]] virtual sparse::dose_matrix_report const& report(direction of) const = 0;
  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t cols() const = 0;
  [[nodiscard]] virtual std::int64_t entries() const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

template <class Space>
class typed_matrix final : public any_matrix {
 public:
  template <class Exec>
  typed_matrix(Exec const& exec, lent_matrix const& from,
               sparse::dose_matrix_options const& options, job const& control)
      : matrix_(from.values.type == element::f64 ? made<double>(exec, from, options, control)
                                                 : made<float>(exec, from, options, control)) {}

  void multiply(target const& at, product const& p) override {
    on_backend(at, [&]<class Exec>(Exec const& exec) {
      if constexpr (accesses<Exec, Space> && std::is_same_v<typename Exec::memory_space, Space>) {
        turns_.begin(exec);
        by_type(p.is_double, [&]<class T>() { multiply_on<T>(exec, p); });
        turns_.end(exec);
        wait_on_host(exec, "isocenter.DoseMatrix");
      }
    });
  }
  [[nodiscard]] sparse::dose_matrix_report const& report(direction of) const override {
    return matrix_.report(of);
  }
  [[nodiscard]] std::int64_t rows() const override { return matrix_.num_rows(); }
  [[nodiscard]] std::int64_t cols() const override { return matrix_.num_cols(); }
  [[nodiscard]] std::int64_t entries() const override { return matrix_.num_entries(); }
  [[nodiscard]] std::int64_t bytes() const override { return matrix_.bytes(); }

 private:
  template <class T, class Exec>
  static sparse::dose_matrix<Space> made(Exec const& exec, lent_matrix const& from,
                                         sparse::dose_matrix_options const& options,
                                         job const& control) {
    auto const offsets = view_of<std::int64_t, Space>(from.offsets);
    auto const indices = view_of<std::int32_t, Space>(from.indices);
    auto const values = view_of<T, Space>(from.values);
    return {exec,
            from.by_rows ? sparse::csr_arrays(from.rows, from.cols, offsets, indices, values)
                         : sparse::csc_arrays(from.rows, from.cols, offsets, indices, values),
            options, control};
  }
  template <class T, class Exec>
  void multiply_on(Exec const& exec, product const& p) const {
    auto const apply = [&](auto const& from, auto const& to) {
      if (p.transposed) {
        matrix_.apply_transposed(exec, from, to, p.options);
      } else {
        matrix_.apply(exec, from, to, p.options);
      }
    };
    auto const* const from = reinterpret_cast<T const*>(p.x.data);
    auto* const to = static_cast<T*>(p.result);
    auto const n = std::size_t(p.x.extent[0]);
    auto const m = std::size_t(p.length);
    if (p.vectors == 1) {
      apply(Kokkos::View<T const*, Kokkos::LayoutRight, Space>(from, n),
            Kokkos::View<T*, Kokkos::LayoutRight, Space>(to, m));
    } else {
      auto const vectors = std::size_t(p.vectors);
      apply(Kokkos::View<T const**, Kokkos::LayoutRight, Space>(from, n, vectors),
            Kokkos::View<T**, Kokkos::LayoutRight, Space>(to, m, vectors));
    }
  }

  sparse::dose_matrix<Space> matrix_;
  turns turns_;  ///< of products, which share the scratch
};

/// Returns where arrays lie.
target place_of_lent(lent_array const& a) {
  return a.device >= 0 ? target_on_gpu(a.device, a.stream) : target{};
}

/// What Python's class DoseMatrix holds. It lies where its arrays lay, and so do its vectors.
class matrix_holder {
 public:
  matrix_holder(bool by_rows, std::int64_t rows, std::int64_t cols, any_object offsets,
                any_object indices, any_object values, nb::dict keywords, any_object cancel,
                any_object progress) {
    auto const options = options_of<sparse::dose_matrix_options>(keywords, "DoseMatrix");
    lent_matrix from{by_rows,
                     rows,
                     cols,
                     array_of(offsets, element::i64, "indptr", "int64"),
                     array_of(indices, element::i32, "indices", "int32"),
                     borrow(values, {"DoseMatrix", "data"}, false)};
    lent_array const& v = from.values;
    ISO_VALIDATE(v.rank == 1 && (v.type == element::f32 || v.type == element::f64),
                 "DoseMatrix: data of another kind (one axis of {} or float64 is needed); convert "
                 "it",
                 "float32");
    ISO_VALIDATE(v.device == from.offsets.device && v.device == from.indices.device,
                 "DoseMatrix: data, {} and indices lie in several places (a matrix lies in one); "
                 "copy some of them",
                 "indptr");
    vectors_ = options.vectors;
    device_ = v.device;
    target const at = place_of_lent(v);
    call({cancel, progress}, at, [&](job const& control) {
      on_backend(at, [&]<class Exec>(Exec const& exec) {
        matrix_ = std::make_shared<typed_matrix<typename Exec::memory_space>>(exec, from, options,
                                                                              control);
      });
    });
  }

  nb::object apply(any_object x, any_object out, bool transposed, std::string const& sum,
                   any_object cancel) {
    argument const given{"DoseMatrix", "x"};
    // A copy: another thread may close the matrix meanwhile.
    std::shared_ptr<any_matrix> const held = check();
    lent_array const a = borrow(x, given, false);
    require_vectors(a, given, transposed ? held->rows() : held->cols());
    require_place(a, given);
    bool const doubles = a.type == element::f64;
    std::int64_t const vectors = a.rank == 1 ? 1 : a.extent[1];
    ISO_VALIDATE(vectors <= vectors_,
                 "DoseMatrix: x of {} vectors (the matrix was made for {}); make it with "
                 "vectors={}, or take them one by one",
                 vectors, vectors_, vectors);
    std::int64_t const length = transposed ? held->cols() : held->rows();
    sparse::spmv_options options;
    if (!sum.empty()) {
      options.sum = from_word<summation>(sum);
      ISO_VALIDATE(options.sum.has_value(),
                   "DoseMatrix: sum is '{}' (there are: {}); choose one "
                   "of those",
                   sum, all_words<summation>());
    }
    bool const makes = nb::handle(out).is_none();
    ISO_VALIDATE(!makes || device_ < 0,
                 "{}: x lies on a GPU, and no result is given (its framework makes none here); "
                 "give one as out",
                 "DoseMatrix");
    lent_array to;
    owned_memory memory{nullptr, nullptr};
    if (makes) {
      memory = own(length * vectors * (doubles ? 8 : 4), "DoseMatrix");
    } else {
      argument const written{"DoseMatrix", "out", true};
      to = borrow(out, written, true);
      require_vectors(to, written, length);
      require_place(to, written);
      ISO_VALIDATE(
          to.type == a.type && to.rank == a.rank && (to.rank == 1 || to.extent[1] == vectors),
          "DoseMatrix: out of another type or number of vectors (x has {}); give both the "
          "same",
          vectors);
    }
    void* const result = makes ? memory.get() : to.data;
    target const at = place_of_lent(a);
    call({cancel, {}}, at, [&](job const&) {
      held->multiply(at, {a, result, length, vectors, doubles, transposed, options});
    });
    if (!makes) {
      return nb::borrow(nb::handle(out));
    }
    std::vector<std::size_t> shape{std::size_t(length)};
    std::vector<std::int64_t> strides{vectors};
    if (a.rank == 2) {
      shape.push_back(std::size_t(vectors));
      strides.push_back(1);
    }
    return numpy_of(std::move(memory), doubles ? element::f64 : element::f32, shape, strides);
  }

  [[nodiscard]] nb::dict report(bool transposed) const {
    nb::dict told;
    report_fields const put{told};
    describe(put, check()->report(transposed ? direction::transposed : direction::forward));
    return told;
  }
  [[nodiscard]] std::int64_t rows() const { return check()->rows(); }
  [[nodiscard]] std::int64_t cols() const { return check()->cols(); }
  [[nodiscard]] std::int64_t entries() const { return check()->entries(); }
  [[nodiscard]] std::int64_t bytes() const { return matrix_ ? matrix_->bytes() : 0; }
  void close() { matrix_.reset(); }

 private:
  [[nodiscard]] std::shared_ptr<any_matrix> check() const {
    ISO_VALIDATE(matrix_ != nullptr, "{}: it was closed (its memory is given back); make another",
                 "DoseMatrix");
    return matrix_;
  }
  static void require_vectors(lent_array const& a, argument const& what, std::int64_t length) {
    char const* const name = what.name;
    if (a.type != element::f32 && a.type != element::f64) {
      std::string const text =
          iso::message("DoseMatrix: {} of another type (float32 and float64 are taken); {}",
                       {std::string_view(name), std::string_view(advice(what, "convert "))});
      PyErr_SetString(PyExc_TypeError, text.c_str());
      throw nb::python_error();
    }
    ISO_VALIDATE((a.rank == 1 || a.rank == 2) && a.extent[0] == length,
                 "DoseMatrix: {} of {} numbers a vector ({} are needed; several vectors have the "
                 "shape (length, vectors)); give vectors of that length",
                 name, a.rank == 0 ? 0 : a.extent[0], length);
    ISO_VALIDATE(a.rank == 1 || a.extent[1] <= 1 || a.stride[1] == 1,
                 "DoseMatrix: {} is not in C order (the numbers of all vectors at one place must "
                 "follow each other); {}",
                 name, advice(what, "call numpy.ascontiguousarray(", ")"));
  }

  /// Refuses vectors that do not lie where the matrix lies.
  void require_place(lent_array const& a, argument const& what) const {
    auto const named = [](int device) { return device >= 0 ? "a GPU" : "the host"; };
    ISO_VALIDATE(a.device == device_,
                 "DoseMatrix: {} lies on {}, the matrix on {} (a product runs where the matrix "
                 "lies); make another matrix of arrays there",
                 what.name, named(a.device), named(device_));
  }

  std::int64_t vectors_ = 0;  ///< the most that a product takes
  int device_ = -1;           ///< number of the GPU; -1: on the host
  std::shared_ptr<any_matrix> matrix_;
};

/// The rows of a matrix that a rank owns, on one backend, with values of one type.
class any_ranked_matrix {
 public:
  any_ranked_matrix() = default;
  any_ranked_matrix(any_ranked_matrix const&) = delete;
  any_ranked_matrix& operator=(any_ranked_matrix const&) = delete;
  virtual ~any_ranked_matrix() = default;
  virtual void multiply(product const& p, job const& control) = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

template <class Exec, class Value>
class typed_ranked_matrix final : public any_ranked_matrix {
 public:
  using space = typename Exec::memory_space;
  using csr = sparse::csr_view<Value, std::int32_t, space>;

  /// \param rows, columns  of the matrix, and those of its transpose, by rows of each
  typed_ranked_matrix(Exec const& exec, backend::communicator& ranks, sparse::rank_plan const& plan,
                      lent_matrix const& rows, lent_matrix const& columns, std::int64_t vectors,
                      job const& control)
      : exec_(exec),
        ranks_(ranks),
        forward_(exec, ranks, plan, copied(exec, rows, {}), vectors),
        back_(exec, ranks, plan.transposed(), copied(exec, columns, {}), vectors) {
    // A rank that is cancelled stops with the others.
    iso::detail::step_together(ranks, control, 1);
  }

  void multiply(product const& p, job const& control) override {
    iso::detail::step_together(ranks_, control, 0);
    auto const* const from = reinterpret_cast<double const*>(p.x.data);
    auto* const to = static_cast<double*>(p.result);
    auto const [n, m, vectors] =
        std::array{std::size_t(p.x.extent[0]), std::size_t(p.length), std::size_t(p.vectors)};
    if (p.vectors == 1) {
      apply(p, Kokkos::View<double const*, Kokkos::LayoutRight, space>(from, n),
            Kokkos::View<double*, Kokkos::LayoutRight, space>(to, m));
    } else {
      apply(p, Kokkos::View<double const**, Kokkos::LayoutRight, space>(from, n, vectors),
            Kokkos::View<double**, Kokkos::LayoutRight, space>(to, m, vectors));
    }
    exec_.fence("isocenter.mpi.DoseMatrix");
  }
  [[nodiscard]] std::int64_t bytes() const override {
    return forward_.report().bytes_held + back_.report().bytes_held;
  }

 private:
  static csr copied(Exec const& exec, lent_matrix const& from, job const& control) {
    return sparse::detail::copied_rows(
        exec,
        sparse::csr_arrays(from.rows, from.cols, view_of<std::int64_t, space>(from.offsets),
                           view_of<std::int32_t, space>(from.indices),
                           view_of<Value, space>(from.values)),
        control);
  }
  void apply(product const& p, auto const& x, auto const& y) {
    if (p.transposed) {
      back_.apply(x, y);
    } else {
      forward_.apply(x, y, p.options);
    }
  }

  Exec exec_;
  backend::communicator& ranks_;
  sparse::ranked_product<Exec, csr> forward_;
  sparse::ranked_column_product<Exec, csr> back_;
};

/// Returns ranges of so many rows, one behind the other.
std::vector<sparse::row_range> ranges_of(std::vector<std::int64_t> const& counts) {
  std::vector<sparse::row_range> ranges;
  std::int64_t first = 0;
  for (std::int64_t const count : counts) {
    ranges.push_back({first, first + count});
    first += count;
  }
  return ranges;
}

/// What Python's class mpi.DoseMatrix holds.
class ranked_matrix_holder {
 public:
  ranked_matrix_holder(job_ranks const& ranks, std::vector<std::int64_t> const& counts,
                       nb::tuple rows, nb::tuple columns, std::int64_t vectors, any_object cancel,
                       any_object progress)
      : ranks_(ranks.all),
        plan_(ranges_of(counts),
              sparse::divide_rows(nb::cast<std::int64_t>(rows[1]), ranks_->size())),
        vectors_(vectors) {
    lent_matrix const forward = lent(rows);
    lent_matrix const back = lent(columns);
    call(
        {cancel, progress}, target{},
        [&](job const& control) {
          by_type(forward.values.type == element::f64, [&]<class Value>() {
            on_backend([&]<class Exec>(Exec const& exec) {
              place_ = place_of<Exec>;
              matrix_ = std::make_shared<typed_ranked_matrix<Exec, Value>>(
                  exec, *ranks_, plan_, forward, back, vectors_, control);
            });
          });
        },
        made_by::all_ranks);
  }

  /// Returns this rank's part of a product.
  nb::object apply(any_object x, bool transposed, std::string const& sum, any_object cancel) {
    char const* const name = "mpi.DoseMatrix";
    auto const held = matrix_;
    ISO_VALIDATE(held != nullptr, "{}: it was closed (its memory is given back); make another",
                 name);
    std::int64_t const from = transposed ? own_rows().count() : own_columns().count();
    std::int64_t const length = transposed ? own_columns().count() : own_rows().count();
    lent_array const a = borrow(x, {name, "x", false, true}, false);
    ISO_VALIDATE(a.type == element::f64 && (a.rank == 1 || a.rank == 2) && a.extent[0] == from,
                 "{}: x of another shape or type (this rank's {} numbers of float64 are needed, or "
                 "as many rows of several vectors); give such an array",
                 name, from);
    ISO_VALIDATE(a.rank == 1 || a.extent[1] <= 1 || a.stride[1] == 1,
                 "{}: x is not in C order (the numbers of all vectors at one place must follow "
                 "each other); call numpy.ascontiguousarray(x)",
                 name);
    std::int64_t const vectors = a.rank == 1 ? 1 : a.extent[1];
    ISO_VALIDATE(vectors <= vectors_,
                 "{}: x of {} vectors (the matrix was made for {}); make it with vectors={}", name,
                 vectors, vectors_, vectors);
    sparse::spmv_options options;
    options.sum = from_word<summation>(sum);
    ISO_VALIDATE(
        options.sum.has_value() && (!transposed || *options.sum == summation::reproducible),
        "{}: sum is '{}' (there are: {}; of the transpose reproducible alone); choose one "
        "of those",
        name, sum, all_words<summation>());
    owned_memory memory = own(length * vectors * 8, name);
    call(
        {cancel, {}}, place_,
        [&](job const& control) {
          held->multiply({a, memory.get(), length, vectors, true, transposed, options}, control);
        },
        made_by::all_ranks);
    std::vector<std::size_t> shape{std::size_t(length)};
    std::vector<std::int64_t> strides{vectors};
    if (a.rank == 2) {
      shape.push_back(std::size_t(vectors));
      strides.push_back(1);
    }
    return numpy_of(std::move(memory), element::f64, shape, strides);
  }

  [[nodiscard]] nb::tuple rows(int rank) const {
    return nb::make_tuple(plan_.rows(rank).first, plan_.rows(rank).last);
  }
  [[nodiscard]] nb::tuple columns(int rank) const {
    return nb::make_tuple(plan_.columns(rank).first, plan_.columns(rank).last);
  }
  [[nodiscard]] nb::tuple shape() const {
    return nb::make_tuple(plan_.num_rows(), plan_.num_cols());
  }
  [[nodiscard]] std::int64_t bytes() const { return matrix_ ? matrix_->bytes() : 0; }
  void close() { matrix_.reset(); }

 private:
  /// Borrows (rows, columns, offsets, indices, values).
  static lent_matrix lent(nb::tuple const& from) {
    nb::object const values = from[4];
    return {true,
            nb::cast<std::int64_t>(from[0]),
            nb::cast<std::int64_t>(from[1]),
            array_of(from[2], element::i64, "indptr", "int64", true),
            array_of(from[3], element::i32, "indices", "int32", true),
            borrow(values, {"mpi.DoseMatrix", "data", false, true}, false)};
  }
  [[nodiscard]] sparse::row_range const& own_rows() const { return plan_.rows(ranks_->rank()); }
  [[nodiscard]] sparse::row_range const& own_columns() const {
    return plan_.columns(ranks_->rank());
  }

  std::shared_ptr<backend::communicator> ranks_;
  sparse::rank_plan plan_;
  std::int64_t vectors_;
  place place_ = place::serial;
  std::shared_ptr<any_ranked_matrix> matrix_;
};

}  // namespace

void bind_matrix(nb::module_& m) {
  nb::class_<matrix_holder>(m, "DoseMatrix")
      .def(nb::init<bool, std::int64_t, std::int64_t, any_object, any_object, any_object, nb::dict,
                    any_object, any_object>())
      .def("apply", &matrix_holder::apply)
      .def("report", &matrix_holder::report)
      .def("close", &matrix_holder::close)
      .def_prop_ro("rows", &matrix_holder::rows)
      .def_prop_ro("cols", &matrix_holder::cols)
      .def_prop_ro("entries", &matrix_holder::entries)
      .def_prop_ro("bytes", &matrix_holder::bytes);
  nb::class_<ranked_matrix_holder>(m, "RankedMatrix")
      .def(nb::init<job_ranks const&, std::vector<std::int64_t> const&, nb::tuple, nb::tuple,
                    std::int64_t, any_object, any_object>())
      .def("apply", &ranked_matrix_holder::apply)
      .def("rows", &ranked_matrix_holder::rows)
      .def("columns", &ranked_matrix_holder::columns)
      .def("close", &ranked_matrix_holder::close)
      .def_prop_ro("shape", &ranked_matrix_holder::shape)
      .def_prop_ro("bytes", &ranked_matrix_holder::bytes);
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["DoseMatrixOptions"] = fields_of<sparse::dose_matrix_options>();
}

}  // namespace iso::python
