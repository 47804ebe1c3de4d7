/*
 * What the files of the model test share: arrays of stamps with copies of them
 * on devices. See model.c.
 */
#ifndef TESTS_RANGE_MODEL_H
#define TESTS_RANGE_MODEL_H

#include "model_plant.h"
#include "range/plan.h"

enum { OBJECTS = 2, DEVICES = 3, COPIES = 40, BYTES = 160, PARTS = 4 };
enum { ARGS = 3, MOST_BLOCKS = BYTES / 4 };

enum block { INVALID, READ_ONLY, DIRTY };

struct copy {
    struct adsm_copy c;
    struct object *of;
    bool live;
    uint32_t data[BYTES]; /* at the byte's place in the whole array */
};

struct object {
    struct adsm_held held;
    adsmBox whole;
    size_t bytes, block_bytes;
    uint32_t gold[BYTES], host[BYTES];
    uint8_t block[MOST_BLOCKS];
    struct copy copies[COPIES];
    struct copy *home;
};

struct device {
    struct adsm_copies list;
    size_t bytes;
};

/* What happened, for the line at the end. */
enum { N_CALLS, N_REFUSED, N_MOVES, N_EVICTED, N_LOST, N_THIN, N_NOMEM, N_ALL };

extern struct device devices[DEVICES];
extern struct object objects[OBJECTS];
extern struct adsm_moves moves;
extern uint32_t stamp;
extern long operation, counted[N_ALL];
extern bool peers[DEVICES][DEVICES], memory_fails;
extern size_t memory_bytes;
extern uint32_t margin[BYTES]; /* what a gather brings, at its own places */
extern uint64_t before[BYTES]; /* holders of each byte, before a plan */

/* model.c */
uint32_t draw(uint32_t below);
_Noreturn void stop(const char *what, const struct object *o, size_t at);
void require(bool is_true, const char *what, const struct object *o);

/* model_bytes.c: bytes of boxes, moves, and what must hold afterwards */
typedef void visit_byte(struct object *o, size_t at, void *context);
struct transfer {
    const uint32_t *from;
    uint32_t *to;
};
struct adsm_accel *accel_of(int device);
int device_of(const struct adsm_accel *accel);
bool direct(const struct adsm_accel *from, const struct adsm_accel *to);
struct copy *copy_of(const struct object *o, unsigned holder);
void each_byte(struct object *o, const adsmBox *box, visit_byte *visit,
               void *context);
adsmBox random_box(const adsmBox *in);
void move_byte(struct object *o, size_t at, void *context);
void do_moves(struct object *o, uint32_t first, uint32_t end, bool to_margin);
void note_holders(struct object *o, const adsmBox *box);
void check_sources(struct object *o, uint32_t first, bool to_margin);
void check_object(struct object *o);

/* model_use.c: the CPU, uses of objects, copies on devices */
void cpu_access(struct object *o);
bool failed(int status, const struct object *o);
bool begin(struct object *o);
void forget(struct copy *copy);
bool evict(struct copy *copy);
struct copy *make(struct object *o, int device, const adsmBox *box);
void use(struct copy *copy);

#endif
