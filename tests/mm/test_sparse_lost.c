/*
 * Watched blocks when something goes away: the descriptors by which the kernel
 * is asked, the process by a fork, the object, the device, or the engine itself.
 * No byte does. Wants ADSM_FAULT_ENGINE=async.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { BYTES = 4 << 20, FIRST_FD = 1024, END_FD = 1100 };

static uint32_t block_of(const struct pair *pair)
{
    return (uint32_t)adsm_index_find(pair->in)->block_bytes;
}

/* Block 5 is watched, and one page of it written since it was sent. */
static struct pair begin_watched(void)
{
    struct pair pair = begin(BYTES);
    store(&pair, 5 * block_of(&pair), 1);
    call(&pair);
    ck_assert(is_watched(&pair, 5 * block_of(&pair)));
    store(&pair, 5 * block_of(&pair) + PAGE, 2);
    return pair;
}

/* It goes on: blocks old and new, call after call. */
static void go_on(struct pair *pair)
{
    for (uint8_t round = 1; round < 4; round++) {
        for (uint32_t i = 3; i < 9; i++)
            store(pair, i * block_of(pair) + round * 7, round);
        memset(pair->out, 0, BYTES);
        call(pair);
        ck_assert_mem_eq(pair->out, pair->want, BYTES);
    }
    end(pair);
}

/* All that lies where the engine has its two, and `file` in their place. */
static void take_descriptors(int file)
{
    for (int fd = FIRST_FD; fd < END_FD; fd++) {
        close(fd);
        if (file >= 0)
            ck_assert_int_eq(dup2(file, fd), fd);
    }
}

START_TEST(closed_descriptors_lose_nothing)
{
    struct pair pair = begin_watched();
    take_descriptors(-1);
    go_on(&pair);
}
END_TEST

START_TEST(files_of_the_program_in_their_place_lose_nothing)
{
    struct pair pair = begin_watched();
    FILE *file = tmpfile();
    take_descriptors(fileno(file));
    go_on(&pair);
    ck_assert_int_eq(fseek(file, 0, SEEK_END), 0);
    ck_assert_int_eq(ftell(file), 0);
}
END_TEST

START_TEST(sockets_in_their_place_lose_nothing)
{
    struct pair pair = begin_watched();
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    take_descriptors(ends[0]);
    go_on(&pair);
}
END_TEST

START_TEST(one_of_the_two_closed_loses_nothing)
{
    for (int fd = FIRST_FD; fd < FIRST_FD + 4; fd++) {
        pid_t child = fork();
        if (child == 0) {
            struct pair pair = begin_watched();
            close(fd);
            go_on(&pair);
            _exit(0);
        }
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

/* The child has none of it, and its end takes no watch away; while it lives the
 * descriptors are open in it. */
START_TEST(fork_leaves_the_parent_its_notes)
{
    struct pair pair = begin_watched();
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        take_descriptors(-1);
        _exit((int)read(ends[0], &byte, 1));
    }
    close(ends[0]);
    store(&pair, 5 * block_of(&pair), 3);
    uint32_t pages = block_of(&pair) > 2 * PAGE ? 2 : block_of(&pair) / PAGE;
    ck_assert_uint_eq(sent_pages(&pair), pages);
    store(&pair, 5 * block_of(&pair), 4);
    take_descriptors(-1);
    store(&pair, 6 * block_of(&pair), 4);
    call(&pair);
    close(ends[1]);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    go_on(&pair);
}
END_TEST

START_TEST(memory_freed_while_watched_comes_back_unwatched)
{
    uint8_t *before = NULL;
    for (int round = 0; round < 4; round++) {
        struct pair pair = begin_watched();
        ck_assert(!before || before == pair.in);
        before = pair.in;
        go_on(&pair);
    }
}
END_TEST

START_TEST(freed_before_it_is_sent_and_written_again)
{
    struct pair pair = begin_watched();
    uint8_t *was = pair.in;
    must(adsmFree(pair.in));
    pair.in = adsmAlloc(BYTES);
    ck_assert_ptr_eq(pair.in, was);
    ck_assert_uint_eq(atomic_load(&adsm_index_find(pair.in)->watched), 0);
    memset(pair.in, 0, BYTES);
    memset(pair.want, 0, BYTES);
    call(&pair);
    go_on(&pair);
}
END_TEST

START_TEST(lost_device_leaves_what_was_written)
{
    struct pair pair = begin_watched();
    ck_assert_int_eq(kill_children(), 1);
    uint32_t zero = 0;
    int status = ADSM_OK;
    for (int i = 0; i < 500 && status == ADSM_OK; i++) {
        store(&pair, 5 * block_of(&pair) + 3, (uint8_t)i);
        status = adsmLaunch(pair.f.mix_only, adsmDim1(1), adsmDim1(32), 0,
                            adsmInOut(pair.out), adsmIn(pair.in), adsmVal(zero),
                            adsmVal(zero));
        if (status == ADSM_OK)
            status = adsmSync();
    }
    ck_assert_int_eq(status, ADSM_E_DEVICE_LOST);
    store(&pair, 5 * block_of(&pair) + PAGE + 9, 5);
    store(&pair, 9 * block_of(&pair), 5);
    ck_assert_mem_eq(pair.in, pair.want, BYTES);
    (void)adsmFree(pair.in);
    free(pair.want);
}
END_TEST

/* Ends of blocks, and of an object that ends within a page. */
START_TEST(edges_are_sent)
{
    static const uint32_t more[] = {1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE + 77};
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        struct pair pair = begin(BYTES + more[k]);
        for (uint8_t round = 1; round < 4; round++) {
            store(&pair, 0, round);
            store(&pair, pair.bytes - 1, round);
            store(&pair, BYTES - 1, round);
            store(&pair, BYTES, round);
            store(&pair, BYTES / 2 + PAGE - 1, round);
            memset(pair.out, 0, pair.bytes);
            call(&pair);
            ck_assert_mem_eq(pair.out, pair.want, pair.bytes);
        }
        end(&pair);
    }
}
END_TEST

