/*
 * The outermost statements of PTX texts that are joined.
 *
 * They lie in the texts; the joint owns both. Lock: none; one joint, one
 * thread.
 */
#ifndef SOFTCUDA_PTX_JOINT_STATEMENT_H
#define SOFTCUDA_PTX_JOINT_STATEMENT_H

#include "ptx/joint.h"
#include "ptx/lex.h"

enum sc_joint_kind {
    SC_JOINT_OTHER, /* says nothing about the program */
    SC_JOINT_FUNCTION,
    SC_JOINT_ENTRY,
    SC_JOINT_VARIABLE,
    SC_JOINT_VERSION,
    SC_JOINT_TARGET,
    SC_JOINT_BAD, /* has no tokens: it, and all of the text behind */
};

enum sc_joint_linking {
    SC_JOINT_LOCAL,
    SC_JOINT_VISIBLE,
    SC_JOINT_EXTERN,
    SC_JOINT_WEAK,
};

/** One statement of one text. */
struct sc_joint_statement {
    const char *start, *end;
    const char *name; /* inside the text, NULL if none */
    size_t name_bytes;
    const char *body; /* where a function's body begins, NULL: declaration */
    const char *word; /* where the linking directive stands */
    size_t word_bytes;
    double number; /* of a version or a target */
    size_t text;   /* which one it is from */
    enum sc_joint_kind kind;
    enum sc_joint_linking linking;
    bool renamed, dropped;
};

/** Append the statements of text `number`. Return: false: no memory */
bool sc_joint_read(struct sc_joint *joint, size_t number);

#endif
