// Cuts sums of features into parts of work and hands them to threads.

#include <algorithm>
#include <cmath>
#include <mutex>

#include "fastmmd/drivers.hpp"
#include "fastmmd/threads.hpp"

namespace fastmmd {

namespace {

// Parts do not depend on the number of threads, so neither do the sums. So many keep many
// cores busy and need little memory where a bin is split.
constexpr std::size_t wanted_parts = 64;

// A part goes through all frequencies: with fewer rows it would spend its time on fetching
// them. Fastfood has next to none.
constexpr std::int64_t least_rows = 192, least_fastfood_rows = 16;

// A part should outlast the start of a thread by far; counted in phases, of which a
// processor makes a few in a nanosecond.
constexpr double least_phases = 1e6;

// The work of a row, in phases: cosines and sines, and the projection before them.
double phases_per_row(const FeatureRequest &request) {
    double phases = 0.0;
    for (const FeatureChannel &c : request.channels) {
        phases += static_cast<double>(c.channel.n_frequencies);
    }
    const auto n = static_cast<double>(request.n_frequencies);
    if (request.frequencies == nullptr) {
        return phases + static_cast<double>(request.n_blocks * request.padded) / 2.0;
    }
    // Sparse rows are taken for nearly empty, which only makes parts larger.
    return request.sparse != nullptr
               ? phases
               : phases + n * static_cast<double>(request.n_columns) / 12.0;
}

// Frequencies in panels: panel after panel, column after column, zeros after the last.
template <typename Real>
std::vector<Real> pack_panels(const FeatureRequest &request, std::size_t panel,
                              std::size_t n_threads) {
    const std::size_t n = request.n_frequencies, d = request.n_columns;
    const std::size_t n_panels = (n + panel - 1) / panel;
    std::vector<Real> packed(n_panels * panel * d);
    const bool small = packed.size() < 100000;
    run_units(n_panels, small ? 1 : n_threads, [&](std::size_t p, std::size_t) {
        Real *to = packed.data() + p * panel * d;
        // Some columns at a time: both sides stay in cache.
        constexpr std::size_t some = 64;
        for (std::size_t first = 0; first < d; first += some) {
            const std::size_t last = std::min(d, first + some);
            for (std::size_t i = 0; i < panel && p * panel + i < n; ++i) {
                const double *from = request.frequencies + (p * panel + i) * d;
                for (std::size_t k = first; k < last; ++k) {
                    to[k * panel + i] = static_cast<Real>(from[k]);
                }
            }
        }
    });
    return packed;
}

template <typename Real>
std::vector<Real> converted(const double *values, std::size_t n) {
    return std::vector<Real>(values, values + n);
}

// Channels in order of their phases; each of twice the phase of the one before joins its
// chain.
std::vector<Chain> chains_of(std::vector<FeatureChannel> channels) {
    std::stable_sort(channels.begin(), channels.end(),
                     [](const FeatureChannel &a, const FeatureChannel &b) {
                         return a.multiplier < b.multiplier;
                     });
    std::vector<Chain> chains;
    double last = 0.0;
    for (const FeatureChannel &next : channels) {
        const bool joins =
            !chains.empty() && next.multiplier == 2.0 * last &&
            chains.back().n_channels < longest_chain &&
            next.channel.n_frequencies >=
                chains.back().channels[chains.back().n_channels - 1].n_frequencies;
        if (!joins) {
            chains.push_back({next.multiplier, 0, {}});
        }
        chains.back().channels[chains.back().n_channels++] = next.channel;
        last = next.multiplier;
    }
    return chains;
}

// Rows further from 0 than the radius; empty if there is none.
template <typename In, typename Index>
std::vector<std::uint8_t> far_sparse_rows(const SparseRows &rows, std::int64_t n_rows,
                                          double radius) {
    const Index *starts = static_cast<const Index *>(rows.starts);
    const In *values = static_cast<const In *>(rows.values);
    std::vector<std::uint8_t> far(static_cast<std::size_t>(n_rows), 0);
    bool any = false;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        double square = 0.0;
        for (Index k = starts[i]; k < starts[i + 1]; ++k) {
            const double v = static_cast<double>(values[k]);
            square += v * v;
        }
        if (!(radius >= 0.0 && square <= radius * radius)) {
            far[static_cast<std::size_t>(i)] = 1;
            any = true;
        }
    }
    return any ? far : std::vector<std::uint8_t>{};
}

struct Owner {
    const FeatureRequest &request;
    std::size_t panel;
    std::once_flag once;
    std::vector<double> panels;

