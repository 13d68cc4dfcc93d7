// Exponential and logarithm of registers of doubles, right to about 2 units in the last
// place.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

using Doubles = Vector<double>;
typedef std::int64_t Integers __attribute__((vector_size(register_bytes)));

[[gnu::always_inline]] inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }

// exp(r) = 1 + r + r^2 P(r) for |r| <= ln(2) / 2, right to 1.1e-17
// (native/tools/coefficients.py).
constexpr std::size_t n_exp_terms = 10;
constexpr double exp_terms[n_exp_terms] = {
    0.5000000000000012,     0.166666666666667,      0.04166666666651606,
    0.008333333333307266,   0.0013888888946871516,  0.00019841269917274582,
    2.4801490073885314e-05, 2.7557216384372063e-06, 2.763123805319207e-07,
    2.5117837877912643e-08};

constexpr double ln2 = 0.6931471805599453;

// The same polynomial in r / ln(2), for powers of 2.
struct PowerTerms {
    double values[n_exp_terms] = {};
    constexpr PowerTerms() {
        double scale = ln2 * ln2;
        for (std::size_t i = 0; i < n_exp_terms; ++i) {
            values[i] = exp_terms[i] * scale;
            scale *= ln2;
        }
    }
};
constexpr PowerTerms power_terms;

constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: added, it rounds to integers

// (1 + first r + r^2 P(r)) 2^n, where the low bits of `shifted` are n.
[[gnu::always_inline]] inline Doubles scaled_series(Doubles r, Doubles shifted,
                                                    const double *terms, double first) {
    Doubles p = broadcast(terms[n_exp_terms - 1]);
#pragma GCC unroll 9
    for (std::size_t i = n_exp_terms - 1; i-- > 0;) {
        p = p * r + terms[i];
    }
    p = (p * r + first) * r + 1.0;
    // The low bits, moved to where the exponent is.
    const Integers power = reinterpret_cast<Integers>(shifted) << 52;
    return reinterpret_cast<Doubles>(reinterpret_cast<Integers>(p) + power);
}

// exp(-y) for y >= 0. From y = 708 on, and for NaN, it is exp(-708) = 3e-308: 0 for every
// sum with a larger term.
[[gnu::always_inline]] inline Doubles exp_of_minus(Doubles y) {
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // ends in zeros
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const Doubles x = -smaller(y, broadcast(708.0));
    const Doubles shifted = x * log2_e + whole;
    const Doubles n = shifted - whole;
    const Doubles r = (x - n * ln2_high) - n * ln2_low;  // |r| <= ln(2) / 2
    return scaled_series(r, shifted, exp_terms, 1.0);
}

// 2^-y for y >= 0, with the same care for large y: cheaper, for what is left of y after
// whole numbers is exact.
[[gnu::always_inline]] inline Doubles power_of_half(Doubles y) {
    const Doubles x = smaller(y, broadcast(1021.0));
    const Doubles shifted = whole - x;
    const Doubles r = (whole - shifted) - x;  // |r| <= 1/2
    return scaled_series(r, shifted, power_terms.values, ln2);
}

// log(1 + u) for u >= 0.
[[gnu::always_inline]] inline Doubles log_of_one_plus(Doubles u) {
    const Doubles w = u + 1.0;
    // What rounding 1 + u lost, to first order.
    const Doubles lost = (u - (w - 1.0)) / w;
    // w = 2^k m with m between sqrt(1/2) and sqrt(2).
    const Integers bits = reinterpret_cast<Integers>(w);
    const Integers above = bits - 0x3fe6a09e667f3bcdLL;  // bits of sqrt(1/2)
    const Integers k = above >> 52;
    const Doubles m = reinterpret_cast<Doubles>(bits - (k << 52));
    const Doubles exponent = __builtin_convertvector(k, Doubles);
    // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172.
    const Doubles s = (m - 1.0) / (m + 1.0);
    const Doubles z = s * s;
    constexpr double c[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                            2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19};
    Doubles p = broadcast(c[8]);
#pragma GCC unroll 8
    for (int i = 7; i >= 0; --i) {
        p = p * z + c[i];
    }
    const Doubles log_m = 2.0 * s + s * z * p;
    return exponent * ln2 + (log_m + lost);
}

}  // namespace fastmmd::FASTMMD_TARGET
