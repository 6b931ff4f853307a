// SPDX-License-Identifier: BSD-3-Clause
#include "arrays.hpp"
#include "options.hpp"
#include "treatment.hpp"

#include <iso/sparse/dose_matrix.hpp>

#include <nanobind/stl/string.h>

#include <memory>
#include <string>
#include <vector>

namespace iso::python {

namespace {

using host = Kokkos::HostSpace;
using matrix = sparse::dose_matrix<host>;

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
lent_array array_of(nb::handle x, element type, char const* name, char const* type_name) {
  lent_array a = borrow(x, {"DoseMatrix", name}, false);
  ISO_VALIDATE(a.rank == 1 && a.type == type,
               "DoseMatrix: {} of another kind (one axis of {} is needed); convert it", name,
               type_name);
  return a;
}

/// What Python's class DoseMatrix holds.
class matrix_holder {
 public:
  matrix_holder(bool by_rows, std::int64_t rows, std::int64_t cols, any_object offsets,
                any_object indices, any_object values, nb::dict keywords, any_object cancel,
                any_object progress) {
    auto const options = options_of<sparse::dose_matrix_options>(keywords, "DoseMatrix");
    lent_array const o = array_of(offsets, element::i64, "indptr", "int64");
    lent_array const i = array_of(indices, element::i32, "indices", "int32");
    lent_array const v = borrow(values, {"DoseMatrix", "data"}, false);
    ISO_VALIDATE(v.rank == 1 && (v.type == element::f32 || v.type == element::f64),
                 "DoseMatrix: data of another kind (one axis of {} or float64 is needed); convert "
                 "it",
                 "float32");
    is_double_ = v.type == element::f64;
    vectors_ = options.vectors;
    auto const view = []<class T>(lent_array const& a, T const*) {
      return Kokkos::View<T const*, Kokkos::LayoutRight, host, Kokkos::MemoryUnmanaged>(
          reinterpret_cast<T const*>(a.data), std::size_t(a.size()));
    };
    call({cancel, progress}, [&](job const& control) {
      by_type(is_double_, [&]<class T>() {
        auto const arrays =
            by_rows ? sparse::csr_arrays(rows, cols, view(o, (std::int64_t*)nullptr),
                                         view(i, (std::int32_t*)nullptr), view(v, (T*)nullptr))
                    : sparse::csc_arrays(rows, cols, view(o, (std::int64_t*)nullptr),
                                         view(i, (std::int32_t*)nullptr), view(v, (T*)nullptr));
        on_backend([&](auto const& exec) {
          matrix_ = std::make_shared<matrix>(exec, arrays, options, control);
        });
      });
    });
  }

  nb::object apply(any_object x, any_object out, bool transposed, std::string const& sum,
                   any_object cancel) {
    argument const given{"DoseMatrix", "x"};
    // A copy: another thread may close the matrix meanwhile.
    std::shared_ptr<matrix> const held = check();
    lent_array const a = borrow(x, given, false);
    require_vectors(a, given, transposed ? held->num_rows() : held->num_cols());
    bool const doubles = a.type == element::f64;
    std::int64_t const vectors = a.rank == 1 ? 1 : a.extent[1];
    ISO_VALIDATE(vectors <= vectors_,
                 "DoseMatrix: x of {} vectors (the matrix was made for {}); make it with "
                 "vectors={}, or take them one by one",
                 vectors, vectors_, vectors);
    std::int64_t const length = transposed ? held->num_cols() : held->num_rows();
    sparse::spmv_options options;
    if (!sum.empty()) {
      options.sum = from_word<summation>(sum);
      ISO_VALIDATE(options.sum.has_value(),
                   "DoseMatrix: sum is '{}' (there are: {}); choose one "
                   "of those",
                   sum, all_words<summation>());
    }
    bool const makes = nb::handle(out).is_none();
    lent_array to;
    owned_memory memory{nullptr, nullptr};
    if (makes) {
      memory = own(length * vectors * (doubles ? 8 : 4), "DoseMatrix");
    } else {
      argument const written{"DoseMatrix", "out", true};
      to = borrow(out, written, true);
      require_vectors(to, written, length);
      ISO_VALIDATE(
          to.type == a.type && to.rank == a.rank && (to.rank == 1 || to.extent[1] == vectors),
          "DoseMatrix: out of another type or number of vectors (x has {}); give both the "
          "same",
          vectors);
    }
    void* const result = makes ? memory.get() : to.data;
    call({cancel, {}}, [&](job const&) {
      by_type(doubles, [&]<class T>() {
        on_backend([&](auto const& exec) {
          multiply<T>(exec, *held, a, result, length, vectors, transposed, options);
        });
      });
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
    describe(put, check()->report(transposed ? matrix::direction::transposed
                                             : matrix::direction::forward));
    return told;
  }
  [[nodiscard]] std::int64_t rows() const { return check()->num_rows(); }
  [[nodiscard]] std::int64_t cols() const { return check()->num_cols(); }
  [[nodiscard]] std::int64_t entries() const { return check()->num_entries(); }
  [[nodiscard]] std::int64_t bytes() const { return matrix_ ? matrix_->bytes() : 0; }
  void close() { matrix_.reset(); }

 private:
  [[nodiscard]] std::shared_ptr<matrix> check() const {
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

  template <class T, class Exec>
  static void multiply(Exec const& exec, matrix const& a, lent_array const& x, void* result,
                       std::int64_t length, std::int64_t vectors, bool transposed,
                       sparse::spmv_options const& options) {
    auto const product = [&](auto const& from, auto const& to) {
      if (transposed) {
        a.apply_transposed(exec, from, to, options);
      } else {
        a.apply(exec, from, to, options);
      }
      exec.fence("isocenter.DoseMatrix");
    };
    auto const* const from = reinterpret_cast<T const*>(x.data);
    auto* const to = static_cast<T*>(result);
    if (vectors == 1) {
      product(Kokkos::View<T const*, Kokkos::LayoutRight, host>(from, std::size_t(x.extent[0])),
              Kokkos::View<T*, Kokkos::LayoutRight, host>(to, std::size_t(length)));
    } else {
      product(Kokkos::View<T const**, Kokkos::LayoutRight, host>(from, std::size_t(x.extent[0]),
                                                                 std::size_t(vectors)),
              Kokkos::View<T**, Kokkos::LayoutRight, host>(to, std::size_t(length),
                                                           std::size_t(vectors)));
    }
  }

  bool is_double_ = false;
  std::int64_t vectors_ = 0;  ///< the most that a product takes
  std::shared_ptr<matrix> matrix_;
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
  nb::dict fields = nb::borrow<nb::dict>(m.attr("fields"));
  fields["DoseMatrixOptions"] = fields_of<sparse::dose_matrix_options>();
}

}  // namespace iso::python
