/*
 * Fault engine over userfaultfd: threads of the runtime are told of accesses
 * and the kernel lets the accessing thread wait, in user mode and within system
 * calls alike. So every system call works on shared memory as it is.
 *
 * Protections are page table entries. A range is mapped for reading and
 * writing, and what it lacks an entry for, the kernel asks for: a closed page
 * has none, though its file has the page (a minor fault); a readable one has
 * one that is write-protected. Mappings are never split, so vm.max_map_count
 * bounds objects, not blocks.
 *
 * What a userfaultfd is not told of: stores by who has pinned a page before it
 * was closed (direct I/O that is under way, registered buffers of io_uring).
 *
 * Owns the ranges, and the pages in them that are denied. Lock: theirs,
 * rank POOL.
 */
#include "os/fault_uffd.h"

#include <errno.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "os/fault_engine.h"

/* ---- pages that cannot be had --------------------------------------------- */

enum { DENIED = 64 };

static struct {
    struct adsm_lock lock;
    uintptr_t pages[DENIED]; /* lock */
    _Atomic size_t count;    /* changed under the lock */
} denied = {.lock = ADSM_LOCK_INIT(ADSM_RANK_POOL)};

void adsm_uffd_deny(uintptr_t page)
{
    adsm_lock_acquire(&denied.lock);
    size_t count = atomic_load(&denied.count);
    /* Where there is no place the access is asked for again, and again. */
    if (count < DENIED && adsm_vm_protect(page, adsm_vm_page_bytes(),
                                          ADSM_PROT_NONE) == ADSM_OK) {
        denied.pages[count] = page;
        atomic_store(&denied.count, count + 1);
    }
    adsm_lock_release(&denied.lock);
}

/* Forget those of a range, and open their mapping again where it still is
 * one. */
static bool forgive(uintptr_t addr, size_t bytes, bool is_mapped)
{
    size_t kept = 0;
    /* Relaxed: what is denied meanwhile is forgiven later. */
    if (atomic_load_explicit(&denied.count, memory_order_relaxed) == 0)
        return false;
    adsm_lock_acquire(&denied.lock);
    size_t count = atomic_load(&denied.count);
    for (size_t i = 0; i < count; i++) {
        if (denied.pages[i] - addr >= bytes)
            denied.pages[kept++] = denied.pages[i];
        else if (is_mapped)
            (void)!adsm_vm_protect(denied.pages[i], adsm_vm_page_bytes(),
                                   ADSM_PROT_READ_WRITE);
    }
    atomic_store(&denied.count, kept);
    adsm_lock_release(&denied.lock);
    return kept < count;
}

bool adsm_uffd_forgive(void)
{
    return forgive(0, SIZE_MAX, true);
}

/* ---- ranges --------------------------------------------------------------- */

static adsm_status_t status_of(int failed_errno)
{
    switch (failed_errno) {
    case 0:
    case EEXIST:
    case EFAULT: /* the file has no page there: to be asked for when touched */
    case ENOENT: /* nor is there a mapping any more */
        return ADSM_OK;
    case ENOMEM:
        return ADSM_E_NOMEM;
    default:
        return ADSM_E_SYSTEM;
    }
}

/* The page of the access that is being answered, where it lies in a range. */
static int open_faulting(uintptr_t addr, size_t bytes, uint64_t mode)
{
    uintptr_t page = adsm_uffd_faulting();
    size_t one = adsm_vm_page_bytes();
    return page != 0 && page - addr < bytes
               ? adsm_uffd_continue(adsm_uffd_fd(), page, &one, mode)
               : 0;
}

/* Entries for pages that have none, up to the first that does. Beyond a place
 * where that cannot be done pages are asked for when touched. */
static int open_pages(uintptr_t addr, size_t bytes, uint64_t mode)
{
    size_t done = bytes;
    int failed_errno = adsm_uffd_continue(adsm_uffd_fd(), addr, &done, mode);
    if (failed_errno == EFAULT || failed_errno == ENOENT)
        failed_errno = open_faulting(addr, bytes, mode);
    return failed_errno;
}

