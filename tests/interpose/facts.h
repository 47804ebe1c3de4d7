/*
 * Facts about the types of the driver API, of our header and of cuda.h. The
 * two name the same things, so each has a file of its own. Constant, no lock.
 */
#ifndef TESTS_INTERPOSE_FACTS_H
#define TESTS_INTERPOSE_FACTS_H

#include <stddef.h>

struct fact {
    const char *what;
    size_t value;
};

/** Our header's, in the order of facts.def; `count` receives how many. */
const struct fact *facts_of_ours(size_t *count);

#endif
