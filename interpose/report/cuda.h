/*
 * What stands between the hooks and CUDA's driver where there is a report: each
 * call of the list noted.def is made as it is, and said to report.h.
 *
 * The functions behind the hooks (hook_real) are these then, and the driver's are
 * kept here. Where there is no report nothing is changed, and costs nothing.
 */
#ifndef INTERPOSE_REPORT_CUDA_H
#define INTERPOSE_REPORT_CUDA_H

/**
 * What goes behind a hook.
 *
 * @slot  of hook_real; @found the driver's function for it
 * Return: that, or what stands before it
 * Thread: any; both find the same. Signal: never
 */
void *report_before(void **slot, void *found);

/** What stands before the driver's function, or that itself. Thread: any */
void *report_standing(void *found);

#endif
