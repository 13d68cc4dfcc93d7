// The Python face of the extension: checks of arguments, and nothing else. No other file
// knows about Python.
//
// Its only caller is fastmmd._backends.native, which hands over arrays of the right types.
// What is checked here is what would otherwise read or write outside of them.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fastmmd/build_info.hpp"
#include "fastmmd/drivers.hpp"

namespace nb = nanobind;

namespace {

template <typename Real>
using Matrix = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

[[noreturn]] void refuse(const std::string &message) {
    throw nb::value_error(message.c_str());
}

void require(bool condition, const char *message) {
    if (!condition) {
        refuse(message);
    }
}

bool is_single(const AnyArray &array, const char *name) {
    if (array.dtype() == nb::dtype<float>()) {
        return true;
    }
    if (array.dtype() != nb::dtype<double>()) {
        throw nb::type_error(
            (std::string("`") + name + "` must have dtype float32 or float64; got another.")
                .c_str());
    }
    return false;
}

fastmmd::DenseRows dense_rows(const AnyArray &values, const char *name,
                              const std::optional<Column<double>> &center) {
    if (values.ndim() != 2) {
        refuse(std::string("`") + name + "` must have two axes; got " +
               std::to_string(values.ndim()) + ".");
    }
    require(!center || center->shape(0) == values.shape(1),
            "`center` must have one number for each column.");
    return {values.data(),
            is_single(values, name),
            values.shape(1),
            static_cast<std::ptrdiff_t>(values.stride(0)),
            static_cast<std::ptrdiff_t>(values.stride(1)),
            center ? center->data() : nullptr};
}

// Which rows go to which bins.
struct Places {
    std::optional<Column<std::int64_t>> order;
    Column<std::int64_t> edges;

