/*
 * Programs that close descriptors which are not theirs, and whose own files get
 * the numbers: nothing of a device is written there, read from there or sent
 * there. Without its descriptors a device is lost, as hardware is.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "tests/driver/driver_test.h"

/* Check's own descriptors are closed as well: cases are children that say on
 * stderr what was wrong. */
#define must(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
            _exit(1);                                                          \
        }                                                                      \
    } while (0)

enum { MOST = 64, BYTES = 1 << 20, CONTENT = 0x5a };

/* Ways to use memory that are named below. */
enum { WITHIN = 3, FREE = 5, WAYS = 7 };

static const char nothing_ptx[] =
    ".version 6.0\n.target sm_50\n.address_size 64\n"
    ".visible .entry nothing()\n{\n ret;\n}\n";

static int files[MOST], count;
static uint8_t bytes[BYTES], content[BYTES];

/* Close what a daemon closes, and open files in its place. */
static void take_descriptors(void)
{
    memset(content, CONTENT, BYTES);
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (count = 0; count < MOST; count++) {
        files[count] = memfd_create("the program's", MFD_CLOEXEC);
        must(pwrite(files[count], content, BYTES, 0) == BYTES);
    }
}

static void check_files(void)
{
    for (int i = 0; i < count; i++) {
        must(lseek(files[i], 0, SEEK_END) == BYTES);
        must(pread(files[i], bytes, BYTES, 0) == BYTES);
        must(memcmp(bytes, content, BYTES) == 0);
    }
}

/* What a program does with memory it has. Return: the last status. */
static CUresult use(CUdeviceptr p, int way)
{
    CUmodule module;
    CUdeviceptr other;
    void *host;
    switch (way) {
    case 0:
        return cuMemcpyHtoD(p, bytes, 100);
    case 1:
        return cuMemcpyHtoD(p, bytes, BYTES);
    case 2:
        return cuMemcpyDtoH(bytes, p, 100);
    case WITHIN: /* the device's own work */
        return cuMemcpyDtoD(p, p + BYTES, 100);
    case 4:
        return cuModuleLoadData(&module, nothing_ptx);
    case FREE:
        return cuMemFree(p) ? CUDA_ERROR_UNKNOWN : cuMemAlloc(&other, BYTES);
    default:
        return cuMemHostAlloc(&host, BYTES, 0) ? CUDA_ERROR_DEVICE_UNAVAILABLE
                                               : CUDA_SUCCESS;
    }
}

static CUdeviceptr start(void)
{
    CUdeviceptr p;
    CUcontext ctx;
    must(cuInit(0) == CUDA_SUCCESS);
    must(cuCtxCreate(&ctx, NULL, 0, 0) == CUDA_SUCCESS);
    must(cuMemAlloc(&p, 2 * BYTES) == CUDA_SUCCESS);
    must(cuMemsetD8(p, 1, 2 * BYTES) == CUDA_SUCCESS);
    must(cuCtxSynchronize() == CUDA_SUCCESS);
    return p;
}

static void first_use(int way)
{
    CUdeviceptr p = start();
    take_descriptors();
    CUresult result = use(p, way);
    must(result != CUDA_SUCCESS || way == WITHIN || way == FREE);
    check_files();
    for (int other = 0; other < WAYS; other++)
        (void)use(p, other == FREE ? 0 : other);
    must(cuMemcpyHtoD(p, bytes, 100) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    must(cuCtxSynchronize() == CUDA_ERROR_DEVICE_UNAVAILABLE);
    check_files();
}

/* The device's memory is mapped by then. */
static void later_use(int way)
{
    CUdeviceptr p = start();
    must(cuMemcpyHtoD(p, bytes, BYTES) == CUDA_SUCCESS);
    take_descriptors();
    (void)use(p, way);
    for (int other = 0; other < WAYS; other++)
        (void)use(p, other == FREE ? 1 : other);
    must(cuMemcpyHtoD(p, bytes, BYTES) == CUDA_ERROR_DEVICE_UNAVAILABLE);
    check_files();
}

/* The program's own sockets at every number. */
static void sockets(int unused)
{
    enum { PAIRS = 16 };
    int pairs[PAIRS][2];
    CUmodule module;
    char byte;
    (void)unused;
    start();
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    for (int i = 0; i < PAIRS; i++)
        must(socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) == 0);
    must(cuModuleLoadData(&module, nothing_ptx) ==
         CUDA_ERROR_DEVICE_UNAVAILABLE);
    for (int i = 0; i < PAIRS; i++)
        for (int end = 0; end < 2; end++)
            must(recv(pairs[i][end], &byte, 1, MSG_DONTWAIT) == -1);
}

static void late_start(int unused)
{
    CUcontext ctx;
    (void)unused;
    must(cuInit(0) == CUDA_SUCCESS);
    take_descriptors();
    must(cuCtxCreate(&ctx, NULL, 0, 0) != CUDA_SUCCESS);
    check_files();
}

/* Run in a child. @says how often it names a descriptor on stderr, at most. */
static void expect(void (*run)(int), int way, int says)
{
    char text[4096];
    size_t got = 0;
    ssize_t n;
    int ends[2], status, said = 0;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        alarm(20);
        run(way);
        _exit(0);
    }
    close(ends[1]);
    while ((n = read(ends[0], text + got, sizeof text - 1 - got)) > 0)
        got += (size_t)n;
    text[got] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    for (char *at = text; (at = strstr(at, "has closed descriptor")); at++)
        said++;
    ck_assert_msg(status == 0 && said >= 1 && said <= says, "way %d: %x, %s",
                  way, (unsigned)status, text);
}

START_TEST(files_that_got_the_numbers_of_a_device_stay_as_they_are)
{
    for (int way = 0; way < WAYS; way++)
        expect(first_use, way, 2);
}
END_TEST

START_TEST(files_stay_as_they_are_beside_mapped_memory)
{
    for (int way = 0; way < WAYS; way++)
        expect(later_use, way, 2);
}
END_TEST

START_TEST(socket_that_got_the_number_of_a_device_hears_nothing)
{
    expect(sockets, 0, 1);
}
END_TEST

START_TEST(device_whose_files_are_gone_does_not_start)
{
    expect(late_start, 0, 1);
}
END_TEST

SUITE_MAIN("softcuda driver: closed descriptors", 60,
           files_that_got_the_numbers_of_a_device_stay_as_they_are,
           files_stay_as_they_are_beside_mapped_memory,
           socket_that_got_the_number_of_a_device_hears_nothing,
           device_whose_files_are_gone_does_not_start)
