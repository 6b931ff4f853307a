// SPDX-License-Identifier: BSD-3-Clause
//! \file  iso/jobs/vectors.hpp
#pragma once

#include <string>

namespace iso::jobs {

/// Returns the bytes of the vector registers that kernels on processors use: 64 (AVX-512), 32
/// (AVX2) or 0 (the portable form).
int vector_bytes();
/// Returns the words for it.
std::string vectors_in_words(int bytes);

/// Makes it `bytes`; no bit of a result depends on it.
/// \throws iso::invalid_argument  this processor and this build do not have it
void choose_vectors(int bytes);

}  // namespace iso::jobs
