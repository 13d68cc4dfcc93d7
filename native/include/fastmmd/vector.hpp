// A register full of numbers, as wide as the instruction set that is compiled for.
//
// Files that include this one are compiled once for each instruction set, with
// FASTMMD_TARGET naming it. Everything in them lives in a namespace of that name: were two
// versions of a function to share a name, the linker would keep one of them, maybe the one
// that this processor cannot run. For the same reason they use no templates of the
// standard library.
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef FASTMMD_TARGET
#error "FASTMMD_TARGET must name the instruction set that is compiled for"
#endif
#if !defined(__GNUC__) && !defined(__clang__)
#error "the compiled kernels need the vector types of GCC or Clang"
#endif

namespace fastmmd::FASTMMD_TARGET {

#if defined(__AVX512F__)
constexpr std::size_t register_bytes = 64;
constexpr std::size_t n_registers = 32;
#elif defined(__AVX2__)
constexpr std::size_t register_bytes = 32;
constexpr std::size_t n_registers = 16;
#elif defined(__aarch64__)
constexpr std::size_t register_bytes = 16;
constexpr std::size_t n_registers = 32;
#else
constexpr std::size_t register_bytes = 16;
constexpr std::size_t n_registers = 16;
#endif

// Integers of the size of a number, for its sign bit.
template <typename Real>
struct Bits;
template <>
struct Bits<float> {
    using Signed = std::int32_t;
    using Unsigned = std::uint32_t;
};
template <>
struct Bits<double> {
    using Signed = std::int64_t;
    using Unsigned = std::uint64_t;
};

template <typename Real>
struct VectorOf {
    typedef Real type __attribute__((vector_size(register_bytes)));
};
template <typename Real>
using Vector = typename VectorOf<Real>::type;

template <typename Real>
constexpr std::size_t lanes = register_bytes / sizeof(Real);

template <typename Real>
[[gnu::always_inline]] inline Vector<Real> load(const Real *from) {
    Vector<Real> v;
    __builtin_memcpy(&v, from, sizeof(v));
    return v;
}

template <typename Real>
[[gnu::always_inline]] inline void store(Real *to, Vector<Real> v) {
    __builtin_memcpy(to, &v, sizeof(v));
}

template <typename Real>
[[gnu::always_inline]] inline Vector<Real> broadcast(Real value) {
    return value - Vector<Real>{};
}

}  // namespace fastmmd::FASTMMD_TARGET
