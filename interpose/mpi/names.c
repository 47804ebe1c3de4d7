/*
 * The hooked names, the functions behind them, and the program's look-ups.
 *
 * Where there is no MPI library there is no MPI function: dlsym then says so,
 * although this library exports one.
 */
#include "interpose/loader.h"
#include "interpose/mpi/abi.h"
#include "interpose/mpi/exports.h"
#include "base/log.h"
#include "base/text.h"

static const struct {
    const char *name;
    void *wrapper;
} hooks[MPI_NAMES] = {
#define MPI_CALL(name, arity, how, ...) {"MPI_" #name, (void *)MPI_##name},
#define MPI_HOOK(name, arity)           {"MPI_" #name, (void *)MPI_##name},
#include "interpose/mpi/calls.def"
};

static _Atomic(void *) behind[MPI_NAMES];

void *mpi_real(enum mpi_name name)
{
    /* Relaxed: a function has been there before its address was looked up. */
    void *at = atomic_load_explicit(&behind[name], memory_order_relaxed);
    if (hook_unlikely(!at)) {
        at = mpi_symbol(hooks[name].name);
        atomic_store_explicit(&behind[name], at, memory_order_relaxed);
    }
    return at;
}

int mpi_absent(enum mpi_name name)
{
    adsm_log_once(ADSM_LOG_ERROR, "%s is called, and there is no MPI library",
                  hooks[name].name);
    return 16;
}

/* What dlsym found for `name`, or what it is to give instead. */
static void *exchange(const char *name, void *found)
{
    for (size_t i = 0; found && i < MPI_NAMES; i++) {
        if (!adsm_text_is(hooks[i].name, name))
            continue;
        void *real = mpi_real((enum mpi_name)i);
        if (found == real)
            return hooks[i].wrapper;
        if (found != hooks[i].wrapper || real)
            return found;
        /* Once more, so that dlerror tells what it must. */
        (void)mpi_symbol(name);
        return NULL;
    }
    return found;
}

#pragma weak adsm_hooks_mpi

__attribute__((constructor(102))) static void start(void)
{
    if (adsm_hooks_mpi)
        adsm_hooks_mpi(exchange);
}
