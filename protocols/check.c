/*
 * What the engine takes for granted of a table, as rules.
 *
 * Each rule is a sentence and the cells that break it. They follow from what
 * the states mean and from how mm/ runs a table; what a protocol is free to
 * choose has no rule.
 */
#include "protocols/protocol.h"

#include <stdio.h>

/* A cell and where it stands. */
struct place {
    const struct adsm_protocol *protocol;
    enum adsm_event event;
    enum adsm_state state;
    unsigned actions;
    enum adsm_state next;
};

typedef bool breaks(const struct place *at);

bool adsm_protocol_queues(const struct adsm_protocol *protocol)
{
    for (int e = 0; e < ADSM_EVENTS; e++)
        for (int s = 0; s < ADSM_STATES; s++)
            if (protocol->cell[e][s].actions & ADSM_DO_QUEUE)
                return true;
    return false;
}

static bool becomes_dirty(const struct place *at)
{
    return at->state != ADSM_DIRTY && at->next == ADSM_DIRTY;
}

static bool is_unknown(const struct place *at)
{
    const unsigned all =
        ADSM_DO_FETCH | ADSM_DO_FLUSH | ADSM_DO_SEND_CHANGES | ADSM_DO_QUEUE;
    return at->next >= ADSM_STATES || (at->actions & ~all);
}

static bool fetches_over_host_bytes(const struct place *at)
{
    return (at->actions & ADSM_DO_FETCH) && at->state != ADSM_INVALID;
}

static bool fetches_for_nobody(const struct place *at)
{
    return (at->actions & ADSM_DO_FETCH) && at->next == ADSM_INVALID;
}

static bool shows_old_bytes(const struct place *at)
{
    return at->state == ADSM_INVALID && at->next != ADSM_INVALID &&
           !(at->actions & ADSM_DO_FETCH) && at->event != ADSM_BULK_OVERWRITE &&
           at->event != ADSM_GIVEN_UP;
}

static bool sends_old_bytes(const struct place *at)
{
    return (at->actions & ADSM_DO_FLUSH) && at->state == ADSM_INVALID;
}

static bool sends_what_changes(const struct place *at)
{
    return (at->actions & ADSM_DO_FLUSH) && at->next == ADSM_DIRTY;
}

static bool loses_host_bytes(const struct place *at)
{
    return at->state == ADSM_DIRTY && at->next != ADSM_DIRTY &&
           !(at->actions & ADSM_DO_FLUSH) && at->event != ADSM_CALL_OUT &&
           at->event != ADSM_DEVICE_WRITE && at->event != ADSM_PART_READ &&
           at->event != ADSM_PART_WRITE;
}

static bool lets_the_device_read_old_bytes(const struct place *at)
{
    return at->state == ADSM_DIRTY &&
           !(at->actions & (ADSM_DO_FLUSH | ADSM_DO_SEND_CHANGES)) &&
           (at->event == ADSM_CALL || at->event == ADSM_CALL_IN ||
            at->event == ADSM_CALL_KEPT || at->event == ADSM_DEVICE_READ ||
            at->event == ADSM_WRITE_BACK);
}

static bool keeps_what_the_device_writes(const struct place *at)
{
    return at->next != ADSM_INVALID &&
           (at->event == ADSM_CALL || at->event == ADSM_CALL_OUT ||
            at->event == ADSM_DEVICE_WRITE || at->event == ADSM_PART_WRITE);
}

static bool brings_what_the_host_has_not(const struct place *at)
{
    return at->state == ADSM_INVALID &&
           (at->next != ADSM_INVALID || at->actions) &&
           at->event != ADSM_READ_FAULT && at->event != ADSM_WRITE_FAULT &&
           at->event != ADSM_RETURN && at->event != ADSM_BULK_READ &&
           at->event != ADSM_BULK_OVERWRITE && at->event != ADSM_GIVEN_UP &&
           at->event != ADSM_FETCH_AHEAD;
}

static bool opens_ahead_of_an_access(const struct place *at)
{
    if (at->event != ADSM_FETCH_AHEAD)
        return false;
    return at->state == ADSM_INVALID ? at->next == ADSM_DIRTY
                                     : at->next != at->state || at->actions;
}

static bool refuses_an_access(const struct place *at)
{
    if (at->event == ADSM_READ_FAULT || at->event == ADSM_BULK_READ)
        return at->next == ADSM_INVALID;
    return at->next != ADSM_DIRTY &&
           (at->event == ADSM_WRITE_FAULT || at->event == ADSM_BULK_OVERWRITE ||
            at->event == ADSM_GIVEN_UP);
}

static bool closes_for_the_host(const struct place *at)
{
    return at->next < at->state &&
           (at->event == ADSM_READ_FAULT || at->event == ADSM_BULK_READ ||
            at->event == ADSM_RETURN);
}

static bool leaves_written_what_only_is_read(const struct place *at)
{
    return at->event == ADSM_CALL_IN && at->next == ADSM_DIRTY;
}

static bool sends_changes_elsewhere(const struct place *at)
{
    return (at->actions & ADSM_DO_SEND_CHANGES) &&
           (at->event != ADSM_CALL_KEPT || at->state != ADSM_DIRTY ||
            at->next != ADSM_DIRTY || at->actions != ADSM_DO_SEND_CHANGES);
}

