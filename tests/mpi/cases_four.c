/* What MPI-4 has added, where the library has it. */
#include "contract.h"

#if MPI_VERSION >= 4
static void large_counts(struct run *r)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Count got;
    MPI_Irecv_c(r->out + 5, PART - 9, MPI_BYTE, previous_of(r), TAG, WORLD,
                &request);
    MPI_Send_c(r->in + 3, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD);
    r->launch(r);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &got);
    r->aux[0] = (uint8_t)got;
}

static void large_lists(struct run *r)
{
    MPI_Count count[RANKS_MOST];
    MPI_Aint at[RANKS_MOST];
    for (int i = 0; i < RANKS_MOST; i++) {
        count[i] = CHUNK - 100 * i;
        at[i] = i * (CHUNK + 30);
    }
    MPI_Allgatherv_c(r->in + 3, count[r->rank], MPI_BYTE, r->out, count, at,
                     MPI_BYTE, WORLD);
}

static void both_ways_later(struct run *r)
{
    MPI_Request request[2];
    MPI_Isendrecv(r->in + 3, CHUNK, MPI_BYTE, next_of(r), TAG, r->out + 1,
                  PART - 3, MPI_BYTE, previous_of(r), TAG, WORLD, &request[0]);
    MPI_Isendrecv_replace(r->far + 3, CHUNK, MPI_BYTE, next_of(r), TAG + 1,
                          previous_of(r), TAG + 1, WORLD, &request[1]);
    r->launch(r);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void persistent_collective(struct run *r)
{
    MPI_Request request[2];
    MPI_Allreduce_init(MPI_IN_PLACE, r->out, 3000, MPI_UNSIGNED_CHAR, MPI_SUM,
                       WORLD, MPI_INFO_NULL, &request[0]);
    MPI_Bcast_init(r->rank == 0 ? r->in : r->out + 5000, 3000, MPI_BYTE, 0,
                   WORLD, MPI_INFO_NULL, &request[1]);
    for (int i = 0; i < 3; i++) {
        r->in[i] += 5;
        MPI_Startall(2, request);
        r->launch(r);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        r->aux[0] += r->out[2];
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

/* Its parts are filled when nobody looks, so it is refused. */
static void partitions(struct run *r)
{
    MPI_Errhandler old;
    MPI_Request request;
    int class = MPI_ERR_BUFFER;
    MPI_Comm_get_errhandler(WORLD, &old);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    if (r->shared) {
        int rc = MPI_Psend_init(r->in, 2, 100, MPI_BYTE, next_of(r), TAG, WORLD,
                                MPI_INFO_NULL, &request);
        MPI_Error_class(rc, &class);
    }
    r->out[0] = class == MPI_ERR_BUFFER;
    MPI_Comm_set_errhandler(WORLD, old);
    MPI_Errhandler_free(&old);
}

const struct contract_case cases_four[] = {
    CASE(large_counts),          CASE(large_lists), CASE(both_ways_later),
    CASE(persistent_collective), CASE(partitions),  {NULL, NULL}};
#else
static void none(struct run *r)
{
    (void)r;
}

const struct contract_case cases_four[] = {CASE(none), {NULL, NULL}};
#endif
