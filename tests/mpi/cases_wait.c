/* Requests: every way to make one, and every way to complete it. */
#include "contract.h"

#include <stdlib.h>

/* Two messages each way; the second is longer than a library sends at once. */
static void begin(struct run *r, MPI_Request request[4])
{
    MPI_Irecv(r->out + 5, CHUNK + 50, MPI_BYTE, previous_of(r), TAG, WORLD,
              &request[0]);
    MPI_Irecv(r->out + 2000, 9000, MPI_BYTE, previous_of(r), TAG + 1, WORLD,
              &request[1]);
    MPI_Isend(r->in, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD, &request[2]);
    MPI_Isend(r->in + 37, 9000, MPI_BYTE, next_of(r), TAG + 1, WORLD,
              &request[3]);
    r->launch(r);
}

static void wait_one(struct run *r)
{
    MPI_Request request[4];
    begin(r, request);
    for (int i = 3; i >= 0; i--)
        MPI_Wait(&request[i], IGNORED);
    r->aux[0] = request[0] == MPI_REQUEST_NULL;
}

static void wait_all(struct run *r)
{
    MPI_Request request[4];
    begin(r, request);
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void wait_all_statuses(struct run *r)
{
    MPI_Request request[4];
    MPI_Status status[4];
    int count;
    begin(r, request);
    MPI_Waitall(4, request, status);
    for (int i = 0; i < 2; i++) {
        MPI_Get_count(&status[i], MPI_BYTE, &count);
        r->aux[i] = (uint8_t)(count % 256);
    }
}

static void wait_any(struct run *r)
{
    MPI_Request request[4];
    int index = 0;
    begin(r, request);
    while (index != MPI_UNDEFINED)
        MPI_Waitany(4, request, &index, IGNORED);
}

static void wait_some(struct run *r)
{
    MPI_Request request[4];
    int count = 0, indices[4];
    MPI_Status status[4];
    begin(r, request);
    while (count != MPI_UNDEFINED)
        MPI_Waitsome(4, request, &count, indices, status);
}

static void test_one(struct run *r)
{
    MPI_Request request[4];
    begin(r, request);
    for (int i = 0, there; i < 4; i++)
        do
            MPI_Test(&request[i], &there, IGNORED);
        while (!there);
}

static void test_all(struct run *r)
{
    MPI_Request request[4];
    int there;
    begin(r, request);
    do
        MPI_Testall(4, request, &there, MPI_STATUSES_IGNORE);
    while (!there);
}

static void test_any(struct run *r)
{
    MPI_Request request[4];
    int index = 0, there = 0;
    begin(r, request);
    while (!there || index != MPI_UNDEFINED)
        MPI_Testany(4, request, &index, &there, IGNORED);
}

static void test_some(struct run *r)
{
    MPI_Request request[4];
    int count = 0, indices[4];
    begin(r, request);
    while (count != MPI_UNDEFINED)
        MPI_Testsome(4, request, &count, indices, MPI_STATUSES_IGNORE);
}

/* More than are kept on the stack. */
static void wait_many(struct run *r)
{
    enum { MANY = 40, BYTES = 100 };
    MPI_Request request[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(r->out + i * BYTES, BYTES, MPI_BYTE, previous_of(r), i, WORLD,
                  &request[i]);
        MPI_Isend(r->in + i * BYTES, BYTES - i, MPI_BYTE, next_of(r), i, WORLD,
                  &request[MANY + i]);
    }
    r->launch(r);
    MPI_Waitall(2 * MANY, request, MPI_STATUSES_IGNORE);
}

/* A complete request may be looked at, and stays. */
static void look_at_status(struct run *r)
{
    MPI_Request request[4];
    begin(r, request);
    for (int i = 0, there; i < 4; i++)
        do
            MPI_Request_get_status(request[i], &there, IGNORED);
        while (!there);
    r->aux[0] = r->out[5];
    r->out[5] = 1; /* is not to come again */
    MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
}

static void cancelled(struct run *r)
{
    MPI_Request request;
    MPI_Irecv(r->out, CHUNK, MPI_BYTE, previous_of(r), 99, WORLD, &request);
    r->launch(r);
    MPI_Cancel(&request);
    MPI_Wait(&request, IGNORED);
}

/* Its data are there when the next request is waited for, at the latest. On
 * plain memory there is no telling when, so there it is waited for. */
static void freed(struct run *r)
{
    MPI_Request request;
    MPI_Irecv(r->out, CHUNK, MPI_BYTE, previous_of(r), TAG, WORLD, &request);
    if (r->shared)
        MPI_Request_free(&request);
    MPI_Ssend(r->in, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD);
    r->launch(r);
    MPI_Barrier(WORLD);
    MPI_Wait(&request, IGNORED);
    r->aux[0] = request == MPI_REQUEST_NULL;
}

#define KIND_OF_SEND(name, call)                                               \
    static void name(struct run *r)                                            \
    {                                                                          \
        MPI_Request request[2];                                                \
        MPI_Irecv(r->out, PART, MPI_BYTE, previous_of(r), TAG, WORLD,          \
                  &request[0]);                                                \
        MPI_Barrier(WORLD);                                                    \
        call(r->in + 1, PART - 2, MPI_BYTE, next_of(r), TAG, WORLD,            \
             &request[1]);                                                     \
        r->launch(r);                                                          \
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);                          \
    }
