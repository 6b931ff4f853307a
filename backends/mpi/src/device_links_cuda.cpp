// SPDX-License-Identifier: BSD-3-Clause
#include "device_links.hpp"

#include <iso/core/check.hpp>
#include <iso/core/error.hpp>

#include <cuda_runtime.h>

#ifdef ISO_MPI_NCCL
#include <nccl.h>
#endif
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace iso::mpi {
namespace {

void check_cuda(cudaError_t code, char const* call) {
  if (code != cudaSuccess) {
    throw mpi_error(
        message("iso::mpi::communicator: {} failed ({}); end all ranks, as the others "
                "may wait for this one",
                {call, cudaGetErrorString(code)}));
  }
}

/// A device that is the current one for as long as this lives; then that which was before.
class on_device {
 public:
  explicit on_device(int device) {
    check_cuda(cudaGetDevice(&before_), "cudaGetDevice");
    check_cuda(cudaSetDevice(device), "cudaSetDevice");
  }
  on_device(on_device const&) = delete;
  on_device& operator=(on_device const&) = delete;
  ~on_device() { static_cast<void>(cudaSetDevice(before_)); }

 private:
  int before_ = 0;
};

#ifdef ISO_MPI_NCCL

template <class Word>
constexpr ncclDataType_t nccl_type = std::is_same_v<Word, std::uint32_t> ? ncclUint32 : ncclUint64;

/// A link by NCCL.
class nccl_link final : public backend::device_link {
 public:
  nccl_link(backend::communicator& ranks, int device) : size_(ranks.size()), device_(device) {
    on_device const here(device);
    int version = 0;
    check(ncclGetVersion(&version), "ncclGetVersion");
    name_ = message("NCCL {}.{}.{}", {version / 10000, version / 100 % 100, version % 100});
    // What rank 0 lacks all ranks lack.
    struct {
      ncclResult_t code = ncclSuccess;
      ncclUniqueId id = {};
    } from_first;
    if (ranks.rank() == 0) {
      from_first.code = ncclGetUniqueId(&from_first.id);
    }
    ranks.broadcast(std::as_writable_bytes(std::span(&from_first, 1)), 0);
    check(from_first.code, "ncclGetUniqueId");
    ncclUniqueId const& id = from_first.id;
    check(ncclCommInitRank(&ranks_, size_, id, ranks.rank()), "ncclCommInitRank");
  }
  nccl_link(nccl_link const&) = delete;
  nccl_link& operator=(nccl_link const&) = delete;
  ~nccl_link() override {
    // What waits for a rank that failed would wait for ever, and so would this rank where it fails.
    ncclResult_t state = ncclSuccess;
    if (std::uncaught_exceptions() == 0 && ncclCommGetAsyncError(ranks_, &state) == ncclSuccess &&
        state == ncclSuccess) {
      ncclCommDestroy(ranks_);
    } else {
      ncclCommAbort(ranks_);
    }
  }

  [[nodiscard]] std::string_view name() const override { return name_; }
  void sum(std::span<std::uint32_t> words, void* queue) override { reduce(words, ncclSum, queue); }
  void sum(std::span<std::uint64_t> words, void* queue) override { reduce(words, ncclSum, queue); }
  void maximum(std::span<std::uint32_t> words, void* queue) override {
    reduce(words, ncclMax, queue);
  }
  void maximum(std::span<std::uint64_t> words, void* queue) override {
    reduce(words, ncclMax, queue);
  }
  void exchange(std::span<backend::parcel const> out, std::span<backend::parcel const> in,
                void* queue) override {
    char const* const function = "iso::mpi::communicator, NCCL";
    backend::detail::validate_parcels(out, size_, function);
    backend::detail::validate_parcels(in, size_, function);
    on_device const here(device_);
    check_state();
    check(ncclGroupStart(), "ncclGroupStart");
    for (backend::parcel const& p : out) {
      if (p.bytes > 0) {
        check(ncclSend(p.data, std::size_t(p.bytes), ncclUint8, p.rank, ranks_, stream(queue)),
              "ncclSend");
      }
    }
    for (backend::parcel const& p : in) {
      if (p.bytes > 0) {
        check(ncclRecv(p.data, std::size_t(p.bytes), ncclUint8, p.rank, ranks_, stream(queue)),
              "ncclRecv");
      }
    }
    check(ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  static cudaStream_t stream(void* queue) { return static_cast<cudaStream_t>(queue); }
  static void check(ncclResult_t code, char const* call) {
    if (code != ncclSuccess) {
      throw mpi_error(message(
          "iso::mpi::communicator: {} failed ({}: {}); end all ranks, as the others may wait for "
          "this one",
          {call, ncclGetErrorString(code), ncclGetLastError(nullptr)}));
    }
  }
  /// Throws where what was enqueued before failed.
  void check_state() const {
    ncclResult_t state = ncclSuccess;
    check(ncclCommGetAsyncError(ranks_, &state), "ncclCommGetAsyncError");
    check(state, "what went before");
  }
  template <class Word>
  void reduce(std::span<Word> words, ncclRedOp_t operation, void* queue) {
    if (!words.empty()) {
      on_device const here(device_);
      check_state();
      check(ncclAllReduce(words.data(), words.data(), words.size(), nccl_type<Word>, operation,
                          ranks_, stream(queue)),
            "ncclAllReduce");
    }
  }

  int size_;
  int device_;
  std::string name_;
  ncclComm_t ranks_ = nullptr;
};

#endif

/// A link by an MPI that reads and writes the memory of GPUs. It waits for the queue.
class mpi_link final : public backend::device_link {
 public:
  /// \param ranks  those of MPI; must outlive it
  explicit mpi_link(backend::communicator& ranks) : ranks_(ranks) {}

  [[nodiscard]] std::string_view name() const override { return "GPU-aware MPI"; }
  void sum(std::span<std::uint32_t> words, void* queue) override {
    wait(queue);
    ranks_.sum(words);
  }
  void sum(std::span<std::uint64_t> words, void* queue) override {
    wait(queue);
    ranks_.sum(words);
  }
  void maximum(std::span<std::uint32_t> words, void* queue) override { stage(words, queue); }
  void maximum(std::span<std::uint64_t> words, void* queue) override { stage(words, queue); }
  void exchange(std::span<backend::parcel const> out, std::span<backend::parcel const> in,
                void* queue) override {
    wait(queue);
    ranks_.exchange(out, in);
  }

 private:
  static void wait(void* queue) {
    check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(queue)), "cudaStreamSynchronize");
  }
  /// The host turns top bits of words for their maximum, so it must have them.
  template <class Word>
  void stage(std::span<Word> words, void* queue) {
    wait(queue);
    std::vector<Word> here(words.size());
    check_cuda(cudaMemcpy(here.data(), words.data(), words.size_bytes(), cudaMemcpyDefault),
               "cudaMemcpy");
    ranks_.maximum(std::span<Word>(here));
    check_cuda(cudaMemcpy(words.data(), here.data(), words.size_bytes(), cudaMemcpyDefault),
               "cudaMemcpy");
  }

  backend::communicator& ranks_;
};

/// Returns whether this MPI, if it is Open MPI, says that it takes addresses of a GPU's memory.
bool reads_gpus() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

/// Bytes of a GPU's memory that a self-test works in.
class device_bytes {
 public:
  /// What its words and messages take.
  static constexpr std::size_t count = 1024;

  device_bytes() { check_cuda(cudaMalloc(&data_, count), "cudaMalloc"); }
  device_bytes(device_bytes const&) = delete;
  device_bytes& operator=(device_bytes const&) = delete;
  ~device_bytes() { static_cast<void>(cudaFree(data_)); }

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
};

/// A communicator that carries by a link, by way of a GPU's memory: so a link is tested as MPI is.
class linked_ranks final : public backend::communicator {
 public:
  /// \param memory  there on all ranks, so that none fails in a test while others wait
  linked_ranks(backend::communicator& ranks, backend::device_link& link, device_bytes const& memory)
      : ranks_(ranks), link_(link), memory_(memory) {}

  [[nodiscard]] int rank() const override { return ranks_.rank(); }
  [[nodiscard]] int size() const override { return ranks_.size(); }
  [[nodiscard]] std::string name() const override { return std::string(link_.name()); }
  void sum(std::span<std::uint32_t> words) override { reduce(words, true); }
  void sum(std::span<std::uint64_t> words) override { reduce(words, true); }
  void maximum(std::span<std::uint32_t> words) override { reduce(words, false); }
  void maximum(std::span<std::uint64_t> words) override { reduce(words, false); }
  void exchange(std::span<backend::parcel const> out,
                std::span<backend::parcel const> in) override {
    std::vector<backend::parcel> there;
    std::byte* place = memory_.data();
    for (auto const& parcels : {out, in}) {
      for (backend::parcel const& p : parcels) {
        copy(place, p.data, p.bytes);
        there.push_back({p.rank, place, p.bytes});
        place += p.bytes;
      }
    }
    std::span<backend::parcel const> const all(there);
    link_.exchange(all.first(out.size()), all.subspan(out.size()), nullptr);
    for (std::size_t n = 0; n < in.size(); ++n) {
      copy(in[n].data, there[out.size() + n].data, in[n].bytes);
    }
  }
  void broadcast(std::span<std::byte> bytes, int from) override { ranks_.broadcast(bytes, from); }
  void gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) override {
    ranks_.gather(bytes, all, to);
  }
  void barrier() override { ranks_.barrier(); }
  bool meet(double seconds) override { return ranks_.meet(seconds); }
  [[nodiscard]] backend::device_link* link_devices(int /*device*/) override { return &link_; }
  [[noreturn]] void abort(int exit_code) override {
    ranks_.abort(exit_code);
    std::_Exit(exit_code);
  }

 private:
  static void copy(std::byte* to, std::byte const* from, std::int64_t bytes) {
    check_cuda(cudaMemcpy(to, from, std::size_t(bytes), cudaMemcpyDefault), "cudaMemcpy");
  }
  template <class Word>
  void reduce(std::span<Word> words, bool adds) {
    auto const bytes = std::int64_t(words.size_bytes());
    auto* const here = reinterpret_cast<std::byte*>(words.data());
    copy(memory_.data(), here, bytes);
    std::span<Word> const there(reinterpret_cast<Word*>(memory_.data()), words.size());
    if (adds) {
      link_.sum(there, nullptr);
    } else {
      link_.maximum(there, nullptr);
    }
    copy(here, memory_.data(), bytes);
  }

  backend::communicator& ranks_;
  backend::device_link& link_;
  device_bytes const& memory_;
};

/// Returns whether some rank says so; asked of all.
bool any(backend::communicator& ranks, bool here) {
  std::uint32_t word = here ? 1 : 0;
  ranks.maximum(std::span<std::uint32_t>(&word, 1));
  return word != 0;
}

/// Returns whether no two ranks have the same GPU.
bool apart(backend::communicator& ranks, int device) {
  // A GPU is known by its universally unique identifier.
  cudaDeviceProp of{};
  check_cuda(cudaGetDeviceProperties(&of, device), "cudaGetDeviceProperties");
  using identifier = std::array<char, sizeof(of.uuid.bytes)>;
  identifier here{};
  std::copy(std::begin(of.uuid.bytes), std::end(of.uuid.bytes), here.begin());
  std::vector<identifier> all(ranks.rank() == 0 ? std::size_t(ranks.size()) : 0);
  ranks.gather(std::as_bytes(std::span(here)), std::as_writable_bytes(std::span(all)), 0);
  std::sort(all.begin(), all.end());
  return !any(ranks, std::adjacent_find(all.begin(), all.end()) != all.end());
}

/// Returns what `make` makes, where no rank fails in it and known words arrive; else null, and
/// `why` says what this rank knows of it.
template <class Make>
std::unique_ptr<backend::device_link> tested(backend::communicator& ranks, Make const& make,
                                             std::string& why) {
  std::unique_ptr<backend::device_link> link;
  std::optional<device_bytes> memory;
  why = "another rank cannot be linked";
  try {
    memory.emplace();
  } catch (error const& failure) {
    why = failure.what();
  }
  // Ranks make a link together: none begins where another has no memory, and does not come.
  if (any(ranks, !memory)) {
    return nullptr;
  }
  try {
    link = make();
  } catch (error const& failure) {
    why = failure.what();
    link = nullptr;
  }
  if (any(ranks, link == nullptr)) {
    return nullptr;
  }
  why = "known words come out wrong";
  bool good = false;
  try {
    linked_ranks through(ranks, *link, *memory);
    good = backend::carries_well(through);
  } catch (error const& failure) {
    why = failure.what();
  }
  return any(ranks, !good) ? nullptr : std::move(link);
}

}  // namespace

std::unique_ptr<backend::device_link> make_device_link(backend::communicator& ranks, int device,
                                                       std::string& why) {
  on_device const here(device);
  if (!apart(ranks, device)) {
    why = "ranks share a GPU";
    return nullptr;
  }
  why = "this build has no NCCL";
  std::unique_ptr<backend::device_link> link;
#ifdef ISO_MPI_NCCL
  link = tested(ranks, [&] { return std::make_unique<nccl_link>(ranks, device); }, why);
#endif
  if (link == nullptr && !any(ranks, !reads_gpus())) {
    link = tested(ranks, [&] { return std::make_unique<mpi_link>(ranks); }, why);
  }
  return link;
}

}  // namespace iso::mpi
