/* From the arguments of a call to the parts of its buffers. */
#include "interpose/mpi/image.h"

#include <stdlib.h>

/* A call that is being described. */
struct described {
    const struct mpi_abi *abi;
    const struct mpi_row *row;
    const struct mpi_buffer *buffer;
    const mpi_word *args;
};

static long long number(const struct described *d, int place)
{
    mpi_word word = d->args[place];
    return d->row->wide || !d->buffer->type ? word : (int)word;
}

static long long listed(const struct described *d, int place, int i, bool wide)
{
    const void *list = (const void *)d->args[place];
    return wide || d->row->wide ? ((const long long *)list)[i]
                                : ((const int *)list)[i];
}

static mpi_word comm_of(const struct described *d)
{
    return d->args[d->row->comm];
}

static bool is_in_place(const struct described *d)
{
    return d->args[0] == d->abi->in_place;
}

static bool is_rank(const struct described *d, int which)
{
    int rank = -1;
    return d->abi->Comm_rank(comm_of(d), &rank) == MPI_SUCCESS && rank == which;
}

static bool is_root(const struct described *d)
{
    int between = 0, root = (int)d->args[d->row->root];
    if (d->abi->Comm_test_inter(comm_of(d), &between) || between)
        return root == d->abi->root;
    return is_rank(d, root);
}

static bool counts_here(const struct described *d)
{
    switch ((enum mpi_who)d->buffer->who) {
    case MPI_ROOT_ONLY:
        return is_root(d);
    case MPI_OTHERS:
        return !is_root(d) && (int)d->args[d->row->root] != d->abi->proc_null;
    case MPI_IF_IN_PLACE:
        return is_in_place(d);
    case MPI_IF_NOT_IN_PLACE:
        return !is_in_place(d);
    case MPI_FIRST:
        return is_rank(d, 0);
    case MPI_NOT_FIRST:
        return !is_rank(d, 0);
    case MPI_IF_OP:
        return mpi_handle(d->abi, d->args[d->row->op]) != d->abi->no_op;
    case MPI_EVERYBODY:
        break;
    }
    return true;
}

static int neighbours(const struct described *d, bool sources)
{
    int kind = MPI_UNDEFINED, n = 0, in = 0, out = 0, rank = 0;
    mpi_word comm = comm_of(d);
    if (d->abi->Topo_test(comm, &kind) || kind == MPI_UNDEFINED)
        return 0;
    if (kind == d->abi->cart)
        return d->abi->Cartdim_get(comm, &n) ? 0 : 2 * n;
    if (kind == d->abi->graph)
        return d->abi->Comm_rank(comm, &rank) ||
                       d->abi->Graph_neighbors_count(comm, rank, &n)
                   ? 0
                   : n;
    if (d->abi->Dist_graph_neighbors_count(comm, &in, &out, &n))
        return 0;
    return sources ? in : out;
}

static int times(const struct described *d)
{
    int between = 0, n = 0;
    switch ((enum mpi_times)d->buffer->times) {
    case MPI_RANKS:
        if (d->abi->Comm_test_inter(comm_of(d), &between))
            return 0;
        return (between && d->buffer->shape != MPI_SUM
                    ? d->abi->Comm_remote_size(comm_of(d), &n)
                    : d->abi->Comm_size(comm_of(d), &n))
                   ? 0
                   : n;
    case MPI_SOURCES:
        return neighbours(d, true);
    case MPI_DESTINATIONS:
        return neighbours(d, false);
    case MPI_ONCE:
        break;
    }
    return 1;
}

static mpi_word type_of(const struct described *d, int i)
{
    const struct mpi_buffer *buffer = d->buffer;
    if (!buffer->type)
        return d->abi->byte;
    mpi_word type = d->args[buffer->type];
    return buffer->shape == MPI_TYPED_LIST ||
                   buffer->shape == MPI_WIDE_TYPED_LIST
               ? mpi_handle_at(d->abi, (const void *)type, (size_t)i)
               : type;
}

/* One part of all elements. */
static void describe_whole(const struct described *d, int n,
                           struct mpi_image *image)
{
    const struct mpi_buffer *buffer = d->buffer;
    long long count = 0;
    int rank = 0;
    if (!buffer->count)
        count = n;
    else if (buffer->shape == MPI_NUMBER)
        count = number(d, buffer->count) * n;
    else if (buffer->shape == MPI_SUM)
        for (int i = 0; i < n; i++)
            count += listed(d, buffer->count, i, false);
    else if (d->abi->Comm_rank(comm_of(d), &rank) == MPI_SUCCESS)
        count = listed(d, buffer->count, rank, false);
    image->one =
        (struct mpi_part){(uintptr_t)image->buffer, count, type_of(d, 0)};
    image->parts = &image->one;
    image->count = 1;
}

static bool describe_list(const struct described *d, int n,
                          struct mpi_image *image)
{
    const struct mpi_buffer *buffer = d->buffer;
    bool in_bytes = buffer->shape != MPI_LIST;
    bool wide = buffer->shape == MPI_WIDE_TYPED_LIST;
    image->parts = calloc((size_t)n, sizeof *image->parts);
    for (int i = 0; image->parts && i < n; i++) {
        struct mpi_part *part = &image->parts[i];
        intptr_t lower, extent = 1;
        part->type = type_of(d, i);
        part->count = listed(d, buffer->count, i, false);
        if (part->count > 0 && !in_bytes &&
            d->abi->Type_get_extent(part->type, &lower, &extent))
            return false;
        part->at =
            (uintptr_t)image->buffer +
            (uintptr_t)(listed(d, buffer->displs, i, wide) * (long long)extent);
    }
    image->count = n;
    return image->parts != NULL;
}

/* Add the bytes of a part to those of the image; drop it when it has none. */
static bool include(const struct mpi_abi *abi, struct mpi_part *part,
                    struct mpi_image *image)
{
    intptr_t lower, extent, true_lower, true_extent;
    long long size;
    if (part->count <= 0)
        return true;
    if (abi->Type_get_extent(part->type, &lower, &extent) ||
        abi->Type_get_true_extent(part->type, &true_lower, &true_extent) ||
        abi->Type_size_x(part->type, &size))
        return false;
    if (size == 0) {
        part->count = 0;
        return true;
    }
    intptr_t others = (intptr_t)(part->count - 1) * extent;
    uintptr_t first = part->at + (uintptr_t)true_lower;
    uintptr_t low = others < 0 ? first + (uintptr_t)others : first;
    uintptr_t high = (others > 0 ? first + (uintptr_t)others : first) +
                     (uintptr_t)true_extent;
    image->low = low < image->low ? low : image->low;
    image->high = high > image->high ? high : image->high;
    return true;
}

bool mpi_image_describe(const struct mpi_row *row,
                        const struct mpi_buffer *buffer, const mpi_word *args,
                        struct mpi_image *image)
{
    struct described d = {mpi_abi(), row, buffer, args};
    mpi_word at = args[buffer->at];
    *image = (struct mpi_image){.access = buffer->access, .buffer = at};
    image->low = UINTPTR_MAX;
    if (at == d.abi->in_place || !counts_here(&d))
        return false;
    if (buffer->keeps && is_in_place(&d))
        image->access = MPI_CHANGES;
    int n = times(&d);
    bool known = n > 0;
    if (known && buffer->displs)
        known = describe_list(&d, n, image);
    else if (known)
        describe_whole(&d, n, image);
    for (int i = 0; known && i < image->count; i++)
        known = include(d.abi, &image->parts[i], image);
    if (known && image->low < image->high)
        return true;
    mpi_image_close(image);
    return false;
}
