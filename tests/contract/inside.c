/* Rows: functions of libc that make system calls of their own on the memory. */
#include "contract.h"

#include <dirent.h>
#include <mntent.h>
#include <mqueue.h>
#include <pthread.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <utmp.h>

/* ---- programs -------------------------------------------------------------- */

static long ended(pid_t child)
{
    int status = -1;
    if (waitpid(child, &status, 0) != child)
        return -1;
    errno = 0; /* as the way there leaves it */
    return WEXITSTATUS(status);
}

static long said_by_popen(const char *text)
{
    char line[16] = "";
    FILE *stream = popen(text, "r");
    if (!stream)
        return -1;
    char *got = fgets(line, sizeof line, stream);
    long status = pclose(stream);
    errno = 0;
    return got ? line[0] * 1000 + status : -2;
}

static long spawned(const char *path, char **arguments, char **environment,
                    bool searched)
{
    pid_t child;
    int failed =
        searched
            ? posix_spawnp(&child, path, NULL, NULL, arguments, environment)
            : posix_spawn(&child, path, NULL, NULL, arguments, environment);
    return failed ? -failed : ended(child);
}

static long executed(const char *path, char **arguments, char **environment)
{
    pid_t child = vfork();
    if (child == 0) {
        execve(path, arguments, environment);
        _exit(errno);
    }
    return ended(child);
}

#define SHELL(...) ((char *[]){"sh", "-c", __VA_ARGS__, NULL})

static char *inherited[] = {"Q=6", NULL};

/* A list in the memory, of plain strings. */
static char **list_at(uint8_t *p)
{
    return (char **)p;
}

static void fill_list(uint8_t *init)
{
    static char *const list[] = {"sh", "-c", "exit $((Q + 1))", NULL};
    memcpy(init, list, sizeof list);
}

static long told_by_putenv(char *text)
{
    if (putenv(text) != 0)
        return -1;
    long status = system("test \"$ADSM_CONTRACT\" = value");
    unsetenv("ADSM_CONTRACT");
    errno = 0;
    return status;
}

RUN(system, (errno = 0, system((char *)p)))
RUN(popen, said_by_popen((char *)p))
RUN(putenv, told_by_putenv((char *)p))
RUN(spawn_path, spawned((char *)p, SHELL("exit 5"), inherited, false))
RUN(spawnp_path, spawned((char *)p, SHELL("exit 5"), inherited, true))
RUN(spawn_argument, spawned("/bin/sh", SHELL((char *)p), inherited, false))
RUN(spawn_list, spawned("/bin/sh", list_at(p), inherited, false))
RUN(spawn_environment,
    spawned("/bin/sh", SHELL("exit $Q"), (char *[]){(char *)p, NULL}, false))
RUN(execve_path, executed((char *)p, SHELL("exit 5"), inherited))
RUN(execve_argument, executed("/bin/sh", SHELL((char *)p), inherited))
RUN(execve_list, executed("/bin/sh", list_at(p), inherited))
RUN(execve_environment,
    executed("/bin/sh", SHELL("exit $Q"), (char *[]){(char *)p, NULL}))

FILL(command, char[20], "exit $((1 + 2)) ###")
FILL(echo, char[20], "echo hello; exit 3;")
FILL(variable, char[20], "ADSM_CONTRACT=value")
FILL(shell, char[20], "///////////bin/sh")
FILL(assigned, char[20], "Q=000000000000009")

/* ---- files -------------------------------------------------------------------- */

static long opened(FILE *stream)
{
    int error = errno;
    if (stream)
        fclose(stream);
    errno = stream ? 0 : error;
    return stream != NULL;
}

static long entries(const char *folder)
{
    struct dirent **list;
    int count = scandir(folder, &list, NULL, alphasort);
    int error = errno;
    for (int i = 0; i < count; i++)
        free(list[i]);
    if (count > 0)
        free(list);
    errno = count < 0 ? error : 0;
    return count;
}

static long named(const char *folder)
{
    char *name = tempnam(folder, "x");
    long good = name && strncmp(name, now.folder, strlen(now.folder)) == 0;
    free(name);
    errno = 0;
    return good;
}

/* What the kernel says of a queue that is made so. */
static long queue(struct mq_attr *attributes)
{
    const char *name = strrchr(now.folder, '/');
    struct mq_attr seen = {0};
    mqd_t made = mq_open(name, O_CREAT | O_RDWR, 0600, attributes);
    int error = errno;
    if (made != (mqd_t)-1) {
        mq_getattr(made, &seen);
        mq_close(made);
        mq_unlink(name);
    }
    errno = made == (mqd_t)-1 ? error : 0;
    return made == (mqd_t)-1 ? -1 : seen.mq_maxmsg;
}

static long appended(const char *file, const struct utmp *entry)
{
    off_t before = lseek(now.file, 0, SEEK_END);
    updwtmp(file, entry);
    off_t more = lseek(now.file, 0, SEEK_END) - before;
    (void)!ftruncate(now.file, before);
    errno = 0;
    return more;
}

static void fill_path(uint8_t *init)
{
    memcpy(init, now.file_path, strlen(now.file_path) + 1);
}

static void fill_folder(uint8_t *init)
{
    memcpy(init, now.folder, strlen(now.folder) + 1);
}

