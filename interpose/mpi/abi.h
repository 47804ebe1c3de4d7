/*
 * The MPI library of the program: which one it is, its constants and those of
 * its functions that the runtime asks for itself.
 *
 * Constants are from the two libraries' mpi.h: Open MPI 1.5 to 5, and the ABI
 * that MPICH 3.1 and later, Intel MPI, MVAPICH2 and Cray MPICH have in common.
 */
#ifndef INTERPOSE_MPI_ABI_H
#define INTERPOSE_MPI_ABI_H

#include "interpose/mpi/mpi.h"

/** Functions used, by the names that no profiler stands before. */
#define MPI_ABI_FUNCTIONS(X)                                                   \
    X(Type_get_extent, (mpi_word, intptr_t *, intptr_t *))                     \
    X(Type_get_true_extent, (mpi_word, intptr_t *, intptr_t *))                \
    X(Type_create_hindexed,                                                    \
      (int, const int *, const intptr_t *, mpi_word, void *))                  \
    X(Type_commit, (void *))                                                   \
    X(Type_free, (void *))                                                     \
    X(Type_size_x, (mpi_word, long long *))                                    \
    X(Comm_rank, (mpi_word, int *))                                            \
    X(Comm_size, (mpi_word, int *))                                            \
    X(Comm_test_inter, (mpi_word, int *))                                      \
    X(Comm_remote_size, (mpi_word, int *))                                     \
    X(Comm_call_errhandler, (mpi_word, int))                                   \
    X(Topo_test, (mpi_word, int *))                                            \
    X(Cartdim_get, (mpi_word, int *))                                          \
    X(Graph_neighbors_count, (mpi_word, int, int *))                           \
    X(Dist_graph_neighbors_count, (mpi_word, int *, int *, int *))             \
    X(Pack, (const void *, int, mpi_word, void *, int, int *, mpi_word))       \
    X(Unpack, (const void *, int, int *, void *, int, mpi_word, mpi_word))     \
    X(Get_elements_x, (const void *, mpi_word, long long *))                   \
    X(Test_cancelled, (const void *, int *))                                   \
    X(Test, (void *, int *, void *))                                           \
    X(Request_free, (void *))

/** The library, once found. */
struct mpi_abi {
    const char *name;
    bool handles_are_ints;
    size_t status_bytes, status_error; /* of MPI_Status; place of MPI_ERROR  */
    mpi_word in_place, status_ignore;  /* the latter also for lists          */
    mpi_word byte, comm_self, no_op, request_null;
    int root, proc_null, cart, graph;
    int err_other, err_in_status;
#define X(name, params) int(*name) params;
    MPI_ABI_FUNCTIONS(X)
#undef X
};

enum { MPI_SUCCESS = 0, MPI_ERR_BUFFER = 1, MPI_UNDEFINED = -32766 };

/** Room for one status of any library. */
struct mpi_status {
    _Alignas(16) char bytes[64];
};

/**
 * The library of this process.
 *
 * Return: NULL when there is none, or none that is known (said once)
 * Thread: any. Signal: never
 */
const struct mpi_abi *mpi_abi(void);

/** A handle as a number that can be compared. */
static inline mpi_word mpi_handle(const struct mpi_abi *abi, mpi_word word)
{
    return abi->handles_are_ints ? (mpi_word)(uint32_t)word : word;
}

/** Handle `i` of a list of them. */
static inline mpi_word mpi_handle_at(const struct mpi_abi *abi,
                                     const void *list, size_t i)
{
    return abi->handles_are_ints ? (mpi_word)((const uint32_t *)list)[i]
                                 : ((const mpi_word *)list)[i];
}

/** Look up the function `name` in the MPI library, wherever it was loaded. NULL: nowhere */
void *mpi_symbol(const char *name);

#endif
