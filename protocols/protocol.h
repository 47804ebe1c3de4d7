/*
 * Coherence protocols as tables (the paper, section 4.3 and Fig. 6).
 *
 * A protocol is data: for each event and block state, the actions to run and
 * the state that follows. Nothing here takes a lock, calls the system or knows
 * a device; mm/state/coherence.c runs the tables and is the only writer of
 * states. States are seen from the CPU, and page protection is a function of
 * them.
 *
 * What the engine takes for granted of a table is written down as rules in
 * check.c, and a table that breaks one is not run. What it does by itself, for
 * any table: a block is closed before its actions send it and opened after they
 * have fetched it; one that becomes DIRTY without a fetch waits until uploads
 * of it are through, for the host may change it then.
 */
#ifndef PROTOCOLS_PROTOCOL_H
#define PROTOCOLS_PROTOCOL_H

#include "base/option.h"

#include <stdbool.h>
#include <stdint.h>

/* In the order of what they allow the CPU. */
enum adsm_state {
    ADSM_INVALID,   /* only the device's copy is current: no CPU access  */
    ADSM_READ_ONLY, /* both copies are current: the CPU may read         */
    ADSM_DIRTY,     /* only the host's copy is current: the CPU may write */
    ADSM_STATES
};

enum adsm_event {
    ADSM_READ_FAULT,     /* the CPU reads                                  */
    ADSM_WRITE_FAULT,    /* the CPU writes, or a call wrote part of it     */
    ADSM_CALL,           /* release: a kernel that may write it starts     */
    ADSM_CALL_IN,        /* release: a kernel that only reads it starts    */
    ADSM_CALL_KEPT,      /* ... which the host writes before every call    */
    ADSM_CALL_OUT,       /* release: a kernel that overwrites it starts    */
    ADSM_RETURN,         /* acquire: the host waits for the kernels        */
    ADSM_WRITE_BACK,     /* too many dirty blocks, this is the oldest      */
    ADSM_BULK_READ,      /* a bulk or system call reads it on the host     */
    ADSM_BULK_OVERWRITE, /* ... has overwritten all of it on the host      */
    ADSM_DEVICE_READ,    /* a device copy reads it                         */
    ADSM_DEVICE_WRITE,   /* a device copy or set overwrites all of it      */
    ADSM_PART_READ,      /* parts of a call were sent what the host has    */
    ADSM_PART_WRITE,     /* a part of a call writes bytes of it; who knows
                            the bytes beside is noted elsewhere            */
    ADSM_FETCH_AHEAD,    /* the CPU is expected to access it               */
    ADSM_GIVEN_UP,       /* the device is lost: take what the host has     */
    ADSM_EVENTS
};

/* Actions, run in this order. */
enum {
    ADSM_DO_FETCH = 1, /* device to host, after the object's device work */
    ADSM_DO_FLUSH = 2, /* host to device, in order before later work     */
    ADSM_DO_SEND_CHANGES = 4, /* as FLUSH, but only what differs from what
                                 the device has; the host may go on writing */
    ADSM_DO_QUEUE = 8, /* enter the queue of dirty blocks                */
};

struct adsm_cell {
    uint8_t actions; /* ADSM_DO_* */
    uint8_t next;    /* enum adsm_state */
};

enum adsm_granularity {
    ADSM_BY_OBJECT, /* an object is one block */
    ADSM_BY_BLOCK,  /* fixed-size blocks, the last one smaller */
};

struct adsm_protocol {
    const char *name;
    enum adsm_granularity granularity;
    uint8_t first; /* state of an object from adsmAlloc           */
    bool acquires; /* RETURN changes something: visit the objects */
    struct adsm_cell cell[ADSM_EVENTS][ADSM_STATES];
};

#define ADSM_PROTOCOL_DECLARE(option, constant, word, name, help)              \
    extern const struct adsm_protocol adsm_protocol_##name;
ADSM_WORDS_PROTOCOL(ADSM_PROTOCOL_DECLARE)
#undef ADSM_PROTOCOL_DECLARE

/** Not one to choose: of memory that host and device share, under any. */
extern const struct adsm_protocol adsm_protocol_direct;

enum { ADSM_PROTOCOL_WHY = 256 };

/**
 * Does the table keep the rules that the engine relies on?
 *
 * @why  the first rule broken and the cell that breaks it; "" when sound
 * Thread: any. Signal: never
 */
bool adsm_protocol_check(const struct adsm_protocol *protocol,
                         char why[ADSM_PROTOCOL_WHY]);

/**
 * The protocol to run where `wanted` was asked for: itself when it is sound,
 * else the first of the list that is, for a program runs right under any.
 *
 * @why  as from adsm_protocol_check of `wanted`
 * Return: NULL when none is sound
 * Thread: any. Signal: never
 */
const struct adsm_protocol *
adsm_protocol_sound(const struct adsm_protocol *wanted,
                    char why[ADSM_PROTOCOL_WHY]);

/** Does it want a queue of dirty blocks? Any thread. */
bool adsm_protocol_queues(const struct adsm_protocol *protocol);

/** The protocol that a word of ADSM_PROTOCOL stands for. Any thread. */
const struct adsm_protocol *adsm_protocol_of(enum adsm_opt_protocol word);

/** Name of a state or event for messages and tests. Any thread. */
const char *adsm_state_name(enum adsm_state state);
const char *adsm_event_name(enum adsm_event event);

#endif
