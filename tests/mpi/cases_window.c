/*
 * Memory of others. The window is plain memory of MPI; what goes into it and
 * comes out of it may be shared.
 */
#include "contract.h"

#include <string.h>

/* What is beside what the next rank put there stays. */
struct window {
    MPI_Win win;
    uint8_t *memory;
};

static struct window open_window(const struct run *r)
{
    struct window w;
    MPI_Win_allocate(PART, 1, MPI_INFO_NULL, WORLD, &w.memory, &w.win);
    for (int i = 0; i < PART; i++)
        w.memory[i] = (uint8_t)(i + r->rank);
    MPI_Barrier(WORLD);
    return w;
}

/* The window's bytes are looked at through `aux`. */
static void close_window(struct run *r, struct window *w)
{
    MPI_Barrier(WORLD);
    memcpy(r->aux, w->memory, PART);
    MPI_Win_free(&w->win);
}

static void fences(struct run *r)
{
    struct window w = open_window(r);
    MPI_Win_fence(0, w.win);
    MPI_Put(r->in + 3, 5000, MPI_BYTE, next_of(r), 100, 5000, MPI_BYTE, w.win);
    MPI_Get(r->out + 5, 5000, MPI_BYTE, next_of(r), 6000, 5000, MPI_BYTE,
            w.win);
    r->launch(r);
    MPI_Win_fence(0, w.win);
    r->out[0] = r->out[5];
    close_window(r, &w);
}

static void locks(struct run *r)
{
    struct window w = open_window(r);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_of(r), 0, w.win);
    MPI_Get(r->out + 5, 5000, MPI_BYTE, next_of(r), 0, 5000, MPI_BYTE, w.win);
    MPI_Put(r->in + 3, 5000, MPI_BYTE, next_of(r), 6000, 5000, MPI_BYTE, w.win);
    MPI_Win_unlock(next_of(r), w.win);
    close_window(r, &w);
}

static void flushes(struct run *r)
{
    struct window w = open_window(r);
    MPI_Win_lock_all(0, w.win);
    MPI_Get(r->out, 100, MPI_BYTE, next_of(r), 0, 100, MPI_BYTE, w.win);
    MPI_Get(r->out + 200, 100, MPI_BYTE, previous_of(r), 0, 100, MPI_BYTE,
            w.win);
    r->launch(r);
    MPI_Win_flush(next_of(r), w.win);
    r->aux[0] = r->out[50];
    MPI_Win_flush_local(previous_of(r), w.win);
    MPI_Get(r->out + 400, 100, MPI_BYTE, next_of(r), 9, 100, MPI_BYTE, w.win);
    MPI_Win_flush_all(w.win);
    r->aux[1] = r->out[450];
    MPI_Get(r->out + 600, 100, MPI_BYTE, next_of(r), 9, 100, MPI_BYTE, w.win);
    MPI_Win_flush_local_all(w.win);
    r->out[1] = r->out[650];
    MPI_Get(r->out + 800, 100, MPI_BYTE, next_of(r), 9, 100, MPI_BYTE, w.win);
    MPI_Win_unlock_all(w.win);
    close_window(r, &w);
}

static void posted(struct run *r)
{
    struct window w = open_window(r);
    MPI_Group all, to, from;
    int next = next_of(r), previous = previous_of(r);
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &previous, &from);
    MPI_Win_post(from, 0, w.win);
    MPI_Win_start(to, 0, w.win);
    MPI_Get(r->out + 5, 5000, MPI_BYTE, next, 6000, 5000, MPI_BYTE, w.win);
    MPI_Put(r->in + 3, 5000, MPI_BYTE, next, 100, 5000, MPI_BYTE, w.win);
    MPI_Win_complete(w.win);
    MPI_Win_wait(w.win);
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    close_window(r, &w);
}

