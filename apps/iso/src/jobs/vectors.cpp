// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/host_vectors.hpp>
#include <iso/core/check.hpp>
#include <iso/jobs/vectors.hpp>

namespace iso::jobs {

int vector_bytes() { return backend::host_vector_bytes(); }

std::string vectors_in_words(int bytes) {
  return bytes >= 64 ? "64 bytes (AVX-512)" : bytes >= 32 ? "32 bytes (AVX2)" : "0 (portable form)";
}

void choose_vectors(int bytes) {
  int const before = backend::host_vector_bytes();
  backend::set_host_vector_bytes(bytes);
  if (backend::host_vector_bytes() == bytes) {
    return;
  }
  backend::set_host_vector_bytes(64);
  int const most = backend::host_vector_bytes();
  backend::set_host_vector_bytes(before);
  fail_argument("vectors of {} bytes (this processor has {} at most); choose at most that", bytes,
                most);
}

}  // namespace iso::jobs
