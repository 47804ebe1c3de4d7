/*
 * Collective calls: complete at once, with a request, and in place. Numbers are
 * bytes, of which sums wrap alike everywhere.
 */
#include "contract.h"

#include <string.h>

#define BYTE MPI_UNSIGNED_CHAR

/* Counts and displacements that leave holes; rank i has CHUNK - 100 * i. */
struct lists {
    int count[RANKS_MOST], at[RANKS_MOST];
    MPI_Datatype type[RANKS_MOST];
};

static struct lists lists_of(const struct run *r)
{
    struct lists l = {{0}, {0}, {0}};
    for (int i = 0; i < r->size && i < RANKS_MOST; i++) {
        l.count[i] = CHUNK - 100 * i;
        l.at[i] = i * (CHUNK + 30);
        l.type[i] = BYTE;
    }
    return l;
}

/* Of what rank i sends to rank k: as long as both say. */
static struct lists lists_between(const struct run *r)
{
    struct lists l = lists_of(r);
    for (int i = 0; i < r->size && i < RANKS_MOST; i++)
        l.count[i] = CHUNK - 100 * (i + r->rank);
    return l;
}

static bool is_root(const struct run *r, int root)
{
    return r->rank == root;
}

/* What does not count may be anything: nothing is to happen there. */
#define ONLY(root, buffer) (is_root(r, root) ? (void *)(buffer) : r->aux + 9)

/*
 * Each body is one call twice: `CALL(name, arguments)` calls MPI_name or, in
 * the second form, MPI_Iname, launches a kernel and waits.
 */
#define NOW(name, later, ...) MPI_##name(__VA_ARGS__)
#define LATER(name, later, ...)                                                \
    do {                                                                       \
        MPI_Request request_;                                                  \
        MPI_##later(__VA_ARGS__, &request_);                                   \
        r->launch(r);                                                          \
        MPI_Wait(&request_, IGNORED);                                          \
    } while (0)

#define BOTH(name, later, ...)                                                 \
    static void now_##name(struct run *r)                                      \
    {                                                                          \
        struct lists l = lists_of(r), b = lists_between(r);                    \
        (void)l, (void)b;                                                      \
        NOW(name, later, __VA_ARGS__);                                         \
    }                                                                          \
    static void now_##later(struct run *r)                                     \
    {                                                                          \
        struct lists l = lists_of(r), b = lists_between(r);                    \
        (void)l, (void)b;                                                      \
        LATER(name, later, __VA_ARGS__);                                       \
    }
#define PLACE(name, later, ...)                                                \
    static void place_##name(struct run *r)                                    \
    {                                                                          \
        struct lists l = lists_of(r), b = lists_between(r);                    \
        (void)l, (void)b;                                                      \
        NOW(name, later, __VA_ARGS__);                                         \
    }                                                                          \
    static void place_##later(struct run *r)                                   \
    {                                                                          \
        struct lists l = lists_of(r), b = lists_between(r);                    \
        (void)l, (void)b;                                                      \
        LATER(name, later, __VA_ARGS__);                                       \
    }

#define IN  (r->in + 3)
#define OUT (r->out + 5)

BOTH(Bcast, Ibcast, OUT, PART - 9, BYTE, 1, WORLD)
BOTH(Gather, Igather, IN, CHUNK, BYTE, ONLY(1, OUT), CHUNK, BYTE, 1, WORLD)
PLACE(Gather, Igather, is_root(r, 1) ? MPI_IN_PLACE : (void *)IN, CHUNK, BYTE,
      ONLY(1, OUT), CHUNK, BYTE, 1, WORLD)
BOTH(Gatherv, Igatherv, IN, l.count[r->rank], BYTE, ONLY(1, OUT), l.count, l.at,
     BYTE, 1, WORLD)
PLACE(Gatherv, Igatherv, is_root(r, 1) ? MPI_IN_PLACE : (void *)IN,
      l.count[r->rank], BYTE, ONLY(1, OUT), l.count, l.at, BYTE, 1, WORLD)
BOTH(Scatter, Iscatter, ONLY(1, IN), CHUNK, BYTE, OUT, CHUNK, BYTE, 1, WORLD)
PLACE(Scatter, Iscatter, ONLY(1, IN), CHUNK, BYTE,
      is_root(r, 1) ? MPI_IN_PLACE : (void *)OUT, CHUNK, BYTE, 1, WORLD)
