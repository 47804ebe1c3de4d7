/*
 * Call sites: chains of return addresses, innermost first, without the frames of
 * this library. Each has a number; which line that is is found out at the end
 * (lines.h).
 *
 * Owns the table of chains, their modules' names, and the sums of what was called
 * there. At most SITES_MOST chains: what comes later is site 0, "elsewhere".
 * The caller has the report's lock where it is said.
 */
#ifndef INTERPOSE_REPORT_SITE_H
#define INTERPOSE_REPORT_SITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPORT_SITES_MOST = 4096, REPORT_FRAMES = 8, REPORT_MODULES_MOST = 256 };

/** Ways in which a site is counted. */
enum report_way {
    REPORT_UP,
    REPORT_DOWN,
    REPORT_DEVICE, /* copies within and between devices */
    REPORT_SET,
    REPORT_ALLOC,
    REPORT_FREE,
    REPORT_LAUNCH,
    REPORT_SYNC,
    REPORT_WAYS
};

/** What was done. Of bytes that nobody timed the time is not in `ns`. */
struct report_sum {
    uint64_t count, bytes, ns, untimed;
};

/** Calls as they are on the stack. */
struct report_chain {
    unsigned count;
    uintptr_t at[REPORT_FRAMES];
};

struct report_frame {
    uint32_t module;
    uint64_t at; /* in the module's file, as its symbols have it; of the call */
};

struct report_site {
    uint64_t key;
    unsigned count;
    struct report_frame frame[REPORT_FRAMES];
    struct report_sum way[REPORT_WAYS];
    /* Memory allocated here. */
    struct report_sum moved[2]; /* up and down, to and from it          */
    uint64_t live, repeats, last_bytes, repeated_ns;
    bool was_freed;
};

/** Once, before the others. Return: false: no memory, or no way to know who
 *  calls */
bool report_sites_start(void);

/** Who calls into this library. Thread: any, no lock held. Signal: never */
void report_chain_take(struct report_chain *chain);

/** The number of a chain, 0 where there is no room for more. Return: false: it has
 *  none so far. Under the lock */
bool report_site_find(const struct report_chain *chain, uint32_t *number);

/** In which files the frames of a chain are; malloc()ed names. */
struct report_where {
    char *file[REPORT_FRAMES];
    uint64_t at[REPORT_FRAMES];
};
/** Thread: any, no lock held: the loader's is taken. Signal: never */
void report_chain_look(const struct report_chain *chain,
                       struct report_where *where);
void report_where_end(struct report_where *where);

/** A number for the chain, unless it has one by now. Under the lock */
uint32_t report_site_make(const struct report_chain *chain,
                          const struct report_where *where);

struct report_site *report_site_at(uint32_t number);
uint32_t report_sites_count(void);

/** The file of a module; "" where that is not known. */
const char *report_module_name(uint32_t module);

void report_sum_add(struct report_sum *sum, uint64_t bytes, uint64_t ns,
                    bool timed);

#endif
