// Cosine and sine of phases in turns.
//
// In turns, range reduction is a subtraction that loses nothing: the phase minus the
// nearest half turn. What is left, at most a quarter turn, goes into two short polynomials
// (native/tools/coefficients.py); an odd number of half turns flips both signs.
#pragma once

#include "fastmmd/vector.hpp"

namespace fastmmd::FASTMMD_TARGET {

template <typename Real>
struct Circle;

template <>
struct Circle<float> {
    // Adding 1.5 * 2^22 leaves no room for bits below one half.
    static constexpr float half_turns = 6291456.0f;
    // Phases up to here are reduced rightly.
    static constexpr float most_turns = 2097152.0f;
    static constexpr int sign_shift = 31;
    static constexpr int degree = 4;
    static constexpr float cosine[] = {-19.739181518554688f, 64.93524169921875f,
                                       -85.25450897216797f, 56.34457778930664f};
    static constexpr float sine[] = {6.283185005187988f, -41.34165573120117f,
                                     81.60100555419922f, -76.54981231689453f,
                                     39.536922454833984f};
};

template <>
struct Circle<double> {
    static constexpr double half_turns = 3377699720527872.0;  // 1.5 * 2^51
    static constexpr double most_turns = 1125899906842624.0;  // 2^50
    static constexpr int sign_shift = 63;
    static constexpr int degree = 8;
    static constexpr double cosine[] = {-19.73920880217871,  64.9393940226648,
                                        -85.4568172060687,   60.24464131796741,
                                        -26.426254214478895, 7.903465069165707,
                                        -1.71324219136729,   0.272036040526957};
    static constexpr double sine[] = {6.283185307179586,    -41.34170224039975,
                                      81.60524927607173,    -76.70585975263495,
                                      42.058693915296686,   -15.094641369584494,
                                      3.819922812570595,    -0.7176855042786153,
                                      0.10071517151526531};
};

// Phases too large to have a fraction count as whole turns; infinite ones become NaN.
template <typename Real>
[[gnu::always_inline]] inline Vector<Real> within_range(Vector<Real> turns) {
    constexpr Real most = Circle<Real>::most_turns;
    return (turns < most && turns > -most) ? turns : turns - turns;
}

// The phases must lie within `most_turns`.
template <typename Real>
[[gnu::always_inline]] inline void sincos_of_turns(Vector<Real> turns, Vector<Real> &cosine,
                                                   Vector<Real> &sine) {
    using C = Circle<Real>;
    typedef typename Bits<Real>::Unsigned Mask __attribute__((vector_size(register_bytes)));
    const Vector<Real> shifted = turns + C::half_turns;
    const Vector<Real> r = turns - (shifted - C::half_turns);
    // The last bit of `shifted` counts half turns: moved up, it is a sign.
    const Mask flip = reinterpret_cast<Mask>(shifted) << C::sign_shift;
    const Vector<Real> u = r * r;
    Vector<Real> p = broadcast(C::cosine[C::degree - 1]);
    Vector<Real> q = broadcast(C::sine[C::degree]);
    for (int i = C::degree - 1; i > 0; --i) {
        p = p * u + C::cosine[i - 1];
        q = q * u + C::sine[i];
    }
    p = p * u + Real(1);
    q = (q * u + C::sine[0]) * r;
    cosine = reinterpret_cast<Vector<Real>>(reinterpret_cast<Mask>(p) ^ flip);
    sine = reinterpret_cast<Vector<Real>>(reinterpret_cast<Mask>(q) ^ flip);
}

}  // namespace fastmmd::FASTMMD_TARGET
