// The compiled kernels of one instruction set, as a table of functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fastmmd/tasks.hpp"

namespace fastmmd {

struct Kernels {
    const char *name;
    // Widths of packed panels, and bytes of workspace of one thread.
    std::size_t single_panel;
    std::size_t double_panel;
    std::size_t tile_rows;
    std::size_t (*feature_workspace)(const FeatureTask &task);
    void (*dense_feature_sums)(const FeatureTask &task, const FeaturePart &part);
    void (*sparse_feature_sums)(const FeatureTask &task, const FeaturePart &part);
    void (*fastfood_feature_sums)(const FeatureTask &task, const FeaturePart &part);
    double (*pair_sum)(const PairTask &task, std::int64_t begin, std::int64_t end,
                       double *workspace);
    void (*bin_pair_sums)(const BinPairTask &task, std::int64_t begin, std::int64_t end,
                          double *workspace);
    void (*walsh_hadamard_single)(float *rows, std::size_t n_rows, std::size_t n);
    void (*walsh_hadamard_double)(double *rows, std::size_t n_rows, std::size_t n);
};

// One for each instruction set that was compiled; see native/src/kernels.cpp.
namespace baseline {
const Kernels &kernels();
}
#ifdef FASTMMD_HAS_X86_TARGETS
namespace avx2 {
const Kernels &kernels();
}
namespace avx512 {
const Kernels &kernels();
}
#endif

}  // namespace fastmmd
