// Sums of a kernel over all pairs of rows of two samples, the matrix never stored.
#pragma once

#include "fastmmd/exponential.hpp"
#include "fastmmd/product.hpp"
#include "fastmmd/tasks.hpp"

namespace fastmmd::FASTMMD_TARGET {

// Stands for distances that overflow: finite, so that no profile makes NaN of it.
constexpr double far_away = 1e300;

// Squared distances below this share of |x|^2 + |y|^2 are computed again from differences:
// what is left of the product's error is then at most 1e-13 of the distance.
constexpr double cancelled = 1e-3;

// One column's share: added for distances, multiplied for Rule::cauchy.
template <Rule rule>
[[gnu::always_inline]] inline Doubles with_column(Doubles sum, Doubles difference) {
    if constexpr (rule == Rule::squared) {
        return sum + difference * difference;
    } else if constexpr (rule == Rule::absolute) {
        return sum + (difference < 0.0 ? -difference : difference);
    } else {
        return sum * (1.0 + difference * difference);
    }
}

// Distances of one tile from differences, column by column.
template <Rule rule>
inline void distance_tile(const double *__restrict rows, const double *__restrict columns,
                          std::size_t n_terms, double scale, double *out) {
    constexpr std::size_t some = tile_rows / 2;
    for (std::size_t first = 0; first < tile_rows; first += some) {
        Doubles sum[some][2];
#pragma GCC unroll 6
        for (std::size_t r = 0; r < some; ++r) {
            sum[r][0] = sum[r][1] = broadcast(rule == Rule::cauchy ? 1.0 : 0.0);
        }
        for (std::size_t k = 0; k < n_terms; ++k) {
            const Doubles left = load(columns + k * panel<double>);
            const Doubles right = load(columns + k * panel<double> + lanes<double>);
#pragma GCC unroll 6
            for (std::size_t r = 0; r < some; ++r) {
                const double x = rows[k * tile_rows + first + r];
                sum[r][0] = with_column<rule>(sum[r][0], (x - left) * scale);
                sum[r][1] = with_column<rule>(sum[r][1], (x - right) * scale);
            }
        }
#pragma GCC unroll 6
        for (std::size_t r = 0; r < some; ++r) {
            store(out + (first + r) * panel<double>, sum[r][0]);
            store(out + (first + r) * panel<double> + lanes<double>, sum[r][1]);
        }
    }
}

[[gnu::always_inline]] inline bool all_set(Integers mask) {
    std::int64_t all = -1;
    for (std::size_t k = 0; k < lanes<double>; ++k) {
        all &= mask[k];
    }
    return all != 0;
}

// Up to a tile of rows: columns after columns, and squared lengths.
struct LeftTile {
    double *packed;
    // Where products follow, packed numbers are times this: a power of 2, so exact.
    static constexpr double product_factor = -2.0;
    double squares[tile_rows];
    double longest;  // of the squares
};

// Squared distances of one tile from a product: |x|^2 + |y|^2 - 2 x.y, and from differences
// where that cancels or overflows.
inline void squared_tile(const LeftTile &rows, const double *__restrict columns,
                         const double *column_squares, std::size_t n_terms, double *out) {
    const Doubles halves[2] = {load(column_squares), load(column_squares + lanes<double>)};
    Doubles lowest[2] = {broadcast(far_away), broadcast(far_away)};
    product_of_tile<double>(
        rows.packed, columns, n_terms,
        [&](std::size_t r, std::size_t half) __attribute__((always_inline)) {
            return rows.squares[r] + halves[half];
        },
        [&](std::size_t r, std::size_t half, Doubles squared)
            __attribute__((always_inline)) {
                lowest[half] = smaller(squared, lowest[half]);
                store(out + r * panel<double> + half * lanes<double>, squared);
            });
    // Mostly the whole tile is good, and that is quickly seen.
    Integers good = Integers{} - 1;
    for (std::size_t half = 0; half < 2; ++half) {
        const Doubles most = rows.longest + halves[half];
        good &= lowest[half] >= cancelled * most && most <= far_away;
    }
    if (all_set(good)) {
        return;
    }
    for (std::size_t r = 0; r < tile_rows; ++r) {
        for (std::size_t half = 0; half < 2; ++half) {
            double *at = out + r * panel<double> + half * lanes<double>;
            const Doubles lengths = rows.squares[r] + halves[half];
            Doubles squared = load(at);
            if (!all_set(squared >= cancelled * lengths && squared <= far_away)) {
                squared = Doubles{};
                for (std::size_t k = 0; k < n_terms; ++k) {
                    const Doubles difference =
                        rows.packed[k * tile_rows + r] / LeftTile::product_factor -
                        load(columns + k * panel<double> + half * lanes<double>);
                    squared += difference * difference;
                }
            }
            store(at, squared);
        }
    }
}

template <Profile profile>
[[gnu::always_inline]] inline Doubles value_of(Doubles s, double parameter) {
    if constexpr (profile == Profile::reciprocal) {
        return 1.0 / s;
    }
    if constexpr (profile == Profile::gaussian) {
        return power_of_half(s);
    }
    if constexpr (profile == Profile::exponential) {
        return exp_of_minus(s);
    }
    s = s < far_away ? s : broadcast(far_away);
    if constexpr (profile == Profile::rational_quadratic) {
        return exp_of_minus(parameter * log_of_one_plus(s * (0.5 / parameter)));
    } else {
        constexpr double two_nu = profile == Profile::matern_1   ? 1.0
                                  : profile == Profile::matern_3 ? 3.0
                                                                 : 5.0;
        Doubles a;
        for (std::size_t k = 0; k < lanes<double>; ++k) {
            a[k] = __builtin_sqrt(two_nu * s[k]);
        }
        // No further than the exponential falls, or the powers of `a` would outgrow it.
        a = smaller(a, broadcast(708.0));
        const Doubles e = exp_of_minus(a);
        if constexpr (profile == Profile::matern_1) {
            return e;
        } else if constexpr (profile == Profile::matern_3) {
            return (1.0 + a) * e;
        } else {
            return (1.0 + a + a * a * (1.0 / 3.0)) * e;
        }
    }
}

// The sum over one tile of row i and column j where `begin[i] <= j < end`.
template <Profile profile>
inline double tile_sum(const double *distances, std::size_t n_rows,
                       const std::int64_t *begin, std::int64_t end, double parameter) {
    Doubles total = {};
    const std::int64_t width = static_cast<std::int64_t>(panel<double>);
    Integers place;
    for (std::size_t k = 0; k < lanes<double>; ++k) {
        place[k] = static_cast<std::int64_t>(k);
    }
    for (std::size_t r = 0; r < n_rows; ++r) {
        const bool whole = begin[r] <= 0 && end >= width;
        for (std::size_t c = 0; c < panel<double>; c += lanes<double>) {
            Doubles v =
                value_of<profile>(load(distances + r * panel<double> + c), parameter);
            if (!whole) {
                const Integers at = place + static_cast<std::int64_t>(c);
                v = (at >= begin[r] && at < end) ? v : Doubles{};
            }
            total += v;
        }
    }
    double sum = 0.0;
    for (std::size_t k = 0; k < lanes<double>; ++k) {
        sum += total[k];
    }
    return sum;
}

inline double tile_sum_of(Profile profile, const double *distances, std::size_t n_rows,
                          const std::int64_t *begin, std::int64_t end, double parameter) {
    switch (profile) {
        case Profile::gaussian:
            return tile_sum<Profile::gaussian>(distances, n_rows, begin, end, parameter);
        case Profile::exponential:
            return tile_sum<Profile::exponential>(distances, n_rows, begin, end, parameter);
        case Profile::matern_1:
            return tile_sum<Profile::matern_1>(distances, n_rows, begin, end, parameter);
        case Profile::matern_3:
            return tile_sum<Profile::matern_3>(distances, n_rows, begin, end, parameter);
        case Profile::matern_5:
            return tile_sum<Profile::matern_5>(distances, n_rows, begin, end, parameter);
        case Profile::rational_quadratic:
            return tile_sum<Profile::rational_quadratic>(distances, n_rows, begin, end,
                                                         parameter);
        default:
            return tile_sum<Profile::reciprocal>(distances, n_rows, begin, end, parameter);
    }
}

// Packs up to a tile of rows from `first` on: scaled, centred, zeros after the last.
inline void pack_tile(const DenseRows &rows, std::int64_t first, std::size_t n_rows,
                      Rule rule, double scale, LeftTile &tile) {
    const std::size_t d = rows.n_columns;
    const double factor = by_product(rule, d) ? LeftTile::product_factor : 1.0;
    scale = packed_scale(rule, d, scale);
    tile.longest = 0.0;
    for (std::size_t r = 0; r < tile_rows; ++r) {
        double square = 0.0;
        for (std::size_t j = 0; j < d; ++j) {
            double v = 0.0;
            if (r < n_rows) {
                const std::ptrdiff_t at = (first + static_cast<std::int64_t>(r)) *
                                              rows.row_stride +
                                          static_cast<std::ptrdiff_t>(j) *
                                              rows.column_stride;
                v = rows.single ? static_cast<const float *>(rows.values)[at]
                                : static_cast<const double *>(rows.values)[at];
                v = (v - (rows.center == nullptr ? 0.0 : rows.center[j])) * scale;
            }
            tile.packed[j * tile_rows + r] = v * factor;
            square += v * v;
        }
        tile.squares[r] = square;
        tile.longest = square > tile.longest ? square : tile.longest;
    }
}

// Distances of one tile by the way that suits the rule.
inline void fill_distances(Rule rule, const LeftTile &rows, const double *columns,
                           const double *column_squares, std::size_t d, double scale,
                           double *distances) {
    if (by_product(rule, d)) {
        squared_tile(rows, columns, column_squares, d, distances);
    } else if (rule == Rule::squared) {
        distance_tile<Rule::squared>(rows.packed, columns, d, scale, distances);
    } else if (rule == Rule::absolute) {
        distance_tile<Rule::absolute>(rows.packed, columns, d, scale, distances);
    } else {
        distance_tile<Rule::cauchy>(rows.packed, columns, d, scale, distances);
    }
}

// The sum over the pairs of left rows `begin` to `end` with all right rows.
inline double pair_sum(const PairTask &task, std::int64_t begin, std::int64_t end,
                       double *workspace) {
    const std::size_t d = task.left.n_columns;
    LeftTile rows;
    rows.packed = workspace;
    alignas(64) double distances[tile_rows * panel<double>];
    // Sums of tiles are added with compensation (Neumaier), so that their number adds
    // nothing to the error.
    double sum = 0.0, lost = 0.0;
    for (std::int64_t first = begin; first < end;
         first += static_cast<std::int64_t>(tile_rows)) {
        const std::size_t n_rows = static_cast<std::size_t>(
            end - first < static_cast<std::int64_t>(tile_rows)
                ? end - first
                : static_cast<std::int64_t>(tile_rows));
        pack_tile(task.left, first, n_rows, task.rule, task.scale, rows);
        std::int64_t right = 0;
        if (task.within) {
            // Columns before the row itself belong to pairs that were counted.
            const std::int64_t from = first + 1 - task.offset;
            right = from <= 0 ? 0
                              : from / static_cast<std::int64_t>(panel<double>) *
                                    static_cast<std::int64_t>(panel<double>);
        }
        for (; right < task.n_right; right += static_cast<std::int64_t>(panel<double>)) {
            const double *columns = task.right_panels + static_cast<std::size_t>(right) * d;
            fill_distances(task.rule, rows, columns, task.right_squares + right, d,
                           task.scale, distances);
            std::int64_t column_begin[tile_rows];
            for (std::size_t r = 0; r < tile_rows; ++r) {
                column_begin[r] = task.within ? first + static_cast<std::int64_t>(r) + 1 -
                                                    task.offset - right
                                              : 0;
            }
            const double tile = tile_sum_of(task.profile, distances, n_rows, column_begin,
                                            task.n_right - right, task.parameter);
            const double next = sum + tile;
            const double big = (sum < 0 ? -sum : sum) >= (tile < 0 ? -tile : tile)
                                   ? (sum - next) + tile
                                   : (tile - next) + sum;
            lost += big;
            sum = next;
        }
    }
    return sum + lost;
}

template <Profile profile>
inline void tile_values(double *distances, double parameter) {
    for (std::size_t i = 0; i < tile_rows * panel<double>; i += lanes<double>) {
        store(distances + i, value_of<profile>(load(distances + i), parameter));
    }
}

// Replaces distances by values of the kernel.
inline void fill_values(Profile profile, double *distances, double parameter) {
    switch (profile) {
        case Profile::gaussian:
            return tile_values<Profile::gaussian>(distances, parameter);
        case Profile::exponential:
            return tile_values<Profile::exponential>(distances, parameter);
        case Profile::matern_1:
            return tile_values<Profile::matern_1>(distances, parameter);
        case Profile::matern_3:
            return tile_values<Profile::matern_3>(distances, parameter);
        case Profile::matern_5:
            return tile_values<Profile::matern_5>(distances, parameter);
        case Profile::rational_quadratic:
            return tile_values<Profile::rational_quadratic>(distances, parameter);
        default:
            return tile_values<Profile::reciprocal>(distances, parameter);
    }
}

// Adds a row's values from column `from` on.
inline void add_columns(const double *values, std::int64_t from, double *sums) {
    for (std::size_t c = 0; c < panel<double>; c += lanes<double>) {
        Doubles v = load(values + c);
        if (from > static_cast<std::int64_t>(c)) {
            for (std::size_t k = 0; k < lanes<double>; ++k) {
                v[k] = static_cast<std::int64_t>(c + k) < from ? 0.0 : v[k];
            }
        }
        store(sums + c, load(sums + c) + v);
    }
}

// Adds the pairs of rows `begin` to `end`, which are whole bins, with all later rows.
inline void bin_pair_sums(const BinPairTask &task, std::int64_t begin, std::int64_t end,
                          double *workspace) {
    const std::size_t d = task.rows.n_columns;
    constexpr std::size_t width = panel<double>, size = tile_rows * width;
    LeftTile rows;
    rows.packed = workspace;
    alignas(64) double distances[size], values[size];
    const double smallest = task.scales[0];
    for (std::int64_t first = begin; first < end;
         first += static_cast<std::int64_t>(tile_rows)) {
        const std::int64_t rows_left = end - first;
        const std::size_t n_rows = rows_left < static_cast<std::int64_t>(tile_rows)
                                       ? static_cast<std::size_t>(rows_left)
                                       : tile_rows;
        pack_tile(task.rows, first, n_rows, task.rule, smallest, rows);
        const std::int64_t step = static_cast<std::int64_t>(width);
        for (std::int64_t right = (first + 1) / step * step; right < task.n_rows;
             right += step) {
            fill_distances(task.rule, rows,
                           task.panels + static_cast<std::size_t>(right) * d,
                           task.squares + right, d, smallest, distances);
            const std::int64_t columns_left = task.n_rows - right;
            const std::int64_t n_columns = columns_left < step ? columns_left : step;
            for (std::size_t s = 0; s < task.n_scales; ++s) {
                if (s > 0 && task.profile == Profile::gaussian &&
                    task.scales[s] == 2.0 * task.scales[s - 1]) {
                    // Half the bandwidth: the fourth power.
                    for (std::size_t i = 0; i < size; i += lanes<double>) {
                        const Doubles square = load(values + i) * load(values + i);
                        store(values + i, square * square);
                    }
                } else {
                    const double ratio = task.scales[s] / smallest;
                    const double factor =
                        task.rule == Rule::squared ? ratio * ratio : ratio;
                    for (std::size_t i = 0; i < size; i += lanes<double>) {
                        store(values + i, load(distances + i) * factor);
                    }
                    fill_values(task.profile, values, task.parameter);
                }
                for (std::size_t r = 0; r < n_rows;) {
                    const std::int32_t row_bin = task.bins[first + static_cast<std::int64_t>(r)];
                    // Rows of one bin first, all columns at once.
                    alignas(64) double of_bin[width] = {};
                    for (; r < n_rows &&
                           task.bins[first + static_cast<std::int64_t>(r)] == row_bin;
                         ++r) {
                        add_columns(values + r * width,
                                    first + static_cast<std::int64_t>(r) + 1 - right, of_bin);
                    }
                    double *sums = task.sums + (s * task.n_bins +
                                                static_cast<std::size_t>(row_bin)) *
                                                   task.n_bins;
                    for (std::int64_t c = 0; c < n_columns;) {
                        const std::int32_t bin = task.bins[right + c];
                        double sum = 0.0;
                        for (; c < n_columns && task.bins[right + c] == bin; ++c) {
                            sum += of_bin[c];
                        }
                        sums[bin] += sum;
                    }
                }
            }
        }
    }
}

}  // namespace fastmmd::FASTMMD_TARGET
