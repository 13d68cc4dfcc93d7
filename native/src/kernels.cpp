// The kernels of one instruction set. This file is compiled once for each of them.

#include "fastmmd/kernels.hpp"

#include "fastmmd/feature_sums.hpp"
#include "fastmmd/pair_sums.hpp"

namespace fastmmd::FASTMMD_TARGET {

namespace {

#define FASTMMD_QUOTE(name) #name
#define FASTMMD_NAME_OF(name) FASTMMD_QUOTE(name)

template <typename Real>
std::size_t bytes_of_one(const Projection &projection) {
    const Fastfood &f = projection.fastfood;
    const std::size_t d = projection.n_columns;
    const std::size_t n_padded = round_up(projection.n_frequencies, panel<Real>);
    const std::size_t dense = d <= slice_columns
                                  ? d + block_rows * d
                                  : d + wide_rows * (d + phase_stride<Real>(n_padded));
    const std::size_t fastfood =
        d + f.padded + fastfood_rows * (f.n_blocks * f.padded + 2 * lanes<Real>);
    // Cache lines and paddings of every array, and the bins.
    return sizeof(Real) * ((f.n_blocks > 0 ? fastfood : dense) + block_rows * panel<Real>) +
           sizeof(std::int64_t) * wide_rows + 16 * 64;
}

std::size_t feature_workspace(const FeatureTask &task) {
    return bytes_of_one<float>(task.single) + bytes_of_one<double>(task.full);
}

template <typename Real>
void walsh_hadamard(Real *rows, std::size_t n_rows, std::size_t n) {
    for (std::size_t i = 0; i < n_rows; ++i) {
        walsh_hadamard_row(rows + i * n, n);
    }
}

}  // namespace

const Kernels &kernels() {
    static constexpr Kernels table = {
        FASTMMD_NAME_OF(FASTMMD_TARGET),
        panel<float>,
        panel<double>,
        tile_rows,
        &feature_workspace,
        &dense_feature_sums,
        &sparse_feature_sums,
        &fastfood_feature_sums,
        &pair_sum,
        &bin_pair_sums,
        &walsh_hadamard<float>,
        &walsh_hadamard<double>,
    };
    return table;
}

}  // namespace fastmmd::FASTMMD_TARGET
