// Run numbered units of work on some threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace fastmmd {

// Calls work(unit, worker) for every unit, on at most `n_threads` threads of which the
// caller is one. Threads live as long as the call: that costs some tens of microseconds, and
// a process that forks afterwards has nothing to lose. Units are handed out one by one, so
// work must not depend on which worker gets which. The first exception, such as memory
// that is not to be had, ends the work and is thrown to the caller.
template <typename Work>
void run_units(std::size_t n_units, std::size_t n_threads, const Work &work) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failing;
    const auto run = [&](std::size_t worker) {
        try {
            for (std::size_t unit; (unit = next.fetch_add(1)) < n_units;) {
                work(unit, worker);
            }
        } catch (...) {
            next.store(n_units);
            const std::lock_guard<std::mutex> lock(failing);
            if (!failure) {
                failure = std::current_exception();
            }
        }
    };
    std::vector<std::thread> threads;
    for (std::size_t worker = 1; worker < n_threads && worker < n_units; ++worker) {
        try {
            threads.emplace_back(run, worker);
        } catch (...) {
            break;  // no more threads to be had: those there are do the work
        }
    }
    run(0);
    for (std::thread &thread : threads) {
        thread.join();
    }
    if (failure) {
        std::rethrow_exception(failure);
    }
}

}  // namespace fastmmd
