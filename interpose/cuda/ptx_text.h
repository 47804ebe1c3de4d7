/*
 * PTX text as words and signs.
 *
 * Knows comments, strings, numbers and names; no instruction. No lock: a
 * reader belongs to one thread.
 */
#ifndef INTERPOSE_CUDA_PTX_TEXT_H
#define INTERPOSE_CUDA_PTX_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token {
    PTX_END,    /* of the text                                            */
    PTX_WORD,   /* name, directive or opcode with all its parts           */
    PTX_NUMBER, /* `value` where it is whole, else as good as 0           */
    PTX_STRING,
    PTX_SIGN, /* `sign`                                                  */
};

/** A place in a text and the token that ends there. */
struct ptx_text {
    const char *at;
    enum ptx_token token;
    const char *word; /* PTX_WORD: not terminated, `length` long          */
    size_t length;
    uint64_t value;
    char sign; /* PTX_SIGN only, 0 else                                   */
};

/** Step over one token. Return: it. */
enum ptx_token ptx_next(struct ptx_text *text);

/** Step over the rest of the line. */
void ptx_skip_line(struct ptx_text *text);

/** Step to behind the brace that closes the one just read, or to the end. */
void ptx_skip_block(struct ptx_text *text);

/** Is the token the word `word`? */
bool ptx_is(const struct ptx_text *text, const char *word);

/** Does the word have the part `part`, such as ".global"? */
bool ptx_has(const char *word, size_t length, const char *part);

#endif
