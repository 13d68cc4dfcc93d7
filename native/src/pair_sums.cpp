// Cuts sums over pairs into groups of left rows and hands them to threads; the same for
// transforms of many rows.

#include <algorithm>

#include "fastmmd/drivers.hpp"
#include "fastmmd/threads.hpp"

namespace fastmmd {

namespace {

constexpr double few_pairs = 1e5;

double element(const DenseRows &rows, std::int64_t i, std::size_t j) {
    const std::ptrdiff_t at =
        i * rows.row_stride + static_cast<std::ptrdiff_t>(j) * rows.column_stride;
    const double v = rows.single ? static_cast<const float *>(rows.values)[at]
                                 : static_cast<const double *>(rows.values)[at];
    return rows.center == nullptr ? v : v - rows.center[j];
}

// The scale at which a profile wants distances: the Gaussian one is a power of 2.
double profile_scale(Profile profile, double scale) {
    constexpr double root_of_half_log2_e = 0.8493218002880191;
    return profile == Profile::gaussian ? scale * root_of_half_log2_e : scale;
}

// Rows in panels, scaled, and their squared lengths; zeros after the last.
struct PackedRows {
    std::vector<double> panels;
    std::vector<double> squares;

    PackedRows(const DenseRows &rows, std::int64_t n_rows, double scale, std::size_t panel) {
        const auto n = static_cast<std::size_t>(n_rows);
        const std::size_t d = rows.n_columns, padded = (n + panel - 1) / panel * panel;
        panels.assign(padded * d, 0.0);
        squares.assign(padded, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            double *to = panels.data() + i / panel * panel * d + i % panel;
            for (std::size_t j = 0; j < d; ++j) {
                const double v = element(rows, static_cast<std::int64_t>(i), j) * scale;
                to[j * panel] = v;
                squares[i] += v * v;
            }
        }
    }
};

}  // namespace

std::vector<double> pair_sums(const PairRequest &request, std::size_t n_threads) {
    const Kernels &kernels = kernels_in_use();
    const double scale = profile_scale(request.profile, request.scale);
    const PackedRows right(request.right, request.n_right,
                           packed_scale(request.rule, request.right.n_columns, scale),
                           kernels.double_panel);
    const PairTask task = {request.left,          request.n_left,  right.panels.data(),
                           right.squares.data(),  request.n_right, request.within,
                           request.offset,        scale,           request.rule,
                           request.profile,       request.parameter};
    // Whole tiles, and enough groups to share out evenly.
    const auto tile = static_cast<std::int64_t>(kernels.tile_rows);
    const std::int64_t n_tiles = (request.n_left + tile - 1) / tile;
    const std::int64_t per_group = std::max<std::int64_t>(1, n_tiles / 256);
    const std::int64_t n_groups = (n_tiles + per_group - 1) / per_group;
    std::vector<double> sums(static_cast<std::size_t>(n_groups));
    // Below so many pairs threads would take longer to start than the work takes.
    const bool few = static_cast<double>(request.n_left) *
                         static_cast<double>(request.n_right) <
                     few_pairs;
    const std::size_t n_workers =
        few ? 1
            : std::max<std::size_t>(
                  1, std::min(n_threads, static_cast<std::size_t>(n_groups)));
    const std::size_t size = kernels.tile_rows * request.left.n_columns;
    std::vector<double> workspace(size * n_workers);
    run_units(sums.size(), n_workers, [&](std::size_t group, std::size_t worker) {
        const std::int64_t begin = static_cast<std::int64_t>(group) * per_group * tile;
        const std::int64_t end = std::min(request.n_left, begin + per_group * tile);
        sums[group] = kernels.pair_sum(task, begin, end, workspace.data() + size * worker);
    });
    return sums;
}

void bin_pair_sums(const BinPairRequest &request, std::size_t n_threads) {
    const Kernels &kernels = kernels_in_use();
    const std::int64_t n_rows = request.edges[request.n_bins];
    if (n_rows == 0) {
        return;
    }
    std::vector<double> scales = request.scales;
    for (double &scale : scales) {
        scale = profile_scale(request.profile, scale);
    }
    const PackedRows packed(request.rows, n_rows,
                            packed_scale(request.rule, request.rows.n_columns, scales[0]),
                            kernels.double_panel);
    std::vector<std::int32_t> bins(static_cast<std::size_t>(n_rows));
    for (std::size_t b = 0; b < request.n_bins; ++b) {
        std::fill(bins.begin() + request.edges[b], bins.begin() + request.edges[b + 1],
                  static_cast<std::int32_t>(b));
    }
    const BinPairTask task = {request.rows,
                              n_rows,
                              packed.panels.data(),
                              packed.squares.data(),
                              bins.data(),
                              request.n_bins,
                              scales.data(),
                              scales.size(),
                              request.rule,
                              request.profile,
                              request.parameter,
                              request.sums};
    // Whole bins, so that no two units add to one number; some tiles of rows each.
    std::vector<std::size_t> cuts = {request.first_bin};
    const auto some = static_cast<std::int64_t>(2 * kernels.tile_rows);
    for (std::size_t b = request.first_bin + 1; b <= request.last_bin; ++b) {
        if (b == request.last_bin || request.edges[b] - request.edges[cuts.back()] >= some) {
            cuts.push_back(b);
        }
    }
    const bool few =
        static_cast<double>(n_rows) * static_cast<double>(n_rows) / 2.0 < few_pairs;
    const std::size_t n_workers =
        few ? 1 : std::max<std::size_t>(1, std::min(n_threads, cuts.size() - 1));
    const std::size_t size = kernels.tile_rows * request.rows.n_columns;
    std::vector<double> workspace(size * n_workers);
    run_units(cuts.size() - 1, n_workers, [&](std::size_t unit, std::size_t worker) {
        kernels.bin_pair_sums(task, request.edges[cuts[unit]], request.edges[cuts[unit + 1]],
                              workspace.data() + size * worker);
    });
}

template <typename Real>
void walsh_hadamard(Real *rows, std::size_t n_rows, std::size_t n, std::size_t n_threads) {
    const Kernels &kernels = kernels_in_use();
    const std::size_t per_unit = std::max<std::size_t>(1, (std::size_t{1} << 18) / n);
    run_units((n_rows + per_unit - 1) / per_unit, n_threads,
              [&](std::size_t unit, std::size_t) {
                  const std::size_t first = unit * per_unit;
                  const std::size_t some = std::min(per_unit, n_rows - first);
                  if constexpr (sizeof(Real) == sizeof(float)) {
                      kernels.walsh_hadamard_single(rows + first * n, some, n);
                  } else {
                      kernels.walsh_hadamard_double(rows + first * n, some, n);
                  }
              });
}

template void walsh_hadamard(float *, std::size_t, std::size_t, std::size_t);
template void walsh_hadamard(double *, std::size_t, std::size_t, std::size_t);

}  // namespace fastmmd
