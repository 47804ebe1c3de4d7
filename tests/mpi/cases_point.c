/* Calls between two ranks that are complete when they return. */
#include "contract.h"

#include <stdlib.h>

/* Everybody sends to the next one; somebody has to begin. */
#define RING(send_call, receive_call)                                          \
    do {                                                                       \
        if (r->rank == 0)                                                      \
            send_call;                                                         \
        receive_call;                                                          \
        if (r->rank != 0)                                                      \
            send_call;                                                         \
    } while (0)

#define RECEIVE                                                                \
    MPI_Recv(r->out + 5, PART - 100, MPI_BYTE, previous_of(r), TAG, WORLD,     \
             IGNORED)

static void send_and_receive(struct run *r)
{
    RING(MPI_Send(r->in + 3, PART - 100, MPI_BYTE, next_of(r), TAG, WORLD),
         RECEIVE);
}

static void short_message(struct run *r)
{
    MPI_Status status;
    int count;
    RING(MPI_Send(r->in, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD),
         MPI_Recv(r->out + 5, PART - 100, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG,
                  WORLD, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    r->aux[0] = (uint8_t)count;
    r->aux[1] = (uint8_t)status.MPI_SOURCE;
}

static void nothing(struct run *r)
{
    RING(MPI_Send(NULL, 0, MPI_BYTE, next_of(r), TAG, WORLD),
         MPI_Recv(r->out, 0, MPI_BYTE, previous_of(r), TAG, WORLD, IGNORED));
    MPI_Send(r->in, 5, MPI_BYTE, MPI_PROC_NULL, TAG, WORLD);
    MPI_Recv(r->out, 5, MPI_BYTE, MPI_PROC_NULL, TAG, WORLD, IGNORED);
}

static void synchronous(struct run *r)
{
    RING(MPI_Ssend(r->in, PART - 100, MPI_BYTE, next_of(r), TAG, WORLD),
         RECEIVE);
}

static void ready(struct run *r)
{
    MPI_Request request;
    MPI_Irecv(r->out, PART, MPI_BYTE, previous_of(r), TAG, WORLD, &request);
    MPI_Barrier(WORLD);
    MPI_Rsend(r->in, PART, MPI_BYTE, next_of(r), TAG, WORLD);
    MPI_Wait(&request, IGNORED);
}

static void buffered(struct run *r)
{
    int bytes = 2 * CHUNK + MPI_BSEND_OVERHEAD;
    void *buffer = r->aux, *back;
    MPI_Buffer_attach(buffer, bytes);
    MPI_Bsend(r->in, 2 * CHUNK, MPI_BYTE, next_of(r), TAG, WORLD);
    RECEIVE;
    MPI_Buffer_detach(&back, &bytes);
    /* Its contents are MPI's, which uses other memory than ours. */
    for (int i = 0; i < bytes; i++)
        r->aux[i] = back == buffer;
}

static void matched(struct run *r)
{
    MPI_Message message;
    MPI_Status status;
    MPI_Request request;
    MPI_Isend(r->in + 3, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD, &request);
    MPI_Mprobe(previous_of(r), TAG, WORLD, &message, &status);
    MPI_Mrecv(r->out + 5, PART - 5, MPI_BYTE, &message, &status);
    MPI_Wait(&request, IGNORED);
}

static void both_ways(struct run *r)
{
    MPI_Sendrecv(r->in + 3, PART - 7, MPI_BYTE, next_of(r), TAG, r->out + 1,
                 PART - 3, MPI_BYTE, previous_of(r), TAG, WORLD, IGNORED);
}

static void in_each_others_place(struct run *r)
{
    MPI_Sendrecv_replace(r->out + 3, PART - 9, MPI_BYTE, next_of(r), TAG,
                         previous_of(r), TAG, WORLD, IGNORED);
}

static void with_gaps(struct run *r)
{
    MPI_Datatype type = gaps();
    RING(MPI_Send(r->in + 3, 200, type, next_of(r), TAG, WORLD),
         MPI_Recv(r->out + 5, 200, type, previous_of(r), TAG, WORLD, IGNORED));
    MPI_Type_free(&type);
}

/* 50 of 200 elements and 4 bytes of the next. */
static void with_gaps_short(struct run *r)
{
    MPI_Datatype type = gaps();
    RING(MPI_Send(r->in + 3, 50 * 15 + 4, MPI_BYTE, next_of(r), TAG, WORLD),
         MPI_Recv(r->out + 5, 200, type, previous_of(r), TAG, WORLD, IGNORED));
    MPI_Type_free(&type);
}

static void with_gaps_replace(struct run *r)
{
    MPI_Datatype type = gaps();
    MPI_Sendrecv_replace(r->out + 3, 200, type, next_of(r), TAG, previous_of(r),
                         TAG, WORLD, IGNORED);
    MPI_Type_free(&type);
}

/* A byte of every page and more of the last: blocks between are not touched. */
static void sparse(struct run *r)
{
    MPI_Datatype type;
    MPI_Type_vector(6, 1, 4096, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    RING(MPI_Send(r->in, 1, type, next_of(r), TAG, WORLD),
         MPI_Recv(r->out - 9, 1, type, previous_of(r), TAG, WORLD, IGNORED));
    MPI_Type_free(&type);
}

/* Elements from the last to the first. */
static void backwards(struct run *r)
{
    MPI_Datatype type;
    MPI_Type_create_resized(MPI_SHORT, 0, -2, &type);
    MPI_Type_commit(&type);
    RING(MPI_Send(r->in + 8000, 3000, type, next_of(r), TAG, WORLD),
         MPI_Recv(r->out + 8001, 3000, type, previous_of(r), TAG, WORLD,
                  IGNORED));
    MPI_Type_free(&type);
}

static MPI_Datatype of_both(uint8_t *a, uint8_t *b)
{
    MPI_Datatype type;
    MPI_Aint at[2];
    MPI_Get_address(a, &at[0]);
    MPI_Get_address(b, &at[1]);
    MPI_Type_create_hindexed(2, (int[]){CHUNK, 4999}, at, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Absolute addresses in two objects. */
static void bottom(struct run *r)
{
    MPI_Datatype from = of_both(r->in + 7, r->far + 5000);
    MPI_Datatype to = of_both(r->out, r->far + 10000);
    RING(MPI_Send(MPI_BOTTOM, 1, from, next_of(r), TAG, WORLD),
         MPI_Recv(MPI_BOTTOM, 1, to, previous_of(r), TAG, WORLD, IGNORED));
    MPI_Type_free(&from);
    MPI_Type_free(&to);
}

/* One part is plain memory. */
static void bottom_mixed(struct run *r)
{
    uint8_t *plain = calloc(1, 4999);
    MPI_Datatype from = of_both(r->in + 7, r->far + 5000);
    MPI_Datatype to = of_both(r->out, plain);
    RING(MPI_Send(MPI_BOTTOM, 1, from, next_of(r), TAG, WORLD),
         MPI_Recv(MPI_BOTTOM, 1, to, previous_of(r), TAG, WORLD, IGNORED));
    for (int i = 0; i < 4999; i++)
        r->aux[i] = plain[i];
    MPI_Type_free(&from);
    MPI_Type_free(&to);
    free(plain);
}

static void too_long(struct run *r)
{
    MPI_Errhandler old;
    MPI_Comm_get_errhandler(WORLD, &old);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_SUCCESS, class = 0;
    RING(MPI_Send(r->in, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD),
         rc = MPI_Recv(r->out, CHUNK / 2, MPI_BYTE, previous_of(r), TAG, WORLD,
                       IGNORED));
    MPI_Error_class(rc, &class);
    for (int i = 0; i < PART; i++) /* MPI does not say what is there now */
        r->out[i] = class == MPI_ERR_TRUNCATE;
    MPI_Comm_set_errhandler(WORLD, old);
    MPI_Errhandler_free(&old);
}

const struct contract_case cases_point[] = {
    CASE(send_and_receive), CASE(short_message),   CASE(nothing),
    CASE(synchronous),      CASE(ready),           CASE(buffered),
    CASE(matched),          CASE(both_ways),       CASE(in_each_others_place),
    CASE(with_gaps),        CASE(with_gaps_short), CASE(with_gaps_replace),
    CASE(sparse),           CASE(backwards),       CASE(bottom),
    CASE(bottom_mixed),     CASE(too_long),        {NULL, NULL}};
