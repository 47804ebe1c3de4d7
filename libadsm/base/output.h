/*
 * Stretches in which output of ours costs the program no signal: a pipe that
 * nobody reads (SIGPIPE) and a file that is too large (SIGXFSZ) end a program
 * that does not expect them, and it has not written anything itself.
 */
#ifndef ADSM_BASE_OUTPUT_H
#define ADSM_BASE_OUTPUT_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct adsm_output {
    uint64_t mask;    /* the thread's before                 */
    uint64_t pending; /* those of the two that were already  */
};

/**
 * Begin and end one; calls in between fail with EPIPE or EFBIG. Keep errno.
 *
 * Thread: that of the stretch
 * Signal: any handler
 */
struct adsm_output adsm_output_begin(void);
void adsm_output_end(struct adsm_output before);

/**
 * Append a line to a file, in one write: several programs may do so.
 *
 * @path  created when missing; @line of @bytes, with its end
 * Return: ADSM_OK; ADSM_E_SYSTEM (not written whole; errno says why)
 * Thread: any
 * Signal: never
 */
ADSM_MUST_CHECK adsm_status_t adsm_output_append(const char *path,
                                                 const char *line,
                                                 size_t bytes);

#endif
