// From phases to sums of features: each phase is read once and serves all its kernels.
#pragma once

#include "fastmmd/sincos.hpp"
#include "fastmmd/tasks.hpp"

namespace fastmmd::FASTMMD_TARGET {

// Phases of consecutive rows, one row every `stride` numbers, and the bin of each row.
template <typename Real>
struct PhaseBlock {
    const Real *values;
    std::size_t stride;
    std::size_t n_rows;
    const std::int64_t *bins;
};

// Features in single precision are rounded to multiples of 2^-22, about their own error, and
// added as whole numbers. Sums of them are exact: the same to the last bit in whatever
// order, batches and threads the rows came. (Up to 2^31 rows in a bin.) Instruction sets
// with and without fused multiplication may round a feature differently.
constexpr double unit = 1.0 / 4194304.0;

// Sums of one feature over the rows of a block, in each lane.
template <typename Real, bool rounded>
struct Total;

template <>
struct Total<float, true> {
    typedef std::uint32_t Units __attribute__((vector_size(register_bytes)));
    // Between 2 and 4 numbers have steps of 2^-22, and their bits count them.
    static constexpr float shift = 3.0f;
    static constexpr std::uint32_t shift_bits = 0x40400000u;
    Units units = {};

    [[gnu::always_inline]] void add(Vector<float> feature) {
        units += reinterpret_cast<Units>(feature + shift);
    }
    // At most 511 rows: their sum then fits 32 bits.
    void add_to(double *sums, std::size_t n, std::size_t n_rows) const {
        const std::uint32_t shifts = static_cast<std::uint32_t>(n_rows) * shift_bits;
        std::uint32_t found[lanes<float>];
        __builtin_memcpy(found, &units, sizeof(units));
        for (std::size_t i = 0; i < n; ++i) {
            sums[i] += unit * static_cast<std::int32_t>(found[i] - shifts);
        }
    }
};

template <bool rounded>
struct Total<double, rounded> {
    static constexpr double shift = 1610612736.0;  // 1.5 * 2^30: steps of 2^-22
    Vector<double> total = {};

    [[gnu::always_inline]] void add(Vector<double> feature) {
        if constexpr (rounded) {
            feature = (feature + shift) - shift;
        }
        total += feature;
    }
    void add_to(double *sums, std::size_t n, std::size_t) const {
        for (std::size_t i = 0; i < n; ++i) {
            sums[i] += total[i];
        }
    }
};

// Adds one register of columns, those from `column` on, of channels `skip` and later.
template <typename Real, bool rounded, int n_channels>
inline void accumulate_register(const PhaseBlock<Real> &phases, std::size_t offset,
                                std::size_t column, const Chain &chain, std::size_t skip,
                                const Sums &sums) {
    const Real multiplier =
        static_cast<Real>(chain.multiplier * static_cast<double>(1u << skip));
    for (std::size_t row = 0; row < phases.n_rows;) {
        const std::size_t first = row;
        const std::int64_t bin = phases.bins[row];
        Total<Real, rounded> cosines[n_channels], sines[n_channels];
        for (; row < phases.n_rows && phases.bins[row] == bin; ++row) {
            Vector<Real> c, s;
            Vector<Real> turns =
                load(phases.values + row * phases.stride + offset) * multiplier;
            if constexpr (sizeof(Real) == sizeof(double)) {
                turns = within_range<Real>(turns);
            }
            sincos_of_turns<Real>(turns, c, s);
            cosines[0].add(c);
            sines[0].add(s);
#pragma GCC unroll 4
            for (int k = 1; k < n_channels; ++k) {
                // The square of c + i s: it doubles the error, where 2 c^2 - 1 would take
                // it four times.
                const Vector<Real> next = c * c - s * s;
                s = (c + c) * s;
                c = next;
                cosines[k].add(c);
                sines[k].add(s);
            }
        }
        double *bin_sums =
            sums.values + (static_cast<std::size_t>(bin) - sums.first_bin) * sums.width;
        for (int k = 0; k < n_channels; ++k) {
            const Channel &channel = chain.channels[skip + static_cast<std::size_t>(k)];
            if (channel.n_frequencies <= column) {
                continue;
            }
            const std::size_t left = channel.n_frequencies - column;
            const std::size_t n = left < lanes<Real> ? left : lanes<Real>;
            cosines[k].add_to(bin_sums + channel.cosines + column, n, row - first);
            sines[k].add_to(bin_sums + channel.sines + column, n, row - first);
        }
    }
}

constexpr std::size_t skip_columns = 16;

// Adds the features of `n_columns` phases a row, which are the frequencies from `column`
// on. Phases are padded to full registers.
template <typename Real, bool rounded>
inline void accumulate_columns(const PhaseBlock<Real> &phases, std::size_t column,
                               std::size_t n_columns, const FeatureTask &task,
                               const Sums &sums) {
    for (std::size_t i = 0; i < task.n_chains; ++i) {
        const Chain &chain = task.chains[i];
        for (std::size_t offset = 0; offset < n_columns; offset += lanes<Real>) {
            const std::size_t at = column + offset;
            // Channels with fewer frequencies come first in a chain. Columns are skipped
            // in widths of the largest register, so that every instruction set computes
            // a feature in the same way.
            const std::size_t from = at / skip_columns * skip_columns;
            std::size_t skip = 0;
            while (skip < chain.n_channels && chain.channels[skip].n_frequencies <= from) {
                ++skip;
            }
            switch (chain.n_channels - skip) {
                case 1:
                    accumulate_register<Real, rounded, 1>(phases, offset, at, chain, skip,
                                                          sums);
                    break;
                case 2:
                    accumulate_register<Real, rounded, 2>(phases, offset, at, chain, skip,
                                                          sums);
                    break;
                case 3:
                    accumulate_register<Real, rounded, 3>(phases, offset, at, chain, skip,
                                                          sums);
                    break;
                case 4:
                    accumulate_register<Real, rounded, 4>(phases, offset, at, chain, skip,
                                                          sums);
                    break;
                default:
                    break;
            }
        }
    }
}

template <typename Real>
inline void accumulate(const PhaseBlock<Real> &phases, std::size_t column,
                       std::size_t n_columns, const FeatureTask &task, const Sums &sums) {
    if constexpr (sizeof(Real) == sizeof(double)) {
        if (task.single_radius < 0.0) {
            accumulate_columns<Real, false>(phases, column, n_columns, task, sums);
            return;
        }
    }
    accumulate_columns<Real, true>(phases, column, n_columns, task, sums);
}

}  // namespace fastmmd::FASTMMD_TARGET
