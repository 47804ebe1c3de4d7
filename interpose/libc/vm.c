/*
 * Calls that change mappings, on memory that may be shared.
 *
 * Where a shared object lies and how its pages are protected is the runtime's:
 * a program that changed it would lose data without a word. Such calls fail as
 * they do on memory that Linux calls sealed (mseal(2): EPERM), and say so once.
 * What asks for nothing but what shared memory is anyway succeeds. Of a range
 * that is shared in part, the rest is the kernel's, unless the call fails.
 */
#include "interpose/libc/vm.h"
#include "interpose/libc/uring_ring.h"
#include "interpose/calls/call.h"
#include "interpose/calls/list.h"
#include "interpose/calls/numbers.h"
#include "base/log.h"
#include "os/fault.h"
#include "os/vm.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <unistd.h>

bool vm_concerns(const void *address, size_t bytes)
{
    return hook_unlikely(!adsm_loan_unneeded(address, bytes)) &&
           mask_is_programs() && !adsm_fault_in_driver();
}

int vm_each(bool shared, const void *address, size_t bytes,
            vm_stretch_fn *visit, int argument)
{
    size_t mask = adsm_vm_page_bytes() - 1;
    uintptr_t at = (uintptr_t)address, end = (at + bytes + mask) & ~mask;
    int result = 0;
    while (at < end && result == 0) {
        bool here = adsm_index_find((const void *)at) != NULL;
        uintptr_t next = at;
        do {
            next = adsm_index_border(next);
        } while (next && next < end &&
                 here == (adsm_index_find((const void *)next) != NULL));
        if (!next || next > end)
            next = end;
        if (here == shared)
            result = visit((void *)at, next - at, argument);
        at = next;
    }
    return result;
}

int vm_refuse(atomic_flag *said, const char *message, const void *address,
              int error)
{
    if (!atomic_flag_test_and_set_explicit(said, memory_order_relaxed))
        adsm_log_signal_address(ADSM_LOG_ERROR, message, (uintptr_t)address);
    errno = error;
    return -1;
}

/* ---- other memory in its place ------------------------------------------- */

void *mmap64(void *address, size_t bytes, int protection, int flags, int file,
             off64_t offset)
{
    if (hook_unlikely(flags & MAP_FIXED) && vm_concerns(address, bytes)) {
        VM_REFUSE("mmap: MAP_FIXED over shared memory is refused, at", address,
                  EPERM);
        return MAP_FAILED;
    }
    void *map =
        HOOK_REAL(mmap64)(address, bytes, protection, flags, file, offset);
    if (hook_unlikely(uring_ring_is(file)) && map != MAP_FAILED)
        uring_ring_mapped(file, offset, map, bytes);
    return map;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file,
           off_t offset)
{
    return mmap64(address, bytes, protection, flags, file, offset);
}

int munmap(void *address, size_t bytes)
{
    if (vm_concerns(address, bytes))
        return VM_REFUSE("munmap of shared memory is refused: freeing it "
                         "(cuMemFree) gives it back; at",
                         address, EPERM);
    uring_ring_unmaps(address, bytes);
    return HOOK_REAL(munmap)(address, bytes);
}

/* A new address is there with some flags only. */
static bool has_target(int flags)
{
    return flags & (MREMAP_FIXED | MREMAP_DONTUNMAP);
}

void *mremap(void *address, size_t bytes, size_t wanted, int flags, ...)
{
    void *target = NULL;
    if (has_target(flags)) {
        va_list rest;
        va_start(rest, flags);
        target = va_arg(rest, void *);
        va_end(rest);
    }
    /* With no bytes it makes a second mapping of what is there. */
    if (vm_concerns(address, bytes ? bytes : 1) ||
        (flags & MREMAP_FIXED && vm_concerns(target, wanted))) {
        VM_REFUSE("mremap of or over shared memory is refused, at", address,
                  EPERM);
        return MAP_FAILED;
    }
    return HOOK_REAL(mremap)(address, bytes, wanted, flags, target);
}

int remap_file_pages(void *address, size_t bytes, int protection, size_t page,
                     int flags)
{
    if (vm_concerns(address, bytes))
        return VM_REFUSE("remap_file_pages of shared memory is refused, at",
                         address, EPERM);
    return HOOK_REAL(remap_file_pages)(address, bytes, protection, page, flags);
}

/* Would the segment come to lie over shared memory? */
static bool attaches_over(int segment, const void *address, int flags)
{
    struct shmid_ds about;
    return address && flags & SHM_REMAP &&
           shmctl(segment, IPC_STAT, &about) == 0 &&
           vm_concerns(address, about.shm_segsz);
}

void *shmat(int segment, const void *address, int flags)
{
    if (hook_unlikely(attaches_over(segment, address, flags))) {
        VM_REFUSE("shmat: SHM_REMAP over shared memory is refused, at", address,
                  EPERM);
        return MAP_FAILED;
    }
    return HOOK_REAL(shmat)(segment, address, flags);
}