BOTH(Scatterv, Iscatterv, ONLY(1, IN), l.count, l.at, BYTE, OUT,
     l.count[r->rank], BYTE, 1, WORLD)
BOTH(Allgather, Iallgather, IN, CHUNK, BYTE, OUT, CHUNK, BYTE, WORLD)
PLACE(Allgather, Iallgather, MPI_IN_PLACE, 0, BYTE, OUT, CHUNK, BYTE, WORLD)
BOTH(Allgatherv, Iallgatherv, IN, l.count[r->rank], BYTE, OUT, l.count, l.at,
     BYTE, WORLD)
PLACE(Allgatherv, Iallgatherv, MPI_IN_PLACE, 0, BYTE, OUT, l.count, l.at, BYTE,
      WORLD)
BOTH(Alltoall, Ialltoall, IN, CHUNK, BYTE, OUT, CHUNK, BYTE, WORLD)
PLACE(Alltoall, Ialltoall, MPI_IN_PLACE, 0, BYTE, OUT, CHUNK, BYTE, WORLD)
BOTH(Alltoallv, Ialltoallv, IN, b.count, b.at, BYTE, OUT, b.count, b.at, BYTE,
     WORLD)
PLACE(Alltoallv, Ialltoallv, MPI_IN_PLACE, b.count, b.at, BYTE, OUT, b.count,
      b.at, BYTE, WORLD)
BOTH(Alltoallw, Ialltoallw, IN, b.count, b.at, b.type, OUT, b.count, b.at,
     b.type, WORLD)
BOTH(Reduce, Ireduce, IN, ONLY(1, OUT), PART - 9, BYTE, MPI_SUM, 1, WORLD)
/* Root 0: at another one MPICH 4.0 loses itself in place, without us too. */
PLACE(Reduce, Ireduce, is_root(r, 0) ? MPI_IN_PLACE : (void *)IN, ONLY(0, OUT),
      PART - 9, BYTE, MPI_SUM, 0, WORLD)
BOTH(Allreduce, Iallreduce, IN, OUT, PART - 9, BYTE, MPI_SUM, WORLD)
PLACE(Allreduce, Iallreduce, MPI_IN_PLACE, OUT, PART - 9, BYTE, MPI_SUM, WORLD)
BOTH(Scan, Iscan, IN, OUT, PART - 9, BYTE, MPI_SUM, WORLD)
PLACE(Scan, Iscan, MPI_IN_PLACE, OUT, PART - 9, BYTE, MPI_SUM, WORLD)
BOTH(Reduce_scatter, Ireduce_scatter, IN, OUT, l.count, BYTE, MPI_SUM, WORLD)
BOTH(Reduce_scatter_block, Ireduce_scatter_block, IN, OUT, CHUNK, BYTE, MPI_SUM,
     WORLD)

/* Rank 0 is promised nothing, and nothing that a kernel does there is lost. */
BOTH(Exscan, Iexscan, IN, r->rank ? OUT : r->aux, PART - 9, BYTE, MPI_SUM,
     WORLD)
PLACE(Exscan, Iexscan, MPI_IN_PLACE, OUT, PART - 9, BYTE, MPI_SUM, WORLD)

/* In place the rest of the buffer is MPI's to use: only the result is looked
 * at. */
static void only_first(struct run *r, size_t bytes)
{
    memset(OUT + bytes, 0, (size_t)PART - 5 - bytes);
}

static void place_Reduce_scatter(struct run *r)
{
    struct lists l = lists_of(r);
    MPI_Reduce_scatter(MPI_IN_PLACE, OUT, l.count, BYTE, MPI_SUM, WORLD);
    only_first(r, (size_t)l.count[r->rank]);
}

static void place_Reduce_scatter_block(struct run *r)
{
    MPI_Reduce_scatter_block(MPI_IN_PLACE, OUT, CHUNK, BYTE, MPI_SUM, WORLD);
    only_first(r, CHUNK);
}

