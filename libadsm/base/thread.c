/* Threads of the runtime: see base/thread.h. */
#include "base/thread.h"

#include "base/status.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

__thread bool adsm_thread_is_own;

static const int caused_by_itself[] = {SIGSEGV, SIGBUS,  SIGFPE,
                                       SIGILL,  SIGTRAP, SIGABRT};

static int add_tls(struct dl_phdr_info *module, size_t bytes, void *sum)
{
    (void)bytes;
    for (int i = 0; i < module->dlpi_phnum; i++)
        if (module->dlpi_phdr[i].p_type == PT_TLS)
            *(size_t *)sum +=
                module->dlpi_phdr[i].p_memsz + module->dlpi_phdr[i].p_align;
    return 0;
}

/* The program's thread-local variables come out of each thread's stack. */
static size_t with_tls(size_t stack_bytes)
{
    dl_iterate_phdr(add_tls, &stack_bytes);
    return stack_bytes;
}

/* The first use of malloc takes locks that those of other threads hold, too: here
 * nobody waits for this thread yet. */
static void *begin(void *run)
{
    void *volatile first = malloc(1);
    free(first);
    adsm_thread_is_own = true;
    return ((void *(*)(void *))run)(NULL);
}

int adsm_thread_start(void *(*run)(void *unused), size_t stack_bytes,
                      bool calls_back)
{
    pthread_t thread;
    pthread_attr_t how;
    sigset_t blocked, before;
    if (pthread_attr_init(&how) != 0)
        return ADSM_E_SYSTEM;
    pthread_attr_setdetachstate(&how, PTHREAD_CREATE_DETACHED);
    if (stack_bytes > 0)
        pthread_attr_setstacksize(&how, with_tls(stack_bytes));
    sigfillset(&blocked);
    for (size_t i = 0;
         calls_back && i < sizeof caused_by_itself / sizeof *caused_by_itself;
         i++)
        sigdelset(&blocked, caused_by_itself[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int failed = pthread_create(&thread, &how, begin, run);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&how);
    return failed ? ADSM_E_SYSTEM : ADSM_OK;
}
