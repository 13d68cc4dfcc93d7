// The Python face of the extension: checks of arguments, and nothing else. No header
// under include/fastmmd knows about Python.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "fastmmd/build_info.hpp"
#include "fastmmd/walsh_hadamard.hpp"

namespace nb = nanobind;

namespace {

template <typename Real>
using Matrix = nb::ndarray<Real, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;

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
[[noreturn]] void refuse(nb::handle values) {
    AnyArray array;
    if (!nb::try_cast(values, array, /*convert=*/false)) {
        const std::string kind = nb::type_name(values.type()).c_str();
        throw nb::type_error(("`values` must be a NumPy array; got " + kind + ".").c_str());
    }
    if (array.dtype() != nb::dtype<float>() && array.dtype() != nb::dtype<double>()) {
        throw nb::type_error("`values` must have dtype float32 or float64; got another.");
    }
    if (array.ndim() != 2) {
        throw nb::value_error(("`values` must have two axes; got " +
                               std::to_string(array.ndim()) + ".")
                                  .c_str());
    }
    if (!is_c_contiguous(array)) {
        throw nb::value_error("`values` must be C-contiguous; got another memory layout.");
    }
    throw nb::value_error("`values` must be writable; got a read-only array.");
}

template <typename Real>
void transform(const Matrix<Real> &matrix) {
    const std::size_t n_rows = matrix.shape(0);
    const std::size_t n = matrix.shape(1);
    if (!fastmmd::is_power_of_two(n)) {
        throw nb::value_error(
            ("`values` must have a last axis whose length is a power of two; got " +
             std::to_string(n) + ".")
                .c_str());
    }
    Real *data = matrix.data();
    nb::gil_scoped_release unlocked;
    fastmmd::walsh_hadamard(data, n_rows, n);
}

// Takes any object and not two typed overloads, because the message of a failed overload
// lists signatures and does not name the rule that was broken.
void walsh_hadamard(nb::handle values) {
    Matrix<float> single;
    Matrix<double> dbl;
    if (nb::try_cast(values, dbl, /*convert=*/false)) {
        transform(dbl);
    } else if (nb::try_cast(values, single, /*convert=*/false)) {
        transform(single);
    } else {
        refuse(values);
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
    m.def("walsh_hadamard", &walsh_hadamard, nb::arg("values").none(),
          "Transform each row of a float32 or float64 matrix in place, unnormalised.");
    m.def("build_info", &build_info, "Say how the extension was compiled.");
}
