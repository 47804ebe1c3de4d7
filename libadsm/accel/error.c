/*
 * The text of the last failure; see error.h.
 */
#include "accel/error.h"

#include <stdarg.h>

static __thread struct {
    char text[512];
    int about; /* the status */
} last __attribute__((tls_model("initial-exec")));

int adsm_accel_fail(int status, ...)
{
    va_list pieces;
    va_start(pieces, status);
    size_t used = 0;
    const char *piece;
    while ((piece = va_arg(pieces, const char *)))
        while (*piece && used < sizeof last.text - 1)
            last.text[used++] = *piece++;
    last.text[used] = '\0';
    last.about = status;
    va_end(pieces);
    return status;
}

const char *adsm_accel_number(char buffer[24], int64_t number)
{
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    char *at = buffer + 23;
    *at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (number < 0)
        *--at = '-';
    return at;
}

const char *adsm_accel_error_text(void)
{
    return last.text;
}

const char *adsm_accel_error_of(int status)
{
    return status == last.about ? last.text : "";
}

void adsm_accel_error_forget(void)
{
    last.about = ADSM_OK;
}
