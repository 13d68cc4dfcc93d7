// Run numbered units of work on some threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace fastmmd {

// Calls work(unit, worker) for every unit, on at most `n_threads` threads of which the
// caller is one. Threads live as long as the call: that costs some tens of microseconds, and
// a process that forks afterwards has nothing to lose. Units are handed out one by one, so
// work must not depend on which worker gets which.
template <typename Work>
void run_units(std::size_t n_units, std::size_t n_threads, const Work &work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&](std::size_t worker) {
        for (std::size_t unit; (unit = next.fetch_add(1)) < n_units;) {
            work(unit, worker);
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
}

}  // namespace fastmmd