    void fill(fastmmd::FeatureRequest &request, std::int64_t n_rows,
              std::size_t n_bins) const {
        require(edges.shape(0) == n_bins + 1,
                "`edges` must have one number more than there are bins.");
        request.n_positions = edges.data()[n_bins];
        require(edges.data()[0] == 0 &&
                    (order ? request.n_positions == static_cast<std::int64_t>(order->shape(0))
                           : request.n_positions <= n_rows),
                "`edges` must start at 0 and end with the number of rows.");
        for (std::size_t b = 0; b < n_bins; ++b) {
            require(edges.data()[b] <= edges.data()[b + 1], "`edges` must not fall.");
        }
        if (order) {
            for (std::int64_t i = 0; i < request.n_positions; ++i) {
                require(order->data()[i] >= 0 && order->data()[i] < n_rows,
                        "`order` must name rows that exist.");
            }
        }
        request.rows = {order ? order->data() : nullptr, edges.data(), n_bins};
        request.n_rows = n_rows;
    }
};

// One kernel's features: phases are the projection times the multiplier, in turns; its
// frequencies are the first so many; then where its cosines and its sines start.
using ChannelTuple = std::tuple<double, std::size_t, std::size_t, std::size_t>;

void fill_channels(fastmmd::FeatureRequest &request,
                   const std::vector<ChannelTuple> &channels, const Matrix<double> &sums) {
    request.sums = sums.data();
    request.width = sums.shape(1);
    for (const auto &[multiplier, n, cosines, sines] : channels) {
        require(n <= request.n_frequencies, "a channel has more frequencies than there are.");
        require(n <= request.width && cosines <= request.width - n &&
                    sines <= request.width - n,
                "a channel's sums must lie within `sums`.");
        request.channels.push_back({multiplier, {n, cosines, sines}});
    }
}

void dense_feature_sums(const Matrix<double> &sums, const AnyArray &values,
                        const std::optional<Column<std::int64_t>> &order,
                        const Column<std::int64_t> &edges,
                        const std::optional<Column<double>> &center,
                        const Matrix<const double> &frequencies,
                        const std::vector<ChannelTuple> &channels, double single_radius,
                        std::size_t n_threads) {
    fastmmd::FeatureRequest request = {};
    const fastmmd::DenseRows rows = dense_rows(values, "values", center);
    require(frequencies.shape(1) == rows.n_columns,
            "`frequencies` must have the columns of `values`.");
    request.dense = &rows;
    request.frequencies = frequencies.data();
    request.n_frequencies = frequencies.shape(0);
    request.n_columns = rows.n_columns;
    request.single_radius = single_radius;
    Places{order, edges}.fill(request, static_cast<std::int64_t>(values.shape(0)),
                              sums.shape(0));
    fill_channels(request, channels, sums);
    nb::gil_scoped_release unlocked;
    fastmmd::feature_sums(request, n_threads);
}

void fastfood_feature_sums(const Matrix<double> &sums, const AnyArray &values,
                           const std::optional<Column<std::int64_t>> &order,
                           const Column<std::int64_t> &edges,
                           const std::optional<Column<double>> &center,
                           const Matrix<const double> &signs,
                           const Matrix<const std::int64_t> &permutation,
                           const Matrix<const double> &normals,
                           const Matrix<const double> &scales, std::size_t n_frequencies,
                           const std::vector<ChannelTuple> &channels, double single_radius,
                           std::size_t n_threads) {
    fastmmd::FeatureRequest request = {};
    const fastmmd::DenseRows rows = dense_rows(values, "values", center);
    const std::size_t n_blocks = signs.shape(0), padded = signs.shape(1);
    for (const auto &[blocks, length] :
         {std::pair{permutation.shape(0), permutation.shape(1)},
          std::pair{normals.shape(0), normals.shape(1)},
          std::pair{scales.shape(0), scales.shape(1)}}) {
        require(blocks == n_blocks && length == padded,
                "the arrays of Fastfood must have one shape.");
    }
    require(padded != 0 && (padded & (padded - 1)) == 0 && padded >= rows.n_columns &&
                padded <= (std::size_t{1} << 31) - 1,
            "blocks must have a power of two columns, at least those of `values`.");
    require(n_frequencies <= n_blocks * padded &&
                n_frequencies > (n_blocks - 1) * padded,
            "`n_frequencies` must end in the last block.");
    for (std::size_t i = 0; i < n_blocks * padded; ++i) {
        require(permutation.data()[i] >= 0 &&
                    permutation.data()[i] < static_cast<std::int64_t>(padded),
                "`permutation` must name columns that exist.");
    }
    request.dense = &rows;
    request.signs = signs.data();
    request.normals = normals.data();
    request.scales = scales.data();
    request.order = permutation.data();
    request.n_blocks = n_blocks;
    request.padded = padded;
    request.n_frequencies = n_frequencies;
    request.n_columns = rows.n_columns;
    request.single_radius = single_radius;
    Places{order, edges}.fill(request, static_cast<std::int64_t>(values.shape(0)),
                              sums.shape(0));
    fill_channels(request, channels, sums);
    nb::gil_scoped_release unlocked;
    fastmmd::feature_sums(request, n_threads);
}

// Says whether every entry's column and every row's start lies inside the arrays.
template <typename Index>
bool is_well_formed(const AnyArray &columns, const AnyArray &starts, std::size_t n_values,
                    std::size_t n_columns) {
    const Index *column = static_cast<const Index *>(columns.data());
    const Index *start = static_cast<const Index *>(starts.data());
    const std::size_t n_rows = starts.shape(0) - 1;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (start[i] < 0 || start[i] > start[i + 1]) {
            return false;
        }
    }
    const auto end = static_cast<std::size_t>(start[n_rows]);
    if (end > n_values || end > columns.shape(0)) {
        return false;
    }
    for (std::size_t k = static_cast<std::size_t>(start[0]); k < end; ++k) {
        if (column[k] < 0 || static_cast<std::size_t>(column[k]) >= n_columns) {
            return false;
        }
    }
    return true;
}

void sparse_feature_sums(const Matrix<double> &sums, const AnyArray &values,
                         const AnyArray &columns, const AnyArray &starts,
                         const std::optional<Column<std::int64_t>> &order,
                         const Column<std::int64_t> &edges,
                         const std::optional<Column<double>> &center,
                         const Matrix<const double> &frequencies,
                         const std::vector<ChannelTuple> &channels, double single_radius,
                         std::size_t n_threads) {
    require(values.ndim() == 1 && columns.ndim() == 1 && starts.ndim() == 1 &&
                starts.shape(0) >= 1,
            "the arrays of sparse rows must have one axis.");
    for (const AnyArray *array : {&values, &columns, &starts}) {
        require(array->shape(0) < 2 || array->stride(0) == 1,
                "the arrays of sparse rows must be contiguous.");
    }
    const bool wide = starts.dtype() == nb::dtype<std::int64_t>();
    require(columns.dtype() == starts.dtype() &&
                (wide || starts.dtype() == nb::dtype<std::int32_t>()),
            "columns and starts must both be int32 or both int64.");
    const std::size_t d = frequencies.shape(1);
    require(wide ? is_well_formed<std::int64_t>(columns, starts, values.shape(0), d)
                 : is_well_formed<std::int32_t>(columns, starts, values.shape(0), d),
            "sparse rows must name columns that exist.");
    fastmmd::FeatureRequest request = {};
    const fastmmd::SparseRows rows = {values.data(), is_single(values, "values"),
                                      columns.data(), starts.data(), wide};
    require(!center || center->shape(0) == d,
            "`center` must have one number for each column.");
    request.sparse = &rows;
    request.center = center ? center->data() : nullptr;
    request.frequencies = frequencies.data();
    request.n_frequencies = frequencies.shape(0);
    request.n_columns = d;
    request.single_radius = single_radius;
    Places{order, edges}.fill(request, static_cast<std::int64_t>(starts.shape(0)) - 1,
                              sums.shape(0));
    fill_channels(request, channels, sums);
    nb::gil_scoped_release unlocked;
    fastmmd::feature_sums(request, n_threads);
}

