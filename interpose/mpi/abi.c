/* Finding the MPI library behind this one, and knowing it. */
#include "interpose/mpi/abi.h"
#include "base/log.h"
#include "os/real.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

static struct mpi_abi abi_open = {
    .name = "Open MPI",
    .status_bytes = 24,
    .status_error = 8,
    .in_place = 1,
    .status_ignore = 0,
    .root = -4,
    .proc_null = -2,
    .cart = 1,
    .graph = 2,
    .err_other = 16,
    .err_in_status = 18,
};

static struct mpi_abi abi_mpich = {
    .name = "MPICH",
    .handles_are_ints = true,
    .status_bytes = 20,
    .status_error = 16,
    .in_place = -1,
    .status_ignore = 1,
    .byte = 0x4c00010d,
    .comm_self = 0x44000001,
    .no_op = 0x5800000e,
    .request_null = 0x2c000000,
    .root = -3,
    .proc_null = -1,
    .cart = 2,
    .graph = 1,
    .err_other = 15,
    .err_in_status = 17,
};

static _Atomic(const struct mpi_abi *) found;

struct search {
    const char *name;
    void *at;
};

/* A library that a module of the program needs is not behind us in the order
 * of look-up when the module was loaded for itself alone. */
static int look_inside(struct dl_phdr_info *info, size_t bytes, void *context)
{
    struct search *search = context;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strncmp(slash + 1, "libmpi", 6) != 0)
        return 0;
    void *library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return 0;
    search->at = adsm_real()->dlsym(library, search->name);
    dlclose(library);
    return search->at != NULL;
}

static void *look(void *where, const char *name)
{
    struct search search = {name, adsm_real()->dlsym(where, name)};
    if (!search.at)
        dl_iterate_phdr(look_inside, &search);
    return search.at;
}

void *mpi_symbol(const char *name)
{
    return look(RTLD_NEXT, name);
}

/* Of data a program may have a copy, which then is the library's too. */
static mpi_word datum(const char *name)
{
    return (mpi_word)look(RTLD_DEFAULT, name);
}

static bool fill(struct mpi_abi *abi)
{
    bool whole = true;
#define X(name, params)                                                        \
    abi->name = (int(*) params)mpi_symbol("PMPI_" #name);                      \
    whole = whole && abi->name;
    MPI_ABI_FUNCTIONS(X)
#undef X
    return whole;
}

/* MPI 5 has handles and statuses of its own, for all libraries alike. */
static bool is_standard(void)
{
    int (*ask)(int *, int *) =
        (int (*)(int *, int *))mpi_symbol("PMPI_Abi_get_version");
    int major = 0, minor;
    return ask && ask(&major, &minor) == MPI_SUCCESS && major > 0;
}

static const struct mpi_abi *find(void)
{
    if (is_standard())
        return NULL;
    if (!datum("ompi_mpi_byte"))
        return fill(&abi_mpich) ? &abi_mpich : NULL;
    abi_open.byte = datum("ompi_mpi_byte");
    abi_open.comm_self = datum("ompi_mpi_comm_self");
    abi_open.no_op = datum("ompi_mpi_op_no_op");
    abi_open.request_null = datum("ompi_request_null");
    return fill(&abi_open) ? &abi_open : NULL;
}

const struct mpi_abi *mpi_abi(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    const struct mpi_abi *abi =
        atomic_load_explicit(&found, memory_order_acquire);
    if (hook_likely(abi != NULL))
        return abi;
    pthread_mutex_lock(&lock);
    abi = atomic_load_explicit(&found, memory_order_relaxed);
    if (!abi)
        abi = find();
    /* Release: the table is filled. */
    atomic_store_explicit(&found, abi, memory_order_release);
    pthread_mutex_unlock(&lock);
    if (!abi)
        adsm_log_once(ADSM_LOG_ERROR,
                      "this MPI library is not known (known are Open MPI and "
                      "the MPICH family): its calls cannot use shared memory");
    return abi;
}
