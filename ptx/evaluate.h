/*
 * The parts of ptx/solve.h: values of registers as intervals.
 *
 * Lock: none; one solve, one thread.
 */
#ifndef SOFTCUDA_PTX_EVALUATE_H
#define SOFTCUDA_PTX_EVALUATE_H

#include "ptx/solve.h"

/** What may be in the variable, given what may be in the others now. */
struct sc_interval sc_evaluate(struct sc_solve *s, const struct sc_variable *v);

/** A source, without what holds where it is used, and with that. */
struct sc_interval sc_evaluate_raw(const struct sc_solve *s,
                                   const struct sc_source *source);
struct sc_interval sc_evaluate_source(const struct sc_solve *s,
                                      const struct sc_source *source);

/** How often a counter advances at most, and by what. Return: false: nobody
 *  knows */
bool sc_evaluate_counting(struct sc_solve *s, const struct sc_counter *counter,
                          struct sc_interval *by, sc_wide *most);

/** What is added to it each time. */
struct sc_interval sc_evaluate_advance(const struct sc_solve *s,
                                       const struct sc_counter *counter);

/** Is the step in the loop? */
bool sc_evaluate_is_in(const struct sc_solve *s, const struct sc_loop *loop,
                       const struct sc_step *step);

/** How the value that a limit is about is related to the other. */
enum sc_relation sc_evaluate_relation(const struct sc_fact *fact,
                                      const struct sc_limit *limit);

#endif
