/* The system's call, or a change of protection; see barrier.h. */
#include "os/barrier.h"

#include "base/system.h"

#include <linux/membarrier.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096 };

static _Atomic bool registered;

void adsm_barrier_prepare(void)
{
    atomic_store(&registered,
                 syscall(SYS_membarrier,
                         MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
}

void adsm_barrier_everywhere(void)
{
    if (atomic_load(&registered) &&
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0)
        return;
    volatile char *page = adsm_system_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return;
    *page = 1;
    adsm_system_mprotect((void *)page, PAGE, PROT_NONE);
    adsm_system_munmap((void *)page, PAGE);
}

bool adsm_barrier_is_call(void)
{
    return atomic_load(&registered);
}

bool adsm_barrier_can(void)
{
#if defined(__x86_64__)
    return true;
#else
    return adsm_barrier_is_call();
#endif
}
