// SPDX-License-Identifier: BSD-3-Clause
#include "device_links.hpp"

#include <iso/core/check.hpp>
#include <iso/mpi/communicator.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace iso::mpi {
namespace {

/// Throws where a call of MPI failed.
void check(int code, char const* function, char const* call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw mpi_error(message("{}: {} failed ({}); end all ranks, as the others may wait for this one",
                          {function, call, std::string_view(text.data(), std::size_t(length))}));
}

bool is_on() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

/// Calls f(first, count) for each part of so many numbers, none above `most`.
template <class F>
void for_each_part(std::int64_t numbers, std::int64_t most, F const& f) {
  for (std::int64_t first = 0; first < numbers; first += most) {
    f(first, int(std::min(most, numbers - first)));
  }
}

/// Turns the top bit of each word. As numbers with a sign they then have the order that they had
/// without one. MPICH 4.0.2 takes the maximum of numbers without a sign as if they had one, and
/// Open MPI 4.1.4 that of MPI_UNSIGNED_LONG.
template <class Word>
void turn_top_bits(std::span<Word> words) {
  for (Word& word : words) {
    word ^= Word(1) << (8 * sizeof(Word) - 1);
  }
}

}  // namespace

scope::scope(int& argc, char**& argv) {
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) {
    throw mpi_error(
        "iso::mpi::scope: MPI was finalised before (it cannot start twice); let one scope live as "
        "long as the program");
  }
  int started = 0;
  MPI_Initialized(&started);
  if (started == 0) {
    int level = 0;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level), "iso::mpi::scope",
          "MPI_Init_thread");
    started_ = true;
  }
}

scope::~scope() {
  if (started_ && is_on()) {
    MPI_Finalize();
  }
}