RUN(setmntent, opened(setmntent((char *)p, "r")))
RUN(scandir, entries((char *)p))
RUN(tempnam, named((char *)p))
RUN(pathconf, pathconf((char *)p, _PC_NAME_MAX))
RUN(ftok, ftok((char *)p, 7) != -1)
RUN(queue, queue((struct mq_attr *)p))
RUN(updwtmp, appended(now.file_path, (struct utmp *)p))
RUN(updwtmp_name, appended((char *)p, &(struct utmp){.ut_type = USER_PROCESS}))
RUN(getdirentries, getdirentries(now.file, (char *)p, 100, &(off_t){0}))

FILL(queue, struct mq_attr, .mq_maxmsg = 3, .mq_msgsize = 40)
FILL(entry, struct utmp, .ut_type = USER_PROCESS, .ut_user = "x")

/* ---- terminals, threads, times ---------------------------------------------------- */

static long sized(const struct winsize *size)
{
    struct winsize seen = {0};
    int ends[2];
    if (openpty(&ends[0], &ends[1], NULL, NULL, size) != 0)
        return -1;
    ioctl(ends[0], TIOCGWINSZ, &seen);
    close(ends[0]);
    close(ends[1]);
    errno = 0;
    return seen.ws_row * 100 + seen.ws_col;
}

static void *waits(void *unused)
{
    usleep(2000);
    return unused;
}

static long joined(const struct timespec *until)
{
    pthread_t thread;
    pthread_create(&thread, NULL, waits, NULL);
    int failed = pthread_timedjoin_np(thread, NULL, until);
    if (failed)
        pthread_join(thread, NULL);
    return failed;
}

static long waited(const struct timespec *time)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    return sigtimedwait(&set, NULL, time);
}

RUN(openpty, sized((struct winsize *)p))
RUN(thrd_sleep, thrd_sleep((struct timespec *)p, NULL))
RUN(timespec_get, timespec_get((struct timespec *)p, TIME_UTC))
RUN(join, joined((struct timespec *)p))
RUN(sigtimedwait, waited((struct timespec *)p))
RUN(get_name, pthread_getname_np(pthread_self(), (char *)p, 16))
RUN(set_name, pthread_setname_np(pthread_self(), (char *)p))
RUN(set_param,
    pthread_setschedparam(pthread_self(), SCHED_OTHER, (struct sched_param *)p))

FILL(window, struct winsize, 11, 22, 33, 44)
FILL(moment, struct timespec, 0, 1000)
FILL(late, struct timespec, 4000000000, 5)
FILL(name, char[14], "test_contract")
FILL(param, struct sched_param, 0)

const struct contract_row rows_inside[] = {
    {"system", 20, fill_command, run_system, CONTRACT_WHOLE},
    {"popen", 20, fill_echo, run_popen, CONTRACT_WHOLE},
    {"putenv", 20, fill_variable, run_putenv, CONTRACT_WHOLE},
    {"posix_spawn path", 20, fill_shell, run_spawn_path, 0},
    {"posix_spawnp path", 20, fill_shell, run_spawnp_path, CONTRACT_WHOLE},
    {"posix_spawn argument", 20, fill_command, run_spawn_argument, 0},
    {"posix_spawn list", 32, fill_list, run_spawn_list, CONTRACT_WHOLE},
    {"posix_spawn environment", 20, fill_assigned, run_spawn_environment, 0},
    {"execve path", 20, fill_shell, run_execve_path, 0},
    {"execve argument", 20, fill_command, run_execve_argument, 0},
    {"execve list", 32, fill_list, run_execve_list, 0},
    {"execve environment", 20, fill_assigned, run_execve_environment, 0},
    {"setmntent", 25, fill_path, run_setmntent, CONTRACT_WHOLE},
    {"scandir", 19, fill_folder, run_scandir, CONTRACT_WHOLE},
    {"tempnam", 19, fill_folder, run_tempnam, CONTRACT_WHOLE},
    {"pathconf", 25, fill_path, run_pathconf, CONTRACT_WHOLE},
    {"ftok", 25, fill_path, run_ftok, 0},
    {"mq_open", sizeof(struct mq_attr), fill_queue, run_queue, 0},
    {"updwtmp", sizeof(struct utmp), fill_entry, run_updwtmp, 0},
    {"updwtmp name", 25, fill_path, run_updwtmp_name, CONTRACT_WHOLE},
    {"getdirentries", 100, NULL, run_getdirentries, CONTRACT_WHOLE},
    {"openpty", sizeof(struct winsize), fill_window, run_openpty, 0},
    {"thrd_sleep", 16, fill_moment, run_thrd_sleep, 0},
    {"timespec_get", 16, NULL, run_timespec_get,
     CONTRACT_LOOSE | CONTRACT_WHOLE},
    {"pthread_timedjoin_np", 16, fill_late, run_join, CONTRACT_WHOLE},
    {"sigtimedwait time", 16, fill_moment, run_sigtimedwait, 0},
    {"pthread_getname_np", 16, NULL, run_get_name, CONTRACT_WHOLE},
    {"pthread_setname_np", 14, fill_name, run_set_name, CONTRACT_WHOLE},
    {"pthread_setschedparam", 4, fill_param, run_set_param, 0},
};
const size_t rows_inside_count = sizeof rows_inside / sizeof *rows_inside;
