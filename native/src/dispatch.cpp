// Which instruction set to use.

#include <atomic>

#include "fastmmd/drivers.hpp"

namespace fastmmd {

namespace {

std::atomic<const Kernels *> chosen{nullptr};

}  // namespace

std::vector<const Kernels *> available_kernels() {
    std::vector<const Kernels *> found = {&baseline::kernels()};
#ifdef FASTMMD_HAS_X86_TARGETS
    // The levels of the x86-64 psABI; asking for each feature that its flags turn on.
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") &&
                    __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (v3) {
        found.push_back(&avx2::kernels());
    }
    if (v4) {
        found.push_back(&avx512::kernels());
    }
#endif
    return found;
}

const Kernels &kernels_in_use() {
    const Kernels *kernels = chosen.load();
    if (kernels == nullptr) {
        kernels = available_kernels().back();
        chosen.store(kernels);
    }
    return *kernels;
}

bool use_kernels(const std::string &name) {
    for (const Kernels *kernels : available_kernels()) {
        if (name == kernels->name) {
            chosen.store(kernels);
            return true;
        }
    }
    return false;
}

}  // namespace fastmmd