static bool keeps_open_without_changes(const struct place *at)
{
    const struct adsm_cell *in = &at->protocol->cell[ADSM_CALL_IN][at->state];
    return at->event == ADSM_CALL_KEPT &&
           !(at->actions & ADSM_DO_SEND_CHANGES) &&
           (at->actions != in->actions || at->next != in->next);
}

static bool opens_for_a_device_copy(const struct place *at)
{
    return at->event == ADSM_DEVICE_READ && at->state == ADSM_READ_ONLY &&
           (at->next != ADSM_READ_ONLY || at->actions);
}

static bool acts_for_a_part(const struct place *at)
{
    enum adsm_state after =
        at->state == ADSM_DIRTY ? ADSM_READ_ONLY : at->state;
    if (at->event == ADSM_PART_READ)
        return at->actions || at->next != after;
    return at->event == ADSM_PART_WRITE && at->actions;
}

static bool queues_what_is_not_new(const struct place *at)
{
    return (at->actions & ADSM_DO_QUEUE) && !becomes_dirty(at);
}

static bool leaves_out_of_the_queue(const struct place *at)
{
    return becomes_dirty(at) && !(at->actions & ADSM_DO_QUEUE) &&
           adsm_protocol_queues(at->protocol);
}

/* Of the protocol, told of its cells: the first one that shows it. */
static bool begins_out_of_the_queue(const struct place *at)
{
    return at->protocol->first >= ADSM_STATES ||
           (at->protocol->first == ADSM_DIRTY && (at->actions & ADSM_DO_QUEUE));
}

static bool acquires_unasked(const struct place *at)
{
    return at->event == ADSM_RETURN && !at->protocol->acquires &&
           (at->actions || at->next != at->state);
}

static const struct {
    breaks *breaks;
    const char *sentence;
} rules[] = {
    {is_unknown, "there is no such action or state"},
    {fetches_over_host_bytes,
     "a fetch would overwrite what the host has: only from INVALID"},
    {fetches_for_nobody, "what is fetched is opened, or nobody sees it"},
    {shows_old_bytes,
     "what only the device has is fetched before it is opened, unless it has "
     "been overwritten or the device is lost"},
    {sends_old_bytes, "what the host has of an INVALID block is old: no flush"},
    {sends_what_changes,
     "an upload takes along what was there when it was enqueued: a flush ends "
     "closed to writing"},
    {loses_host_bytes,
     "what only the host has is sent before it is closed, unless the device "
     "overwrites it or parts of a call were sent it"},
    {lets_the_device_read_old_bytes,
     "the device reads what the host has written: flush, or send the changes"},
    {keeps_what_the_device_writes,
     "the host's copy of what the device writes is old: INVALID, also where a "
     "call stands in for another event at the limit on mappings"},
    {brings_what_the_host_has_not,
     "objects that are all INVALID are not visited for what the device does: "
     "nothing may happen to them"},
    {opens_ahead_of_an_access,
     "FETCH_AHEAD makes INVALID at most READ_ONLY, and changes nothing else"},
    {refuses_an_access, "an access is allowed by the state that follows"},
    {closes_for_the_host,
     "reading and returning close nothing: at the limit on mappings they leave "
     "the state as it was"},
    {leaves_written_what_only_is_read,
     "what a call that only reads finds DIRTY was written since the one "
     "before: it leaves nothing DIRTY"},
    {sends_changes_elsewhere,
     "changes are sent of what stays DIRTY over CALL_KEPT, and by nothing "
     "else"},
    {keeps_open_without_changes,
     "CALL_KEPT sends changes or is what CALL_IN is"},
    {opens_for_a_device_copy,
     "objects without a DIRTY block are not visited for a device copy that "
     "reads: nothing may happen to READ_ONLY ones"},
    {acts_for_a_part,
     "parts of a call are noted and not acted on: what they read is no longer "
     "DIRTY, and the rest as it was"},
    {queues_what_is_not_new, "only what becomes DIRTY enters the queue"},
    {leaves_out_of_the_queue,
     "what becomes DIRTY beside the queue would count and never leave: all or "
     "none enters it"},
    {begins_out_of_the_queue,
     "an object begins in a state that there is, and not DIRTY where there is "
     "a queue, which it would not be in"},
    {acquires_unasked,
     "objects are visited at a return only where `acquires` says so"},
};

bool adsm_protocol_check(const struct adsm_protocol *protocol,
                         char why[ADSM_PROTOCOL_WHY])
{
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (int e = 0; e < ADSM_EVENTS; e++)
            for (int s = 0; s < ADSM_STATES; s++) {
                const struct adsm_cell *cell = &protocol->cell[e][s];
                const struct place at = {protocol, e, s, cell->actions,
                                         cell->next};
                if (!rules[r].breaks(&at))
                    continue;
                snprintf(why, ADSM_PROTOCOL_WHY, "%s in %s: %s",
                         adsm_event_name(e), adsm_state_name(s),
                         rules[r].sentence);
                return false;
            }
    why[0] = '\0';
    return true;
}

const struct adsm_protocol *
adsm_protocol_sound(const struct adsm_protocol *wanted,
                    char why[ADSM_PROTOCOL_WHY])
{
    char also[ADSM_PROTOCOL_WHY];
    if (adsm_protocol_check(wanted, why))
        return wanted;
#define TRY(option, constant, word, name, help)                                \
    if (adsm_protocol_check(&adsm_protocol_##name, also))                      \
        return &adsm_protocol_##name;
    ADSM_WORDS_PROTOCOL(TRY)
#undef TRY
    return NULL;
}
