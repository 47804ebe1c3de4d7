/* Copies that stand in for ranges of the program. */
#include "interpose/calls/hold.h"
#include "base/status.h"
#include "interpose/calls/shape.h"

#include <string.h>

/* Memory for the bytes, and for as many again where they are compared: the copy
 * that the kernel gets is the one that ends at the guard. */
static bool take(struct call_hold *hold, struct call_few *few, bool guarded,
                 bool compared)
{
    size_t all = compared ? 2 * hold->bytes : hold->bytes;
    char *at;
    if (!guarded && all <= CALL_FEW_BYTES - few->used) {
        at = few->bytes + few->used;
        few->used = (few->used + all + 15) / 16 * 16;
    } else {
        if (!call_buffer_take(&hold->buffer, all, guarded))
            return false;
        at = hold->buffer.at;
    }
    hold->before = compared ? at : NULL;
    hold->work = at + all - hold->bytes;
    return true;
}

static int give_up(struct call_hold *hold, int status)
{
    call_buffer_give(&hold->buffer);
    hold->work = NULL;
    return status;
}

static int load(struct call_hold *hold)
{
    size_t done;
    int status = call_get(hold->work, hold->program, hold->bytes, &done);
    if (!status && done < hold->bytes)
        status = ADSM_E_NOT_SHARED; /* freed meanwhile */
    if (!status && hold->before)
        memcpy(hold->before, hold->work, hold->bytes);
    return status;
}

int call_hold(struct call_hold *hold, struct call_few *few, void *program,
              size_t bytes, enum call_way way)
{
    *hold = (struct call_hold){.program = program};
    if (bytes > call_most_bytes)
        bytes = call_most_bytes;
    if (bytes == 0 || hook_is_plain(program, bytes))
        return ADSM_OK;
    hold->bytes = call_reach(program, bytes);
    if (hold->bytes == 0)
        return ADSM_OK; /* the kernel finds that there is nothing */
    bool guarded = hold->bytes < bytes;
    /* Where memory ends, some bytes may have arrived of a call that fails. */
    if (guarded && way == CALL_WRITES)
        way = CALL_CHANGES;
    hold->writes = way != CALL_READS;
    if (!take(hold, few, guarded, way == CALL_CHANGES))
        return give_up(hold, ADSM_E_NOMEM);
    int status = way == CALL_WRITES ? ADSM_OK : load(hold);
    return status ? give_up(hold, status) : ADSM_OK;
}

int call_hold_name(struct call_hold *hold, struct call_few *few, void *program,
                   size_t most)
{
    struct call_buffer name; /* the stack may be a small one */
    size_t done;
    *hold = (struct call_hold){.program = program};
    if (hook_is_plain(program, most))
        return ADSM_OK;
    if (!call_buffer_take(&name, most + 1, false))
        return ADSM_E_NOMEM;
    size_t there = call_reach(program, most);
    int status = call_get(name.at, program, there, &done);
    if (!status && done > 0) {
        bool guarded = done < most && !memchr(name.at, '\0', done);
        name.at[done] = '\0'; /* libc may look before the kernel does */
        hold->bytes = guarded ? done : strlen(name.at) + 1;
        if (take(hold, few, guarded, false))
            memcpy(hold->work, name.at, hold->bytes);
        else
            status = give_up(hold, ADSM_E_NOMEM);
    }
    call_buffer_give(&name);
    return status;
}

int call_release(struct call_hold *hold, size_t filled)
{
    size_t bytes = filled < hold->bytes ? filled : hold->bytes;
    int status = ADSM_OK;
    if (hold->work && hold->before)
        status = call_put_changes(hold->program, hold->work, hold->before,
                                  hold->bytes);
    else if (hold->work && hold->writes && bytes)
        status = call_put(hold->program, hold->work, bytes);
    call_buffer_give(&hold->buffer);
    hold->work = NULL;
    return status;
}
