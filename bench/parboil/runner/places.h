/*
 * Where adsm-bench finds what it runs, and where it writes.
 *
 * Owns the folder for counters and made inputs, which exists from places_find
 * to places_remove. What cannot be found ends the program with one message and
 * status 2. One thread, no locks.
 */
#ifndef BENCH_PARBOIL_PLACES_H
#define BENCH_PARBOIL_PLACES_H

#include <limits.h>

#include "runner/plan.h"

struct places {
    char programs[PLAN_ROOMS][PATH_MAX]; /* folders of the programs */
    char adsm_run[PATH_MAX];
    char softcuda[PATH_MAX]; /* folder of its libcuda.so.1 */
    char preload[PATH_MAX];  /* the library that adsm-run preloads */
    char scratch[PATH_MAX];  /* folder for counters and made inputs */
};

extern struct places places;

/** Everything lies where the build put it, seen from this program. */
void places_find(void);

/** Remove the scratch folder. */
void places_remove(void);

/** "folder/name" into PATH_MAX bytes. */
void places_join(char *path, const char *folder, const char *name);

#endif
