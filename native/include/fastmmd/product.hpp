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

// Calls start(r, h) for the first value of row r in half h of a tile's columns, adds
// sum_k rows[k][r] * columns[k][c], and hands the result to end(r, h, sum).
template <typename Real, typename Start, typename End>
[[gnu::always_inline]] inline void product_of_tile(const Real *__restrict rows,
                                                   const Real *__restrict columns,
                                                   std::size_t n_terms, const Start &start,
                                                   const End &end) {
    Vector<Real> sum[tile_rows][2];
#pragma GCC unroll 12
    for (std::size_t r = 0; r < tile_rows; ++r) {
        sum[r][0] = start(r, 0);
        sum[r][1] = start(r, 1);
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
        end(r, 0, sum[r][0]);
        end(r, 1, sum[r][1]);
    }
}

// out[r][c] (+)= sum_k rows[k][r] * columns[k][c], for one tile.
template <typename Real>
[[gnu::always_inline]] inline void product_tile(const Real *__restrict rows,
                                                const Real *__restrict columns,
                                                std::size_t n_terms, Real *out,
                                                std::size_t out_stride, bool add) {
    const auto place = [=](std::size_t r, std::size_t half) {
        return out + r * out_stride + half * lanes<Real>;
    };
    product_of_tile<Real>(
        rows, columns, n_terms,
        [=](std::size_t r, std::size_t half) {
            return add ? load(place(r, half)) : Vector<Real>{};
        },
        [=](std::size_t r, std::size_t half, Vector<Real> sum) {
            store(place(r, half), sum);
        });
}

}  // namespace fastmmd::FASTMMD_TARGET
