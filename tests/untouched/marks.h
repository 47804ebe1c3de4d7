/*
 * How a counted program tells who traces it where its loops begin and end: calls
 * of the system by numbers that no kernel has.
 */
#ifndef TESTS_UNTOUCHED_MARKS_H
#define TESTS_UNTOUCHED_MARKS_H

enum {
    MARK_BEGIN = 100000, /* name of the loop, plantedInside() of the thread */
    MARK_END = 100001
};

#endif