static int protect_read(uintptr_t addr, size_t bytes)
{
    int failed_errno = open_pages(addr, bytes, UFFDIO_CONTINUE_MODE_WP);
    if (failed_errno != EEXIST)
        return failed_errno;
    if (adsm_uffd_protect(adsm_uffd_fd(), addr, bytes) != 0)
        return errno;
    return open_faulting(addr, bytes, UFFDIO_CONTINUE_MODE_WP);
}

/* An entry that was write-protected would stay read-only to the processor when
 * that is taken back, and each page fault once more in the kernel: new ones
 * take half the time. */
static int protect_write(uintptr_t addr, size_t bytes)
{
    int failed_errno = open_pages(addr, bytes, 0);
    if (failed_errno != EEXIST)
        return failed_errno;
    if (adsm_uffd_drop(addr, bytes) != 0)
        return errno;
    failed_errno = open_pages(addr, bytes, 0);
    return failed_errno == EEXIST ? open_faulting(addr, bytes, 0)
                                  : failed_errno;
}

static adsm_status_t range_protect(uintptr_t addr, size_t bytes,
                                   enum adsm_prot prot)
{
    int saved_errno = errno;
    int failed_errno = 0;
    (void)forgive(addr, bytes, true);
    if (prot == ADSM_PROT_READ_WRITE)
        failed_errno = protect_write(addr, bytes);
    else if (prot == ADSM_PROT_READ)
        failed_errno = protect_read(addr, bytes);
    else if (adsm_uffd_drop(addr, bytes) != 0)
        failed_errno = errno;
    errno = saved_errno;
    return status_of(failed_errno);
}

static adsm_status_t range_detach(uintptr_t addr, size_t bytes)
{
    adsm_status_t status = adsm_vm_placeholder(addr, bytes);
    if (status == ADSM_OK) {
        (void)forgive(addr, bytes, false);
        /* Who waits for an answer gets it from the placeholder. */
        adsm_uffd_wake(adsm_uffd_fd(), addr, bytes);
    }
    return status;
}

/* Core files get what the program could see: the kernel cannot ask any more
 * when it writes one. */
static adsm_status_t range_attach(uintptr_t addr, size_t bytes,
                                  const void *shadow)
{
    int saved_errno = errno;
    adsm_status_t status = adsm_vm_map_again(addr, bytes, shadow);
    if (status != ADSM_OK)
        return status;
    if (adsm_uffd_register(adsm_uffd_fd(), addr, bytes) != 0)
        status = errno == ENOMEM ? ADSM_E_LIMIT : ADSM_E_SYSTEM;
    errno = saved_errno;
    adsm_vm_dump(addr, bytes);
    if (status == ADSM_OK)
        status = adsm_vm_protect(addr, bytes, ADSM_PROT_READ_WRITE);
    if (status != ADSM_OK && adsm_vm_placeholder(addr, bytes) != ADSM_OK)
        status = ADSM_E_SYSTEM;
    return status;
}

/* Opening a range has made its pages present. */
static adsm_status_t range_populate(uintptr_t addr, size_t bytes, bool write)
{
    return ADSM_OK;
}

static void range_dump(uintptr_t addr, size_t bytes)
{
}

static const struct adsm_fault_ranges uffd_ranges = {
    .attach = range_attach,
    .detach = range_detach,
    .protect = range_protect,
    .populate = range_populate,
    .dump = range_dump,
    .lasting = true,
};

/* ---- the engine ----------------------------------------------------------- */

static adsm_status_t engine_init(void)
{
    const char *why;
    if (adsm_uffd_fd() < 0) {
        int fd = adsm_uffd_open(&why);
        if (fd < 0)
            return ADSM_E_UNSUPPORTED;
        adsm_uffd_keep(fd);
    }
    return adsm_uffd_serve();
}

/* Descriptor and threads are there for the next time. */
static void engine_fini(void)
{
}

const struct adsm_fault_engine adsm_fault_uffd = {
    .name = "uffd",
    .ranges = &uffd_ranges,
    .remote = true,
    .refused = adsm_uffd_refused,
    .init = engine_init,
    .fini = engine_fini,
};
