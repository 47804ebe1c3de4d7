/*
 * A context that the runtime knows, with nothing shared in it, is destroyed while
 * a kernel of it never ends: the driver stops the kernel, and nobody may wait for
 * it before. Links with the driver alone; run preloaded.
 *
 * Return: 0; 1 where the memory could be shared; ended by SIGALRM where it is waited for
 */
#include "../common/endless_ptx.h"
#include "../interpose/victims/victim.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

static sigjmp_buf refused;

static void on_fault(int number)
{
    siglongjmp(refused, number);
}

/* Memory over which the program has mapped something cannot be shared: the access
 * is the program's own fault. The runtime has asked the driver by then. */
static bool is_refused(CUdeviceptr at, size_t bytes)
{
    enum { PAGE = 4096 };
    struct sigaction action = {.sa_handler = on_fault};
    sigaction(SIGSEGV, &action, NULL);
    if (mmap((void *)(uintptr_t)(at + bytes - PAGE), PAGE, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
        return false;
    if (sigsetjmp(refused, 1) != 0)
        return true;
    (void)*(volatile uint8_t *)(uintptr_t)at;
    return false;
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr at;
    CHECK(cuInit(0));
    CHECK(cuCtxCreate(&context, NULL, 0, 0));
    CHECK(cuMemAlloc(&at, 1 << 20));
    CHECK(cuMemsetD8(at, 0, 1 << 20));
    if (!is_refused(at, 1 << 20))
        return 1;
    CHECK(cuModuleLoadData(&module, endless_ptx));
    CHECK(cuModuleGetFunction(&kernel, module, "endless"));
    void *params[] = {&at};
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    alarm(30);
    CHECK(cuCtxDestroy(context));
    printf("destroyed\n");
    return 0;
}
