/*
 * Joining PTX texts into one, as a linker joins objects.
 */
#ifndef SOFTCUDA_PTX_JOINT_H
#define SOFTCUDA_PTX_JOINT_H

#include <stdbool.h>
#include <stddef.h>

struct sc_text;
struct sc_joint_statement;

/** Texts to be joined; all zero to begin with. */
struct sc_joint {
    char **texts; /* own copies */
    size_t count;
    struct sc_joint_statement *statements;
    size_t statement_count, statement_capacity;
    bool failed; /* memory ran out */
};

/** Add a text; copies it. Return: false when memory ran out. */
bool sc_joint_add(struct sc_joint *joint, const char *text);

/**
 * Join what was added.  Names private to one text that mean something else in
 * another get a suffix; of several weak definitions the first is kept.
 *
 * @text receives the result, to be freed
 * Return: false when memory ran out
 * Thread: one
 */
bool sc_joint_finish(struct sc_joint *joint, struct sc_text *text);

/** After sc_joint_finish: a function that a text uses and none defines.
 *  Return: false: there is none. */
bool sc_joint_missing(const struct sc_joint *joint, char *name,
                      size_t name_bytes);

/** Free what it holds. */
void sc_joint_fini(struct sc_joint *joint);

#endif
