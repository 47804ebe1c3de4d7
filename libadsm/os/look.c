/* Reading and writing memory that may not be there. */
#include "os/look.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "os/fault_engine.h"

/* Of adsm_look_words one instruction may fault, and where it goes on then
 * (look_words.S). */
extern const char adsm_look_load[], adsm_look_missing[];

#if defined(__x86_64__)
#define IP(context) ((context)->uc_mcontext.gregs[REG_RIP])
#elif defined(__aarch64__)
#define IP(context) ((context)->uc_mcontext.pc)
#endif

enum {
    PAGE_LEAST_BYTES = 4096,
    PAGES = 32, /* of one call */
};

/* Bytes until the page of `at` ends, `bytes` at most. */
static size_t in_page(const char *at, size_t bytes)
{
    size_t left = PAGE_LEAST_BYTES - (uintptr_t)at % PAGE_LEAST_BYTES;
    return left < bytes ? left : bytes;
}

/* Page by page: of a range the kernel copies all or nothing. */
static size_t copy_by_kernel(long call, char *ours, char *program, size_t bytes)
{
    size_t done = 0, asked;
    int saved = errno;
    long copied;
    do {
        struct iovec there[PAGES], here = {ours + done, 0};
        unsigned long n = 0;
        for (asked = 0; n < PAGES && done + asked < bytes; n++) {
            char *at = program + done + asked;
            there[n] = (struct iovec){at, in_page(at, bytes - done - asked)};
            asked += there[n].iov_len;
        }
        here.iov_len = asked;
        copied = syscall(call, getpid(), &here, 1, there, n, 0);
        done += copied > 0 ? (size_t)copied : 0;
    } while (copied == (long)asked && done < bytes);
    errno = saved;
    return done;
}

size_t adsm_look_get(void *to, const void *from, size_t bytes)
{
    return copy_by_kernel(SYS_process_vm_readv, to, (char *)from, bytes);
}

size_t adsm_look_put(void *to, const void *from, size_t bytes)
{
    return copy_by_kernel(SYS_process_vm_writev, (char *)from, to, bytes);
}

bool adsm_look(void *to, const void *from, size_t bytes)
{
    const struct adsm_fault_engine *engine = adsm_fault_engine();
    if (engine && engine->catches)
        return adsm_look_words(to, from, bytes / sizeof(uint64_t));
    /* Where no handler would answer, the kernel copies. */
    return adsm_look_get(to, from, bytes) == bytes;
}

bool adsm_look_recover(ucontext_t *context)
{
    if ((uintptr_t)IP(context) != (uintptr_t)adsm_look_load)
        return false;
    IP(context) = (uintptr_t)adsm_look_missing;
    return true;
}
