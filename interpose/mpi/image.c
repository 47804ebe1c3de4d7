/* Buffers in the hands of MPI. */
#include "interpose/mpi/image.h"
#include "base/cancel.h"
#include "base/status.h"
#include "interpose/mpi/room.h"
#include "mm/doors/bulk.h"

#include <limits.h>
#include <stdlib.h>

enum {
    PACKED_BYTES = 64 << 10, /* moved at once where there are gaps            */
    SPARSE = 4               /* extent over size from which blocks are opened
                                one by one instead of all that lie between    */
};

struct layout {
    intptr_t lower, extent, true_lower, true_extent;
    long long size;
};

static bool layout_of(mpi_word type, struct layout *l)
{
    const struct mpi_abi *abi = mpi_abi();
    return !abi->Type_get_extent(type, &l->lower, &l->extent) &&
           !abi->Type_get_true_extent(type, &l->true_lower, &l->true_extent) &&
           !abi->Type_size_x(type, &l->size);
}

/* No gaps within elements and none between them. */
static bool is_dense(const struct layout *l, long long count)
{
    return l->size == l->true_extent && (count == 1 || l->extent == l->size);
}

/* Elements of one part on their way between two memories that have the same
 * layout, `shift` bytes from each other. */
struct way {
    const struct layout *layout;
    mpi_word type;
    uintptr_t from, to; /* of element 0 */
    bool only_read;
};

enum { ASIDE = 64 };

/* Address and type of elements. Address 0 is MPI_BOTTOM, which MPICH's MPI_Pack
 * takes for a mistake: there it is another address, and a type as far back. */
struct place {
    uintptr_t at;
    mpi_word type;
    bool aside; /* the type is ours */
};

static bool place_begin(struct place *place, uintptr_t at,
                        const struct way *way, long long i)
{
    const struct mpi_abi *abi = mpi_abi();
    place->at = at + (uintptr_t)(i * way->layout->extent);
    place->type = way->type;
    place->aside = place->at == 0;
    if (!place->aside)
        return true;
    place->at = ASIDE;
    place->type = 0;
    return !abi->Type_create_hindexed(1, &(int){1}, &(intptr_t){-ASIDE},
                                      way->type, &place->type) &&
           !abi->Type_commit(&place->type);
}

static void place_end(struct place *place)
{
    if (place->aside && place->type)
        mpi_abi()->Type_free(&place->type);
}

/* Elements [i, i + n) between memory and `packed`. */
static bool pack(const struct way *way, long long i, int n, char *packed,
                 int bytes)
{
    const struct mpi_abi *abi = mpi_abi();
    struct place place;
    int position = 0;
    bool good = place_begin(&place, way->from, way, i) &&
                !abi->Pack((const void *)place.at, n, place.type, packed, bytes,
                           &position, abi->comm_self);
    place_end(&place);
    return good;
}

static bool unpack(const struct way *way, long long i, int n,
                   const char *packed, int bytes)
{
    const struct mpi_abi *abi = mpi_abi();
    struct place place;
    int position = 0;
    bool good = place_begin(&place, way->to, way, i) &&
                !abi->Unpack(packed, bytes, &position, (void *)place.at, n,
                             place.type, abi->comm_self);
    place_end(&place);
    return good;
}

/* Elements that are packed at once. */
static int batch(const struct layout *l, long long left)
{
    long long n = l->size < PACKED_BYTES ? PACKED_BYTES / l->size : 1;
    return (int)(n < left ? n : left);
}

/* By MPI's own knowledge of the type. */
static int move_packed(const struct way *way, long long count)
{
    int most = batch(way->layout, count), status = ADSM_OK;
    if (way->layout->size > INT_MAX)
        return ADSM_E_LIMIT;
    char *packed = malloc((size_t)most * (size_t)way->layout->size);
    if (!packed)
        return ADSM_E_NOMEM;
    for (long long i = 0; i < count && status == ADSM_OK;) {
        int n = batch(way->layout, count - i);
        int bytes = n * (int)way->layout->size;
        if (!pack(way, i, n, packed, bytes) ||
            (!way->only_read && !unpack(way, i, n, packed, bytes)))
            status = ADSM_E_INVALID;
        i += n;
    }
    free(packed);
    return status;
}

/* The first `bytes` of element `i`, in the order of the type. */
static int move_piece(const struct way *way, long long i, size_t bytes)
{
    struct way there = *way;
    there.from = way->to;
    int size = (int)way->layout->size;
    if (way->layout->size > INT_MAX)
        return ADSM_E_LIMIT;
    char *packed = malloc((size_t)size * 2), *kept = packed + size;
    if (!packed)
        return ADSM_E_NOMEM;
    int status = ADSM_E_INVALID;
    if (pack(way, i, 1, packed, size) && pack(&there, i, 1, kept, size)) {
        for (size_t k = 0; k < bytes; k++)
            kept[k] = packed[k];
        status = unpack(way, i, 1, kept, size) ? ADSM_OK : ADSM_E_INVALID;
    }
    free(packed);
    return status;
}

/* One of the two is the image's. */
static int move_dense(uintptr_t from, uintptr_t to, size_t bytes, bool fills)
{
    size_t moved;
    int status =
        fills ? adsm_bulk_get((void *)to, (const void *)from, bytes, &moved)
              : adsm_bulk_put((void *)to, (const void *)from, bytes, &moved);
    return status == ADSM_OK && moved < bytes ? ADSM_E_NOT_SHARED : status;
}

