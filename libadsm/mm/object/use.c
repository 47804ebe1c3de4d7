/* Blocks that uses name; see mm/object/use.h. */
#include "mm/object/use.h"

#include "mm/object/block.h"

static size_t row_count(const struct adsm_rows *rows)
{
    size_t count = 1;
    for (unsigned i = 0; rows && i < rows->stride_count; i++)
        count *= rows->stride[i].count;
    return count;
}

/* Where a row begins. The last stride is the one that goes on first. */
static size_t row_begin(const struct adsm_rows *rows, size_t row)
{
    size_t begin = 0;
    for (unsigned i = rows ? rows->stride_count : 0; i-- > 0;) {
        begin += row % rows->stride[i].count * rows->stride[i].bytes;
        row /= rows->stride[i].count;
    }
    return begin;
}

/* Of row `row`; the blocks of one that is beyond the use's bytes are none. */
static struct adsm_use_run run_of(const struct adsm_use *use, size_t row)
{
    const struct adsm_object *object = use->object;
    size_t first = (size_t)(use->at - object->host);
    size_t end = first + use->bytes;
    size_t begin = first + row_begin(use->rows, row);
    size_t bytes = use->rows ? use->rows->bytes : use->bytes;
    struct adsm_use_run run = {.first = adsm_block_of(object, begin)};
    if (bytes < end - begin)
        end = begin + bytes;
    run.end = begin < end ? adsm_block_of(object, end - 1) + 1 : run.first;
    return run;
}

bool adsm_use_next(const struct adsm_use *use, struct adsm_use_run *run)
{
    size_t count = row_count(use->rows);
    if (run->row == count)
        return false;
    struct adsm_use_run all = run_of(use, run->row++);
    for (; run->row < count; run->row++) {
        struct adsm_use_run more = run_of(use, run->row);
        if (more.first < all.first || more.first > all.end)
            break;
        if (more.end > all.end)
            all.end = more.end;
    }
    run->first = all.first;
    run->end = all.end;
    return true;
}