    // Called by the first thread that meets a far row; the others wait for it.
    static const void *pack(void *self) {
        Owner &owner = *static_cast<Owner *>(self);
        std::call_once(owner.once, [&owner] {
            owner.panels = pack_panels<double>(owner.request, owner.panel, 1);
        });
        return owner.panels.data();
    }
};

// A part of the work, and where its sums go: straight to its bins, which no other part
// has, or to a row of its own that is added at the end.
struct Part {
    std::int64_t begin;
    std::int64_t end;
    std::size_t first_panel;
    std::size_t last_panel;
    std::size_t bin;
    bool own_sums;
};

}  // namespace

void feature_sums(const FeatureRequest &request, std::size_t n_threads) {
    const Kernels &kernels = kernels_in_use();
    const std::vector<Chain> chains = chains_of(request.channels);
    const bool fastfood = request.frequencies == nullptr;
    const std::size_t n = request.n_frequencies, d = request.n_columns;
    const bool use_single = request.single_radius >= 0.0;
    if (request.n_positions == 0 || chains.empty()) {
        return;
    }

    FeatureTask task = {};
    task.rows = request.rows;
    task.chains = chains.data();
    task.n_chains = chains.size();
    task.single_radius = request.single_radius;
    task.single.n_frequencies = task.full.n_frequencies = n;
    task.single.n_columns = task.full.n_columns = d;
    Owner owner{request, kernels.double_panel, {}, {}};
    task.pack_full = &Owner::pack;
    task.owner = &owner;

    std::vector<float> panels, signs, normals, scales;
    std::vector<std::int32_t> order;
    std::vector<std::uint8_t> far;
    if (fastfood) {
        const std::size_t size = request.n_blocks * request.padded;
        order.assign(request.order, request.order + size);
        task.full.fastfood = {request.n_blocks, request.padded, request.signs,
                              request.normals,  request.scales, order.data()};
        signs = converted<float>(request.signs, size);
        normals = converted<float>(request.normals, size);
        scales = converted<float>(request.scales, size);
        task.single.fastfood = {request.n_blocks, request.padded, signs.data(),
                                normals.data(),   scales.data(),  order.data()};
    } else if (use_single) {
        panels = pack_panels<float>(request, kernels.single_panel, n_threads);
        task.single.panels = panels.data();
    }
    std::vector<double> full_starts;
    std::vector<float> single_starts;
    if (request.sparse != nullptr) {
        const SparseRows &rows = *request.sparse;
        task.sparse = rows;
        // Taking the center off would fill the rows: their phases start at minus its own.
        full_starts.assign(n + kernels.single_panel, 0.0);
        double square = 0.0;
        for (std::size_t k = 0; request.center != nullptr && k < d; ++k) {
            square += request.center[k] * request.center[k];
            for (std::size_t i = 0; i < n; ++i) {
                full_starts[i] -= request.frequencies[i * d + k] * request.center[k];
            }
        }
        single_starts.assign(full_starts.begin(), full_starts.end());
        task.full_starts = full_starts.data();
        task.single_starts = single_starts.data();
        if (use_single) {
            // A row within this distance of 0 is near enough to the center.
            const double radius = request.single_radius - std::sqrt(square);
            far = rows.wide
                      ? (rows.single
                             ? far_sparse_rows<float, std::int64_t>(rows, request.n_rows, radius)
                             : far_sparse_rows<double, std::int64_t>(rows, request.n_rows,
                                                                     radius))
                      : (rows.single
                             ? far_sparse_rows<float, std::int32_t>(rows, request.n_rows, radius)
                             : far_sparse_rows<double, std::int32_t>(rows, request.n_rows,
                                                                     radius));
            task.far = far.empty() ? nullptr : far.data();
        }
    } else {
        task.dense = *request.dense;
    }

    // Cut by bins; a bin larger than its share is cut again, and sparse rows are cut by
    // panels first: those need no sums of their own.
    const std::size_t n_panels = (n + kernels.single_panel - 1) / kernels.single_panel;
    const std::size_t panel_parts = request.sparse != nullptr ? n_panels : 1;
    const std::size_t row_parts = std::max<std::size_t>(1, wanted_parts / panel_parts);
    const auto by_work = static_cast<std::int64_t>(least_phases / phases_per_row(request));
    const std::int64_t share =
        std::max<std::int64_t>({fastfood ? least_fastfood_rows : least_rows,
                                by_work / static_cast<std::int64_t>(panel_parts),
                                (request.n_positions + static_cast<std::int64_t>(row_parts) -
                                 1) / static_cast<std::int64_t>(row_parts)});
    std::vector<Part> parts;
    std::size_t n_own = 0;
    for (std::size_t p = 0; p < panel_parts; ++p) {
        const std::size_t first = request.sparse != nullptr ? p : 0;
        const std::size_t last = request.sparse != nullptr ? p + 1 : n_panels;
        std::size_t bin = 0;
        while (bin < request.rows.n_bins) {
            const std::int64_t begin = request.rows.edges[bin];
            std::size_t next = bin + 1;
            while (next < request.rows.n_bins && request.rows.edges[next + 1] - begin <= share) {
                ++next;
            }
            const std::int64_t end = request.rows.edges[next];
            // Nearly a share is one part: no crumbs.
            if (end - begin <= share + share / 4) {
                parts.push_back({begin, end, first, last, bin, false});
            } else {
                const std::int64_t n_cuts = (end - begin + share - 1) / share;
                for (std::int64_t i = 0; i < n_cuts; ++i) {
                    parts.push_back({begin + (end - begin) * i / n_cuts,
                                     begin + (end - begin) * (i + 1) / n_cuts, first, last,
                                     bin, true});
                    ++n_own;
                }
            }
            bin = next;
        }
    }

    std::vector<double> own(n_own * request.width, 0.0);
    std::vector<std::size_t> own_place(parts.size(), 0);
    for (std::size_t i = 0, k = 0; i < parts.size(); ++i) {
        if (parts[i].own_sums) {
            own_place[i] = k++;
        }
    }
    const std::size_t n_workers = std::max<std::size_t>(1, std::min(n_threads, parts.size()));
    const std::size_t bytes = kernels.feature_workspace(task) + 64;
    std::vector<unsigned char> workspace(bytes * n_workers);
    const auto run = request.sparse != nullptr ? kernels.sparse_feature_sums
                     : fastfood                ? kernels.fastfood_feature_sums
                                               : kernels.dense_feature_sums;
    run_units(parts.size(), n_workers, [&](std::size_t i, std::size_t worker) {
        const Part &part = parts[i];
        auto at = reinterpret_cast<std::uintptr_t>(workspace.data() + bytes * worker);
        at = (at + 63) / 64 * 64;
        const Sums sums = part.own_sums
                              ? Sums{own.data() + own_place[i] * request.width,
                                     request.width, part.bin}
                              : Sums{request.sums, request.width, 0};
        run(task, {part.begin, part.end, part.first_panel, part.last_panel, sums,
                   reinterpret_cast<void *>(at)});
    });
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i].own_sums) {
            const double *from = own.data() + own_place[i] * request.width;
            double *to = request.sums + parts[i].bin * request.width;
            for (std::size_t k = 0; k < request.width; ++k) {
                to[k] += from[k];
            }
        }
    }
}

}  // namespace fastmmd
