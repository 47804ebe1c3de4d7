/*
 * Programs on adsm.h beside the same by hand on the CUDA driver API, on one to
 * four devices with links and a pace of their own: Fig. 10(f) of Ramashekar and
 * Bondhugula, "Automatic data allocation and buffer management for multi-GPU
 * machines" (2013), where the least was 0.88 of what is written by hand.
 *
 *   PROGRAM/DEVICES        time without that of making the input, over that of
 *                          the program by hand
 *   PROGRAM/DEVICES/moved  bytes over links likewise, between devices twice
 *
 * Both are given parts of equal size, and results have to be the same bytes. A
 * round with more than 1 launch in 100 behind the pace says little, as the
 * machine was busy: it is made again, up to three times.
 */
#include "../micro/bench.h"
#include "common/ran.h"

#include <stdio.h>
#include <stdlib.h>

struct workload {
    const char *name, *numbers, *quick;
};

static const struct workload workloads[] = {
    {"floyd", "n=256", "n=64"},
    {"heat", "nx=512 ny=512 steps=40 every=1000000",
     "nx=256 ny=256 steps=10 every=1000000"},
    {"blackscholes", "options=1048576", "options=65536"},
};

enum { BY_HAND, BY_ADSM, FORMS, TRIES = 3 };
static const char *const forms[FORMS] = {"explicit", "adsm"};

static struct ran run(const struct workload *w, int form, int devices,
                      const char *input)
{
    char settings[160], program[64];
    struct ran ran;
    snprintf(settings, sizeof settings,
             "SOFTCUDA_LINK=50MB/s SOFTCUDA_PACE=5M/s SOFTCUDA_DEVICES=%d "
             "ADSM_PARTS=%d",
             devices, devices);
    snprintf(program, sizeof program, "%s_%s", w->name, forms[form]);
    for (int i = 0; i < TRIES; i++) {
        ran = ran_program(settings, program, input);
        if (ran.late * 100 <= ran.paced)
            break;
    }
    if (ran.late * 100 > ran.paced)
        fprintf(stderr, "%s on %d devices: %ld of %ld launches late\n", program,
                devices, (long)ran.late, (long)ran.paced);
    return ran;
}

static void measure(const struct workload *w, int devices)
{
    struct bench_samples ms[FORMS] = {0}, mib[FORMS] = {0};
    char name[64];
    const char *input =
        ran_input(w->name, "medium", bench_quick() ? w->quick : w->numbers);
    for (int r = 0; r < bench_reps(); r++) {
        uint64_t digest[FORMS];
        for (int form = 0; form < FORMS; form++) {
            struct ran ran = run(w, form, devices, input);
            bench_add(&ms[form], 1e3 * ran.seconds);
            bench_add(&mib[form], (double)(ran.up + ran.down) / (1 << 20));
            digest[form] = ran.digest;
        }
        if (digest[BY_HAND] != digest[BY_ADSM]) {
            fprintf(stderr, "%s: results differ\n", w->name);
            exit(3);
        }
    }
    snprintf(name, sizeof name, "%s/%d", w->name, devices);
    bench_report(name, "ms", &ms[BY_ADSM], "by hand", &ms[BY_HAND]);
    snprintf(name, sizeof name, "%s/%d/moved", w->name, devices);
    bench_report(name, "MiB", &mib[BY_ADSM], "by hand", &mib[BY_HAND]);
}

int main(int argc, char **argv)
{
    bench_start(argc, argv, "by_hand");
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        for (int devices = 1; devices <= 4; devices *= 2)
            measure(&workloads[i], devices);
    return 0;
}