static void with_gaps(struct run *r)
{
    MPI_Datatype type = gaps();
    MPI_Bcast(OUT, 200, type, 0, WORLD);
    MPI_Allgather(IN, 20, type, OUT + 1, 20, type, WORLD);
    MPI_Type_free(&type);
}

/* Groups of different sizes, of which one reduces to the other's root. */
static void between_groups(struct run *r)
{
    MPI_Comm half, between;
    int low = r->rank == 0, root = low ? MPI_ROOT : 0;
    MPI_Comm_split(WORLD, low, 0, &half);
    MPI_Intercomm_create(half, 0, WORLD, low, TAG, &between);
    MPI_Bcast(low ? IN : OUT, CHUNK, BYTE, root, between);
    MPI_Gather(IN + 9, 100, BYTE, low ? OUT + 3000 : NULL, 100, BYTE, root,
               between);
    MPI_Allgather(IN, 50, BYTE, OUT + 5000, 50, BYTE, between);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

/* A line of ranks: the first has no neighbour before it, and keeps what is
 * there. */
static void neighbours(struct run *r)
{
    MPI_Comm line;
    int count[2] = {CHUNK, CHUNK}, at[2] = {0, CHUNK + 20};
    MPI_Aint wide[2] = {0, CHUNK + 20};
    MPI_Datatype type[2] = {BYTE, BYTE};
    MPI_Cart_create(WORLD, 1, &r->size, (int[]){0}, 0, &line);
    MPI_Neighbor_allgather(IN, 100, BYTE, OUT, 100, BYTE, line);
    MPI_Neighbor_allgatherv(IN, CHUNK, BYTE, OUT + 500, count, at, BYTE, line);
    MPI_Neighbor_alltoall(IN, 100, BYTE, OUT + 3000, 100, BYTE, line);
    MPI_Neighbor_alltoallv(IN, count, at, BYTE, OUT + 4000, count, at, BYTE,
                           line);
    MPI_Neighbor_alltoallw(IN, count, wide, type, OUT + 7000, count, wide, type,
                           line);
    MPI_Comm_free(&line);
}

/* A ring by its edges; two sources, one of them twice. */
static void neighbours_later(struct run *r)
{
    MPI_Comm ring;
    int to[2] = {next_of(r), next_of(r)},
        from[2] = {previous_of(r), previous_of(r)};
    MPI_Request request[2];
    MPI_Dist_graph_create_adjacent(WORLD, 2, from, MPI_UNWEIGHTED, 2, to,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Ineighbor_allgather(IN, CHUNK, BYTE, OUT, CHUNK, BYTE, ring,
                            &request[0]);
    MPI_Ineighbor_alltoall(IN, CHUNK, BYTE, OUT + 5000, CHUNK, BYTE, ring,
                           &request[1]);
    r->launch(r);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Comm_free(&ring);
}

#define PAIR(name, later)     CASE(now_##name), CASE(now_##later)
#define PLACED(name, later)   CASE(place_##name), CASE(place_##later)
#define ALL_FOUR(name, later) PAIR(name, later), PLACED(name, later)

const struct contract_case cases_collective[] = {
    PAIR(Bcast, Ibcast),
    ALL_FOUR(Gather, Igather),
    ALL_FOUR(Gatherv, Igatherv),
    ALL_FOUR(Scatter, Iscatter),
    PAIR(Scatterv, Iscatterv),
    ALL_FOUR(Allgather, Iallgather),
    ALL_FOUR(Allgatherv, Iallgatherv),
    ALL_FOUR(Alltoall, Ialltoall),
    ALL_FOUR(Alltoallv, Ialltoallv),
    PAIR(Alltoallw, Ialltoallw),
    ALL_FOUR(Reduce, Ireduce),
    ALL_FOUR(Allreduce, Iallreduce),
    ALL_FOUR(Scan, Iscan),
    PAIR(Reduce_scatter, Ireduce_scatter),
    PAIR(Reduce_scatter_block, Ireduce_scatter_block),
    ALL_FOUR(Exscan, Iexscan),
    CASE(place_Reduce_scatter),
    CASE(place_Reduce_scatter_block),
    CASE(with_gaps),
    CASE(between_groups),
    CASE(neighbours),
    CASE(neighbours_later),
    {NULL, NULL}};
