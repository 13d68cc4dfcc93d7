// Sums of features over rows: read rows, project them, add the cosines and sines.
//
// Three ways to project: dense rows by register tiles, sparse rows entry by entry, and
// Fastfood. All work in single precision on the rows near the center and in double
// precision on the others, row by row, so that what a row adds does not depend on which
// other rows came with it.
#pragma once

#include "fastmmd/accumulate.hpp"
#include "fastmmd/product.hpp"
#include "fastmmd/walsh_hadamard.hpp"

namespace fastmmd::FASTMMD_TARGET {

// Rows handled together: whole tiles, and few enough for sums of whole numbers.
constexpr std::size_t block_rows = 96;
static_assert(block_rows % tile_rows == 0 && block_rows < 512);

// Beyond so many columns the product is done in slices that stay in the second cache, and
// on more rows, so that frequencies are fetched from memory less often.
constexpr std::size_t slice_columns = 512;
constexpr std::size_t wide_rows = 2 * block_rows;
static_assert(wide_rows < 512);

// Numbers between two rows of phases, where all frequencies are kept: a little more than a
// power of two, at which rows of a tile would fall on the same place of a cache.
template <typename Real>
constexpr std::size_t phase_stride(std::size_t n_padded) {
    return n_padded + lanes<Real>;
}

constexpr std::size_t round_up(std::size_t n, std::size_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

// Memory from one workspace, handed out in cache lines.
struct Arena {
    unsigned char *next;

    template <typename T>
    T *take(std::size_t n) {
        T *result = reinterpret_cast<T *>(next);
        next += round_up(n * sizeof(T), 64);
        return result;
    }
};

// Positions that wait for a full block, with their bins.
struct Waiting {
    std::int64_t position[block_rows];
    std::int64_t bin[block_rows];
    std::size_t n;
};

struct Cursor {
    const Selection &rows;
    std::size_t bin;

    Cursor(const Selection &selection, std::int64_t position) : rows(selection), bin(0) {
        // Halve the bins until the one that holds the position is found.
        std::size_t low = 0, high = rows.n_bins;
        while (high - low > 1) {
            const std::size_t middle = (low + high) / 2;
            (rows.edges[middle] <= position ? low : high) = middle;
        }
        bin = low;
    }

    std::int64_t bin_of(std::int64_t position) {
        while (position >= rows.edges[bin + 1]) {
            ++bin;
        }
        return static_cast<std::int64_t>(bin);
    }

    std::int64_t row_of(std::int64_t position) const {
        return rows.order == nullptr ? position : rows.order[position];
    }
};

// Copies a row, less the center, and returns its squared distance from the center.
template <typename Real, typename In>
inline double centered_row(const DenseRows &rows, std::int64_t row, Real *to) {
    const In *from = static_cast<const In *>(rows.values) + row * rows.row_stride;
    const std::size_t n = rows.n_columns;
    const double *center = rows.center;
    constexpr std::size_t step = lanes<double>;
    typedef In Narrow __attribute__((vector_size(step * sizeof(In))));
    typedef Real Out __attribute__((vector_size(step * sizeof(Real))));
    Vector<double> squares = {};
    double square = 0.0;
    std::size_t j = 0;
    if (rows.column_stride == 1) {
        for (; j + step <= n; j += step) {
            Narrow raw;
            __builtin_memcpy(&raw, from + j, sizeof(raw));
            Vector<double> v = __builtin_convertvector(raw, Vector<double>);
            if (center != nullptr) {
                v -= load(center + j);
            }
            squares += v * v;
            const Out out = __builtin_convertvector(v, Out);
            __builtin_memcpy(to + j, &out, sizeof(out));
        }
    }
    for (; j < n; ++j) {
        double v = static_cast<double>(from[static_cast<std::ptrdiff_t>(j) *
                                            rows.column_stride]);
        if (center != nullptr) {
            v -= center[j];
        }
        square += v * v;
        to[j] = static_cast<Real>(v);
    }
    for (std::size_t k = 0; k < step; ++k) {
        square += squares[k];
    }
    return square;
}

template <typename Real>
inline double dense_row(const DenseRows &rows, std::int64_t row, Real *to) {
    return rows.single ? centered_row<Real, float>(rows, row, to)
                       : centered_row<Real, double>(rows, row, to);
}

// Rows in random order miss the cache: ask for them some rows ahead.
inline void prefetch_row(const DenseRows &rows, std::int64_t row) {
    const std::size_t size = rows.single ? sizeof(float) : sizeof(double);
    const char *from = static_cast<const char *>(rows.values) +
                       row * rows.row_stride * static_cast<std::ptrdiff_t>(size);
    const std::size_t bytes = rows.n_columns * size;
    for (std::size_t at = 0; at < bytes && at < 512; at += 64) {
        __builtin_prefetch(from + at);
    }
}

// Dense rows ---------------------------------------------------------------------------

template <typename Real>
struct DenseBlock {
    Real *row;     // one row before packing
    Real *packed;  // tiles of rows, columns after columns
    Real *phases;
    std::int64_t *bins;
    std::size_t n;
    std::size_t capacity;

    DenseBlock(const Projection &projection, Arena &arena) : n(0) {
        const std::size_t d = projection.n_columns;
        const std::size_t n_padded = round_up(projection.n_frequencies, panel<Real>);
        capacity = d <= slice_columns ? block_rows : wide_rows;
        row = arena.take<Real>(round_up(d, lanes<double>));
        packed = arena.take<Real>(capacity * d);
        phases = arena.take<Real>(
            capacity * (d <= slice_columns ? panel<Real> : phase_stride<Real>(n_padded)));
        bins = arena.take<std::int64_t>(capacity);
    }

    bool full() const { return n == capacity; }

    void add_packed_row(std::size_t d, std::int64_t bin) {
        Real *to = packed + n / tile_rows * tile_rows * d + n % tile_rows;
        for (std::size_t j = 0; j < d; ++j) {
            to[j * tile_rows] = row[j];
        }
        bins[n++] = bin;
    }

    void flush(const FeatureTask &task, const Projection &projection, const Sums &sums) {
        if (n == 0) {
            return;
        }
        const std::size_t d = projection.n_columns;
        const std::size_t n_tiles = (n + tile_rows - 1) / tile_rows;
        for (std::size_t r = n; r < n_tiles * tile_rows; ++r) {
            Real *to = packed + r / tile_rows * tile_rows * d + r % tile_rows;
            for (std::size_t j = 0; j < d; ++j) {
                to[j * tile_rows] = 0;
            }
        }
        const Real *panels = static_cast<const Real *>(projection.panels);
        const std::size_t n_padded = round_up(projection.n_frequencies, panel<Real>);
        if (d <= slice_columns) {
            for (std::size_t first = 0; first < n_padded; first += panel<Real>) {
                for (std::size_t tile = 0; tile < n_tiles; ++tile) {
                    product_tile<Real>(packed + tile * tile_rows * d, panels + first * d, d,
                                       phases + tile * tile_rows * panel<Real>, panel<Real>,
                                       false);
                }
                accumulate<Real>({phases, panel<Real>, n, bins}, first, panel<Real>, task,
                                 sums);
            }
        } else {
            const std::size_t stride = phase_stride<Real>(n_padded);
            for (std::size_t k = 0; k < d; k += slice_columns) {
                const std::size_t terms = d - k < slice_columns ? d - k : slice_columns;
                for (std::size_t first = 0; first < n_padded; first += panel<Real>) {
                    for (std::size_t tile = 0; tile < n_tiles; ++tile) {
                        product_tile<Real>(packed + tile * tile_rows * d + k * tile_rows,
                                           panels + first * d + k * panel<Real>, terms,
                                           phases + tile * tile_rows * stride + first,
                                           stride, k > 0);
                    }
                }
            }
            accumulate<Real>({phases, stride, n, bins}, 0, n_padded, task, sums);
        }
        n = 0;
    }
};

inline void far_dense_rows(const FeatureTask &task, const Sums &sums, Waiting &waiting,
                           DenseBlock<double> &block) {
    for (std::size_t i = 0; i < waiting.n; ++i) {
        const std::int64_t p = waiting.position[i];
        const std::int64_t row = task.rows.order == nullptr ? p : task.rows.order[p];
        dense_row<double>(task.dense, row, block.row);
        block.add_packed_row(task.dense.n_columns, waiting.bin[i]);
    }
    if (block.n > 0) {
        Projection projection = task.full;
        projection.panels = task.pack_full(task.owner);
        block.flush(task, projection, sums);
    }
    waiting.n = 0;
}

inline void dense_feature_sums(const FeatureTask &task, const FeaturePart &part) {
    Arena arena{static_cast<unsigned char *>(part.workspace)};
    DenseBlock<double> full(task.full, arena);
    Waiting waiting;
    waiting.n = 0;
    Cursor cursor(task.rows, part.begin);
    if (task.single_radius < 0.0) {
        for (std::int64_t p = part.begin; p < part.end; ++p) {
            waiting.position[waiting.n] = p;
            waiting.bin[waiting.n] = cursor.bin_of(p);
            if (++waiting.n == block_rows) {
                far_dense_rows(task, part.sums, waiting, full);
            }
        }
        far_dense_rows(task, part.sums, waiting, full);
        return;
    }
    DenseBlock<float> near(task.single, arena);
    const double limit = task.single_radius * task.single_radius;
    for (std::int64_t p = part.begin; p < part.end; ++p) {
        const std::int64_t bin = cursor.bin_of(p);
        if (task.rows.order != nullptr && p + 16 < part.end) {
            prefetch_row(task.dense, task.rows.order[p + 16]);
        }
        if (dense_row<float>(task.dense, cursor.row_of(p), near.row) <= limit) {
            near.add_packed_row(task.dense.n_columns, bin);
            if (near.full()) {
                near.flush(task, task.single, part.sums);
            }
        } else {
            waiting.position[waiting.n] = p;
            waiting.bin[waiting.n] = bin;
            if (++waiting.n == block_rows) {
                far_dense_rows(task, part.sums, waiting, full);
            }
        }
    }
    near.flush(task, task.single, part.sums);
    far_dense_rows(task, part.sums, waiting, full);
}

// Sparse rows --------------------------------------------------------------------------

template <typename Real, typename In, typename Index>
inline void sparse_phases(const SparseRows &rows, std::int64_t row, const Real *columns,
                          const Real *from_here, Real *phases) {
    const Index *starts = static_cast<const Index *>(rows.starts);
    const Index *places = static_cast<const Index *>(rows.columns);
    const In *values = static_cast<const In *>(rows.values);
    Vector<Real> left = load(from_here), right = load(from_here + lanes<Real>);
    for (Index k = starts[row]; k < starts[row + 1]; ++k) {
        const Real value = static_cast<Real>(values[k]);
        const Real *from = columns + static_cast<std::size_t>(places[k]) * panel<Real>;
        left += value * load(from);
        right += value * load(from + lanes<Real>);
    }
    store(phases, left);
    store(phases + lanes<Real>, right);
}

template <typename Real>
inline void sparse_block(const FeatureTask &task, const Projection &projection,
                         const Sums &sums, std::size_t first, Waiting &waiting,
                         Real *phases) {
    const Real *columns =
        static_cast<const Real *>(projection.panels) + first * projection.n_columns;
    const Real *from_here;
    if constexpr (sizeof(Real) == sizeof(float)) {
        from_here = task.single_starts + first;
    } else {
        from_here = task.full_starts + first;
    }
    for (std::size_t i = 0; i < waiting.n; ++i) {
        const std::int64_t p = waiting.position[i];
        const std::int64_t row = task.rows.order == nullptr ? p : task.rows.order[p];
        Real *to = phases + i * panel<Real>;
        const SparseRows &rows = task.sparse;
        if (rows.wide) {
            rows.single
                ? sparse_phases<Real, float, std::int64_t>(rows, row, columns, from_here, to)
                : sparse_phases<Real, double, std::int64_t>(rows, row, columns, from_here, to);
        } else {
            rows.single
                ? sparse_phases<Real, float, std::int32_t>(rows, row, columns, from_here, to)
                : sparse_phases<Real, double, std::int32_t>(rows, row, columns, from_here, to);
        }
    }
    accumulate<Real>({phases, panel<Real>, waiting.n, waiting.bin}, first, panel<Real>, task,
                     sums);
    waiting.n = 0;
}

// One precision: the rows whose `far` flag is `wanted`, or all without flags.
template <typename Real>
inline void sparse_rows(const FeatureTask &task, const Projection &projection,
                        const FeaturePart &part, std::uint8_t wanted) {
    Arena arena{static_cast<unsigned char *>(part.workspace)};
    Real *phases = arena.take<Real>(block_rows * panel<Real>);
    Waiting waiting;
    waiting.n = 0;
    // Panels outside, rows inside: a panel of frequencies stays in cache while the rows
    // stream by.
    const std::size_t last = part.last_panel * panel<float>;
    for (std::size_t first = part.first_panel * panel<float>;
         first < last && first < projection.n_frequencies; first += panel<Real>) {
        Cursor cursor(task.rows, part.begin);
        for (std::int64_t p = part.begin; p < part.end; ++p) {
            const std::int64_t bin = cursor.bin_of(p);
            if (task.far != nullptr && task.far[cursor.row_of(p)] != wanted) {
                continue;
            }
            waiting.position[waiting.n] = p;
            waiting.bin[waiting.n] = bin;
            if (++waiting.n == block_rows) {
                sparse_block<Real>(task, projection, part.sums, first, waiting, phases);
            }
        }
        sparse_block<Real>(task, projection, part.sums, first, waiting, phases);
    }
}

inline void sparse_feature_sums(const FeatureTask &task, const FeaturePart &part) {
    if (task.single_radius >= 0.0) {
        sparse_rows<float>(task, task.single, part, 0);
    }
    if (task.single_radius < 0.0 || task.far != nullptr) {
        Projection projection = task.full;
        projection.panels = task.pack_full(task.owner);
        sparse_rows<double>(task, projection, part, 1);
    }
}

// Fastfood -----------------------------------------------------------------------------

// The phases of one row: for each block signs, transform, permutation and normals,
// transform, scales. Only the first `n_frequencies` outputs are wanted, so the last block
// sums its input down to a shorter transform first.
template <typename Real>
inline void fastfood_phases(const Projection &projection, const Real *row, Real *mixed,
                            Real *phases) {
    const Fastfood &f = projection.fastfood;
    const std::size_t padded = f.padded, d = projection.n_columns;
    const Real *signs = static_cast<const Real *>(f.signs);
    const Real *normals = static_cast<const Real *>(f.normals);
    const Real *scales = static_cast<const Real *>(f.scales);
    std::size_t left = projection.n_frequencies;
    for (std::size_t b = 0; b < f.n_blocks; ++b) {
        const std::size_t at = b * padded;
        for (std::size_t j = 0; j < d; ++j) {
            mixed[j] = row[j] * signs[at + j];
        }
        for (std::size_t j = d; j < padded; ++j) {
            mixed[j] = 0;
        }
        walsh_hadamard_row(mixed, padded);
        // Outputs below a power of two `wanted` see inputs only through sums over equal
        // places modulo `wanted`.
        std::size_t wanted = padded;
        while (wanted / 2 >= left) {
            wanted /= 2;
        }
        Real *out = phases + at;
        const std::int32_t *order = f.order + at;
        for (std::size_t j = 0; j < wanted; ++j) {
            out[j] = mixed[order[j]] * normals[at + j];
        }
        for (std::size_t start = wanted; start < padded; start += wanted) {
            for (std::size_t j = 0; j < wanted; ++j) {
                out[j] += mixed[order[start + j]] * normals[at + start + j];
            }
        }
        walsh_hadamard_row(out, wanted);
        for (std::size_t j = 0; j < wanted; ++j) {
            out[j] *= scales[at + j];
        }
        left -= left < padded ? left : padded;
    }
}

// Rows of phases held at once: enough to share the sums, few enough to stay in cache.
constexpr std::size_t fastfood_rows = 8;

template <typename Real>
struct FastfoodBlock {
    Real *row;
    Real *mixed;
    Real *phases;
    std::int64_t *bins;
    std::size_t stride;
    std::size_t n;

    FastfoodBlock(const Projection &projection, Arena &arena) : n(0) {
        const Fastfood &f = projection.fastfood;
        stride = round_up(f.n_blocks * f.padded, lanes<Real>) + lanes<Real>;
        row = arena.take<Real>(round_up(projection.n_columns, lanes<double>));
        mixed = arena.take<Real>(f.padded);
        phases = arena.take<Real>(fastfood_rows * stride);
        bins = arena.take<std::int64_t>(fastfood_rows);
    }

    void add(const FeatureTask &task, const Projection &projection, const Sums &sums,
             std::int64_t bin) {
        fastfood_phases<Real>(projection, row, mixed, phases + n * stride);
        bins[n++] = bin;
        if (n == fastfood_rows) {
            flush(task, projection, sums);
        }
    }

    void flush(const FeatureTask &task, const Projection &projection, const Sums &sums) {
        if (n > 0) {
            accumulate<Real>({phases, stride, n, bins}, 0,
                             round_up(projection.n_frequencies, lanes<Real>), task, sums);
        }
        n = 0;
    }
};

inline void fastfood_feature_sums(const FeatureTask &task, const FeaturePart &part) {
    Arena arena{static_cast<unsigned char *>(part.workspace)};
    FastfoodBlock<double> full(task.full, arena);
    FastfoodBlock<float> near(task.single, arena);
    const bool all_full = task.single_radius < 0.0;
    const double limit = task.single_radius * task.single_radius;
    Cursor cursor(task.rows, part.begin);
    for (std::int64_t p = part.begin; p < part.end; ++p) {
        const std::int64_t bin = cursor.bin_of(p), row = cursor.row_of(p);
        if (!all_full && dense_row<float>(task.dense, row, near.row) <= limit) {
            near.add(task, task.single, part.sums, bin);
        } else {
            dense_row<double>(task.dense, row, full.row);
            full.add(task, task.full, part.sums, bin);
        }
    }
    near.flush(task, task.single, part.sums);
    full.flush(task, task.full, part.sums);
}

}  // namespace fastmmd::FASTMMD_TARGET
