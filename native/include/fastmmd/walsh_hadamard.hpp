// Fast Walsh-Hadamard transform of the rows of a matrix.
#pragma once

#include <cstddef>

namespace fastmmd {

// True for 1, 2, 4, 8, ... and false for 0.
constexpr bool is_power_of_two(std::size_t n) noexcept {
    return n != 0 && (n & (n - 1)) == 0;
}

// Replaces a and b by a + b and a - b, element by element. The two ranges do not overlap.
template <typename Real>
inline void butterflies(Real *__restrict a, Real *__restrict b, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n; ++i) {
        const Real sum = a[i] + b[i];
        b[i] = a[i] - b[i];
        a[i] = sum;
    }
}

// Replaces one row of n values by its product with the n x n Hadamard matrix in natural
// (Sylvester) order, without dividing by sqrt(n). n must be a power of two.
// n log2(n) additions, no extra memory.
template <typename Real>
inline void walsh_hadamard_row(Real *row, std::size_t n) noexcept {
    for (std::size_t half = 1; half < n; half *= 2) {
        for (std::size_t start = 0; start < n; start += 2 * half) {
            butterflies(row + start, row + start + half, half);
        }
    }
}

// Transforms each row of a C-contiguous matrix in place. Rows are independent, so the
// result does not depend on how many of them there are.
template <typename Real>
inline void walsh_hadamard(Real *values, std::size_t n_rows, std::size_t n) noexcept {
    for (std::size_t i = 0; i < n_rows; ++i) {
        walsh_hadamard_row(values + i * n, n);
    }
}

}  // namespace fastmmd
