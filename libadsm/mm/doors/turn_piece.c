/*
 * Pieces of objects, opened for the length of a host function. Runs in the
 * runtime's thread only; see turn.h.
 */
#include "mm/doors/turn_parts.h"

#include "base/log.h"
#include "base/stats.h"
#include "mm/object/host.h"
#include "mm/object/index.h"
#include "mm/object/movable.h"
#include "mm/state/dirty.h"
#include "mm/state/mapping.h"
#include "mm/state/run.h"
#include "mm/watch/keep.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    /* More is not fetched at once; blocks of whole objects are far larger. */
    PIECE_BYTES = 256 << 10,
    /* Changes are told apart by words of this size, and by bytes at the ends
     * of a run of them. */
    WORD_BYTES = 4,
    /* Above so many runs in a piece one copy from the first to the last is
     * quicker than all of them. */
    RUNS_MOST = 512,
};

struct adsm_turn_piece {
    struct adsm_turn_piece *next;
    struct adsm_object *object;
    uint32_t generation;
    size_t begin, end; /* in the object                                      */
    /* An upload behind the function takes along what it writes. */
    bool carried;
    uint8_t *before; /* what was there; NULL: only read so far, or carried   */
};

void adsm_turn_piece_around(const struct adsm_object *object, size_t offset,
                            size_t *begin, size_t *end)
{
    uint32_t block = adsm_block_of(object, offset);
    size_t first = adsm_block_begin(object, block);
    size_t last = first + adsm_block_bytes(object, block);
    *begin = first + (offset - first) / PIECE_BYTES * PIECE_BYTES;
    *end = *begin + PIECE_BYTES < last ? *begin + PIECE_BYTES : last;
}

/* Find the object and hold the block of `address`: its lock is held shared. No
 * gate: what a call is about to release, it does not take from a function
 * that runs before its kernel. */
static struct adsm_object *take_block(uintptr_t address, uint32_t *block)
{
    for (;;) {
        struct adsm_object *object = adsm_index_acquire((void *)address);
        if (!object)
            return NULL;
        *block = adsm_block_of(object, address - (uintptr_t)object->host);
        if (adsm_block_try_hold(object, *block))
            return object;
        adsm_rwlock_release_shared(&object->lock);
        nanosleep(&(struct timespec){0, 50 * 1000}, NULL);
    }
}

static void give_block(struct adsm_object *object, uint32_t block)
{
    adsm_block_release(object, block, 1);
    adsm_rwlock_release_shared(&object->lock);
}

static struct adsm_turn_piece *find_piece(const struct adsm_turn *turn,
                                          const struct adsm_object *object,
                                          size_t offset)
{
    struct adsm_turn_piece *piece = turn->pieces;
    while (piece && !(piece->object == object &&
                      piece->generation == atomic_load(&object->generation) &&
                      offset >= piece->begin && offset < piece->end))
        piece = piece->next;
    return piece;
}

/* An upload of the block that has not ended. Those enqueued ahead of the
 * function are waited for; others wait for it, or may do so. */
static int await_upload(const struct adsm_turn *turn,
                        const struct adsm_object *object, uint32_t block,
                        bool *behind)
{
    uint64_t sent = object->sent[block];
    *behind = object->direct; /* there is but one memory */
    if (*behind)
        return ADSM_OK;
    if (adsm_dma_is_uploaded(object->home, sent))
        return ADSM_OK;
    *behind = object->home != turn->accel || sent > turn->uploads;
    return *behind ? ADSM_OK : adsm_dma_await_upload(object->home, sent);
}

static int fill(const struct adsm_turn *turn, struct adsm_turn_piece *piece,
                uint32_t block, const struct adsm_cause *cause)
{
    struct adsm_object *object = piece->object;
    int rc = await_upload(turn, object, block, &piece->carried);
    if (rc != ADSM_OK || piece->carried ||
        adsm_block_state(object, block) != ADSM_INVALID)
        return rc;
    struct adsm_cause its = adsm_object_cause(object, piece->begin, cause);
    ADSM_COUNT(fetches, 1);
    for (size_t n, at = piece->begin; at < piece->end && rc == ADSM_OK;
         at += n) {
        bool kept;
        n = adsm_keep_run(object, at, piece->end - at, &kept);
        if (!kept)
            rc = adsm_dma_download_aside(
                object->home, object->shadow.shadow + at,
                adsm_daddr_add(object->device, at), n,
                object->home == turn->accel ? turn->uploads : 0, &its);
    }
    return rc;
}

static int add_piece(struct adsm_turn *turn, struct adsm_object *object,
                     uint32_t block, size_t offset,
                     struct adsm_turn_piece **added,
                     const struct adsm_cause *cause)
{
    struct adsm_turn_piece *piece = calloc(1, sizeof *piece);
    if (!piece)
        return ADSM_E_NOMEM;
    piece->object = object;
    piece->generation = atomic_load(&object->generation);
    adsm_turn_piece_around(object, offset, &piece->begin, &piece->end);
    int rc = fill(turn, piece, block, cause);
    if (rc != ADSM_OK) {
        free(piece);
        return rc;
    }
    piece->next = turn->pieces;
    turn->pieces = piece;
    *added = piece;
    return ADSM_OK;
}

/* The function is about to write: keep what was there. */
static int keep(struct adsm_turn_piece *piece)
{
    size_t bytes = piece->end - piece->begin;
    if (piece->before || piece->carried)
        return ADSM_OK;
    piece->before = malloc(bytes);
    if (!piece->before)
        return ADSM_E_NOMEM;
    adsm_object_written(piece->object);
    memcpy(piece->before, piece->object->shadow.shadow + piece->begin, bytes);
    return ADSM_OK;
}

