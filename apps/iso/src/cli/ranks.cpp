// SPDX-License-Identifier: BSD-3-Clause
#include "ranks.hpp"

#include "launcher.hpp"

#include <iso/core/detail/fnv1a.hpp>
#include <iso/core/error.hpp>
#include <iso/files/text.hpp>
#include <iso/jobs/info.hpp>
#include <iso/jobs/ranks.hpp>

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace iso::cli {
namespace {

constexpr std::array<std::string_view, 7> shared = {
    "project", "back-project", "reconstruct", "dose", "gamma", "dvh", "matrix apply"};
/// Each process of these does its own.
constexpr std::array<std::string_view, 5> separate = {"sweep", "verify", "info", "help",
                                                      "generate"};

bool is_in(auto const& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a launcher tells; a process alone where it tells nothing that can be understood.
launched process_of_launcher() {
  try {
    return read_launcher();
  } catch (invalid_argument const&) {
    return {};
  }
}

}  // namespace

bool shares_jobs(int argc, char const* const* argv) {
  auto const* const end = argv + argc;
  auto const word_from = [&](char const* const* at) {
    return std::find_if(at, end, [](char const* a) { return a[0] != '-'; });
  };
  auto const* const first = word_from(argv + std::min(argc, 1));
  if (first == end) {
    return false;
  }
  std::string name = *first;
  if (name == "matrix") {
    auto const* const second = word_from(first + 1);
    name += second == end ? "" : " " + std::string(*second);
  }
  return is_in(shared, name) && process_of_launcher().ranks > 1;
}

void let_first_rank_speak() {
  if (!jobs::is_first_rank()) {
    be_quiet();
    static_cast<void>(std::freopen("/dev/null", "w", stdout));
  }
}

void check_processes(std::string const& subcommand) {
  if (jobs::num_ranks() > 1 || is_in(separate, subcommand)) {
    return;
  }
  auto const process = process_of_launcher();
  if (process.ranks == 1) {
    return;
  }
  if (process.rank > 0) {
    spdlog::set_level(spdlog::level::off);
  }
  throw invalid_argument(
      is_in(shared, subcommand)
          ? fmt::format(
                "iso {}: {} processes of {} (this build has no MPI, or another one than the "
                "launcher's, and each of them would write the same files); start one, or "
                "use a build with the launcher's MPI",
                subcommand, process.ranks, process.launcher)
          : fmt::format("iso {}: {} processes of {} (it runs on one, and each of them would write "
                        "the same files); start one",
                        subcommand, process.ranks, process.launcher));
}

void check_command_lines(int argc, char const* const* argv) {
  if (jobs::num_ranks() == 1) {
    return;
  }
  std::uint64_t hash = iso::detail::fnv1a_of_nothing;
  auto const add = [&](std::string_view text) {
    for (char const c : text) {
      hash = iso::detail::fnv1a(hash, static_cast<unsigned char>(c));
    }
    hash = iso::detail::fnv1a(hash, 0);
  };
  add(jobs::source_revision());
  for (int n = 1; n < argc; ++n) {
    add(argv[n]);
  }
  jobs::check_alike(
      hash,
      "processes with different command lines, or of different revisions of iso (they "
      "share one job); start all by one command");
}

std::function<std::vector<float>(slab const&)> reader_of_planes(std::string const& file,
                                                                files::host_volume const& grid,
                                                                std::string_view what,
                                                                std::uint64_t& bytes_read) {
  auto const n = grid.extent;
  std::string said = fmt::format("{}", std::filesystem::file_size(file));
  for (std::size_t axis = 0; axis < 3; ++axis) {
    said += fmt::format(" {} {} {}", n[axis], grid.spacing[axis], grid.origin[axis]);
  }
  if (!files::ending(file).starts_with(".nii")) {
    std::vector<float> plane(std::size_t(n[0] * n[1]));
    bytes_read += std::uint64_t(files::read_planes(
        file, n[2] / 2, plane, files::finite_values::not_required, asked_of_user()));
    said.append(reinterpret_cast<char const*>(plane.data()), plane.size() * sizeof(float));
  }
  jobs::check_alike(jobs::number_of_text(said),
                    fmt::format("processes with different {} (each reads its planes of the file "
                                "itself); name files on a file system that all see",
                                what));
  return [file, n, &bytes_read](slab const& planes) {
    std::vector<float> values(std::size_t(n[0] * n[1] * planes.count()));
    if (planes.count() > 0) {
      bytes_read += std::uint64_t(files::read_planes(
          file, planes.first, values, files::finite_values::required, asked_of_user()));
    }
    return values;
  };
}

std::optional<int> device_of_rank(common_options const& options) {
  int const ranks = jobs::num_ranks();
  bool const on_device = options.backend == "default" || options.backend == "cuda";
  if (ranks == 1 || !on_device) {
    return std::nullopt;
  }
  auto const device = jobs::choose_device(read_local_rank(ranks), ranks, options.share_gpus);
  if (!options.share_gpus) {
    jobs::check_one_rank_a_device(device);
  }
  return device;
}

void tell_bytes(json& document, bytes_by_rank const& bytes) {
  auto const tell = [&](char const* name, jobs::bytes_of_ranks const& of) {
    if (jobs::num_ranks() > 1 && std::ranges::any_of(of, [](auto n) { return n > 0; })) {
      document[name] = of;
    }
  };
  tell("bytes_read", bytes.read);
  tell("bytes_written", bytes.written);
  tell("bytes_needed", bytes.needed);
}

void tell_ranks(json& document, std::string_view has) {
  if (jobs::num_ranks() > 1) {
    document["ranks"] = jobs::num_ranks();
    document["carried_by"] = jobs::carried_by();
    document["idle_ranks"] = jobs::idle_ranks();
    spdlog::info("{} processes: each has {} ({})", jobs::num_ranks(), has, jobs::carried_by());
    auto const& speeds = jobs::speeds_of_ranks();
    if (!speeds.empty()) {
      double const all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
      std::string shares;
      for (double const one : speeds) {
        shares += fmt::format("{}{:.0f} %", shares.empty() ? "" : ", ", 100 * one / all);
        document["shares_by_speed"].push_back(one / all);
      }
      spdlog::info("their processors differ: they have {} by their measured speeds", shares);
    }
    if (jobs::idle_ranks() > 0) {
      spdlog::warn(
          "processes without a plane: {} of {} (there are more of them than planes); start {}",
          jobs::idle_ranks(), jobs::num_ranks(), jobs::num_ranks() - jobs::idle_ranks());
    }
  }
}

}  // namespace iso::cli
