/*
 * Address space: see os/vm.h.
 *
 * By calls of its own (base/system.h): the preload library stands before libc's,
 * and keeps programs from changing shared memory.
 */
#include "os/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

static _Atomic uint64_t vm_closings;

static const int vm_prot[] = {
    [ADSM_PROT_NONE] = PROT_NONE,
    [ADSM_PROT_READ] = PROT_READ,
    [ADSM_PROT_READ_WRITE] = PROT_READ | PROT_WRITE,
};

/* Relaxed: read by the fault handler of a thread that has just faulted on the
 * change itself, which the kernel has ordered. */
static void vm_count_closing(void)
{
    atomic_fetch_add_explicit(&vm_closings, 1, memory_order_relaxed);
}

uint64_t adsm_vm_closings(void)
{
    return atomic_load_explicit(&vm_closings, memory_order_relaxed);
}

size_t adsm_vm_page_bytes(void)
{
    static _Atomic size_t page;
    size_t bytes = atomic_load_explicit(&page, memory_order_relaxed);
    if (bytes == 0) {
        bytes = (size_t)sysconf(_SC_PAGESIZE);
        atomic_store_explicit(&page, bytes, memory_order_relaxed);
    }
    return bytes;
}

static size_t vm_read_map_limit(void)
{
    const size_t kernel_default = 65530;
    char text[32];
    int fd = open("/proc/sys/vm/max_map_count", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return kernel_default;
    ssize_t n = syscall(SYS_read, fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return kernel_default;
    text[n] = '\0';
    unsigned long limit = strtoul(text, NULL, 10);
    return limit != 0 ? limit : kernel_default;
}

size_t adsm_vm_map_limit(void)
{
    static _Atomic size_t limit;
    size_t maps = atomic_load_explicit(&limit, memory_order_relaxed);
    if (maps == 0) {
        maps = vm_read_map_limit();
        atomic_store_explicit(&limit, maps, memory_order_relaxed);
    }
    return maps;
}

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static void *vm_map_none(uintptr_t addr, size_t bytes, int flags)
{
    void *map = adsm_system_mmap(
        (void *)addr, bytes, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
    if (map != MAP_FAILED)
        adsm_system_madvise(map, bytes, MADV_DONTFORK);
    return map;
}

/* Give back the ends of [map, map+total) that surround the aligned part. */
static uintptr_t vm_trim(uintptr_t map, size_t total, size_t bytes,
                         size_t align)
{
    uintptr_t at = (map + align - 1) & ~(uintptr_t)(align - 1);
    if (at > map)
        adsm_system_munmap((void *)map, at - map);
    if (map + total > at + bytes)
        adsm_system_munmap((void *)(at + bytes), map + total - (at + bytes));
    return at;
}

uintptr_t adsm_vm_reserve(size_t bytes, size_t align, uintptr_t hint)
{
    int saved_errno = errno;
    size_t page = adsm_vm_page_bytes();
    uintptr_t at = 0;
    if (align < page)
        align = page;
    if (bytes == 0 || bytes > SIZE_MAX - align)
        return 0;
    if (hint != 0) {
        void *map = vm_map_none(hint, bytes, 0);
        if (map != MAP_FAILED && ((uintptr_t)map & (align - 1)) == 0)
            at = (uintptr_t)map;
        else if (map != MAP_FAILED)
            adsm_system_munmap(map, bytes);
    }
    if (at == 0) {
        size_t total = bytes + align - page;
        void *map = vm_map_none(0, total, 0);
        if (map != MAP_FAILED)
            at = vm_trim((uintptr_t)map, total, bytes, align);
    }
    errno = saved_errno;
    return at;
}

bool adsm_vm_reserve_at(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    void *map = vm_map_none(addr, bytes, MAP_FIXED_NOREPLACE);
    /* Before Linux 4.17 the address is a wish. */
    bool there = map == (void *)addr;
    if (map != MAP_FAILED && !there)
        adsm_system_munmap(map, bytes);
    errno = saved_errno;
    return there;
}

void adsm_vm_release(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    adsm_system_munmap((void *)addr, bytes);
    errno = saved_errno;
}

static adsm_status_t vm_status(int failed_errno)
{
    /* All three calls say ENOMEM when the number of mappings is used up, and
     * mmap also when the address space is (RLIMIT_AS). */
    return failed_errno == ENOMEM ? ADSM_E_LIMIT : ADSM_E_SYSTEM;
}

adsm_status_t adsm_vm_protect(uintptr_t addr, size_t bytes, enum adsm_prot prot)
{
    int saved_errno = errno;
    adsm_status_t status = ADSM_OK;
    if (prot != ADSM_PROT_READ_WRITE)
        vm_count_closing();
    if (adsm_system_mprotect((void *)addr, bytes, vm_prot[prot]) != 0)
        status = vm_status(errno);
    errno = saved_errno;
    return status;
}

adsm_status_t adsm_vm_map_file(uintptr_t addr, size_t bytes, int fd,
                               uint64_t offset, enum adsm_prot prot)
{
    int saved_errno = errno;
    adsm_status_t status = ADSM_OK;
    vm_count_closing();
    /* Closed at first: where the program has all its memory locked
     * (MCL_FUTURE), an open mapping gets all its pages at once. */
    void *map = adsm_system_mmap((void *)addr, bytes, PROT_NONE,
                                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                                 (off_t)offset);
    /* A child would write into the parent's object (fork does not
     * copy a shared mapping); without the mapping it faults instead. */
    if (map == MAP_FAILED ||
        adsm_system_madvise(map, bytes, MADV_DONTFORK) != 0)
        status = vm_status(errno);
    /* Neither is worth failing for: it would cost memory, or disk. */
    if (status == ADSM_OK) {
        (void)adsm_system_madvise(map, bytes, MADV_DONTDUMP);
        (void)adsm_system_munlock(map, bytes);
    }
    if (status == ADSM_OK && prot != ADSM_PROT_NONE &&
        adsm_system_mprotect(map, bytes, vm_prot[prot]) != 0)
        status = vm_status(errno);
    errno = saved_errno;
    return status;
}

/*
 * One piece. An old size of 0 leaves the old mapping as it is; a new one has
 * all that adsm_vm_map_file asked for. It is made of a page that was closed
 * first, so that nothing open is ever at `to`.
 */
static bool vm_again(uintptr_t to, size_t bytes, uintptr_t open)
{
    size_t page = adsm_vm_page_bytes();
    void *map = adsm_system_mremap((void *)open, 0, page, MREMAP_MAYMOVE, 0);
    if (map == MAP_FAILED)
        return false;
    adsm_system_munlock(map, page);
    bool made = adsm_system_mprotect(map, page, PROT_NONE) == 0 &&
                adsm_system_mremap(map, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                                   to) != MAP_FAILED;
    int failed_errno = errno;
    adsm_system_munmap(map, page);
    errno = failed_errno;
    return made;
}

adsm_status_t adsm_vm_map_again(uintptr_t addr, size_t bytes, const void *open)
{
    int saved_errno = errno;
    size_t page = adsm_vm_page_bytes(), at = 0, step = bytes;
    adsm_status_t status = ADSM_OK;
    vm_count_closing();
    while (at < bytes && status == ADSM_OK) {
        size_t n = step < bytes - at ? step : bytes - at;
        if (vm_again(addr + at, n, (uintptr_t)open + at))
            at += n;
        else if (errno == ENOMEM && step > page) /* RLIMIT_AS counts it twice */
            step = (step / 2 + page - 1) & ~(page - 1);
        else
            status = vm_status(errno);
    }
    if (status != ADSM_OK && at > 0)
        (void)vm_map_none(addr, at, MAP_FIXED);
    errno = saved_errno;
    return status;
}

void adsm_vm_dump(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    (void)adsm_system_madvise((void *)addr, bytes, MADV_DODUMP);
    errno = saved_errno;
}

void adsm_vm_keep_from_children(uintptr_t addr, size_t bytes)
{
    size_t page = adsm_vm_page_bytes();
    int saved_errno = errno;
    (void)adsm_system_madvise((void *)addr, (bytes + page - 1) / page * page,
                              MADV_DONTFORK);
    errno = saved_errno;
}

adsm_status_t adsm_vm_placeholder(uintptr_t addr, size_t bytes)
{
    int saved_errno = errno;
    adsm_status_t status = ADSM_OK;
    vm_count_closing();
    if (vm_map_none(addr, bytes, MAP_FIXED) == MAP_FAILED)
        status = vm_status(errno);
    errno = saved_errno;
    return status;
}

adsm_status_t adsm_vm_populate(uintptr_t addr, size_t bytes, bool write)
{
    int saved_errno = errno;
    adsm_status_t status = ADSM_OK;
    int advice = write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
    int rc;
    do {
        rc = adsm_system_madvise((void *)addr, bytes, advice);
    } while (rc != 0 && (errno == EAGAIN || errno == EINTR));
    /* EINVAL is an old kernel or a closed range; all others (ENOMEM, EFAULT,
     * EHWPOISON) are pages not to be had. */
    if (rc != 0 && errno != EINVAL)
        status = ADSM_E_NOMEM;
    errno = saved_errno;
    return status;
}
