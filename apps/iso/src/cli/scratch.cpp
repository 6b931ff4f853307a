// SPDX-License-Identifier: BSD-3-Clause
#include "scratch.hpp"

#include <iso/core/detail/host_memory.hpp>
#include <iso/files/mapped_array.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>
#include <string>

namespace iso::cli {
namespace {

using files::mapped_file;
using files::detail::mapped_bytes;

constexpr std::size_t page = 4096;
constexpr std::size_t min_mapped = std::size_t(1) << 20;

/// The arrays that lie in files.
struct mapped_arrays {
  std::string folder;
  std::mutex mutex;
  std::map<void*, std::size_t> bytes;
  std::uint64_t all = 0;
  std::uint64_t most = 0;
};

// Null until --scratch is read; never destroyed, as others free arrays when they are.
std::atomic<mapped_arrays*> in_files = nullptr;

/// Returns an array in a file; null where there is no room.
void* map_array(mapped_arrays& arrays, std::size_t bytes) noexcept {
  int reason = 0;
  void* const begin = mapped_bytes::map(arrays.folder.c_str(), bytes, mapped_file::removed, reason);
  if (begin == nullptr) {
    return nullptr;
  }
  try {
    std::scoped_lock const held(arrays.mutex);
    arrays.bytes.emplace(begin, bytes);
    arrays.all += bytes;
    arrays.most = std::max(arrays.most, arrays.all);
    return begin;
  } catch (std::bad_alloc const&) {
    mapped_bytes::unmap(begin, bytes);
    return nullptr;
  }
}

/// Returns whether an array lay in a file, and is gone.
bool unmap_array(mapped_arrays& arrays, void* begin) noexcept {
  // Freed behind the lock: a node may itself begin at a page, and is then asked for here.
  std::map<void*, std::size_t>::node_type node;
  {
    std::scoped_lock const held(arrays.mutex);
    node = arrays.bytes.extract(begin);
    if (node.empty()) {
      return false;
    }
    arrays.all -= node.mapped();
  }
  mapped_bytes::unmap(begin, node.mapped());
  return true;
}

void* array_or_null(std::size_t bytes, std::size_t alignment) noexcept {
  auto* const arrays = in_files.load(std::memory_order_acquire);
  if (arrays != nullptr && bytes >= min_mapped && alignment <= page) {
    return map_array(*arrays, bytes);
  }
  bytes = std::max<std::size_t>(bytes, 1);
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes)
             : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_array(std::size_t bytes, std::size_t alignment = 1) {
  while (true) {
    if (void* const begin = array_or_null(bytes, alignment)) {
      return begin;
    }
    auto const handler = std::get_new_handler();
    if (handler == nullptr) {
      throw std::bad_alloc();
    }
    handler();
  }
}

void free_array(void* begin) noexcept {
  auto* const arrays = in_files.load(std::memory_order_acquire);
  bool const may_be_mapped =
      arrays != nullptr && reinterpret_cast<std::uintptr_t>(begin) % page == 0;
  if (begin != nullptr && !(may_be_mapped && unmap_array(*arrays, begin))) {
    std::free(begin);
  }
}

iso::detail::host_memory memory_in_files() {
  std::error_code unknown;
  auto const room = std::filesystem::space(in_files.load()->folder, unknown);
  char const* const bound = " in the folder of --scratch";
  return unknown ? iso::detail::host_memory{}
                 : iso::detail::host_memory{room.capacity, room.available, bound, room.available,
                                            bound};
}

void use_scratch(std::string const& folder) {
  auto* const arrays = new mapped_arrays;
  arrays->folder = folder;
  in_files.store(arrays, std::memory_order_release);
  iso::detail::memory_of_arrays = memory_in_files;
}

}  // namespace

CLI::Option* add_scratch(CLI::App& app) {
  return app
      .add_option_function<std::string>(
          "--scratch", use_scratch,
          "a folder: volume, readings and all other arrays of a megabyte and more lie in "
          "files there, mapped into memory, which vanish with the run: for those that are "
          "larger than the machine's memory, on a processor, at the speed of the disk. The "
          "result has the same bits")
      ->check(CLI::Validator(
          [](std::string const& folder) {
            int reason = 0;
            void* const begin =
                mapped_bytes::map(folder.c_str(), page, mapped_file::removed, reason);
            mapped_bytes::unmap(begin, page);
            return begin != nullptr
                       ? std::string()
                       : fmt::format(
                             "'{}' takes no files that are mapped ({}); name a folder that "
                             "is there and yours, on a disk with room",
                             folder, std::strerror(reason));
          },
          "FOLDER"));
}

void tell_scratch(common_options const& common, json& document) {
  auto* const arrays = in_files.load();
  if (arrays == nullptr) {
    return;
  }
  document["scratch"] = {{"bytes", arrays->most}};
  if (common.json_file != "-") {
    fmt::print("scratch: {:.4g} GiB at most in files of '{}'\n", double(arrays->most) / 0x1p30,
               arrays->folder);
  }
}

}  // namespace iso::cli

// In place of the C++ library's, which all parts of the program call. All forms, so that none of
// a sanitizer's is paired with one of these.
using std::align_val_t;
using std::nothrow_t;
using std::size_t;
// clang-format off
void* operator new(size_t n) { return iso::cli::allocate_array(n); }
void* operator new[](size_t n) { return iso::cli::allocate_array(n); }
void* operator new(size_t n, align_val_t a) { return iso::cli::allocate_array(n, size_t(a)); }
void* operator new[](size_t n, align_val_t a) { return iso::cli::allocate_array(n, size_t(a)); }
void* operator new(size_t n, nothrow_t const&) noexcept { return iso::cli::array_or_null(n, 1); }
void* operator new[](size_t n, nothrow_t const&) noexcept { return iso::cli::array_or_null(n, 1); }
void* operator new(size_t n, align_val_t a, nothrow_t const&) noexcept { return iso::cli::array_or_null(n, size_t(a)); }
void* operator new[](size_t n, align_val_t a, nothrow_t const&) noexcept { return iso::cli::array_or_null(n, size_t(a)); }
void operator delete(void* p) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p) noexcept { iso::cli::free_array(p); }
void operator delete(void* p, size_t) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p, size_t) noexcept { iso::cli::free_array(p); }
void operator delete(void* p, align_val_t) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p, align_val_t) noexcept { iso::cli::free_array(p); }
void operator delete(void* p, size_t, align_val_t) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p, size_t, align_val_t) noexcept { iso::cli::free_array(p); }
void operator delete(void* p, nothrow_t const&) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p, nothrow_t const&) noexcept { iso::cli::free_array(p); }
void operator delete(void* p, align_val_t, nothrow_t const&) noexcept { iso::cli::free_array(p); }
void operator delete[](void* p, align_val_t, nothrow_t const&) noexcept { iso::cli::free_array(p); }
// clang-format on