static int open_piece(struct adsm_turn *turn, struct adsm_object *object,
                      uint32_t block, size_t offset, enum adsm_access access,
                      const struct adsm_cause *cause)
{
    enum adsm_state state = adsm_block_state(object, block);
    int rc = adsm_mapping_back(object);
    if (rc == ADSM_OK)
        rc = adsm_object_commit(object, offset, 1);
    if (rc != ADSM_OK)
        return rc;
    /* Nobody notes what a system call of the function writes at S. */
    if (state == ADSM_DIRTY && access == ADSM_WRITE)
        adsm_dirty_unwatch(object, block, 1);
    /* Open to the function as to every thread, or about to be. */
    if (state == ADSM_DIRTY || (state == ADSM_READ_ONLY && access == ADSM_READ))
        return adsm_run_show(object, block, 0, SIZE_MAX, state);
    struct adsm_turn_piece *piece = find_piece(turn, object, offset);
    if (!piece)
        rc = add_piece(turn, object, block, offset, &piece, cause);
    if (rc == ADSM_OK && access == ADSM_WRITE)
        rc = keep(piece);
    if (rc != ADSM_OK)
        return rc;
    bool writable = piece->before || piece->carried;
    do {
        rc = adsm_run_show(object, block, piece->begin, piece->end,
                           writable ? ADSM_DIRTY : ADSM_READ_ONLY);
    } while (rc == ADSM_E_LIMIT && adsm_mapping_make_room());
    return rc;
}

int adsm_turn_open_piece(struct adsm_turn *turn, uintptr_t address,
                         enum adsm_access access,
                         const struct adsm_cause *cause)
{
    uint32_t block;
    struct adsm_object *object = take_block(address, &block);
    if (!object)
        return ADSM_E_NOT_SHARED;
    int rc = open_piece(turn, object, block, address - (uintptr_t)object->host,
                        access, cause);
    give_block(object, block);
    return rc;
}

/* ---- the end ------------------------------------------------------------- */

static int send(const struct adsm_turn_piece *piece, size_t from, size_t to)
{
    const struct adsm_object *object = piece->object;
    struct adsm_cause its =
        adsm_object_cause(object, piece->begin, ADSM_CAUSE(turn));
    const uint8_t *now = object->shadow.shadow + piece->begin;
    while (from < to && now[from] == piece->before[from])
        from++;
    while (from < to && now[to - 1] == piece->before[to - 1])
        to--;
    return adsm_dma_upload_aside(
        object->home, adsm_daddr_add(object->device, piece->begin + from),
        now + from, to - from, &its);
}

/* Does the word at `at`, the last of `bytes` maybe cut off, differ? */
static bool differs(const struct adsm_turn_piece *piece, size_t at,
                    size_t bytes)
{
    size_t n = bytes - at < WORD_BYTES ? bytes - at : WORD_BYTES;
    return memcmp(piece->object->shadow.shadow + piece->begin + at,
                  piece->before + at, n) != 0;
}

/* End of the run of words from `at` on that all differ, or all do not. */
static size_t run_end(const struct adsm_turn_piece *piece, size_t at,
                      size_t bytes)
{
    bool changed = differs(piece, at, bytes);
    while (at < bytes && differs(piece, at, bytes) == changed)
        at += WORD_BYTES;
    return at < bytes ? at : bytes;
}

static int send_changes(const struct adsm_turn_piece *piece)
{
    size_t bytes = piece->end - piece->begin;
    size_t first = bytes, last = 0, runs = 0;
    for (size_t end, at = 0; at < bytes; at = end) {
        end = run_end(piece, at, bytes);
        if (!differs(piece, at, bytes))
            continue;
        first = at < first ? at : first;
        last = end;
        runs++;
    }
    if (runs > RUNS_MOST)
        return send(piece, first, last);
    int rc = ADSM_OK;
    for (size_t end, at = first; at < last && rc == ADSM_OK; at = end) {
        end = run_end(piece, at, bytes);
        if (differs(piece, at, bytes))
            rc = send(piece, at, end);
    }
    return rc;
}

static int close_piece(const struct adsm_turn_piece *piece)
{
    uint32_t block;
    struct adsm_object *object =
        take_block((uintptr_t)piece->object->host + piece->begin, &block);
    if (!object)
        return ADSM_OK;
    int rc = ADSM_OK;
    if (object == piece->object &&
        atomic_load(&object->generation) == piece->generation) {
        rc = adsm_run_show(object, block, piece->begin, piece->end,
                           adsm_block_state(object, block));
        if (rc == ADSM_E_LIMIT)
            rc = ADSM_OK; /* stays open until its next change of state */
        if (rc == ADSM_OK && piece->before)
            rc = send_changes(piece);
        /* Within the lock: the copies read the object's memory. */
        if (piece->before && rc == ADSM_OK)
            rc = adsm_dma_await_aside(object->home);
    }
    give_block(object, block);
    return rc;
}

int adsm_turn_close_pieces(struct adsm_turn *turn)
{
    int first_failure = ADSM_OK;
    struct adsm_turn_piece *piece;
    while ((piece = turn->pieces)) {
        int rc = close_piece(piece);
        if (first_failure == ADSM_OK)
            first_failure = rc;
        turn->pieces = piece->next;
        free(piece->before);
        free(piece);
    }
    return first_failure;
}