/* ---- protection ----------------------------------------------------------- */

static int protect_plain(void *address, size_t bytes, int protection)
{
    return HOOK_REAL(mprotect)(address, bytes, protection);
}

/* What the program may do with shared memory stays: reading and writing. */
static int protect(void *address, size_t bytes, int protection)
{
    if (protection != (PROT_READ | PROT_WRITE))
        return VM_REFUSE(
            "mprotect of shared memory to anything but reading and writing is "
            "refused: by protection accesses are noticed; at",
            address, EPERM);
    /* Of no bytes: what the kernel refuses of its own. */
    if (protect_plain(address, 0, protection) != 0)
        return -1;
    return vm_each(false, address, bytes, protect_plain, protection);
}

int mprotect(void *address, size_t bytes, int protection)
{
    if (vm_concerns(address, bytes))
        return protect(address, bytes, protection);
    return HOOK_REAL(mprotect)(address, bytes, protection);
}

/* Key -1 is none, and 0 what every page has. */
int pkey_mprotect(void *address, size_t bytes, int protection, int key)
{
    if (!vm_concerns(address, bytes))
        return HOOK_REAL(pkey_mprotect)(address, bytes, protection, key);
    if (key > 0)
        return VM_REFUSE("a protection key for shared memory is refused, at",
                         address, EPERM);
    return protect(address, bytes, protection);
}

static int seal_plain(void *address, size_t bytes, int flags)
{
    return (int)syscall(SYS_mseal, address, bytes, (long)flags);
}

int vm_seal(void *address, size_t bytes, unsigned long flags)
{
    /* Of no bytes: what the kernel refuses of its own. */
    if (flags > INT_MAX || seal_plain(address, 0, (int)flags) != 0)
        return (int)syscall(SYS_mseal, address, 0, flags);
    return vm_each(false, address, bytes, seal_plain, (int)flags);
}

/* ---- locking in memory ----------------------------------------------------- */

/* Shared memory is at the device or on the host as accesses ask; what of it is
 * on the host is page-locked where the driver does that. So nothing is to be
 * done, and a lock of the kernel's would cost mappings. */

static int lock_plain(void *address, size_t bytes, int flags)
{
    return flags < 0 ? HOOK_REAL(mlock)(address, bytes)
                     : HOOK_REAL(mlock2)(address, bytes, (unsigned)flags);
}

int mlock(const void *address, size_t bytes)
{
    if (vm_concerns(address, bytes))
        return vm_each(false, address, bytes, lock_plain, -1);
    return HOOK_REAL(mlock)(address, bytes);
}

int mlock2(const void *address, size_t bytes, unsigned flags)
{
    if (vm_concerns(address, bytes) && flags <= MLOCK_ONFAULT)
        return vm_each(false, address, bytes, lock_plain, (int)flags);
    return HOOK_REAL(mlock2)(address, bytes, flags);
}

static int unlock_plain(void *address, size_t bytes, int unused)
{
    (void)unused;
    return HOOK_REAL(munlock)(address, bytes);
}

int munlock(const void *address, size_t bytes)
{
    if (vm_concerns(address, bytes))
        return vm_each(false, address, bytes, unlock_plain, 0);
    return HOOK_REAL(munlock)(address, bytes);
}

/* Where shared memory is in use, all that is mapped is also room for objects
 * on the host, which would get all its pages. So pages that the program has not
 * touched yet are locked when it does. */
int mlockall(int flags)
{
    if (!mask_is_programs() || !adsm_fault_is_installed() ||
        !(flags & MCL_CURRENT))
        return HOOK_REAL(mlockall)(flags);
    int now = (flags & ~MCL_FUTURE) | MCL_ONFAULT;
    int failed = HOOK_REAL(mlockall)(now);
    if (failed != 0 || !(flags & MCL_FUTURE))
        return failed;
    return HOOK_REAL(mlockall)(flags & ~MCL_CURRENT);
}

/* ---- by number -------------------------------------------------------------- */

bool vm_call_concerns(long number, const uintptr_t *w)
{
    bool concerns = vm_concerns((const void *)w[0], w[1]);
    switch (number) {
    case SYS_mlockall:
        return true;
    case SYS_shmat:
        return attaches_over((int)w[0], (const void *)w[1], (int)w[2]);
    case SYS_mmap:
        return (w[3] & MAP_FIXED && concerns) || uring_ring_is((int)w[4]);
    case SYS_munmap:
        return concerns || uring_ring_any();
    case SYS_mremap:
        return concerns || (!w[1] && vm_concerns((const void *)w[0], 1)) ||
               (w[3] & MREMAP_FIXED && vm_concerns((const void *)w[4], w[2]));
    case SYS_process_madvise:
        return !call_list_is_plain((const void *)w[1], w[2]);
    case SYS_mincore:
        return concerns || adsm_index_find((const void *)w[2]);
    default:
        return concerns;
    }
}
