/*
 * The buffers that programs give for messages of the compiler and linker.
 */
#ifndef SOFTCUDA_DRIVER_JIT_LOG_H
#define SOFTCUDA_DRIVER_JIT_LOG_H

#include "driver/driver.h"

/** One of them; bytes 0: the program gave none. */
struct sc_jit_buffer {
    char *text;
    size_t bytes, filled;
    void **used; /* option value that says how much is filled, or NULL */
};

struct sc_jit_log {
    struct sc_jit_buffer error, info;
};

/** Pick the buffers out of a call's options, and empty them: a program may
 *  print them whatever comes of the call. */
void sc_jit_log_read(struct sc_jit_log *log, unsigned count,
                     const CUjit_option *options, void **values);

/** Add why something is refused, one line; on stderr behind `what` where the
 *  program gave no buffer.  @log may be NULL */
void sc_jit_log_error(struct sc_jit_log *log, const char *what,
                      const char *why);

/** Add a line of information, where it is wanted. */
void sc_jit_log_info(struct sc_jit_log *log, const char *text);

#endif
