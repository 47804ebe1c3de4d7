/*
 * Index expressions: which boxes of an array a part uses, as text.
 *
 *     boxes   = box { "|" box }
 *     box     = one "[" index "]" per dimension of the array
 *     index   = [sum] ":" [sum] | sum | "i" | "j" | "k"
 *     sum     = product { ("+" | "-") product }
 *     product = factor { "*" factor }
 *     factor  = number | variable | "-" factor | "(" sum ")"
 *
 * [a:b] is from a on and below b, one that is left out the array's end on that
 * side; [a] is [a:a+1]; [i] is [i0:i1]. Variables: i0 i1 j0 j1 k0 k1 are the
 * part's box, i being the range's outermost dimension; N0 N1 N2 the array's
 * extents; $1 to $4 the call's parameters. Blanks may be anywhere between.
 *
 * A text is read anew for every part: that takes less than its values would take
 * to keep. Pure; no lock, no memory, no state. Thread: any. Signal: never
 *
 * Paper: Ramashekar and Bondhugula, section 6.1, has a compiler derive these
 *        from access functions; differs: the program says them
 */
#ifndef ADSM_CALL_EXPRESSION_H
#define ADSM_CALL_EXPRESSION_H

#include "adsm.h"

#include <stdbool.h>

enum {
    ADSM_EXPRESSION_BOXES = 8,       /* most of one text           */
    ADSM_EXPRESSION_PARAMETERS = 4,  /* $1 to $4                   */
    ADSM_EXPRESSION_PARENTHESES = 8, /* most within one another */
    ADSM_EXPRESSION_PRINTED = 160,   /* bytes of a box as text, at most */
};

/** What the variables are. */
struct adsm_expression_values {
    const adsmBox *part;
    int nd; /* dimensions of the array */
    long extent[3];
    const long *param; /* of $1 and so on */
    int params;        /* how many there are */
};

/** What a text says of one part. */
struct adsm_expression {
    int count;
    adsmBox box[ADSM_EXPRESSION_BOXES]; /* elements; may be empty, or lie
                                           outside the array */
    /* Dimensions of the range, a bit each, that a dimension of the boxes depends
     * on. */
    uint8_t follows[3];
    bool has_params; /* it depends on the call's parameters */
    /* Of a text that is wrong: where, the first character being 1, and what was
     * expected there. */
    int column;
    const char *expected;
};

/** Read a text. Return: whether it is right */
bool adsm_expression_read(const char *text,
                          const struct adsm_expression_values *values,
                          struct adsm_expression *out);

/** Write a box of elements as a text that is read as this box, for messages. */
void adsm_expression_print(const adsmBox *box,
                           char text[ADSM_EXPRESSION_PRINTED]);

#endif
