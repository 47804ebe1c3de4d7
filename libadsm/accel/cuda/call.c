/*
 * The frame around a driver call; see call.h.
 */
#include "accel/cuda/call.h"

#include "accel/error.h"
#include "accel/launched.h"
#include "base/lock.h"
#include "os/fault.h"

#include <errno.h>
#include <string.h>

/* What results mean to us; those not listed are ADSM_E_DEVICE, not sticky. */
static const struct {
    adsm_cu_result result;
    int status;
    bool sticky;
} meanings[] = {
    {ADSM_CU_OUT_OF_MEMORY, ADSM_E_DEVICE_NOMEM, false},
    {ADSM_CU_NO_DEVICE, ADSM_E_NO_DEVICE, false},
    {ADSM_CU_INVALID_DEVICE, ADSM_E_NO_DEVICE, false},
    {ADSM_CU_INVALID_IMAGE, ADSM_E_INVALID, false},
    {ADSM_CU_NO_BINARY_FOR_GPU, ADSM_E_INVALID, false},
    {ADSM_CU_INVALID_PTX, ADSM_E_INVALID, false},
    {ADSM_CU_UNSUPPORTED_PTX_VERSION, ADSM_E_INVALID, false},
    {ADSM_CU_INVALID_SOURCE, ADSM_E_INVALID, false},
    {ADSM_CU_JIT_COMPILER_NOT_FOUND, ADSM_E_UNSUPPORTED, false},
    {ADSM_CU_UNSUPPORTED_LIMIT, ADSM_E_UNSUPPORTED, false},
    {ADSM_CU_NOT_SUPPORTED, ADSM_E_UNSUPPORTED, false},
    {ADSM_CU_NOT_FOUND, ADSM_E_NOT_FOUND, false},
    {ADSM_CU_LAUNCH_OUT_OF_RESOURCES, ADSM_E_LIMIT, false},
    {ADSM_CU_ILLEGAL_ADDRESS, ADSM_E_DEVICE, true},
    {ADSM_CU_LAUNCH_TIMEOUT, ADSM_E_DEVICE, true},
    {ADSM_CU_ASSERT, ADSM_E_DEVICE, true},
    {ADSM_CU_HARDWARE_STACK_ERROR, ADSM_E_DEVICE, true},
    {ADSM_CU_ILLEGAL_INSTRUCTION, ADSM_E_DEVICE, true},
    {ADSM_CU_MISALIGNED_ADDRESS, ADSM_E_DEVICE, true},
    {ADSM_CU_INVALID_ADDRESS_SPACE, ADSM_E_DEVICE, true},
    {ADSM_CU_INVALID_PC, ADSM_E_DEVICE, true},
    {ADSM_CU_LAUNCH_FAILED, ADSM_E_DEVICE, true},
    {ADSM_CU_TENSOR_MEMORY_LEAK, ADSM_E_DEVICE, true},
    {ADSM_CU_DEINITIALIZED, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_DEVICE_UNAVAILABLE, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_ECC_UNCORRECTABLE, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_NVLINK_UNCORRECTABLE, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_CONTAINED, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_MPS_CLIENT_TERMINATED, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_CONTEXT_IS_DESTROYED, ADSM_E_DEVICE_LOST, true},
    {ADSM_CU_UNKNOWN, ADSM_E_DEVICE_LOST, true},
};

int adsm_cuda_judge(struct adsm_accel *accel, const char *call,
                    adsm_cu_result result)
{
    if (result == ADSM_CU_SUCCESS)
        return ADSM_OK;
    int status = ADSM_E_DEVICE;
    bool sticky = false;
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (meanings[i].result == result) {
            status = meanings[i].status;
            sticky = meanings[i].sticky;
        }
    const char *name = NULL;
    const char *text = NULL;
    if (adsm_cuda_api()->GetErrorName(result, &name) != ADSM_CU_SUCCESS)
        name = "unknown result";
    if (adsm_cuda_api()->GetErrorString(result, &text) != ADSM_CU_SUCCESS)
        text = "no text";
    char digits[24];
    (void)adsm_accel_fail(status, name, " (", adsm_accel_number(digits, result),
                          ", ", text, ")", NULL);
    char words[ADSM_LAUNCHED_WORDS];
    strncpy(words, adsm_accel_error_text(), sizeof words - 1);
    words[sizeof words - 1] = '\0';
    if (sticky && accel) {
        if (status == ADSM_E_DEVICE) {
            adsm_launched_blame(accel, words);
            adsm_launched_failed(accel, words);
        }
        adsm_accel_condemn(accel, status);
    }
    return adsm_accel_fail(status, "cu", call, ": ", words, NULL);
}

int adsm_cuda_enter(struct adsm_cuda_visit *visit, struct adsm_accel *accel)
{
    int usable = adsm_accel_usable(accel);
    if (usable != ADSM_OK)
        return usable;
    *visit = (struct adsm_cuda_visit){.accel = accel, .errno_kept = errno};
    adsm_fault_enter_driver();
    if (!accel)
        return ADSM_OK;
    const struct adsm_cuda_api *cu = adsm_cuda_api();
    adsm_cu_context current = NULL;
    const char *call = "CtxGetCurrent";
    adsm_cu_result result = cu->CtxGetCurrent(&current);
    adsm_cu_context wanted = (adsm_cu_context)accel->context;
    if (result == ADSM_CU_SUCCESS && current != wanted) {
        call = "CtxPushCurrent";
        result = cu->CtxPushCurrent(wanted);
        visit->pushed = result == ADSM_CU_SUCCESS;
    }
    if (result == ADSM_CU_INVALID_CONTEXT)
        adsm_accel_condemn(accel, ADSM_E_DEVICE_LOST);
    return result == ADSM_CU_SUCCESS ? ADSM_OK
                                     : adsm_cuda_leave(visit, call, result);
}

uint64_t adsm_cuda_wait_begin(void)
{
    adsm_fault_leave_driver();
    return adsm_quiet_wait_begin();
}

void adsm_cuda_wait_end(uint64_t opened)
{
    adsm_quiet_wait_end(opened);
    adsm_fault_enter_driver();
}

int adsm_cuda_leave(struct adsm_cuda_visit *visit, const char *call,
                    adsm_cu_result result)
{
    int status = adsm_cuda_judge(visit->accel, call, result);
    adsm_cu_context ours;
    if (visit->pushed)
        adsm_cuda_api()->CtxPopCurrent(&ours);
    adsm_fault_leave_driver();
    errno = visit->errno_kept;
    return status;
}
