/*
 * Messages to the user: one line per write(2) on standard error.
 *
 * Owns the prefix ("libadsm: warning: ") and the level. Does not decide what
 * is worth a message: whoever decides on an error logs it, once. No lock: a
 * line is formatted on the stack and written whole, so lines never mix.
 */
#ifndef ADSM_BASE_LOG_H
#define ADSM_BASE_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum adsm_log_level {
    ADSM_LOG_ERROR,
    ADSM_LOG_WARN,
    ADSM_LOG_INFO,
    ADSM_LOG_DEBUG,
};

/** Longest line in bytes, prefix and newline included; more is cut with "…". */
#define ADSM_LOG_LINE_BYTES 1024

/**
 * Set the most talkative level that is still printed (ADSM_LOG).
 *
 * @level  least important level to print; ADSM_LOG_WARN until this is called
 * Thread: any
 * Signal: any handler
 */
void adsm_log_set_level(enum adsm_log_level level);

/**
 * Is a message of this level printed?
 *
 * Thread: any
 * Signal: any handler
 */
bool adsm_log_enabled(enum adsm_log_level level);

/**
 * Print one line. Keeps errno, so `%m` names the error of the failed call.
 *
 * @level  how important; @format  printf format without a newline
 * Thread: any
 * Signal: never (use adsm_log_signal)
 */
void adsm_log(enum adsm_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Print one line that an option asked for, whatever the level.
 *
 * @format  printf format without a newline
 * Thread: any
 * Signal: never
 */
void adsm_log_asked(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/** adsm_log, at most once per process for each place in the source. */
#define adsm_log_once(level, ...)                                              \
    do {                                                                       \
        static atomic_flag adsm_log_said = ATOMIC_FLAG_INIT;                   \
        if (!atomic_flag_test_and_set_explicit(&adsm_log_said,                 \
                                               memory_order_relaxed))          \
            adsm_log(level, __VA_ARGS__);                                      \
    } while (0)

/**
 * Print one fixed line from a signal handler or the fault path.
 *
 * @level  how important; @message  text without a newline
 * Thread: any
 * Signal: any handler
 */
void adsm_log_signal(enum adsm_log_level level, const char *message);

/**
 * As adsm_log_signal, followed by an address: "message 0x7f0012340000".
 *
 * @level  how important; @message  text; @address  printed in hexadecimal
 * Thread: any
 * Signal: any handler
 */
void adsm_log_signal_address(enum adsm_log_level level, const char *message,
                             uintptr_t address);

#endif
