// Exponential and logarithm of registers of doubles, right to about 2 units in the last
// place.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

using Doubles = Vector<double>;
typedef std::int64_t Integers __attribute__((vector_size(register_bytes)));

[[gnu::always_inline]] inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }
[[gnu::always_inline]] inline Doubles smaller(Doubles a, Doubles b) { return a < b ? a : b; }

// exp(-y) for y >= 0; 0 from y = 708 on, where it would be denormal soon.
[[gnu::always_inline]] inline Doubles exp_of_minus(Doubles y) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: rounds to whole numbers
    constexpr double log2_e = 1.4426950408889634;
    constexpr double ln2_high = 6.93147180369123816490e-01;  // ends in zeros
    constexpr double ln2_low = 1.90821492927058770002e-10;
    const Doubles x = -smaller(y, broadcast(708.0));
    const Doubles shifted = x * log2_e + magic;
    const Doubles n = shifted - magic;
    const Doubles r = (x - n * ln2_high) - n * ln2_low;  // |r| <= ln(2) / 2
    // Taylor's series: the first term left out is below 2^-56.
    constexpr double c[] = {1.0,
                            1.0,
                            1.0 / 2,
                            1.0 / 6,
                            1.0 / 24,
                            1.0 / 120,
                            1.0 / 720,
                            1.0 / 5040,
                            1.0 / 40320,
                            1.0 / 362880,
                            1.0 / 3628800,
                            1.0 / 39916800,
                            1.0 / 479001600,
                            1.0 / 6227020800.0};
    Doubles p = broadcast(c[13]);
#pragma GCC unroll 13
    for (int i = 12; i >= 0; --i) {
        p = p * r + c[i];
    }
    // 2^n: the low bits of `shifted` are n, moved to where the exponent is.
    const Integers power = (reinterpret_cast<Integers>(shifted) << 52);
    const Doubles value = reinterpret_cast<Doubles>(reinterpret_cast<Integers>(p) + power);
    return y < 708.0 ? value : Doubles{};
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
    return exponent * 0.6931471805599453 + (log_m + lost);
}

}  // namespace fastmmd::FASTMMD_TARGET