KIND_OF_SEND(later_synchronous, MPI_Issend)
KIND_OF_SEND(later_ready, MPI_Irsend)

static void later_buffered(struct run *r)
{
    int bytes = CHUNK + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)bytes), *back;
    MPI_Request request;
    MPI_Buffer_attach(buffer, bytes);
    MPI_Ibsend(r->in, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD, &request);
    MPI_Recv(r->out, CHUNK, MPI_BYTE, previous_of(r), TAG, WORLD, IGNORED);
    MPI_Wait(&request, IGNORED);
    MPI_Buffer_detach(&back, &bytes);
    free(buffer);
}

static void later_matched(struct run *r)
{
    MPI_Message message;
    MPI_Request request[2];
    MPI_Isend(r->in + 3, CHUNK, MPI_BYTE, next_of(r), TAG, WORLD, &request[0]);
    MPI_Mprobe(previous_of(r), TAG, WORLD, &message, IGNORED);
    MPI_Imrecv(r->out + 5, PART - 5, MPI_BYTE, &message, &request[1]);
    r->launch(r);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

static void later_with_gaps(struct run *r)
{
    MPI_Datatype type = gaps();
    MPI_Request request[2];
    MPI_Irecv(r->out, 200, type, previous_of(r), TAG, WORLD, &request[0]);
    MPI_Isend(r->in + 1, 200, type, next_of(r), TAG, WORLD, &request[1]);
    r->launch(r);
    r->out[5] = 77; /* in a gap, which is ours all the time */
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type);
}

/* Of both objects and of plain memory. */
static void later_bottom(struct run *r)
{
    MPI_Datatype type[2];
    MPI_Request request[2];
    for (int i = 0; i < 2; i++) {
        MPI_Aint at[2];
        MPI_Get_address(i ? r->out : r->in, &at[0]);
        MPI_Get_address(r->far + i * 6000, &at[1]);
        MPI_Type_create_hindexed(2, (int[]){CHUNK, 5000}, at, MPI_BYTE,
                                 &type[i]);
        MPI_Type_commit(&type[i]);
    }
    MPI_Irecv(MPI_BOTTOM, 1, type[1], previous_of(r), TAG, WORLD, &request[0]);
    MPI_Isend(MPI_BOTTOM, 1, type[0], next_of(r), TAG, WORLD, &request[1]);
    r->launch(r);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Type_free(&type[0]);
    MPI_Type_free(&type[1]);
}

static void persist(struct run *r, int times,
                    int (*send)(const void *, int, MPI_Datatype, int, int,
                                MPI_Comm, MPI_Request *))
{
    MPI_Request request[2];
    MPI_Recv_init(r->out, PART, MPI_BYTE, previous_of(r), TAG, WORLD,
                  &request[0]);
    send(r->in, PART - 30, MPI_BYTE, next_of(r), TAG, WORLD, &request[1]);
    for (int i = 0; i < times; i++) {
        r->in[i] += 5;
        MPI_Start(&request[0]);
        MPI_Barrier(WORLD);
        MPI_Startall(1, &request[1]);
        r->launch(r);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        r->aux[0] += r->out[2];
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE); /* nothing is active */
        r->out[7] = (uint8_t)i;                       /* is not to come again */
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void persistent(struct run *r)
{
    persist(r, 3, MPI_Send_init);
}

static void persistent_synchronous(struct run *r)
{
    persist(r, 3, MPI_Ssend_init);
}

static void persistent_ready(struct run *r)
{
    persist(r, 3, MPI_Rsend_init);
}

/* Once: from the second time on Open MPI 4.1 sends zeros. */
static void persistent_buffered(struct run *r)
{
    int bytes = 2 * (PART + MPI_BSEND_OVERHEAD);
    void *buffer = malloc((size_t)bytes), *back;
    MPI_Buffer_attach(buffer, bytes);
    persist(r, 1, MPI_Bsend_init);
    MPI_Buffer_detach(&back, &bytes);
    free(buffer);
}

const struct contract_case cases_wait[] = {CASE(wait_one),
                                           CASE(wait_all),
                                           CASE(wait_all_statuses),
                                           CASE(wait_any),
                                           CASE(wait_some),
                                           CASE(test_one),
                                           CASE(test_all),
                                           CASE(test_any),
                                           CASE(test_some),
                                           CASE(wait_many),
                                           CASE(look_at_status),
                                           CASE(cancelled),
                                           CASE(freed),
                                           CASE(later_synchronous),
                                           CASE(later_ready),
                                           CASE(later_buffered),
                                           CASE(later_matched),
                                           CASE(later_with_gaps),
                                           CASE(later_bottom),
                                           CASE(persistent),
                                           CASE(persistent_synchronous),
                                           CASE(persistent_ready),
                                           CASE(persistent_buffered),
                                           {NULL, NULL}};
