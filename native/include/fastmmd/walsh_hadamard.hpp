// Fast Walsh-Hadamard transform of a row, in natural (Sylvester) order, unnormalised.
//
// Long rows are split until a part fits the first cache and is then finished there. Within
// a part three levels are done in one sweep, and the last ones inside registers.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

template <typename Real>
[[gnu::always_inline]] inline void butterfly(Vector<Real> &a, Vector<Real> &b) {
    const Vector<Real> sum = a + b;
    b = a - b;
    a = sum;
}

// One level: halves of length n / 2.
template <typename Real>
inline void one_level(Real *row, std::size_t n) {
    const std::size_t half = n / 2;
    for (std::size_t i = 0; i < half; i += lanes<Real>) {
        Vector<Real> a = load(row + i), b = load(row + half + i);
        butterfly<Real>(a, b);
        store(row + i, a);
        store(row + half + i, b);
    }
}

// Three levels at once: eighths of length n / 8.
template <typename Real>
inline void three_levels(Real *row, std::size_t n) {
    const std::size_t eighth = n / 8;
    for (std::size_t i = 0; i < eighth; i += lanes<Real>) {
        Vector<Real> v[8];
#pragma GCC unroll 8
        for (std::size_t k = 0; k < 8; ++k) {
            v[k] = load(row + k * eighth + i);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 4; ++k) {
            butterfly<Real>(v[k], v[k + 4]);
        }
#pragma GCC unroll 2
        for (std::size_t k = 0; k < 2; ++k) {
            butterfly<Real>(v[k], v[k + 2]);
            butterfly<Real>(v[k + 4], v[k + 6]);
        }
#pragma GCC unroll 4
        for (std::size_t k = 0; k < 8; k += 2) {
            butterfly<Real>(v[k], v[k + 1]);
        }
#pragma GCC unroll 8
        for (std::size_t k = 0; k < 8; ++k) {
            store(row + k * eighth + i, v[k]);
        }
    }
}

// v[i] becomes v[i] + v[i ^ step] where bit `step` of i is 0, else v[i ^ step] - v[i].
template <typename Real, std::size_t step, std::size_t... i>
[[gnu::always_inline]] inline Vector<Real> level_in_register(Vector<Real> v) {
    typedef typename Bits<Real>::Signed Index __attribute__((vector_size(register_bytes)));
    constexpr std::size_t n = lanes<Real>;
    Index partner;
    Vector<Real> sign;
    for (std::size_t k = 0; k < n; ++k) {
        partner[k] = static_cast<typename Bits<Real>::Signed>(k ^ step);
        sign[k] = (k & step) ? Real(-1) : Real(1);
    }
#if defined(__clang__)
    Vector<Real> other;
    for (std::size_t k = 0; k < n; ++k) {
        other[k] = v[k ^ step];
    }
#else
    const Vector<Real> other = __builtin_shuffle(v, partner);
#endif
    return v * sign + other;
}

// All levels within one register.
template <typename Real>
[[gnu::always_inline]] inline Vector<Real> levels_in_register(Vector<Real> v) {
    constexpr std::size_t n = lanes<Real>;
    if constexpr (n > 8) {
        v = level_in_register<Real, 8>(v);
    }
    if constexpr (n > 4) {
        v = level_in_register<Real, 4>(v);
    }
    if constexpr (n > 2) {
        v = level_in_register<Real, 2>(v);
    }
    return level_in_register<Real, 1>(v);
}

// A row shorter than a register.
template <typename Real>
inline void short_row(Real *row, std::size_t n) {
    for (std::size_t half = 1; half < n; half *= 2) {
        for (std::size_t start = 0; start < n; start += 2 * half) {
            for (std::size_t i = start; i < start + half; ++i) {
                const Real sum = row[i] + row[i + half];
                row[i + half] = row[i] - row[i + half];
                row[i] = sum;
            }
        }
    }
}

template <typename Real>
inline void transform_in_cache(Real *row, std::size_t n) {
    std::size_t part = n;
    while (part >= 8 * lanes<Real>) {
        for (std::size_t start = 0; start < n; start += part) {
            three_levels(row + start, part);
        }
        part /= 8;
    }
    while (part > lanes<Real>) {
        for (std::size_t start = 0; start < n; start += part) {
            one_level(row + start, part);
        }
        part /= 2;
    }
    for (std::size_t i = 0; i < n; i += lanes<Real>) {
        store(row + i, levels_in_register<Real>(load(row + i)));
    }
}

// n must be a power of two.
template <typename Real>
inline void walsh_hadamard_row(Real *row, std::size_t n) {
    constexpr std::size_t in_cache = 16384 / sizeof(Real);
    if (n < lanes<Real>) {
        short_row(row, n);
        return;
    }
    std::size_t part = n;
    // Levels of halves longer than the cache: over the whole row, three at a time.
    while (part > in_cache) {
        const bool three = part >= 8 * in_cache / 4;
        for (std::size_t start = 0; start < n; start += part) {
            if (three) {
                three_levels(row + start, part);
            } else {
                one_level(row + start, part);
            }
        }
        part /= three ? 8 : 2;
    }
    for (std::size_t start = 0; start < n; start += part) {
        transform_in_cache(row + start, part);
    }
}

}  // namespace fastmmd::FASTMMD_TARGET
