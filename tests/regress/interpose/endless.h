/*
 * A kernel that never ends, and situations beside it: each in a process of its
 * own, side by side, since the device gives kernels of a destroyed context
 * three seconds.
 */
#ifndef ENDLESS_H
#define ENDLESS_H

#include "common/endless_ptx.h"
#include "preloaded.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    LARGE = 5 << 20,
    SMALL = 100,
    PATIENCE_S = 40 /* many times what it takes */
};

#define expect(truth)                                                          \
    do {                                                                       \
        if (!(truth)) {                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #truth);                                                   \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)
#define expect_done(call) expect((call) == CUDA_SUCCESS)

struct memory {
    CUdeviceptr large, small;
};

static inline struct memory make(uint8_t value)
{
    struct memory made;
    expect_done(cuMemAlloc(&made.large, LARGE));
    expect_done(cuMemAlloc(&made.small, SMALL));
    expect_done(cuMemsetD8(made.large, value, LARGE));
    expect_done(cuMemsetD8(made.small, value, SMALL));
    return made;
}

static inline void launch_endless(struct memory memory)
{
    CUmodule module;
    CUfunction kernel;
    void *arguments[] = {&memory.large};
    expect_done(cuModuleLoadData(&module, endless_ptx));
    expect_done(cuModuleGetFunction(&kernel, module, "endless"));
    expect_done(
        cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
}

static inline CUcontext begin_own(void)
{
    CUcontext context;
    expect_done(cuCtxCreate(&context, NULL, 0, 0));
    return context;
}

/* ---- the processes --------------------------------------------------------- */

typedef void situation_fn(int say);

struct child {
    pid_t id;
    int said;
};

static inline struct child start(situation_fn *situation)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    struct child child = {fork(), ends[0]};
    if (child.id == 0) {
        signal(SIGTERM, SIG_DFL); /* Check has handlers */
        signal(SIGINT, SIG_DFL);
        alarm(PATIENCE_S);
        situation(ends[1]);
        _exit(0);
    }
    close(ends[1]);
    return child;
}

static inline void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* Its status as waitpid gives it, -1 where it does not end. */
static inline int end_of(struct child child)
{
    int status = -1;
    for (int i = 0; i < PATIENCE_S * 100; i++) {
        if (waitpid(child.id, &status, WNOHANG) == child.id)
            break;
        status = -1;
        pause_ms(10);
    }
    if (status == -1) {
        kill(child.id, SIGKILL);
        waitpid(child.id, NULL, 0);
    }
    close(child.said);
    return status;
}

#endif
