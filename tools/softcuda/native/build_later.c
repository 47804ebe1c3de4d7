/*
 * Owns: when a process that outlives its program may work, and how long.
 * Does not own: what it works on (build.c). No lock.
 */
#include "native/build_later.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* No compiler run begins later than this; each has a limit of its own. */
#define MOST_S 60
/* Then it is ended, and its compiler with it: others wait for its turn. */
#define END_S 180

static time_t end_s;

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

void sc_build_later_begin(void)
{
    alarm(END_S);
    end_s = now_s() + MOST_S;
    if (setpriority(PRIO_PROCESS, 0, 19) != 0)
        end_s = now_s(); /* not beside others at their priority */
}

bool sc_build_later_goes_on(void)
{
    return now_s() < end_s;
}

static int open_lock(const char *folder, const char *name)
{
    char path[SC_BUILD_PATH];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

bool sc_build_later_turn(const char *folder)
{
    int works = open_lock(folder, SC_BUILD_LATER_WORKS);
    if (works >= 0 && flock(works, LOCK_EX | LOCK_NB) == 0)
        return true; /* until the process ends */
    int waits = open_lock(folder, SC_BUILD_LATER_WAITS);
    bool turn = works >= 0 && waits >= 0 &&
                flock(waits, LOCK_EX | LOCK_NB) == 0 &&
                flock(works, LOCK_EX) == 0;
    if (waits >= 0)
        close(waits);
    return turn;
}
