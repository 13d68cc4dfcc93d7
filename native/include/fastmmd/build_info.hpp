// How this extension was compiled.
#pragma once

#include <string>

#ifndef FASTMMD_BUILD_TYPE
#define FASTMMD_BUILD_TYPE ""
#endif

namespace fastmmd {

struct BuildInfo {
    std::string compiler;
    long cpp_standard;  // 202002 for C++20
    std::string build_type;
};

inline BuildInfo build_info() {
#if defined(__clang__)
    std::string compiler = "Clang " __clang_version__;
#elif defined(__GNUC__)
    std::string compiler = "GCC " __VERSION__;
#elif defined(_MSC_VER)
    std::string compiler = "MSVC " + std::to_string(_MSC_FULL_VER);
#else
    std::string compiler = "unknown";
#endif
#if defined(_MSVC_LANG)
    constexpr long cpp_standard = _MSVC_LANG;
#else
    constexpr long cpp_standard = __cplusplus;
#endif
    return {compiler, cpp_standard, FASTMMD_BUILD_TYPE};
}

}  // namespace fastmmd
