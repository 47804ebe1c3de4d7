/* Reading memory that may not be there. */
#include "os/look.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/fault_engine.h"

/* bool adsm_look_words(uint64_t *to, const uint64_t *from, size_t words), of
 * which one instruction may fault, and where it goes on then (look_words.S). */
bool adsm_look_words(uint64_t *to, const uint64_t *from, size_t words);
extern const char adsm_look_load[], adsm_look_missing[];

#if defined(__x86_64__)
#define IP(context) ((context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define IP(context) ((context)->uc_mcontext.pc)
#endif

/* Where no handler would answer, the kernel copies. */
static bool look_by_kernel(void *to, const void *from, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    int saved = errno;
    long got = syscall(SYS_process_vm_readv, getpid(), &here, 1, &there, 1, 0);
    errno = saved;
    return got == (long)bytes;
}

bool adsm_look(void *to, const void *from, size_t bytes)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    if (engine && engine->catches)
        return adsm_look_words(to, from, bytes / sizeof(uint64_t));
    return look_by_kernel(to, from, bytes);
}

bool adsm_look_recover(ucontext_t *context)
{
    if ((uintptr_t)IP(context) != (uintptr_t)adsm_look_load)
        return false;
    IP(context) = (uintptr_t)adsm_look_missing;
    return true;
}
