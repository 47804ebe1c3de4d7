/*
 * One MPI call, on plain and on shared memory: the two must end with the same
 * bytes everywhere.
 *
 * A case works on a field of memory that it knows nothing of: what MPI reads,
 * what it writes and a third part for kernels. None begins or ends where pages
 * do, and blocks are single pages, so parts meet in blocks.
 */
#ifndef TESTS_MPI_CONTRACT_H
#define TESTS_MPI_CONTRACT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PART = 3 * 4096 + 789, /* each of the three parts of a field            */
    FIELD = 3 * PART,
    CHUNK = 1001, /* bytes for one other rank                                */
    RANKS_MOST = 4
};

struct run {
    uint8_t *in, *out, *aux;
    uint8_t *far; /* a field of its own                                      */
    int rank, size;
    bool shared;
    /* A kernel changes `aux`, or the CPU does the same to plain memory. */
    void (*launch)(const struct run *);
};

struct contract_case {
    const char *name;
    void (*run)(struct run *);
};

/* Lists of cases; the last has no name. */
extern const struct contract_case cases_point[], cases_wait[],
    cases_collective[], cases_window[], cases_file[], cases_four[];

#define CASE(name)                                                             \
    {                                                                          \
#name, name                                                            \
    }
#define TAG     7
#define WORLD   MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static inline int next_of(const struct run *r)
{
    return (r->rank + 1) % r->size;
}

static inline int previous_of(const struct run *r)
{
    return (r->rank + r->size - 1) % r->size;
}

/** 5 times 3 bytes of every 8, the next element after 48. Freed by the caller */
static inline MPI_Datatype gaps(void)
{
    MPI_Datatype vector, type;
    MPI_Type_vector(5, 3, 8, MPI_BYTE, &vector);
    MPI_Type_create_resized(vector, 0, 48, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&vector);
    return type;
}

#endif
