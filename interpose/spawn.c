/*
 * Programs that take this one's place, and children: they inherit the mask
 * that the program believes in, with SIGSEGV where it has that blocked.
 *
 * posix_spawn runs with every signal blocked, in the child as well, so what
 * libc itself reads and writes there must not be in shared memory, nor what the
 * kernel reads.
 */
#include "interpose/calls/words.h"
#include "interpose/signals/mask.h"

#include <alloca.h>
#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

/* Close SIGSEGV for the program to come. Return: whether it was open. */
static bool close_mask(void)
{
    static const uint64_t segv = MASK_SEGV;
    if (!mask_is_seen() || !mask_thread.blocked)
        return false;
    return !(mask_kernel(SIG_BLOCK, &segv) & MASK_SEGV);
}

static void open_mask(bool closed)
{
    if (closed)
        mask_adopt();
}

/* Call one of the functions that do not come back: its name and arguments, and
 * the program's environment, where the kernel can read them. */
static int run(words_issue_fn *issue, void *context, const char *path,
               char *const *argv, char *const *envp)
{
    bool closed = close_mask();
    int result = words_issue(issue, context, path, argv, envp);
    open_mask(closed);
    return result;
}

static int issue_execve(void *unused, const char *path, char *const *argv,
                        char *const *envp)
{
    (void)unused;
    return HOOK_REAL(execve)(path, argv, envp);
}

int execve(const char *path, char *const *argv, char *const *envp)
{
    return run(issue_execve, NULL, path, argv, envp);
}

/* These take the environment by themselves, where it is as it was. */
static int issue_execv(void *unused, const char *path, char *const *argv,
                       char *const *envp)
{
    (void)unused;
    return envp == environ ? HOOK_REAL(execv)(path, argv)
                           : HOOK_REAL(execve)(path, argv, envp);
}

int execv(const char *path, char *const *argv)
{
    return run(issue_execv, NULL, path, argv, environ);
}

static int issue_execvp(void *unused, const char *file, char *const *argv,
                        char *const *envp)
{
    (void)unused;
    return envp == environ ? HOOK_REAL(execvp)(file, argv)
                           : HOOK_REAL(execvpe)(file, argv, envp);
}

int execvp(const char *file, char *const *argv)
{
    return run(issue_execvp, NULL, file, argv, environ);
}

static int issue_execvpe(void *unused, const char *file, char *const *argv,
                         char *const *envp)
{
    (void)unused;
    return HOOK_REAL(execvpe)(file, argv, envp);
}

int execvpe(const char *file, char *const *argv, char *const *envp)
{
    return run(issue_execvpe, NULL, file, argv, envp);
}

static int issue_fexecve(void *file, const char *path, char *const *argv,
                         char *const *envp)
{
    (void)path;
    return HOOK_REAL(fexecve)(*(const int *)file, argv, envp);
}

int fexecve(int file, char *const *argv, char *const *envp)
{
    return run(issue_fexecve, &file, NULL, argv, envp);
}

struct place {
    int folder, flags;
};

static int issue_execveat(void *context, const char *path, char *const *argv,
                          char *const *envp)
{
    const struct place *place = context;
    return HOOK_REAL(execveat)(place->folder, path, argv, envp, place->flags);
}

int execveat(int folder, const char *path, char *const *argv, char *const *envp,
             int flags)
{
    struct place place = {folder, flags};
    if (!HOOK_REAL(execveat)) { /* glibc before 2.34 */
        errno = ENOSYS;
        return -1;
    }
    return run(issue_execveat, &place, path, argv, envp);
}

/* The arguments after `first` up to NULL as an array on the stack. */
#define LIST(first, argv, rest)                                                \
    do {                                                                       \
        va_list list_count;                                                    \
        size_t list_most = 1;                                                  \
        va_start(rest, first);                                                 \
        va_copy(list_count, rest);                                             \
        for (const char *at = first; at; at = va_arg(list_count, char *))      \
            list_most++;                                                       \
        va_end(list_count);                                                    \
        argv = alloca(list_most * sizeof *argv);                               \
        argv[0] = (char *)first;                                               \
        for (size_t i = 1; i < list_most; i++)                                 \
            argv[i] = va_arg(rest, char *);                                    \
    } while (0)

int execl(const char *path, const char *first, ...)
{
    char **argv;
    va_list rest;
    LIST(first, argv, rest);
    va_end(rest);
    return execv(path, argv);
}

int execlp(const char *file, const char *first, ...)
{
    char **argv;
    va_list rest;
    LIST(first, argv, rest);
    va_end(rest);
    return execvp(file, argv);
}

int execle(const char *path, const char *first, ...)
{
    char **argv;
    va_list rest;
    LIST(first, argv, rest);
    char *const *envp = va_arg(rest, char *const *);
    va_end(rest);
    return execve(path, argv, envp);
}

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const *, char *const *);

/* `attr`, or in `own` a copy that says the mask which the program believes in
 * where it says none. */
static const posix_spawnattr_t *attributes(const posix_spawnattr_t *attr,
                                           posix_spawnattr_t *own)
{
    short flags = 0;
    sigset_t now;
    if (attr)
        *own = *attr;
    else
        posix_spawnattr_init(own);
    posix_spawnattr_getflags(own, &flags);
    if (flags & POSIX_SPAWN_SETSIGMASK || !mask_thread.blocked)
        return attr ? own : NULL;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    posix_spawnattr_setsigmask(own, &now);
    posix_spawnattr_setflags(own, (short)(flags | POSIX_SPAWN_SETSIGMASK));
    return own;
}

/* A call of posix_spawn. */
struct birth {
    spawn_fn *real;
    pid_t child;
    const posix_spawn_file_actions_t *actions;
    const posix_spawnattr_t *attr;
    int failed;
};

static int issue_spawn(void *context, const char *path, char *const *argv,
                       char *const *envp)
{
    struct birth *birth = context;
    birth->failed = birth->real(&birth->child, path, birth->actions,
                                birth->attr, argv, envp);
    return 0;
}

static int spawn(spawn_fn *real, pid_t *child, const char *path,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, char *const *argv,
                 char *const *envp)
{
    posix_spawnattr_t own;
    posix_spawn_file_actions_t own_actions;
    if (!mask_is_seen())
        return real(child, path, actions, attr, argv, envp);
    if (actions)
        own_actions = *actions;
    struct birth birth = {.real = real,
                          .actions = actions ? &own_actions : NULL,
                          .attr = attributes(attr, &own)};
    if (words_issue(issue_spawn, &birth, path, argv, envp) != 0)
        return errno;
    if (!birth.failed && child)
        *child = birth.child;
    return birth.failed;
}

int posix_spawn(pid_t *child, const char *path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attr, char *const *argv,
                char *const *envp)
{
    return spawn(HOOK_REAL(posix_spawn), child, path, actions, attr, argv,
                 envp);
}

int posix_spawnp(pid_t *child, const char *file,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attr, char *const *argv,
                 char *const *envp)
{
    return spawn(HOOK_REAL(posix_spawnp), child, file, actions, attr, argv,
                 envp);
}
