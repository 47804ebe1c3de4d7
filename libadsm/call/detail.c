/* Error details, one sentence per thread. */
#include "call/detail.h"

#include "accel/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static __thread struct {
    char text[512];
    bool is_said; /* in the call that is being made */
} detail;

static const char *cause_of(int status)
{
    const char *cause = adsm_accel_error_of(status);
    return cause[0] ? cause : adsm_status_text(status);
}

/* Return: the characters of the text that are used */
static size_t keep(const char *format, va_list args)
{
    int used = vsnprintf(detail.text, sizeof detail.text, format, args);
    detail.is_said = true;
    return used >= 0 && (size_t)used < sizeof detail.text
               ? (size_t)used
               : sizeof detail.text - 1;
}

int adsm_detail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)keep(format, args);
    va_end(args);
    return status;
}

int adsm_detail_cause(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t used = keep(format, args);
    va_end(args);
    snprintf(detail.text + used, sizeof detail.text - used, ": %s",
             cause_of(status));
    return status;
}

void adsm_detail_of_inner(void)
{
    detail.is_said = true;
}

void adsm_detail_end(int status)
{
    if (status != ADSM_OK && !detail.is_said)
        snprintf(detail.text, sizeof detail.text, "%s", cause_of(status));
    detail.is_said = false;
    adsm_accel_error_forget();
}

const char *adsm_detail_text(void)
{
    return detail.text;
}
