/*
 * What stands between the hooks and CUDA's driver where there is a report: each
 * call of the list noted.def is made as it is, and said to report.h.
 *
 * The functions behind the hooks (hook_real) are these then, and the driver's are
 * kept here (cuda_before). Where there is no report nothing is changed, and costs
 * nothing.
 */
#ifndef INTERPOSE_REPORT_CUDA_PARTS_H
#define INTERPOSE_REPORT_CUDA_PARTS_H

#include "interpose/hook.h"
#include "interpose/report/report.h"

/** The driver's own functions, as far as something stands before them. */
extern struct hook_real report_driver;

#define NOTE(name) __typeof__(name) report_noted_##name;
#include "interpose/report/noted.def"
#undef NOTE

/** The stream of a call, and whether it is a _ptds or _ptsz form. */
struct report_stream report_stream_of(CUstream stream, bool per_thread);

/** Begin to note a call that submits to a stream. Return: false: it is none of
 *  the program's, or is recorded (captured) and not made */
bool report_enter_stream(struct report_call *call, CUstream stream);

/** Call the driver as what counts of a call that is noted. */
#define REPORT_CALL(call, function, args)                                      \
    ({                                                                         \
        report_begin(call);                                                    \
        CUresult report_result = report_driver.function args;                  \
        report_end(call);                                                      \
        report_result;                                                         \
    })

#endif