const std::vector<std::string> rules = {"squared", "absolute", "log1p_squared"};
const std::vector<std::string> profiles = {
    "gaussian",  "exponential", "matern_1", "matern_3",
    "matern_5", "rational_quadratic", "reciprocal",
};

int place_in(const std::vector<std::string> &names, const std::string &name) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            return static_cast<int>(i);
        }
    }
    refuse("no compiled form of " + name + ".");
}

std::vector<double> pair_sums(const AnyArray &left, const AnyArray &right,
                              const std::optional<Column<double>> &center,
                              std::optional<std::int64_t> offset, double scale,
                              const std::string &rule, const std::string &profile,
                              double parameter, std::size_t n_threads) {
    const fastmmd::DenseRows rows = dense_rows(left, "left", center);
    const fastmmd::DenseRows others = dense_rows(right, "right", center);
    require(rows.n_columns == others.n_columns, "both samples must have the same columns.");
    const fastmmd::PairRequest request = {
        rows,
        static_cast<std::int64_t>(left.shape(0)),
        others,
        static_cast<std::int64_t>(right.shape(0)),
        offset.has_value(),
        offset.value_or(0),
        scale,
        static_cast<fastmmd::Rule>(place_in(rules, rule)),
        static_cast<fastmmd::Profile>(place_in(profiles, profile)),
        parameter};
    nb::gil_scoped_release unlocked;
    return fastmmd::pair_sums(request, n_threads);
}

void bin_pair_sums(const nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> &sums,
                   const AnyArray &values, const Column<std::int64_t> &edges,
                   std::size_t first_bin, std::size_t last_bin,
                   const std::optional<Column<double>> &center,
                   const std::vector<double> &scales, const std::string &rule,
                   const std::string &profile, double parameter, std::size_t n_threads) {
    const fastmmd::DenseRows rows = dense_rows(values, "values", center);
    const std::size_t n_bins = sums.shape(1);
    require(!scales.empty() && sums.shape(0) == scales.size() && sums.shape(2) == n_bins,
            "`sums` must have shape (n_scales, n_bins, n_bins).");
    require(edges.shape(0) == n_bins + 1 && edges.data()[0] == 0 &&
                edges.data()[n_bins] == static_cast<std::int64_t>(values.shape(0)),
            "`edges` must start at 0 and end with the number of rows.");
    for (std::size_t b = 0; b < n_bins; ++b) {
        require(edges.data()[b] <= edges.data()[b + 1], "`edges` must not fall.");
    }
    require(first_bin <= last_bin && last_bin <= n_bins, "there must be such bins.");
    const auto chosen = static_cast<fastmmd::Rule>(place_in(rules, rule));
    require(chosen != fastmmd::Rule::cauchy || scales.size() == 1,
            "products over columns must come one scale at a time.");
    const fastmmd::BinPairRequest request = {
        rows,
        edges.data(),
        n_bins,
        first_bin,
        last_bin,
        scales,
        chosen,
        static_cast<fastmmd::Profile>(place_in(profiles, profile)),
        parameter,
        sums.data()};
    nb::gil_scoped_release unlocked;
    fastmmd::bin_pair_sums(request, n_threads);
}

bool is_c_contiguous(const AnyArray &array) {
    std::int64_t expected = 1;
    for (std::size_t axis = array.ndim(); axis-- > 0;) {
        if (array.shape(axis) > 1 && array.stride(axis) != expected) {
            return false;
        }
        expected *= static_cast<std::int64_t>(array.shape(axis));
    }
    return true;
}

// Raises the exception that says why `values` cannot be transformed in place.
[[noreturn]] void refuse_transform(nb::handle values) {
    AnyArray array;
    if (!nb::try_cast(values, array, /*convert=*/false)) {
        const std::string kind = nb::type_name(values.type()).c_str();
        throw nb::type_error(("`values` must be a NumPy array; got " + kind + ".").c_str());
    }
    is_single(array, "values");
    if (array.ndim() != 2) {
        refuse("`values` must have two axes; got " + std::to_string(array.ndim()) + ".");
    }
    require(is_c_contiguous(array),
            "`values` must be C-contiguous; got another memory layout.");
    refuse("`values` must be writable; got a read-only array.");
}

