/*
 * What one thread of a program does between its marks (marks.h), outside of the
 * driver:
 *
 *   trace calls|steps [NAME=VALUE...] PROGRAM ARGUMENT...
 *
 * Printed for each loop, if not zero: "LOOP system NUMBER COUNT", calls of the
 * system; with `steps`, which looks at each instruction, "LOOP instructions all
 * COUNT" and "LOOP instructions locked COUNT", those that lock the bus or are a
 * full fence, too. The program's environment has the values. The status is the
 * program's; 77 where nothing can be traced.
 */
#include "marks.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/ptrace.h>

enum { NUMBERS = 1024, SKIPPED = 77, CANNOT = 99, SYSCALL_STOP = 0x80 };

static struct {
    char name[64]; /* empty: between loops */
    uint64_t inside;
    unsigned long system[NUMBERS];
    unsigned long instructions, locked;
} loop;

static pid_t traced;

static bool read_from(uint64_t at, void *to, size_t bytes)
{
    struct iovec local = {to, bytes};
    struct iovec remote = {(void *)(uintptr_t)at, bytes};
    return process_vm_readv(traced, &local, 1, &remote, 1, 0) > 0;
}

static bool is_in_driver(void)
{
    long depth;
    if (read_from(loop.inside, &depth, sizeof depth))
        return depth > 0;
    perror("trace: process_vm_readv");
    exit(CANNOT);
}

/* ---- loops -------------------------------------------------------------------- */

static void begin(uint64_t name, uint64_t inside)
{
    memset(&loop, 0, sizeof loop);
    loop.inside = inside;
    for (size_t i = 0; i < sizeof loop.name - 1; i++)
        if (!read_from(name + i, &loop.name[i], 1) || !loop.name[i])
            break;
}

static void end(void)
{
    if (!loop.name[0])
        return;
    for (int i = 0; i < NUMBERS; i++)
        if (loop.system[i])
            printf("%s system %d %lu\n", loop.name, i, loop.system[i]);
    if (loop.instructions)
        printf("%s instructions all %lu\n", loop.name, loop.instructions);
    if (loop.locked)
        printf("%s instructions locked %lu\n", loop.name, loop.locked);
    fflush(stdout);
    loop.name[0] = '\0';
}

static void on_system_call(uint64_t number, uint64_t first, uint64_t second)
{
    if (number == MARK_BEGIN)
        begin(first, second);
    else if (number == MARK_END)
        end();
    else if (loop.name[0] && number < NUMBERS && !is_in_driver())
        loop.system[number]++;
}

/* ---- stops -------------------------------------------------------------------- */

static void on_entry(void)
{
    struct ptrace_syscall_info info = {0};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, traced, sizeof info, &info) > 0 &&
        info.op == PTRACE_SYSCALL_INFO_ENTRY)
        on_system_call(info.entry.nr, info.entry.args[0], info.entry.args[1]);
}

#if defined(__x86_64__)

/* A lock prefix, an exchange with memory, mfence. */
static bool is_locked(const unsigned char *code)
{
    while (*code == 0x64 || *code == 0x66 || *code == 0xf2 || *code == 0xf3)
        code++;
    if (*code == 0xf0 || memcmp(code, "\x0f\xae\xf0", 3) == 0)
        return true;
    code += (*code & 0xf0) == 0x40;
    return (*code == 0x86 || *code == 0x87) && code[1] < 0xc0;
}

/* The instruction that comes next. */
static void on_step(void)
{
    struct user_regs_struct at;
    struct iovec set = {&at, sizeof at};
    unsigned char code[16] = {0};
    if (is_in_driver() ||
        ptrace(PTRACE_GETREGSET, traced, NT_PRSTATUS, &set) != 0)
        return;
    (void)read_from(at.rip, code, 8); /* else unlike any of those below */
    if (code[0] == 0x0f && code[1] == 0x05)
        on_system_call(at.rax, at.rdi, at.rsi);
    loop.instructions++;
    loop.locked += is_locked(code);
}

#else

static void on_step(void)
{
}

#endif

/* Until it ends. Return: its status */
static int follow(bool by_steps)
{
    int status, signal = 0;
    for (;;) {
        bool steps = by_steps && loop.name[0];
        if (ptrace(steps ? PTRACE_SINGLESTEP : PTRACE_SYSCALL, traced, NULL,
                   (void *)(intptr_t)signal) != 0 ||
            waitpid(traced, &status, 0) < 0) {
            perror("trace");
            return CANNOT;
        }
        if (!WIFSTOPPED(status))
            return WIFEXITED(status) ? WEXITSTATUS(status)
                                     : 128 + WTERMSIG(status);
        signal = 0;
        if (WSTOPSIG(status) == (SIGTRAP | SYSCALL_STOP))
            on_entry();
        else if (WSTOPSIG(status) != SIGTRAP)
            signal = WSTOPSIG(status);
        else if (steps)
            on_step();
    }
}

int main(int argc, char **argv)
{
    int status;
    if (argc < 3)
        return CANNOT;
    traced = fork();
    if (traced == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(SKIPPED);
        raise(SIGSTOP);
        for (argv += 2; *argv && strchr(*argv, '='); argv++)
            putenv(*argv);
        execv(*argv, argv);
        _exit(CANNOT);
    }
    if (waitpid(traced, &status, 0) < 0 || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, traced, NULL,
               (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL)) != 0) {
        fprintf(stderr, "trace: programs cannot be traced here\n");
        return SKIPPED;
    }
    return follow(strcmp(argv[1], "steps") == 0);
}