static void accumulate(struct run *r)
{
    struct window w = open_window(r);
    MPI_Win_fence(0, w.win);
    MPI_Accumulate(r->in + 3, 3000, MPI_UNSIGNED_CHAR, next_of(r), 0, 3000,
                   MPI_UNSIGNED_CHAR, MPI_SUM, w.win);
    MPI_Get_accumulate(r->in + 9, 1000, MPI_UNSIGNED_CHAR, r->out, 1000,
                       MPI_UNSIGNED_CHAR, next_of(r), 5000, 1000,
                       MPI_UNSIGNED_CHAR, MPI_SUM, w.win);
    MPI_Get_accumulate(NULL, 0, MPI_BYTE, r->out + 2000, 1000,
                       MPI_UNSIGNED_CHAR, next_of(r), 7000, 1000,
                       MPI_UNSIGNED_CHAR, MPI_NO_OP, w.win);
    MPI_Win_fence(0, w.win);
    close_window(r, &w);
}

static void single(struct run *r)
{
    struct window w = open_window(r);
    int *in = (int *)(void *)(r->far + 400), *out = in + 100, *check = in + 200;
    memcpy(check, (uint8_t[]){8, 9, 10, 11}, 4);
    for (int i = 0; i < 4; i++)
        ((uint8_t *)check)[i] = (uint8_t)(8 + i + next_of(r));
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next_of(r), 0, w.win);
    MPI_Fetch_and_op(in, out, MPI_INT, next_of(r), 4, MPI_SUM, w.win);
    MPI_Compare_and_swap(in + 1, check, out + 1, MPI_INT, next_of(r), 8, w.win);
    MPI_Win_unlock(next_of(r), w.win);
    close_window(r, &w);
}

static void with_requests(struct run *r)
{
    struct window w = open_window(r);
    MPI_Request request[4];
    MPI_Win_lock_all(0, w.win);
    MPI_Rput(r->in, 500, MPI_BYTE, next_of(r), 0, 500, MPI_BYTE, w.win,
             &request[0]);
    MPI_Rget(r->out, 500, MPI_BYTE, next_of(r), 1000, 500, MPI_BYTE, w.win,
             &request[1]);
    MPI_Raccumulate(r->in + 600, 500, MPI_UNSIGNED_CHAR, next_of(r), 2000, 500,
                    MPI_UNSIGNED_CHAR, MPI_SUM, w.win, &request[2]);
    MPI_Rget_accumulate(r->in + 1200, 500, MPI_UNSIGNED_CHAR, r->out + 1200,
                        500, MPI_UNSIGNED_CHAR, next_of(r), 3000, 500,
                        MPI_UNSIGNED_CHAR, MPI_SUM, w.win, &request[3]);
    r->launch(r);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(w.win);
    close_window(r, &w);
}

static void with_gaps(struct run *r)
{
    struct window w = open_window(r);
    MPI_Datatype type = gaps();
    MPI_Win_fence(0, w.win);
    MPI_Get(r->out, 100, type, next_of(r), 0, 1500, MPI_BYTE, w.win);
    MPI_Put(r->in, 100, type, next_of(r), 5000, 1500, MPI_BYTE, w.win);
    MPI_Win_fence(0, w.win);
    MPI_Type_free(&type);
    close_window(r, &w);
}

/* Shared memory cannot be a window: it is refused with an error of MPI, and
 * plain memory of the same program is none the worse. */
static void shared_window(struct run *r)
{
    MPI_Win win;
    MPI_Errhandler old;
    MPI_Comm_get_errhandler(WORLD, &old);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    int class = MPI_ERR_BUFFER;
    if (r->shared) {
        int rc = MPI_Win_create(r->in, PART, 1, MPI_INFO_NULL, WORLD, &win);
        MPI_Error_class(rc, &class);
    }
    r->out[0] = class == MPI_ERR_BUFFER;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, WORLD, &win);
    MPI_Win_free(&win);
    MPI_Comm_set_errhandler(WORLD, old);
    MPI_Errhandler_free(&old);
}

const struct contract_case cases_window[] = {
    CASE(fences),        CASE(locks),  CASE(flushes),       CASE(posted),
    CASE(accumulate),    CASE(single), CASE(with_requests), CASE(with_gaps),
    CASE(shared_window), {NULL, NULL}};