template <typename Real>
void transform(const Matrix<Real> &rows, std::size_t n_threads) {
    const std::size_t n = rows.shape(1);
    if (n == 0 || (n & (n - 1)) != 0) {
        refuse("`values` must have a last axis whose length is a power of two; got " +
               std::to_string(n) + ".");
    }
    nb::gil_scoped_release unlocked;
    fastmmd::walsh_hadamard(rows.data(), rows.shape(0), n, n_threads);
}

// Takes any object and not two typed overloads, because the message of a failed overload
// lists signatures and does not name the rule that was broken.
void walsh_hadamard(nb::handle values, std::size_t n_threads) {
    Matrix<float> single;
    Matrix<double> dbl;
    if (nb::try_cast(values, dbl, /*convert=*/false)) {
        transform(dbl, n_threads);
    } else if (nb::try_cast(values, single, /*convert=*/false)) {
        transform(single, n_threads);
    } else {
        refuse_transform(values);
    }
}

std::vector<std::string> targets() {
    std::vector<std::string> names;
    for (const fastmmd::Kernels *kernels : fastmmd::available_kernels()) {
        names.emplace_back(kernels->name);
    }
    return names;
}

std::string target() { return fastmmd::kernels_in_use().name; }

void use_target(const std::string &name) {
    if (!fastmmd::use_kernels(name)) {
        refuse("no compiled instruction set \"" + name + "\" on this processor.");
    }
}

nb::dict build_info() {
    const fastmmd::BuildInfo info = fastmmd::build_info();
    nb::dict result;
    result["compiler"] = info.compiler;
    result["cpp_standard"] = info.cpp_standard;
    result["build_type"] = info.build_type;
    return result;
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Compiled operations of FastMMD.";
    m.def("dense_feature_sums", &dense_feature_sums, nb::arg("sums").noconvert(),
          nb::arg("values"), nb::arg("order").none(), nb::arg("edges"),
          nb::arg("center").none(), nb::arg("frequencies"), nb::arg("channels"),
          nb::arg("single_radius"), nb::arg("n_threads"),
          "Add the features of dense rows to the sums of their bins.");
    m.def("fastfood_feature_sums", &fastfood_feature_sums, nb::arg("sums").noconvert(),
          nb::arg("values"), nb::arg("order").none(), nb::arg("edges"),
          nb::arg("center").none(), nb::arg("signs"), nb::arg("permutation"),
          nb::arg("normals"), nb::arg("scales"), nb::arg("n_frequencies"),
          nb::arg("channels"), nb::arg("single_radius"), nb::arg("n_threads"),
          "Add the Fastfood features of dense rows to the sums of their bins.");
    m.def("sparse_feature_sums", &sparse_feature_sums, nb::arg("sums").noconvert(),
          nb::arg("values"), nb::arg("columns"), nb::arg("starts"),
          nb::arg("order").none(), nb::arg("edges"), nb::arg("center").none(),
          nb::arg("frequencies"), nb::arg("channels"), nb::arg("single_radius"), nb::arg("n_threads"),
          "Add the features of sparse rows to the sums of their bins.");
    m.def("pair_sums", &pair_sums, nb::arg("left"), nb::arg("right"),
          nb::arg("center").none(), nb::arg("offset").none(), nb::arg("scale"),
          nb::arg("rule"), nb::arg("profile"), nb::arg("parameter"), nb::arg("n_threads"),
          "Sum a kernel over all pairs of rows, in groups of left rows.");
    m.def("bin_pair_sums", &bin_pair_sums, nb::arg("sums").noconvert(), nb::arg("values"),
          nb::arg("edges"), nb::arg("first_bin"), nb::arg("last_bin"),
          nb::arg("center").none(), nb::arg("scales"), nb::arg("rule"),
          nb::arg("profile"), nb::arg("parameter"), nb::arg("n_threads"),
          "Sum a kernel over pairs of rows, bin by bin.");
    m.def("walsh_hadamard", &walsh_hadamard, nb::arg("values").none(),
          nb::arg("n_threads") = 1,
          "Transform each row of a float32 or float64 matrix in place, unnormalised.");
    m.def("targets", &targets, "Name the instruction sets that can be used here.");
    m.def("target", &target, "Name the instruction set in use.");
    m.def("use_target", &use_target, nb::arg("name"), "Choose an instruction set.");
    m.def("build_info", &build_info, "Say how the extension was compiled.");
}
