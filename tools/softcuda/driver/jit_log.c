/*
 * Owns: what is written into the log buffers of loading and linking.
 * Does not own: the buffers, which are the program's.  No lock.
 */
#include "driver/jit_log.h"

#include <string.h>

void sc_jit_log_read(struct sc_jit_log *log, unsigned count,
                     const CUjit_option *options, void **values)
{
    *log = (struct sc_jit_log){0};
    for (unsigned i = 0; options && values && i < count; i++) {
        switch ((int)options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            log->error.text = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error.bytes = (uint32_t)(uintptr_t)values[i];
            log->error.used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            log->info.text = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info.bytes = (uint32_t)(uintptr_t)values[i];
            log->info.used = &values[i];
            break;
        default:
            break; /* code generation options have nothing to act on here */
        }
    }
    struct sc_jit_buffer *both[] = {&log->error, &log->info};
    for (int i = 0; i < 2; i++) {
        if (!both[i]->text)
            both[i]->bytes = 0;
        if (both[i]->bytes)
            both[i]->text[0] = '\0';
        if (both[i]->used)
            *both[i]->used = NULL;
    }
}

/* As much of it as there is room for. */
static void append(struct sc_jit_buffer *buffer, const char *text)
{
    size_t room = buffer->bytes - buffer->filled - 1;
    size_t length = strnlen(text, room);
    memcpy(buffer->text + buffer->filled, text, length);
    buffer->filled += length;
    buffer->text[buffer->filled] = '\0';
    if (buffer->used)
        *buffer->used = (void *)(uintptr_t)buffer->filled;
}

static void add_line(struct sc_jit_buffer *buffer, const char *text)
{
    if (buffer->filled > 0)
        append(buffer, "\n");
    append(buffer, text);
}

void sc_jit_log_error(struct sc_jit_log *log, const char *what, const char *why)
{
    if (log && log->error.bytes)
        add_line(&log->error, why);
    else if (*why)
        sc_say("%s: %s", what, why);
}

void sc_jit_log_info(struct sc_jit_log *log, const char *text)
{
    if (log->info.bytes)
        add_line(&log->info, text);
}