/* ---- machines without it -------------------------------------------------- */

/* From here on system call `number`, of which the second argument is `request`
 * (0: any), fails so. */
static void refuse(uint32_t number, uint32_t request, int error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                 offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request != 0, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* All works as under sigsegv, which is said once. */
static void must_do_without(const char *why)
{
    static char said[4096];
    int error = dup(2);
    FILE *to = tmpfile();
    ck_assert_int_eq(dup2(fileno(to), 2), 2);
    struct pair pair = begin(BYTES);
    store(&pair, 5 * block_of(&pair), 1);
    ck_assert(!is_watched(&pair, 5 * block_of(&pair)));
    go_on(&pair);
    dup2(error, 2);
    rewind(to);
    said[fread(said, 1, sizeof said - 1, to)] = '\0';
    const char *found = strstr(said, "fault engine async: ");
    ck_assert_msg(found && strstr(found, why) && strstr(found, "sigsegv"),
                  "'%s' does not say '%s'", said, why);
    ck_assert_ptr_null(strstr(found + 1, "fault engine"));
}

START_TEST(filter_without_the_call_is_said)
{
    refuse(SYS_userfaultfd, 0, EPERM);
    must_do_without("a filter refuses userfaultfd");
}
END_TEST

START_TEST(kernel_without_the_call_is_said)
{
    refuse(SYS_userfaultfd, 0, ENOSYS);
    must_do_without("this kernel has no userfaultfd");
}
END_TEST

START_TEST(kernel_without_the_mode_is_said)
{
    refuse(SYS_ioctl, (uint32_t)UFFDIO_API, EINVAL);
    must_do_without("needs Linux 6.7");
}
END_TEST

START_TEST(kernel_without_the_scan_is_said)
{
    refuse(SYS_ioctl, (uint32_t)_IOC(_IOC_READ | _IOC_WRITE, 'f', 16, 96),
           ENOTTY);
    must_do_without("needs Linux 6.7");
}
END_TEST

SUITE_MAIN("sparse_lost", 120, closed_descriptors_lose_nothing,
           files_of_the_program_in_their_place_lose_nothing,
           sockets_in_their_place_lose_nothing,
           one_of_the_two_closed_loses_nothing,
           fork_leaves_the_parent_its_notes,
           memory_freed_while_watched_comes_back_unwatched,
           freed_before_it_is_sent_and_written_again,
           lost_device_leaves_what_was_written, edges_are_sent,
           filter_without_the_call_is_said, kernel_without_the_call_is_said,
           kernel_without_the_mode_is_said, kernel_without_the_scan_is_said)
