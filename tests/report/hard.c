/*
 * A program that is hard to report on:
 *
 *   threads   eight threads copy at once, each the same 1,000 times
 *   leaver    ... and one of them ends the process meanwhile
 *   many      100,000 copies, each of other bytes
 *   parts     20,000 copies to places of one allocation, none of them free
 *   never     2,000 allocations that nobody frees
 *   places    copies from more call sites than there is room for
 *   fork      a child that copies nothing and ends by exit
 *   signal    ends by SIGTERM
 *   quick     ends by _exit
 *   children  has a handler of SIGCHLD, and waits for any child at the end
 *
 * Knows nothing of libadsm.
 */
#include "victim.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, SAME = 1000, MANY = 100000, PARTS = 20000, NEVER = 2000 };
enum { BYTES = 4096 };

static CUcontext context;
static bool leaves;

static CUdeviceptr get(size_t bytes)
{
    CUdeviceptr at;
    CHECK(cuMemAlloc(&at, bytes));
    return at;
}

static void *copy_same(void *argument)
{
    char text[BYTES];
    CUdeviceptr at;
    CHECK(cuCtxSetCurrent(context));
    at = get(BYTES);
    memset(text, (int)(intptr_t)argument, BYTES);
    for (int i = 0; i < SAME; i++)
        CHECK(cuMemcpyHtoD(at, text, BYTES)); /* HARD threads */
    CHECK(cuMemcpyDtoH(text, at, BYTES));
    if (leaves && argument == (void *)3)
        exit(0);
    CHECK(cuMemFree(at));
    return NULL;
}

static void threads(void)
{
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, copy_same, (void *)(intptr_t)i))
            exit(4);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

static void leaver(void)
{
    leaves = true;
    threads();
}

static void many(void)
{
    CUdeviceptr at = get(BYTES);
    unsigned text[16] = {0}, back[16];
    for (unsigned i = 0; i < MANY / 2; i++) {
        text[i % 16] = i + 1;
        CHECK(cuMemcpyHtoD(at, text, sizeof text)); /* HARD many */
        CHECK(cuMemcpyDtoH(back, at, sizeof back));
    }
    CHECK(cuMemFree(at));
}

static void parts(void)
{
    CUdeviceptr at = get(PARTS * 8);
    char *back = malloc(PARTS * 8);
    for (unsigned i = 0; i < PARTS; i++)
        CHECK(cuMemcpyHtoD(at + i * 7919 % PARTS * 8, &i, sizeof i));
    CHECK(cuMemcpyDtoH(back, at, PARTS * 8));
    CHECK(cuMemFree(at));
}

static void never(void)
{
    for (unsigned i = 0; i < NEVER; i++)
        CHECK(cuMemsetD8(get(256), 1, 256)); /* HARD never */
}

/* 16 places, from 16 times 24 places: more than there are numbers for. */
#define FOUR(x)    x x x x
#define SIXTEEN(x) FOUR(x) FOUR(x) FOUR(x) FOUR(x)
static CUdeviceptr place;
static unsigned turn;

static __attribute__((noinline)) void copy_from_places(void)
{
    turn++;
    SIXTEEN(CHECK(cuMemcpyHtoD(place, &turn, sizeof turn));)
}

static __attribute__((noinline)) void copy_from_more(void)
{
    SIXTEEN(copy_from_places();)
}

static void places(void)
{
    place = get(BYTES);
    FOUR(FOUR(copy_from_more();))
    FOUR(copy_from_more();)
    FOUR(copy_from_more();)
    CHECK(cuMemcpyDtoH(&turn, place, sizeof turn));
    CHECK(cuMemFree(place));
}

static void forks(void)
{
    int status;
    copy_same(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(0);
    if (waitpid(child, &status, 0) != child || status)
        exit(5);
    copy_same(NULL);
}

static void ends_by_signal(void)
{
    copy_same(NULL);
    raise(SIGTERM);
}

static void ends_quickly(void)
{
    copy_same(NULL);
    _exit(0);
}

static void child_ended(int number)
{
    static const char text[] = "a child that is not ours\n";
    (void)!write(STDOUT_FILENO, text, sizeof text - 1);
    _exit(number);
}

static void children(void)
{
    signal(SIGCHLD, child_ended);
    copy_same(NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    {"threads", threads},   {"leaver", leaver},         {"many", many},
    {"parts", parts},       {"never", never},           {"places", places},
    {"fork", forks},        {"signal", ends_by_signal}, {"quick", ends_quickly},
    {"children", children},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) != 0)
            continue;
        victim_start();
        CHECK(cuCtxGetCurrent(&context));
        ways[i].run();
        puts("done");
        return 0;
    }
    return 2;
}
