/* Structures of commands. Pointers inside of them are not followed. */
#include "interpose/calls/command.h"
#include "interpose/hook.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>

/* Of kernels newer than the headers. */
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef PR_GET_SHADOW_STACK_STATUS
#define PR_GET_SHADOW_STACK_STATUS 74
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV 0x41555856
#endif

enum { THREAD_NAME_BYTES = 16, MAPPING_NAME_BYTES = 80 };

/* ---- fcntl ---------------------------------------------------------------- */

static size_t of_fcntl(int command)
{
    switch (command) {
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
    case F_OFD_GETLK:
    case F_OFD_SETLK:
    case F_OFD_SETLKW:
        return sizeof(struct flock);
    case F_GETOWN_EX:
    case F_SETOWN_EX:
        return sizeof(struct f_owner_ex);
    case F_GET_RW_HINT:
    case F_SET_RW_HINT:
    case F_GET_FILE_RW_HINT:
    case F_SET_FILE_RW_HINT:
        return sizeof(uint64_t);
    default:
        return 0;
    }
}

/* ---- System V ---------------------------------------------------------------- */

/* One number for each semaphore of the set, which has to be asked. */
static size_t of_all_values(int set)
{
    struct semid_ds about;
    union {
        struct semid_ds *about;
    } to = {&about};
    int saved = errno;
    bool known = HOOK_REAL(semctl)(set, 0, IPC_STAT, to) == 0;
    errno = saved;
    return known ? about.sem_nsems * sizeof(unsigned short) : 0;
}

static size_t of_semctl(const uintptr_t *words)
{
    switch ((int)words[2]) {
    case IPC_STAT:
    case IPC_SET:
    case SEM_STAT:
    case SEM_STAT_ANY:
        return sizeof(struct semid_ds);
    case IPC_INFO:
    case SEM_INFO:
        return sizeof(struct seminfo);
    case GETALL:
    case SETALL:
        return of_all_values((int)words[0]);
    default:
        return 0;
    }
}

static size_t of_shmctl(int command)
{
    switch (command) {
    case IPC_STAT:
    case IPC_SET:
    case SHM_STAT:
    case SHM_STAT_ANY:
        return sizeof(struct shmid_ds);
    case IPC_INFO:
        return sizeof(struct shminfo);
    case SHM_INFO:
        return sizeof(struct shm_info);
    default:
        return 0;
    }
}

static size_t of_msgctl(int command)
{
    switch (command) {
    case IPC_STAT:
    case IPC_SET:
    case MSG_STAT:
    case MSG_STAT_ANY:
        return sizeof(struct msqid_ds);
    case IPC_INFO:
    case MSG_INFO:
        return sizeof(struct msginfo);
    default:
        return 0;
    }
}

/* ---- prctl -------------------------------------------------------------------- */

/* Options with memory behind one argument. */
static const struct {
    int option, argument;
    size_t bytes;
} options[] = {
    {PR_GET_PDEATHSIG, 1, sizeof(int)},
    {PR_GET_UNALIGN, 1, sizeof(int)},
    {PR_GET_FPEMU, 1, sizeof(int)},
    {PR_GET_FPEXC, 1, sizeof(int)},
    {PR_GET_ENDIAN, 1, sizeof(int)},
    {PR_GET_TSC, 1, sizeof(int)},
    {PR_GET_CHILD_SUBREAPER, 1, sizeof(int)},
    {PR_SET_NAME, 1, THREAD_NAME_BYTES},
    {PR_GET_NAME, 1, THREAD_NAME_BYTES},
    {PR_GET_TID_ADDRESS, 1, sizeof(void *)},
    {PR_GET_SHADOW_STACK_STATUS, 1, sizeof(long)},
    {PR_SCHED_CORE, 4, sizeof(long)},
    {PR_SET_VMA, 4, MAPPING_NAME_BYTES},
};

static size_t of_prctl(int argument, const uintptr_t *words)
{
    int option = (int)words[0];
    if (option == PR_GET_AUXV && argument == 1)
        return words[2];
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].option == option && options[i].argument == argument)
            return options[i].bytes;
    return 0;
}

/* x86's: what asks for a word. The others bring one. */
static size_t of_arch_prctl(int option)
{
    enum { GET_FS = 0x1003, GET_GS = 0x1004, GET_XCOMP_SUPP = 0x1021 };
    enum { GET_XCOMP_PERM = 0x1022, GET_XCOMP_GUEST_PERM = 0x1024 };
    enum { GET_UNTAG_MASK = 0x4001, GET_MAX_TAG_BITS = 0x4003 };
    enum { SHADOW_STACK_STATUS = 0x5005 };
    switch (option) {
    case GET_FS:
    case GET_GS:
    case GET_XCOMP_SUPP:
    case GET_XCOMP_PERM:
    case GET_XCOMP_GUEST_PERM:
    case GET_UNTAG_MASK:
    case GET_MAX_TAG_BITS:
    case SHADOW_STACK_STATUS:
        return sizeof(long);
    default:
        return 0;
    }
}

size_t call_command_bytes(enum call_commands whose, int argument,
                          const uintptr_t *words)
{
    switch (whose) {
    case CALL_BY_FCNTL:
        return of_fcntl((int)words[1]);
    case CALL_BY_SEMCTL:
        return of_semctl(words);
    case CALL_BY_SHMCTL:
        return of_shmctl((int)words[1]);
    case CALL_BY_MSGCTL:
        return of_msgctl((int)words[1]);
    case CALL_BY_PRCTL:
        return of_prctl(argument, words);
    case CALL_BY_ARCH_PRCTL:
        return of_arch_prctl((int)words[0]);
    }
    return 0;
}
