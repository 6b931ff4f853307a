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
  auto const set = [](int wanted) {
    backend::set_host_vector_bytes(wanted);
    return backend::host_vector_bytes();
  };
  if (set(bytes) == bytes) {
    return;
  }
  int const least = set(0);
  int const most = set(64);
  set(before);
  std::string const here = least == most ? std::to_string(most) + " alone"
                                         : std::to_string(least) + " and " + std::to_string(most);
  fail_argument("vectors of {} bytes (this processor and this build have {}) {}", bytes, here,
                bytes == 0  ? "build with ISO_X86_64_V3=OFF for the portable form"
                : most == 0 ? "choose 0, or build with ISO_X86_64_V3=ON"
                            : "choose what they have");
}

}  // namespace iso::jobs
