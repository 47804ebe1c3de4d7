/* Error details, one sentence per thread. */
#include "sched/detail.h"

#include <stdarg.h>
#include <stdio.h>

static __thread char text[512];

int adsm_detail(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return status;
}

const char *adsm_detail_text(void)
{
    return text;
}
