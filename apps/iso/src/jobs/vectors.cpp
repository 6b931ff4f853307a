// SPDX-License-Identifier: BSD-3-Clause
#include <iso/backend/lane_group.hpp>
#include <iso/core/check.hpp>
#include <iso/jobs/vectors.hpp>

namespace iso::jobs {

int vector_bytes() { return backend::host_vector_bytes(); }

std::string vectors_in_words(int bytes) {
  return bytes >= 64 ? "64 bytes (AVX-512)" : bytes >= 32 ? "32 bytes (AVX2)" : "0 (portable form)";
}

void choose_vectors(int bytes) {
  ISO_VALIDATE(bytes == 0 || bytes == 32 || bytes == 64,
               "vectors of {} bytes (choose 0, the portable form, 32 or 64)", bytes);
  int const before = backend::host_vector_bytes();
  backend::detail::set_host_vector_bytes(bytes);
  int const most = backend::host_vector_bytes();
  if (most != bytes) {
    backend::detail::set_host_vector_bytes(before);
    fail_argument("vectors of {} bytes (this processor and this build have at most {}) choose {}",
                  bytes, most, most == 0 ? "0" : "0 or 32");
  }
}

}  // namespace iso::jobs
