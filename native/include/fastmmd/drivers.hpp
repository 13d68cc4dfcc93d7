// From arrays to parts of work: what the bindings call.
#pragma once

#include <string>
#include <vector>

#include "fastmmd/kernels.hpp"

namespace fastmmd {

// The instruction sets that were compiled and that this processor has, best last.
std::vector<const Kernels *> available_kernels();

// The kernels in use: the best, or those that `use_kernels` chose.
const Kernels &kernels_in_use();

// Chooses by name; false if there is no such instruction set here.
bool use_kernels(const std::string &name);

// One kernel's features: phases are the projection times `multiplier`, in turns.
struct FeatureChannel {
    double multiplier;
    Channel channel;
};

struct FeatureRequest {
    Selection rows;
    std::int64_t n_positions;
    const DenseRows *dense;    // one of the two
    const SparseRows *sparse;
    const double *center;  // of sparse rows; null for none
    std::int64_t n_rows;
    const double *frequencies;  // (n_frequencies, n_columns); null for Fastfood
    const double *signs;        // Fastfood's arrays, (n_blocks, padded)
    const double *normals;
    const double *scales;
    const std::int64_t *order;
    std::size_t n_blocks;
    std::size_t padded;
    std::size_t n_frequencies;
    std::size_t n_columns;
    std::vector<FeatureChannel> channels;
    double single_radius;
    double *sums;
    std::size_t width;
};

// Adds the features of all positions to the sums. The result does not depend on the number
// of threads.
void feature_sums(const FeatureRequest &request, std::size_t n_threads);

struct PairRequest {
    DenseRows left;
    std::int64_t n_left;
    DenseRows right;
    std::int64_t n_right;
    bool within;
    std::int64_t offset;
    double scale;
    Rule rule;
    Profile profile;
    double parameter;
};

// Sums over all pairs, one for each group of left rows.
std::vector<double> pair_sums(const PairRequest &request, std::size_t n_threads);

struct BinPairRequest {
    DenseRows rows;  // bin after bin
    const std::int64_t *edges;
    std::size_t n_bins;
    std::size_t first_bin;  // pairs whose first row is in one of these bins
    std::size_t last_bin;
    std::vector<double> scales;  // rising
    Rule rule;
    Profile profile;
    double parameter;
    double *sums;  // (n_scales, n_bins, n_bins), zeros
};

// Sums over the pairs of rows i < j, at [bin of i][bin of j]; Rule::cauchy takes one scale.
void bin_pair_sums(const BinPairRequest &request, std::size_t n_threads);

template <typename Real>
void walsh_hadamard(Real *rows, std::size_t n_rows, std::size_t n, std::size_t n_threads);

}  // namespace fastmmd
