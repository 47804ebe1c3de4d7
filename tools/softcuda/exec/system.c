/*
 * System calls of device code, lane after lane; see exec/system.h.
 *
 * Lock: `printing` while text goes out, so that messages stay whole.
 */
#include "exec/system.h"

#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t printing = PTHREAD_MUTEX_INITIALIZER;

#define FOR_LANES(t)                                                           \
    for (uint32_t t = 0; t < strip->lanes; t++)                                \
        if (strip->bits[t / 32] >> t % 32 & 1)

void sc_print_flush(struct sc_print *print)
{
    const struct sc_launch *launch = print->strip->cta->launch;
    if (print->used && launch->print) {
        pthread_mutex_lock(&printing);
        launch->print(launch->print_ctx, print->text, print->used);
        pthread_mutex_unlock(&printing);
    }
    print->used = 0;
}

static void begin(struct sc_print *print, const struct sc_op *op,
                  struct sc_strip *strip, uint32_t lane)
{
    print->strip = strip;
    print->op = op;
    print->lane = lane;
    print->failed = false;
    print->used = 0;
    strip->cta->access = op;
}

const struct sc_op *sc_op_vprintf(const struct sc_op *op,
                                  struct sc_strip *strip)
{
    struct sc_print print;
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    const uint64_t *b = SC_SLOT(const uint64_t, b);
    FOR_LANES(t)
    {
        begin(&print, op, strip, t);
        int n = sc_print_format(&print, a[t], b[t]);
        if (print.failed)
            return NULL;
        sc_print_flush(&print);
        if (op->d != ~0u)
            SC_SLOT(uint32_t, d)[t] = (uint32_t)n;
    }
    return op + 1;
}

static void put_place(struct sc_print *print)
{
    const struct sc_cta *cta = print->strip->cta;
    const uint32_t *block = cta->launch->block;
    uint32_t thread = print->strip->first + print->lane;
    char text[160];
    int n =
        snprintf(text, sizeof text,
                 ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
                 cta->id[0], cta->id[1], cta->id[2], thread % block[0],
                 thread / block[0] % block[1], thread / block[0] / block[1]);
    sc_print_text(print, text, (size_t)n);
}

const struct sc_op *sc_op_assert(const struct sc_op *op, struct sc_strip *strip)
{
    enum { LONGEST = 1024 };
    struct sc_print print;
    FOR_LANES(t)
    {
        char line[16];
        begin(&print, op, strip, t);
        sc_print_string(&print, SC_SLOT(const uint64_t, b)[t], LONGEST);
        int n =
            snprintf(line, sizeof line, ":%u: ", SC_SLOT(const uint32_t, c)[t]);
        sc_print_text(&print, line, (size_t)n);
        sc_print_string(&print, SC_SLOT(const uint64_t, e)[t], LONGEST);
        put_place(&print);
        sc_print_string(&print, SC_SLOT(const uint64_t, a)[t], LONGEST);
        sc_print_text(&print, "` failed.\n", 10);
        if (print.failed)
            return NULL;
        sc_print_flush(&print);
    }
    return sc_machine_fault(strip, op, SC_EXEC_ASSERT, 0);
}

const struct sc_op *sc_op_malloc(const struct sc_op *op, struct sc_strip *strip)
{
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    FOR_LANES(t)
    {
        uint64_t at = sc_heap_alloc(strip->cta->code->heap, a[t]);
        if (op->d != ~0u)
            SC_SLOT(uint64_t, d)[t] = at;
    }
    return op + 1;
}

const struct sc_op *sc_op_free(const struct sc_op *op, struct sc_strip *strip)
{
    const uint64_t *a = SC_SLOT(const uint64_t, a);
    FOR_LANES(t)
    {
        if (a[t] && !sc_heap_free(strip->cta->code->heap, a[t]))
            return sc_machine_fault(strip, op, SC_EXEC_ILLEGAL_ADDRESS, a[t]);
    }
    return op + 1;
}
