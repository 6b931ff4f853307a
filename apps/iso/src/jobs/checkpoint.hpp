// SPDX-License-Identifier: BSD-3-Clause
//! Goes on with iterations from a file, and writes it.
#pragma once

#include "rank_parts.hpp"

#include <iso/cases/bits.hpp>
#include <iso/cases/memory.hpp>
#include <iso/files/checkpoint_file.hpp>
#include <iso/files/detail/refuse.hpp>
#include <iso/jobs/reconstruct.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace iso::jobs {

/// The checkpoint of one run, of the whole where ranks share it; without a file name it does
/// nothing.
template <class T, class Exec>
class checkpoint_of {
 public:
  using belongings = std::vector<std::pair<std::string, std::string>>;

  /// \param parts  what this rank has of the method's arrays; null: all
  checkpoint_of(Exec const& exec, std::string file, belongings belongs,
                rank_parts const* parts = nullptr)
      : exec_(exec), file_(std::move(file)), belongs_(std::move(belongs)), parts_(parts) {}

  /// Puts what the file holds into a method, where there is one.
  template <class Method>
  void restore(Method& method, std::vector<ct::iteration>& history) const {
    std::error_code unknown;
    bool const exists = !file_.empty() && std::filesystem::exists(file_, unknown);
    if (parts_ != nullptr) {
      parts_->check_alike(exists, file_);
    }
    if (!exists) {
      return;
    }
    std::vector<std::string> names = {history_name};
    method.visit([&](char const* name, auto&) { names.emplace_back(name); });
    auto const saved = files::read_checkpoint(file_, belongs_, names);
    method.visit([&](char const* name, auto& value) {
      using kind = std::remove_reference_t<decltype(value)>;
      if constexpr (std::is_arithmetic_v<kind>) {
        double const number = numbers<double>(saved, name, 1)[0];
        if (std::is_integral_v<kind> && !(number >= 0 && number <= 0x1p52)) {
          refuse_damaged(name, "is no count");
        }
        value = kind(number);
      } else {
        put(value, numbers<T>(saved, name, whole_size(value)));
      }
    });
    auto const& rows = saved.at<double>(history_name);
    for (std::size_t i = 0; i + 4 <= rows.size(); i += 4) {
      if (rows[i] != double(i / 4 + 1)) {
        refuse_damaged(history_name, "does not count its iterations from 1");
      }
      history.push_back({std::int64_t(i / 4 + 1), rows[i + 1], rows[i + 2], rows[i + 3]});
    }
    if (double(rows.size()) != 4 * saved.at<double>("iterations")[0]) {
      refuse_damaged(history_name, "does not have four numbers of each iteration");
    }
  }

  template <class Method>
  void save(Method& method, std::vector<ct::iteration> const& history) const {
    if (file_.empty()) {
      return;
    }
    files::checkpoint state{belongs_, {}};
    method.visit([&](char const* name, auto& value) {
      if constexpr (std::is_arithmetic_v<std::remove_reference_t<decltype(value)>>) {
        state.arrays.emplace_back(name, std::vector<double>{double(value)});
      } else {
        state.arrays.emplace_back(name, fetch(value));
      }
    });
    std::vector<double> rows;
    for (auto const& now : history) {
      rows.insert(rows.end(), {double(now.number), now.residual, now.relative_residual, now.gap});
    }
    state.arrays.emplace_back(history_name, rows);
    if (is_first_rank()) {
      files::prepare_checkpoint(file_, state).commit();
    }
  }

 private:
  static constexpr char const* history_name = "history";

  /// A volume has a grid; else readings.
  template <class Array>
  static constexpr bool is_volume = requires(Array const& a) { a.grid; };

  template <class Array>
  [[nodiscard]] std::size_t whole_size(Array const& array) const {
    if (parts_ == nullptr) {
      return array.data.size();
    }
    auto const& g = parts_->plan().scan();
    return std::size_t(is_volume<Array> ? parts_->plan().grid().size()
                                        : g.num_views() * g.num_u() * g.num_v());
  }
  template <class Array>
  void put(Array const& array, std::vector<T> const& whole) const {
    if (parts_ == nullptr) {
      cases::put(exec_, array.data, whole);
    } else if constexpr (is_volume<Array>) {
      parts_->put_volume(exec_, array.data, whole);
    } else {
      parts_->put_readings(exec_, array.data, whole);
    }
  }
  /// Returns the whole, of ranks on rank 0 alone.
  template <class Array>
  [[nodiscard]] std::vector<T> fetch(Array const& array) const {
    if (parts_ == nullptr) {
      return cases::fetch(exec_, array.data);
    }
    if constexpr (is_volume<Array>) {
      return parts_->gather_volume(exec_, array.data);
    } else {
      return parts_->gather_readings(exec_, array.data);
    }
  }

  [[noreturn]] void refuse_damaged(char const* name, char const* problem) const {
    files::detail::refuse(file_, std::string("dataset /") + name + " " + problem +
                                     " (the checkpoint is damaged); remove the file");
  }

  /// Returns the finite numbers of that array.
  template <class Number>
  std::vector<Number> const& numbers(files::checkpoint const& saved, char const* name,
                                     std::size_t count) const {
    for (auto const& entry : saved.arrays) {
      if (entry.first == name && !std::holds_alternative<std::vector<Number>>(entry.second)) {
        refuse_damaged(name, "is of another precision");
      }
    }
    auto const& values = saved.at<Number>(name);
    if (values.size() != count) {
      refuse_damaged(name, "has another number of values");
    }
    if (!std::all_of(values.begin(), values.end(), [](Number x) { return std::isfinite(x); })) {
      refuse_damaged(name, "holds values that are not finite");
    }
    return values;
  }

  Exec exec_;
  std::string file_;
  belongings belongs_;
  rank_parts const* parts_;
};

}  // namespace iso::jobs
