/* Files: every rank has a part of one, written from shared memory and read into
 * it, at an end of the file short. */
#include "contract.h"

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 9000 };

static MPI_File open_file(void)
{
    const char *folder = getenv("TMPDIR");
    char name[1000];
    MPI_File file;
    snprintf(name, sizeof name, "%s/adsm_mpi_%s", folder ? folder : ".",
             getenv("CONTRACT_NAME"));
    MPI_File_open(WORLD, name,
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    return file;
}

static MPI_Offset begin_of(const struct run *r)
{
    return (MPI_Offset)r->rank * BYTES;
}

static void go_to(const struct run *r, MPI_File file)
{
    MPI_File_sync(file);
    MPI_Barrier(WORLD);
    MPI_File_sync(file);
    MPI_File_seek(file, begin_of(r), MPI_SEEK_SET);
}

static void go_on(MPI_File file)
{
    MPI_File_sync(file);
    MPI_Barrier(WORLD);
    MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
}

/* The last rank meets the end of the file. */
static void plain_calls(struct run *r)
{
    MPI_File file = open_file();
    MPI_Status status;
    int count;
    go_to(r, file);
    MPI_File_write(file, r->in + 3, BYTES, MPI_BYTE, &status);
    go_to(r, file);
    MPI_File_read(file, r->out + 5, BYTES + 100, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    r->aux[0] = (uint8_t)(count % 251);
    MPI_File_close(&file);
}

static void collective_calls(struct run *r)
{
    MPI_File file = open_file();
    go_to(r, file);
    MPI_File_write_all(file, r->in + 3, BYTES, MPI_BYTE, IGNORED);
    go_to(r, file);
    MPI_File_read_all(file, r->out + 5, BYTES, MPI_BYTE, IGNORED);
    MPI_File_close(&file);
}

static void at_offsets(struct run *r)
{
    MPI_File file = open_file();
    MPI_File_write_at(file, begin_of(r), r->in, BYTES, MPI_BYTE, IGNORED);
    go_to(r, file);
    MPI_File_read_at(file, begin_of(r) + 9, r->out, BYTES - 9, MPI_BYTE,
                     IGNORED);
    MPI_File_write_at_all(file, begin_of(r), r->aux, BYTES, MPI_BYTE, IGNORED);
    go_to(r, file);
    MPI_File_read_at_all(file, begin_of(r) + 99, r->out + 1000, 500, MPI_BYTE,
                         IGNORED);
    MPI_File_close(&file);
}

static void later(struct run *r)
{
    MPI_File file = open_file();
    MPI_Request request[2];
    MPI_File_iwrite_at(file, begin_of(r), r->in, BYTES, MPI_BYTE, &request[0]);
    r->launch(r);
    MPI_Wait(&request[0], IGNORED);
    go_to(r, file);
    MPI_File_iread_at(file, begin_of(r) + 9, r->out, 2000, MPI_BYTE,
                      &request[0]);
    MPI_File_iread(file, r->out + 3000, 2000, MPI_BYTE, &request[1]);
    r->launch(r);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    go_to(r, file);
    MPI_File_iwrite(file, r->far, 2000, MPI_BYTE, &request[0]);
    MPI_Wait(&request[0], IGNORED);
    go_to(r, file);
    MPI_File_read(file, r->out + 6000, 2500, MPI_BYTE, IGNORED);
    MPI_File_close(&file);
}

static void later_collective(struct run *r)
{
    MPI_File file = open_file();
    MPI_Request request;
    go_to(r, file);
    MPI_File_iwrite_all(file, r->in, BYTES, MPI_BYTE, &request);
    MPI_Wait(&request, IGNORED);
    go_to(r, file);
    MPI_File_iread_all(file, r->out, 3000, MPI_BYTE, &request);
    r->launch(r);
    MPI_Wait(&request, IGNORED);
    MPI_File_iwrite_at_all(file, begin_of(r), r->far, 1000, MPI_BYTE, &request);
    MPI_Wait(&request, IGNORED);
    go_to(r, file);
    MPI_File_iread_at_all(file, begin_of(r), r->out + 4000, 3000, MPI_BYTE,
                          &request);
    MPI_Wait(&request, IGNORED);
    MPI_File_close(&file);
}

static void split(struct run *r)
{
    MPI_File file = open_file();
    go_to(r, file);
    MPI_File_write_all_begin(file, r->in, BYTES, MPI_BYTE);
    MPI_File_write_all_end(file, r->in, IGNORED);
    go_to(r, file);
    MPI_File_read_all_begin(file, r->out, 3000, MPI_BYTE);
    r->launch(r);
    MPI_File_read_all_end(file, r->out, IGNORED);
    MPI_File_write_at_all_begin(file, begin_of(r), r->far, 1000, MPI_BYTE);
    MPI_File_write_at_all_end(file, r->far, IGNORED);
    go_to(r, file);
    MPI_File_read_at_all_begin(file, begin_of(r), r->out + 4000, 3000,
                               MPI_BYTE);
    MPI_File_read_at_all_end(file, r->out + 4000, IGNORED);
    MPI_File_close(&file);
}

/* One place for all, in the order of the ranks. */
static void ordered(struct run *r)
{
    MPI_File file = open_file();
    MPI_File_write_ordered(file, r->in, 3000, MPI_BYTE, IGNORED);
    go_on(file);
    MPI_File_read_ordered(file, r->out, 3000, MPI_BYTE, IGNORED);
    MPI_File_write_ordered_begin(file, r->far, 2000, MPI_BYTE);
    MPI_File_write_ordered_end(file, r->far, IGNORED);
    go_on(file);
    MPI_File_read_ordered_begin(file, r->out + 4000, 4000, MPI_BYTE);
    MPI_File_read_ordered_end(file, r->out + 4000, IGNORED);
    MPI_File_close(&file);
}

/* One place for all; each writes the same, so the order is no matter. */
static void shared_place(struct run *r)
{
    MPI_File file = open_file();
    MPI_Request request;
    for (int i = 0; i < 1000; i++)
        r->in[i] = 5;
    MPI_File_write_shared(file, r->in, 1000, MPI_BYTE, IGNORED);
    MPI_Barrier(WORLD);
    MPI_File_iwrite_shared(file, r->in, 1000, MPI_BYTE, &request);
    MPI_Wait(&request, IGNORED);
    go_on(file);
    MPI_File_read_shared(file, r->out, 1000, MPI_BYTE, IGNORED);
    MPI_Barrier(WORLD);
    MPI_File_iread_shared(file, r->out + 2000, 1000, MPI_BYTE, &request);
    MPI_Wait(&request, IGNORED);
    MPI_File_close(&file);
}

static void with_gaps(struct run *r)
{
    MPI_File file = open_file();
    MPI_Datatype type = gaps();
    MPI_File_write_at(file, begin_of(r), r->in, 100, type, IGNORED);
    go_to(r, file);
    MPI_File_read_at(file, begin_of(r), r->out, 100, type, IGNORED);
    MPI_Type_free(&type);
    MPI_File_close(&file);
}

const struct contract_case cases_file[] = {
    CASE(plain_calls), CASE(collective_calls), CASE(at_offsets),
    CASE(later),       CASE(later_collective), CASE(split),
    CASE(ordered),     CASE(shared_place),     CASE(with_gaps),
    {NULL, NULL}};
