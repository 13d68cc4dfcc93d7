// The register tile: some rows times some columns, all sums held in registers.
//
// It is the inner loop of every projection and of all squared distances. Rows and columns
// are packed beforehand, so that both are read in order, and padded with zeros to full
// tiles: a row's result is then the same number whatever rows surround it.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

// Rows of a tile: with two registers of columns, so many sums and one row's worth of
// columns fill the registers.
constexpr std::size_t tile_rows = n_registers == 32 ? 12 : 6;

// Columns of a tile.
template <typename Real>
constexpr std::size_t panel = 2 * lanes<Real>;

// out[r][c] (+)= sum_k rows[k][r] * columns[k][c], for one tile.
template <typename Real>
[[gnu::always_inline]] inline void product_tile(const Real *__restrict rows,
                                                const Real *__restrict columns,
                                                std::size_t n_terms, Real *out,
                                                std::size_t out_stride, bool add) {
    Vector<Real> sum[tile_rows][2];
#pragma GCC unroll 12
    for (std::size_t r = 0; r < tile_rows; ++r) {
        sum[r][0] = add ? load(out + r * out_stride) : Vector<Real>{};
        sum[r][1] = add ? load(out + r * out_stride + lanes<Real>) : Vector<Real>{};
    }
    for (std::size_t k = 0; k < n_terms; ++k) {
        const Vector<Real> left = load(columns + k * panel<Real>);
        const Vector<Real> right = load(columns + k * panel<Real> + lanes<Real>);
#pragma GCC unroll 12
        for (std::size_t r = 0; r < tile_rows; ++r) {
            const Real x = rows[k * tile_rows + r];
            sum[r][0] += x * left;
            sum[r][1] += x * right;
        }
    }
#pragma GCC unroll 12
    for (std::size_t r = 0; r < tile_rows; ++r) {
        store(out + r * out_stride, sum[r][0]);
        store(out + r * out_stride + lanes<Real>, sum[r][1]);
    }
}

}  // namespace fastmmd::FASTMMD_TARGET
