/*
 * A store that faulted: see os/store.h. What its instruction says is read in
 * store_read.c, what that means with the registers of the thread is told here.
 */
#include "os/store.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "os/store_parts.h"

static uint64_t general(const ucontext_t *context, uint32_t number)
{
    static const uint8_t at[] = {
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
        REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return (uint64_t)context->uc_mcontext.gregs[at[number]];
}

static uintptr_t address_of(const struct adsm_store_text *text,
                            const ucontext_t *context)
{
    uint64_t address = (uint64_t)text->distance;
    if (text->base == ADSM_STORE_NEXT)
        address += text->next;
    else if (text->base != ADSM_STORE_NO_REGISTER)
        address += general(context, text->base);
    if (text->index != ADSM_STORE_NO_REGISTER)
        address += general(context, text->index) << text->scale;
    return address;
}

/* Numbers of the parts of the extended state. */
enum { PART_XMM = 1, PART_YMM_UPPER = 2 };

/* Bytes up to the upper halves. The processor is asked once, for it takes long;
 * two threads that ask get the same answer. */
static uint32_t upper_offset(void)
{
    enum { LEAF = 0xd, UNKNOWN = UINT32_MAX };
    static _Atomic uint32_t known = UNKNOWN;
    uint32_t bytes, offset = atomic_load_explicit(&known, memory_order_relaxed);
    if (offset != UNKNOWN)
        return offset;
    uint32_t c, d;
    if (!__get_cpuid_count(LEAF, PART_YMM_UPPER, &bytes, &offset, &c, &d))
        offset = 0;
    atomic_store_explicit(&known, offset, memory_order_relaxed);
    return offset;
}

/* Copy from the state that the kernel has saved. A part that it has room for and
 * that is not in use is 0. Return: false: it has no room for that part */
static bool state_read(const struct _xstate *state, uint32_t part, size_t at,
                       void *to, size_t bytes)
{
    /* At the end of the part that any processor has. */
    const struct _fpx_sw_bytes *about = (const void *)&state->xstate_hdr;
    about--;
    bool is_more = about->magic1 == FP_XSTATE_MAGIC1;
    uint64_t room = is_more ? about->xstate_bv : 1 << PART_XMM;
    uint64_t used = is_more ? state->xstate_hdr.xstate_bv : room;
    if (!(room >> part & 1) || (is_more && at + bytes > about->xstate_size))
        return false;
    if (used >> part & 1)
        memcpy(to, (const char *)state + at, bytes);
    else
        memset(to, 0, bytes);
    return true;
}

static bool vector_read(const ucontext_t *context, uint32_t number,
                        uint32_t bytes, uint8_t *value)
{
    enum { HALF = ADSM_STORE_BYTES_MAX / 2 };
    const struct _xstate *state = (const void *)context->uc_mcontext.fpregs;
    size_t at = offsetof(struct _xstate, fpstate._xmm) + number * HALF;
    if (state == NULL || !state_read(state, PART_XMM, at, value, HALF))
        return false;
    at = upper_offset() + number * HALF;
    return bytes <= HALF ||
           state_read(state, PART_YMM_UPPER, at, value + HALF, HALF);
}

static bool value_read(const struct adsm_store_text *text,
                       const ucontext_t *context, struct adsm_stored *store)
{
    enum { HALF = 8 };
    uint64_t value = (uint64_t)text->constant;
    switch (text->source) {
    case ADSM_STORE_GENERAL:
        value = general(context, text->reg);
        break;
    case ADSM_STORE_GENERAL_SECOND:
        value = general(context, text->reg) >> 8;
        break;
    case ADSM_STORE_CONSTANT:
        break;
    case ADSM_STORE_VECTOR:
        return vector_read(context, text->reg, text->bytes, store->value);
    case ADSM_STORE_VECTOR_HALF:
        if (!vector_read(context, text->reg, 2 * HALF, store->value))
            return false;
        memcpy(store->value, store->value + HALF, HALF);
        return true;
    }
    memcpy(store->value, &value, sizeof value);
    return true;
}

bool adsm_store_decode(const ucontext_t *context, struct adsm_stored *store)
{
    struct adsm_store_text text;
    if (!adsm_store_read((uintptr_t)context->uc_mcontext.gregs[REG_RIP], &text))
        return false;
    store->address = address_of(&text, context);
    store->next = text.next;
    store->bytes = text.bytes;
    return !(text.aligned && store->address % text.bytes != 0) &&
           value_read(&text, context, store);
}

void adsm_store_step(ucontext_t *context, const struct adsm_stored *store)
{
    /* "Resume" holds until an instruction has ended: a breakpoint register may
     * stop the next one. */
    enum { RESUME = 1 << 16 };
    context->uc_mcontext.gregs[REG_EFL] &= ~RESUME;
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)store->next;
}

#else

bool adsm_store_decode(const ucontext_t *context, struct adsm_stored *store)
{
    return false;
}

void adsm_store_step(ucontext_t *context, const struct adsm_stored *store)
{
}

#endif
