/*
 * Opcode cases as native code: one C function per case, many per object.
 *
 * Owns text; the tables and their references belong to ../opcodes. No lock.
 */
#ifndef TESTS_SOFTCUDA_NATIVE_ALU_CASE_H
#define TESTS_SOFTCUDA_NATIVE_ALU_CASE_H

#include <stdio.h>

#include "../opcodes/opcase.h"
#include "native/alu.h"

/** One case of a compiled object: `n` lanes, 64 bits a value, n % 16 == 0. */
typedef void alu_function(const uint64_t *const *in, uint64_t *out, size_t n);

/** Text on its way to the compiler. */
struct alu_object {
    struct sc_alu_set set;
    char *body;
    size_t body_bytes;
    FILE *out; /* writes body */
    size_t count;
    bool vector; /* else one value at a time */
    bool apart;  /* every function is called, which compiles fast */
};

/** Start an object of one isa and form; @apart see above. */
void alu_object_begin(struct alu_object *object, enum sc_native_isa isa,
                      bool vector, bool apart);

/**
 * Append a case as function number object->count.
 *
 * Return: NULL; else the first instruction that has no native form, in a
 * buffer of the next call. Text that does not parse fails the test
 */
const char *alu_object_add(struct alu_object *object, const struct op_case *c);

/**
 * Compile and load; fails the test with the compiler's messages.
 *
 * @functions receives object->count functions, malloc'ed
 * Return: handle of dlopen
 */
void *alu_object_finish(struct alu_object *object, alu_function ***functions);

#endif
