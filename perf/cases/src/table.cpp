// SPDX-License-Identifier: BSD-3-Clause
#include "prepare.hpp"

#include <iso/backend/backends.hpp>
#include <iso/core/check.hpp>

#include <algorithm>

namespace iso::cases {
namespace {

std::vector<std::string_view> const float_and_double = {"float", "double"};
constexpr std::string_view side = "voxels along each side";
constexpr std::string_view kibibytes = "KiB of each array, a multiple of 16";
constexpr std::string_view nonzeros = "non-zeros of the matrix, within 1 per cent";

/// What one case costs beside its model: elements of N^3 voxels and the like.
struct costs {
  std::string_view name;
  double (*numbers)(double size);      ///< of the precision, that the case keeps
  double (*extra_bytes)(double size);  ///< of other types, and for the comparison in double
  double (*steps)(double size);
};

double cube(double n) { return n * n * n; }

costs const& costs_of(std::string_view name) {
  // A non-zero of a matrix: in half 2 bytes and a column of 4, again in the format that is
  // measured, and as much while it is converted.
  static std::vector<costs> const all = {
      {"memory_read", [](double n) { return 256 * n; }, [](double) { return 1e4; },
       [](double n) { return 256 * n / 16; }},
      {"memory_copy", [](double n) { return 512 * n; }, [](double) { return 1e4; },
       [](double n) { return 512 * n / 16; }},
      {"memory_triad", [](double n) { return 768 * n; }, [](double) { return 1e4; },
       [](double n) { return 768 * n / 16; }},
      {"fma", [](double n) { return 96 * n; }, [](double) { return 1e4; },
       [](double n) { return 96 * 512 * n / 16; }},
      {"forward_project", [](double n) { return 2.1 * cube(n); },
       [](double n) { return 8 * cube(n) + 64 * n * n; }, [](double n) { return n * cube(n); }},
      {"forward_project_reproducible", [](double n) { return 2.1 * cube(n); },
       [](double n) { return 8 * cube(n) + 64 * n * n; }, [](double n) { return n * cube(n); }},
      {"forward_project_siddon", [](double n) { return 2.1 * cube(n); },
       [](double n) { return 8 * cube(n) + 64 * n * n; }, [](double n) { return 8 * n * cube(n); }},
      {"back_project", [](double n) { return 4 * cube(n); },
       [](double n) { return 20 * cube(n) + 64 * n * n; },
       [](double n) { return 2 * n * cube(n); }},
      {"fdk", [](double n) { return 4.2 * cube(n); },
       [](double n) { return 26 * cube(n) + 64 * n * n; },
       [](double n) { return 2 * n * cube(n); }},
      {"dose_terma", [](double n) { return 4 * cube(n); }, [](double n) { return 17 * cube(n); },
       [](double n) { return 8 * cube(n); }},
      {"dose_convolution", [](double n) { return 4 * cube(n); },
       [](double n) { return 17 * cube(n); }, [](double n) { return 64 * cube(n); }},
      {"radiological_path", [](double n) { return cube(n) + 4 * n * n; },
       [](double n) { return 128 * n * n; }, [](double n) { return 4 * cube(n); }},
      {"spmv_csr", [](double n) { return 2 * n; }, [](double n) { return 20 * n + 1e6; },
       [](double n) { return n; }},
      {"spmv_row_block", [](double n) { return 2 * n; }, [](double n) { return 20 * n + 1e6; },
       [](double n) { return n; }},
      {"spmv_transposed", [](double n) { return 2 * n; }, [](double n) { return 32 * n + 1e6; },
       [](double n) { return n; }},
  };
  return *std::find_if(all.begin(), all.end(), [&](costs const& c) { return c.name == name; });
}

double bytes_of(std::string_view precision) {
  return precision == "double" ? 8 : precision == "float" ? 4 : 2;
}

std::string list(std::vector<std::string_view> const& names) {
  std::string text;
  for (auto const& name : names) {
    text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

}  // namespace

std::vector<operation> const& operations() {
  static std::vector<operation> const all = {
      {"memory_read",
       "sums of 4096 neighbours of an array",
       kibibytes,
       16,
       1LL << 28,
       {"float"},
       1,
       shapes::any},
      {"memory_copy",
       "one array copied to another",
       kibibytes,
       16,
       1LL << 28,
       {"float"},
       1,
       shapes::any},
      {"memory_triad", "out = b + 0.5 c", kibibytes, 16, 1LL << 28, {"float"}, 1, shapes::any},
      {"fma", "96 chains of 512 fma a lane group", "lane groups", 1, 1LL << 24, float_and_double, 1,
       shapes::any},
      {"forward_project", "linear Joseph, ordered sums, as many cone views as voxels along a side",
       side, 16, 2048, float_and_double, 4, shapes::any},
      {"forward_project_reproducible", "the same with reproducible sums", side, 16, 2048,
       float_and_double, 4, shapes::any},
      {"forward_project_siddon", "the same scan by exact lengths", side, 16, 2048, float_and_double,
       4, shapes::any},
      {"back_project", "the adjoint of forward_project", side, 16, 2048, float_and_double, 4,
       shapes::any},
      {"fdk", "filtered backprojection (Ram-Lak) of as many views as voxels along a side", side, 16,
       2048, float_and_double, 4, shapes::fixed},
      {"dose_terma", "TERMA of a 100 mm field of 6 MV in 256 mm of water", side, 16, 1024,
       float_and_double, 3, shapes::fixed},
      {"dose_convolution", "its collapsed-cone convolution in 64 directions", side, 16, 1024,
       float_and_double, 3, shapes::any},
      {"radiological_path", "a cone view's rays, one a pixel", side, 16, 2048, float_and_double, 3,
       shapes::any},
      {"spmv_csr",
       "a liver-like dose matrix in CSR times a vector of double",
       nonzeros,
       1000000,
       4000000000LL,
       {"half", "float", "double"},
       1,
       shapes::any},
      {"spmv_row_block",
       "the same in blocks of four rows",
       nonzeros,
       1000000,
       4000000000LL,
       {"half"},
       1,
       shapes::any},
      {"spmv_transposed",
       "the transposed matrix in blocks of four rows",
       nonzeros,
       1000000,
       4000000000LL,
       {"half"},
       1,
       shapes::any},
  };
  return all;
}

operation const& operation_named(std::string_view name) {
  auto const& all = operations();
  auto const found =
      std::find_if(all.begin(), all.end(), [&](operation const& o) { return o.name == name; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (auto const& o : all) {
      names.push_back(o.name);
    }
    fail_argument("operation '{}' is not known (there are {}) choose one of those", name,
                  list(names));
  }
  return *found;
}

void validate(point const& p) {
  auto const& o = operation_named(p.operation);
  ISO_VALIDATE(
      std::find(o.precisions.begin(), o.precisions.end(), p.precision) != o.precisions.end(),
      "{} in {} cannot be measured (it runs in {}) choose one of those", p.operation, p.precision,
      list(o.precisions));
  bool const in_steps = o.size != kibibytes || p.size % 16 == 0;
  ISO_VALIDATE(
      p.size >= o.smallest && p.size <= o.largest && in_steps,
      "{} of size {} cannot be measured (its size counts {}, from {} to {}) choose another",
      p.operation, p.size, o.size, o.smallest, o.largest);
  ISO_VALIDATE(p.groups_per_launch >= 0 && (p.groups_per_launch == 0 || o.shape == shapes::any),
               "{} with {} groups a launch cannot be measured (it has one launch shape) leave 0",
               p.operation, p.groups_per_launch);
}

double bytes_needed(point const& p) {
  auto const& c = costs_of(operation_named(p.operation).name);
  return bytes_of(p.precision) * c.numbers(double(p.size)) + c.extra_bytes(double(p.size));
}

double num_steps(point const& p) {
  return costs_of(operation_named(p.operation).name).steps(double(p.size));
}

template <execution_space Exec>
ready prepare(Exec const& exec, point const& p) {
  validate(p);
  auto const is = [&](std::string_view beginning) { return p.operation.starts_with(beginning); };
  return is("memory_") || is("fma")             ? prepare_loop(exec, p)
         : is("forward_project") || is("back_") ? prepare_projection(exec, p)
         : is("fdk")                            ? prepare_reconstruction(exec, p)
         : is("dose_")                          ? prepare_dose(exec, p)
         : is("radiological_path")              ? prepare_paths(exec, p)
                                                : prepare_product(exec, p);
}
ISO_FOR_EACH_BACKEND(ISO_PREPARE_ON, prepare)

}  // namespace iso::cases
