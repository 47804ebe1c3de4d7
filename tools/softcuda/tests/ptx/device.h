/*
 * A device window for tests: load PTX, launch, look at memory.
 *
 * Owns one mapping per process; the last page of it is a hole. Lock: none.
 */
#ifndef TESTS_SOFTCUDA_PTX_DEVICE_H
#define TESTS_SOFTCUDA_PTX_DEVICE_H

#include "common/suite.h"
#include "exec/exec.h"

#define DEVICE_BYTES ((size_t)64 << 20)

/** Map the window and start the machine with two workers. */
void device_open(void);
void device_close(void);

/** Description of the window, for sc_module_load. */
const struct sc_space *device_space(void);

/** Zeroed device memory, 256-byte aligned. */
void *device_alloc(size_t bytes);

/** Bytes that variables of loaded modules hold now. */
size_t device_held(void);

/** First byte of the hole at the end of the window. */
uint64_t device_hole(void);

/** Load or fail the test with the log. */
struct sc_module *device_load(const char *ptx);

/** Header every PTX text of the tests begins with. */
#define PTX_HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/** Launch kernel 0 with one block of `threads`, or `blocks` of them. */
enum sc_exec_status device_launch(const struct sc_module *module,
                                  uint32_t blocks, uint32_t threads,
                                  const void *params, size_t bytes,
                                  struct sc_exec_fault *fault);

/** `DEVICE_MAIN("name", 30, case_a, case_b)` defines a main() whose cases run
 *  between device_open and device_close. */
#define DEVICE_MAIN(name, timeout_s, ...)                                      \
    int main(void)                                                             \
    {                                                                          \
        const TTest *const cases[] = {__VA_ARGS__};                            \
        Suite *suite = suite_create(name);                                     \
        TCase *tcase = tcase_create(name);                                     \
        tcase_set_timeout(tcase, timeout_s);                                   \
        tcase_add_checked_fixture(tcase, device_open, device_close);           \
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)              \
            tcase_add_test(tcase, cases[i]);                                   \
        suite_add_tcase(suite, tcase);                                         \
        return suite_finish(suite);                                            \
    }

#endif
