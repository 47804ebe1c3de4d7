/*
 * What the files of the small accelerator use of each other. Its tables are
 * arrays that are never given back: a stale handle is told from a live one.
 */
#ifndef TESTS_SMALL_PARTS_H
#define TESTS_SMALL_PARTS_H

#include "small/device.h"

enum { SMALL_MOST = 1024, SMALL_NAME_BIT = 62 };

struct small_task;

struct small_stream {
    bool live;
    int ordinal;
    struct small_task *first, **last;
};

struct small_event {
    bool live;
    struct small_stream *stream; /* of the last record */
    uint64_t recorded, reached;
};

struct small_range {
    uint64_t at;
    size_t bytes; /* 0: none */
    int ordinal;
    void *memory; /* where a leak checker finds it */
};

/* All of it under the lock that a call holds from its beginning to its end. */
struct small {
    int count;
    size_t memory[SMALL_DEVICES], used[SMALL_DEVICES];
    bool lost[SMALL_DEVICES];
    char context[SMALL_DEVICES]; /* their addresses are the handles */
    /* The first ones are the default streams. */
    struct small_stream stream[SMALL_MOST];
    struct small_event event[SMALL_MOST];
    struct small_range range[SMALL_MOST], pin[SMALL_MOST];
    bool boxes, peers, failed;
    enum small_pace pace;
    enum small_op fails;
    unsigned fails_in, calls[SMALL_ANY + 1], chance;
    int status;
    size_t pending;
};

extern struct small small;

/** A call begins: with the lock held where it goes on. It ends the same way. */
int small_call(struct adsm_accel *accel, enum small_op op);
int small_done(void);
void small_lock(void);

#define BEGIN(accel, op)                                                       \
    do {                                                                       \
        int status_ = small_call(accel, SMALL_##op);                           \
        if (status_ != ADSM_OK)                                                \
            return status_;                                                    \
    } while (0)

/** End the process where a caller has broken a rule. */
void small_check(bool sound, const char *what);

/** The range that bytes lie in; @ordinal  -1: of whatever device. NULL: none */
struct small_range *small_range_of(struct small_range *ranges, int ordinal,
                                   uint64_t at, size_t bytes);

/* ---- work.c: entries of the table ------------------------------------------ */

int small_context_wait(struct adsm_accel *accel);
int small_stream_create(struct adsm_accel *accel, adsm_stream *stream);
int small_stream_destroy(struct adsm_accel *accel, adsm_stream stream);
int small_stream_order(struct adsm_accel *accel, adsm_stream stream,
                       adsm_device_event event);
int small_event_create(struct adsm_accel *accel, adsm_device_event *event);
int small_event_destroy(struct adsm_accel *accel, adsm_device_event event);
int small_event_record(struct adsm_accel *accel, adsm_device_event event,
                       adsm_stream stream);
int small_event_query(struct adsm_accel *accel, adsm_device_event event,
                      bool *reached);
int small_event_wait(struct adsm_accel *accel, adsm_device_event event,
                     uint64_t spin_ns);
int small_host_call(struct adsm_accel *accel, adsm_stream stream,
                    void (*call)(void *arg), void *arg);
int small_launch(struct adsm_accel *accel, void *kernel, const unsigned grid[3],
                 const unsigned block[3], size_t shared_bytes,
                 adsm_stream stream, void **arguments);
int small_set_device(struct adsm_accel *accel, adsm_stream stream,
                     struct adsm_daddr to, uint8_t value, size_t bytes);

/* A place of a move: in a device's memory, or in the host's. */
struct small_end {
    int ordinal; /* -1: the host */
    uint64_t at;
};

/** Enqueue a move and end the call. */
int small_move(struct adsm_accel *accel, adsm_stream stream,
               struct small_end to, struct small_end from,
               struct adsm_rect rect);
void *small_at_end(const struct small_end *end, size_t bytes);

#endif
