/*
 * The one clock of the project: monotonic nanoseconds. No lock.
 */
#ifndef ADSM_BASE_CLOCK_H
#define ADSM_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/**
 * Nanoseconds since an arbitrary point, never going back.
 *
 * Return: nanoseconds
 * Thread: any
 * Signal: any handler
 */
static inline uint64_t adsm_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
