/*
 * SOFTCUDA_* variables: the environment is the input's lines, each behind
 * "SOFTCUDA_".
 */
#include "fuzz.h"

#include "driver/options.h"

#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sc_options options = {0};
    char *lines[FUZZ_LINES_MOST + 1], **before = environ;
    fuzz_lines(data, bytes, "SOFTCUDA_", lines);
    environ = lines;
    sc_options_read(&options);
    environ = before;
    FUZZ_CHECK(options.devices >= 1 && options.devices <= SC_MAX_DEVICES);
    FUZZ_CHECK(options.memory_bytes >= 4u << 20 &&
               options.memory_bytes <= UINT64_C(1) << 40);
    FUZZ_CHECK(options.memory_bytes % (2u << 20) == 0);
    for (int i = 0; i < SC_MAX_DEVICES; i++) {
        uint64_t link = options.link_bytes_per_second[i];
        uint64_t pace = options.pace_threads_per_second[i];
        FUZZ_CHECK(!link || (link >= 100000 && link <= 10000000000000));
        FUZZ_CHECK(!pace || (pace >= 1000 && pace <= 10000000000000));
    }
    const struct sc_latency *latency = &options.latency;
    const uint64_t times[] = {latency->launch_ns, latency->wait_ns,
                              latency->up_ns, latency->down_ns};
    for (int i = 0; i < 4; i++)
        FUZZ_CHECK(times[i] <= 1000000000);
    FUZZ_CHECK(!options.program || *options.program);
    fuzz_lines_free(lines);
    return 0;
}
