// Exponential and logarithm of registers of doubles, right to about 2 units in the last
// place.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

using Doubles = Vector<double>;
typedef std::int64_t Integers __attribute__((vector_size(register_bytes)));

[[gnu::always_inline]] inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }

constexpr double ln2 = 0.6931471805599453;

// exp(r) = 1 + r + r^2 P(r), and the same in powers of 2: 2^r = 1 + ln(2) r + r^2 P'(r). The
// coefficients are from native/tools/coefficients.py.
template <std::size_t n>
struct Series {
    double terms[n];
    double first = 1.0;

    constexpr Series in_powers_of_2() const {
        Series result = *this;
        result.first = ln2;
        double scale = ln2 * ln2;
        for (double &term : result.terms) {
            term *= scale;
            scale *= ln2;
        }
        return result;
    }

    // The series without its 1, divided by r.
    [[gnu::always_inline]] Doubles operator()(Doubles r) const {
        Doubles p = broadcast(terms[n - 1]);
#pragma GCC unroll 9
        for (std::size_t i = n - 1; i-- > 0;) {
            p = p * r + terms[i];
        }
        return p * r + first;
    }
};

// For |r| <= ln(2) / 2, right to 9e-18.
constexpr Series<10> exp_series = {{
    0.5000000000000012, 0.166666666666667, 0.04166666666651606, 0.008333333333307266,
    0.0013888888946871516, 0.00019841269917274582, 2.4801490073885314e-05,
    2.7557216384372063e-06, 2.763123805319207e-07, 2.5117837877912643e-08}};

constexpr double whole = 6755399441055744.0;  // 1.5 * 2^52: added, it rounds to integers

// (1 + r series(r)) 2^n, where the low bits of `shifted` are n.
[[gnu::always_inline]] inline Doubles times_power(const Series<10> &series, Doubles r,
                                                  Doubles shifted) {
    const Doubles p = series(r) * r + 1.0;
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
    return times_power(exp_series, r, shifted);
}

// 2^-y for y >= 0, with the same care for large y. What is left of y after whole numbers,
// or sixteenths, is exact.
[[gnu::always_inline]] inline Doubles power_of_half(Doubles y) {
    const Doubles x = smaller(y, broadcast(1021.0));
#if defined(__AVX512F__)
    // Sixteen powers fit two registers and are picked by one instruction, which saves half
    // of the series. Entry j is 2^(j/16), its bits less j * 2^48, so that adding the
    // sixteenths of y, 2^48 for each, leaves the whole powers of 2.
    constexpr Integers low = {0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b,
                              0x3fef387a6e756238, 0x3fef06fe0a31b715, 0x3feedea64c123422,
                              0x3feebfdad5362a27, 0x3feeab07dd485429};
    constexpr Integers high = {0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db,
                               0x3feec49182a3f090, 0x3feee89f995ad3ad, 0x3fef199bdd85529c,
                               0x3fef5818dcfba487, 0x3fefa4afa2a490da};
    // For |r| <= 1/32, right to 1.5e-17.
    constexpr Series<5> series =
        Series<5>{{0.5000000000000004, 0.16666666664652685, 0.04166666666058276,
                   0.008333466308471281, 0.0013889116936384397}}
            .in_powers_of_2();
    constexpr double sixteenths = whole / 16.0;
    const Doubles shifted = sixteenths - x;
    const Doubles r = (sixteenths - shifted) - x;
    const Integers steps = reinterpret_cast<Integers>(shifted);
    const Doubles power =
        reinterpret_cast<Doubles>(__builtin_shuffle(low, high, steps) + (steps << 48));
    return power + power * (series(r) * r);
#else
    constexpr Series<10> series = exp_series.in_powers_of_2();
    const Doubles shifted = whole - x;
    return times_power(series, (whole - shifted) - x, shifted);  // |r| <= 1/2
#endif
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
