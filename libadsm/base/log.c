/*
 * Messages to the user: see base/log.h.
 *
 * The system call is made directly: a preloaded library may have put its own
 * write() before the C library's, and a message must not enter it.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/output.h"

static _Atomic int log_level = ADSM_LOG_WARN;

static const char *const log_prefix[] = {
    [ADSM_LOG_ERROR] = "libadsm: error: ",
    [ADSM_LOG_WARN] = "libadsm: warning: ",
    [ADSM_LOG_INFO] = "libadsm: ",
    [ADSM_LOG_DEBUG] = "libadsm: debug: ",
};

/* Standard error may be a full pipe or closed; a message is never worth more
 * than one attempt that a signal did not interrupt. */
static void log_line(const char *line, size_t bytes)
{
    struct adsm_output before = adsm_output_begin();
    while (syscall(SYS_write, STDERR_FILENO, line, bytes) < 0 &&
           errno == EINTR) {
    }
    adsm_output_end(before);
}

void adsm_log_set_level(enum adsm_log_level level)
{
    atomic_store_explicit(&log_level, (int)level, memory_order_relaxed);
}

bool adsm_log_enabled(enum adsm_log_level level)
{
    return (int)level <= atomic_load_explicit(&log_level, memory_order_relaxed);
}

/* Keeps errno, which the format may name. */
static void log_text(const char *prefix, const char *format, va_list args)
{
    int saved_errno = errno;
    char line[ADSM_LOG_LINE_BYTES];
    size_t used = strlen(prefix);
    memcpy(line, prefix, used);
    errno = saved_errno;
    int n = vsnprintf(line + used, sizeof line - used, format, args);
    if (n < 0)
        n = 0;
    used += (size_t)n;
    if (used > sizeof line - 1) {
        static const char cut[] = "…";
        used = sizeof line - 1;
        memcpy(line + used - (sizeof cut - 1), cut, sizeof cut - 1);
    }
    line[used++] = '\n';
    log_line(line, used);
    errno = saved_errno;
}

void adsm_log(enum adsm_log_level level, const char *format, ...)
{
    va_list args;
    if (!adsm_log_enabled(level))
        return;
    va_start(args, format);
    log_text(log_prefix[level], format, args);
    va_end(args);
}

void adsm_log_asked(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(log_prefix[ADSM_LOG_INFO], format, args);
    va_end(args);
}

/* Append at most what fits; the fault path has no snprintf. */
static size_t log_append(char *line, size_t used, const char *text)
{
    while (*text != '\0' && used < ADSM_LOG_LINE_BYTES - 1)
        line[used++] = *text++;
    return used;
}

static void log_signal(enum adsm_log_level level, const char *message,
                       const char *tail)
{
    if (!adsm_log_enabled(level))
        return;
    int saved_errno = errno;
    char line[ADSM_LOG_LINE_BYTES];
    size_t used = log_append(line, 0, log_prefix[level]);
    used = log_append(line, used, message);
    used = log_append(line, used, tail);
    line[used++] = '\n';
    log_line(line, used);
    errno = saved_errno;
}

void adsm_log_signal(enum adsm_log_level level, const char *message)
{
    log_signal(level, message, "");
}

void adsm_log_signal_address(enum adsm_log_level level, const char *message,
                             uintptr_t address)
{
    char tail[3 + 2 * sizeof address + 1];
    char *at = tail + sizeof tail;
    *--at = '\0';
    do {
        *--at = "0123456789abcdef"[address % 16];
        address /= 16;
    } while (address != 0);
    *--at = 'x';
    *--at = '0';
    *--at = ' ';
    log_signal(level, message, at);
}