/* Move as much of a part as `left` says, and take that off; `fills` the image,
 * or puts back what is in it. */
static int move_part(const struct mpi_part *part, uintptr_t from, uintptr_t to,
                     bool fills, long long *left)
{
    struct layout l;
    if (part->count <= 0)
        return ADSM_OK;
    if (!layout_of(part->type, &l))
        return ADSM_E_INVALID;
    struct way way = {&l, part->type, from, to, false};
    long long count = part->count, rest = 0;
    if (*left != MPI_ALL_BYTES && *left / l.size < count) {
        count = *left / l.size;
        rest = *left % l.size;
    }
    if (*left != MPI_ALL_BYTES)
        *left -= count * l.size + rest;
    int status = ADSM_OK;
    if (count > 0 && is_dense(&l, count))
        status = move_dense(from + (uintptr_t)l.true_lower,
                            to + (uintptr_t)l.true_lower,
                            (size_t)(count * l.size), fills);
    else if (count > 0)
        status = move_packed(&way, count);
    if (status == ADSM_OK && rest > 0)
        status = move_piece(&way, count, (size_t)rest);
    return status;
}

/* Where the image has what the program has at `at`. */
static uintptr_t imaged(const struct mpi_image *image, uintptr_t at)
{
    return at - image->low + (uintptr_t)image->memory;
}

int mpi_image_fill(const struct mpi_image *image)
{
    ADSM_NOT_CANCELLED;
    int status = ADSM_OK;
    long long all = MPI_ALL_BYTES;
    for (int i = 0; i < image->count && status == ADSM_OK; i++) {
        const struct mpi_part *part = &image->parts[i];
        status = move_part(part, part->at, imaged(image, part->at), true, &all);
    }
    return status;
}

int mpi_image_put(const struct mpi_image *image, long long arrived)
{
    ADSM_NOT_CANCELLED;
    int status = ADSM_OK;
    if (!image->memory || !(image->access & MPI_WRITES))
        return ADSM_OK;
    for (int i = 0; i < image->count && status == ADSM_OK; i++) {
        const struct mpi_part *part = &image->parts[i];
        status =
            move_part(part, imaged(image, part->at), part->at, false, &arrived);
    }
    return status;
}

bool mpi_image_is_shared(const struct mpi_image *image)
{
    for (int i = 0; i < image->count; i++) {
        struct layout l;
        const struct mpi_part *part = &image->parts[i];
        if (part->count <= 0 || !layout_of(part->type, &l))
            continue;
        intptr_t others = (intptr_t)(part->count - 1) * l.extent;
        uintptr_t low = part->at + (uintptr_t)l.true_lower +
                        (others < 0 ? (uintptr_t)others : 0);
        size_t bytes =
            (size_t)l.true_extent + (size_t)(others < 0 ? -others : others);
        if (!hook_is_plain((const void *)low, bytes))
            return true;
    }
    return false;
}

/* Make a part readable at its shadow. Return: false when that is not possible
 * or its distance from the program's address is not that of the others. */
static bool lend(const struct mpi_part *part, uintptr_t *shift, int *status)
{
    struct layout l;
    struct adsm_loan loan;
    if (!layout_of(part->type, &l))
        return false;
    intptr_t others = (intptr_t)(part->count - 1) * l.extent;
    uintptr_t low = part->at + (uintptr_t)l.true_lower;
    size_t bytes = (size_t)l.true_extent + (size_t)others;
    if (others < 0)
        return false;
    const char *last = (const char *)low + bytes - 1;
    if (adsm_index_find((const void *)low) != adsm_index_find(last))
        return false;
    bool sparse = (long long)bytes / SPARSE > l.size * part->count;
    *status = adsm_loan_begin((const void *)low, sparse ? 1 : bytes, ADSM_READ,
                              &loan);
    if (*status == ADSM_OK && sparse)
        *status = move_packed(&(struct way){&l, part->type, part->at, 0, true},
                              part->count);
    bool whole = sparse || loan.bytes == bytes;
    adsm_loan_end(&loan, 0);
    uintptr_t here = (uintptr_t)loan.address - low;
    if (*status != ADSM_OK || !whole || here == 0 || (*shift && *shift != here))
        return false;
    *shift = here;
    return true;
}

static bool lend_all(const struct mpi_image *image, uintptr_t *shift,
                     int *status)
{
    *shift = 0;
    for (int i = 0; i < image->count; i++)
        if (image->parts[i].count > 0 && !lend(&image->parts[i], shift, status))
            return false;
    return true;
}

int mpi_image_open(struct mpi_image *image, bool lasting, mpi_word *given)
{
    ADSM_NOT_CANCELLED;
    uintptr_t shift;
    int status = ADSM_OK;
    if (image->access == MPI_READS && !lasting &&
        lend_all(image, &shift, &status)) {
        *given = image->buffer + (mpi_word)shift;
        return ADSM_OK;
    }
    if (status != ADSM_OK)
        return status;
    image->memory = mpi_room_get(image->low, image->high - image->low);
    if (!image->memory)
        return ADSM_E_NOMEM;
    *given = (mpi_word)imaged(image, (uintptr_t)image->buffer);
    return image->access & MPI_READS && !lasting ? mpi_image_fill(image)
                                                 : ADSM_OK;
}

void mpi_image_close(struct mpi_image *image)
{
    if (image->memory)
        mpi_room_put(image->memory, image->high - image->low);
    if (image->parts != &image->one)
        free(image->parts);
    image->memory = NULL;
    image->parts = NULL;
    image->count = 0;
}