communicator::communicator(MPI_Comm of, communicator_options const& options)
    : chunk_(options.chunk_bytes), link_gpus_(options.link_gpus) {
  char const* const function = "iso::mpi::communicator";
  ISO_VALIDATE(is_on(),
               "{}: MPI is not running (it was not initialised, or was finalised); make an "
               "iso::mpi::scope first, or call MPI_Init_thread",
               function);
  int level = 0;
  MPI_Query_thread(&level);
  ISO_VALIDATE(level >= MPI_THREAD_FUNNELED,
               "{}: MPI was initialised for one thread (kernels have threads beside the one that "
               "calls MPI); ask MPI_Init_thread for MPI_THREAD_FUNNELED",
               function);
  ISO_VALIDATE(of != MPI_COMM_NULL,
               "{}: no communicator (MPI_COMM_NULL has no ranks); give MPI_COMM_WORLD or one that "
               "holds this process",
               function);
  int between = 0;
  check(MPI_Comm_test_inter(of, &between), function, "MPI_Comm_test_inter");
  ISO_VALIDATE(between == 0,
               "{}: a communicator between two groups (sums need one group); make one of both by "
               "MPI_Intercomm_merge",
               function);
  ISO_VALIDATE(chunk_ >= 8 && chunk_ <= std::numeric_limits<int>::max(),
               "{}: chunks of {} bytes (8 to 2147483647 are taken); leave the default", function,
               chunk_);
  // A failed rank is told by this class, not by the program's handler, which ends it as a rule.
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(of, &handler);
  MPI_Comm_set_errhandler(of, MPI_ERRORS_RETURN);
  int const code = MPI_Comm_dup(of, &ranks_);
  int const other = code == MPI_SUCCESS ? MPI_Comm_dup(of, &meeting_) : code;
  MPI_Comm_set_errhandler(of, handler);
  MPI_Errhandler_free(&handler);
  check(code, function, "MPI_Comm_dup");
  check(other, function, "MPI_Comm_dup");
  MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(meeting_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(ranks_, &rank_);
  MPI_Comm_size(ranks_, &size_);
  if (!backend::carries_well(*this)) {
    MPI_Comm_free(&ranks_);
    MPI_Comm_free(&meeting_);
    throw mpi_error(message(
        "{}: sums, maxima or messages of known words are wrong by way of {} (MPI, or how it was "
        "configured, is at fault); choose another way or another MPI",
        {function, name()}));
  }
}

communicator::~communicator() {
  links_.clear();  // they have ranks of their own, of this one
  if (ranks_ != MPI_COMM_NULL && is_on()) {
    MPI_Comm_free(&ranks_);
    MPI_Comm_free(&meeting_);
  }
}

template <class Word>
void communicator::reduce(std::span<Word> words, MPI_Datatype type, MPI_Op operation,
                          char const* function) {
  for_each_part(
      std::int64_t(words.size()), chunk_ / std::int64_t(sizeof(Word)),
      [&](std::int64_t first, int count) {
        check(MPI_Allreduce(MPI_IN_PLACE, words.data() + first, count, type, operation, ranks_),
              function, "MPI_Allreduce");
      });
}

void communicator::sum(std::span<std::uint32_t> words) {
  reduce(words, MPI_UINT32_T, MPI_SUM, "iso::mpi::communicator::sum");
}
void communicator::sum(std::span<std::uint64_t> words) {
  reduce(words, MPI_UINT64_T, MPI_SUM, "iso::mpi::communicator::sum");
}
void communicator::maximum(std::span<std::uint32_t> words) {
  turn_top_bits(words);
  reduce(words, MPI_INT32_T, MPI_MAX, "iso::mpi::communicator::maximum");
  turn_top_bits(words);
}
void communicator::maximum(std::span<std::uint64_t> words) {
  turn_top_bits(words);
  reduce(words, MPI_INT64_T, MPI_MAX, "iso::mpi::communicator::maximum");
  turn_top_bits(words);
}

void communicator::exchange(std::span<backend::parcel const> out,
                            std::span<backend::parcel const> in) {
  try {
    begin_exchange(out, in);
  } catch (...) {
    begun_.clear();
    throw;
  }
  end_exchanges();
}

void communicator::begin_exchange(std::span<backend::parcel const> out,
                                  std::span<backend::parcel const> in) {
  char const* const function = "iso::mpi::communicator::exchange";
  backend::detail::validate_parcels(out, size_, function);
  backend::detail::validate_parcels(in, size_, function);
  // Messages with one tag between two ranks keep their order, and so do the parts of a parcel.
  constexpr int tag = 1;
  for (backend::parcel const& p : in) {
    for_each_part(p.bytes, chunk_, [&](std::int64_t first, int count) {
      check(MPI_Irecv(p.data + first, count, MPI_BYTE, p.rank, tag, ranks_,
                      &begun_.emplace_back(MPI_REQUEST_NULL)),
            function, "MPI_Irecv");
    });
  }
  for (backend::parcel const& p : out) {
    for_each_part(p.bytes, chunk_, [&](std::int64_t first, int count) {
      check(MPI_Isend(p.data + first, count, MPI_BYTE, p.rank, tag, ranks_,
                      &begun_.emplace_back(MPI_REQUEST_NULL)),
            function, "MPI_Isend");
    });
  }
}

void communicator::end_exchanges() {
  // What fails leaves nothing to wait for again.
  std::vector<MPI_Request> requests;
  requests.swap(begun_);
  for_each_part(std::int64_t(requests.size()), std::numeric_limits<int>::max(),
                [&](std::int64_t first, int count) {
                  check(MPI_Waitall(count, requests.data() + first, MPI_STATUSES_IGNORE),
                        "iso::mpi::communicator::exchange", "MPI_Waitall");
                });
}

void communicator::broadcast(std::span<std::byte> bytes, int from) {
  char const* const function = "iso::mpi::communicator::broadcast";
  backend::detail::validate_rank(from, size_, function);
  for_each_part(std::int64_t(bytes.size()), chunk_, [&](std::int64_t first, int count) {
    check(MPI_Bcast(bytes.data() + first, count, MPI_BYTE, from, ranks_), function, "MPI_Bcast");
  });
}

void communicator::gather(std::span<std::byte const> bytes, std::span<std::byte> all, int to) {
  char const* const function = "iso::mpi::communicator::gather";
  backend::detail::validate_rank(to, size_, function);
  std::size_t const room = rank_ == to ? bytes.size() * std::size_t(size_) : 0;
  ISO_VALIDATE(
      all.size() == room,
      "{}: room for {} bytes on rank {} ({} are wanted: those of {} ranks on rank {}, none "
      "elsewhere); give that much",
      function, all.size(), rank_, room, size_, to);
  // As parcels: counts of all ranks together may be beyond what MPI counts.
  std::vector<backend::parcel> in;
  for (int n = 0; rank_ == to && n < size_; ++n) {
    in.push_back({n, all.data() + std::size_t(n) * bytes.size(), std::int64_t(bytes.size())});
  }
  backend::parcel const out{to, const_cast<std::byte*>(bytes.data()), std::int64_t(bytes.size())};
  exchange({&out, 1}, in);
}

void communicator::barrier() {
  check(MPI_Barrier(ranks_), "iso::mpi::communicator::barrier", "MPI_Barrier");
}

bool communicator::meet(double seconds) {
  char const* const function = "iso::mpi::communicator::meet";
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(meeting_, &request), function, "MPI_Ibarrier");
  for (;;) {
    int met = 0;
    check(MPI_Test(&request, &met, MPI_STATUS_IGNORE), function, "MPI_Test");
    if (met != 0) {
      return true;
    }
    if (std::chrono::duration<double>(clock::now() - begin).count() > seconds) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

backend::device_link* communicator::link_devices(int device) {
  std::array<std::uint32_t, 2> differs{link_gpus_ && device >= 0 ? 0U : 1U,
                                       device != linked_device_ ? 1U : 0U};
  maximum(std::span<std::uint32_t>(differs));
  if (differs[0] != 0) {
    return nullptr;
  }
  if (differs[1] != 0) {
    std::string why;
    links_.push_back(make_device_link(*this, device, why));
    linked_device_ = device;
    name_ = links_.back() != nullptr
                ? message("MPI, host memory; {} between GPUs", {links_.back()->name()})
                : message("MPI, host memory, also between GPUs: {}", {std::string_view(why)});
  }
  return links_.back().get();
}

void communicator::abort(int exit_code) {
  MPI_Abort(ranks_, exit_code);
  std::_Exit(exit_code);  // MPI_Abort need not end this process
}

}  // namespace iso::mpi
