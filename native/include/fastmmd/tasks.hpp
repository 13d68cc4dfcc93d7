// What the compiled kernels work on: plain pointers and numbers, the same for every
// instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastmmd {

// Dense rows as they lie in memory; strides count elements.
struct DenseRows {
    const void *values;
    bool single;  // float32, else float64
    std::size_t n_columns;
    std::ptrdiff_t row_stride;
    std::ptrdiff_t column_stride;
    const double *center;  // taken off each row; null for none
};

// Rows in compressed sparse row format.
struct SparseRows {
    const void *values;
    bool single;
    const void *columns;
    const void *starts;
    bool wide;  // columns and starts are int64, else int32
};

// The rows to go through, and the bin of each. Position p stands for row `order[p]`, or
// for row p without an order; positions edges[b] to edges[b + 1] belong to bin b.
struct Selection {
    const std::int64_t *order;
    const std::int64_t *edges;
    std::size_t n_bins;
};

// Kernels that share a projection, each with twice the phase of the one before: the first
// takes the polynomials, the others the double-angle formulas.
constexpr std::size_t longest_chain = 4;

struct Channel {
    std::size_t n_frequencies;  // the first so many of the projection
    std::size_t cosines;        // where its cosines start in a row of sums
    std::size_t sines;
};

struct Chain {
    double multiplier;  // turns of the first channel for one unit of the projection
    std::size_t n_channels;
    Channel channels[longest_chain];  // numbers of frequencies do not fall
};

// Sums of features: a row of `width` numbers for each bin from `first_bin` on.
struct Sums {
    double *values;
    std::size_t width;
    std::size_t first_bin;
};

// Stacked Fastfood blocks, each with arrays of `padded` numbers.
struct Fastfood {
    std::size_t n_blocks;
    std::size_t padded;
    const void *signs;  // numbers of the precision at hand
    const void *normals;
    const void *scales;
    const std::int32_t *order;
};

// A projection in the form its kernel wants, in one precision.
struct Projection {
    std::size_t n_frequencies;
    std::size_t n_columns;
    const void *panels;  // frequencies packed by panels; null for Fastfood
    Fastfood fastfood;
};

struct FeatureTask {
    Selection rows;
    DenseRows dense;
    SparseRows sparse;
    const std::uint8_t *far;  // sparse only: rows that need double precision
    // Sparse only, for the center: phases that every row starts from, padded to panels.
    const float *single_starts;
    const double *full_starts;
    Projection single;
    Projection full;
    // Packs the double-precision panels when the first row asks for them, and returns
    // them: most data never do.
    const void *(*pack_full)(void *owner);
    void *owner;
    const Chain *chains;
    std::size_t n_chains;
    // Rows further than this from the center are computed in double precision, and so are
    // all if it is negative.
    double single_radius;
};

// A part of a task: positions `begin` to `end`, and for sparse rows panels
// `first_panel` to `last_panel` only.
struct FeaturePart {
    std::int64_t begin;
    std::int64_t end;
    std::size_t first_panel;
    std::size_t last_panel;
    Sums sums;
    void *workspace;
};

enum class Rule : int { squared, absolute, cauchy };

// Up to so many columns squared distances come from differences, beyond from a product.
constexpr std::size_t direct_columns = 8;

constexpr bool by_product(Rule rule, std::size_t n_columns) {
    return rule == Rule::squared && n_columns > direct_columns;
}

// Rows are packed scaled where products follow. Before differences scaling would round
// what rows share, far from 0, and the difference would be left with it.
constexpr double packed_scale(Rule rule, std::size_t n_columns, double scale) {
    return by_product(rule, n_columns) ? scale : 1.0;
}

enum class Profile : int {
    gaussian,            // 2^-s: scales of this profile hold what makes it exp(-s / 2)
    exponential,         // exp(-s)
    matern_1,            // nu = 1/2, with a = sqrt(2 nu s): exp(-a)
    matern_3,            // nu = 3/2: (1 + a) exp(-a)
    matern_5,            // nu = 5/2: (1 + a + a^2 / 3) exp(-a)
    rational_quadratic,  // (1 + s / (2 alpha))^-alpha
    reciprocal,          // 1 / s, for Rule::cauchy whose s is a product
};

// All pairs of rows of two samples. Within one sample, `within` says that the right rows
// are those of the left from `offset` on; pairs (i, j) then count only for j > i.
struct PairTask {
    DenseRows left;
    std::int64_t n_left;
    const double *right_panels;  // packed by panels, scaled, from the same center
    const double *right_squares;
    std::int64_t n_right;
    bool within;
    std::int64_t offset;
    double scale;
    Rule rule;
    Profile profile;
    double parameter;
};

// Pairs within one sample whose rows lie bin after bin: sums between all bins, for several
// scales of one kernel.
struct BinPairTask {
    DenseRows rows;
    std::int64_t n_rows;
    const double *panels;  // the same rows, packed by panels, at the smallest scale
    const double *squares;
    const std::int32_t *bins;  // of each row, never falling
    std::size_t n_bins;
    const double *scales;  // rising
    std::size_t n_scales;
    Rule rule;
    Profile profile;
    double parameter;
    double *sums;  // (n_scales, n_bins, n_bins); pairs of rows i < j at [bin i][bin j]
};

}  // namespace fastmmd
