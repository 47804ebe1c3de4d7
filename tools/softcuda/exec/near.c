/*
 * Owns: the pages that were opened; see exec/near.h.
 * Does not own: the window, which the device process maps between launches.
 */
#include "exec/near.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NEAR_BYTES (UINT64_C(2) << 20)
#define MOST_PAGES 4096u

static uint64_t pages[MOST_PAGES];
static _Atomic uint32_t count;
static atomic_bool noted; /* `first` belongs to who set it */
static struct sc_near_read first;
static uint64_t page_bytes;
static int probe = -1; /* file that memory is written to; -1 = strict */

void sc_near_init(void)
{
    const char *text = getenv("SOFTCUDA_STRICT");
    bool off = !text || !*text || strcmp(text, "0") == 0;
    if (!off && strcmp(text, "1") != 0)
        fprintf(stderr,
                "softcuda: SOFTCUDA_STRICT=%s is not 0 or 1; "
                "keeping 0\n",
                text);
    else if (!off)
        return;
    page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    probe = memfd_create("softcuda-probe", MFD_CLOEXEC);
}

void sc_near_fini(void)
{
    if (probe >= 0)
        close(probe);
    probe = -1;
}

static bool is_open(uint64_t page)
{
    uint32_t n = atomic_load_explicit(&count, memory_order_acquire);
    for (uint32_t i = 0; i < n && i < MOST_PAGES; i++)
        if (pages[i] == page)
            return true;
    return false;
}

/* Whether somebody owns the page: the kernel can read it, and not because it
 * was opened. */
static bool is_owned(const struct sc_cta *cta, uint64_t page)
{
    return page - cta->window_base < cta->window_bytes &&
           pwrite(probe, (const void *)(uintptr_t)page, 1, 0) == 1 &&
           !is_open(page);
}

static bool is_near(const struct sc_cta *cta, uint64_t page)
{
    for (uint64_t far = page_bytes; far <= NEAR_BYTES; far += page_bytes)
        if (is_owned(cta, page - far) || is_owned(cta, page + far))
            return true;
    return false;
}

static bool add_page(uint64_t page)
{
    uint32_t at = atomic_load(&count);
    do {
        if (at >= MOST_PAGES)
            return false;
    } while (!atomic_compare_exchange_weak(&count, &at, at + 1));
    pages[at] = page;
    return true;
}

/* Who added the page may not have come to open it. */
static bool open_page(const struct sc_cta *cta, uint64_t page)
{
    if (!is_open(page) &&
        (is_owned(cta, page) || !is_near(cta, page) || !add_page(page)))
        return false;
    return mprotect((void *)(uintptr_t)page, page_bytes, PROT_READ) == 0;
}

bool sc_near_allow(struct sc_worker *worker, uint64_t address)
{
    int saved = errno;
    uint64_t page = address & ~(page_bytes - 1);
    /* what faults where this worker may read is a write */
    bool again = probe >= 0 && worker->near_page != page &&
                 open_page(&worker->cta, page);
    worker->near_page = page;
    if (again && !atomic_exchange(&noted, true)) {
        const struct sc_op *access = worker->cta.access;
        first.address = address;
        first.line = worker->in_native || !access ? 0 : access->line;
    }
    errno = saved;
    return again;
}

bool sc_near_end(struct sc_near_read *read)
{
    uint32_t n = atomic_load(&count);
    for (uint32_t i = 0; i < n; i++)
        mprotect((void *)(uintptr_t)pages[i], page_bytes, PROT_NONE);
    *read = first;
    memset(pages, 0, n * sizeof *pages);
    atomic_store(&count, 0);
    return atomic_exchange(&noted, false);
}
