/* Layouts of kernels, as drivers tell them; see code/layout.h. */
#include "code/layout.h"

#include "base/status.h"

int adsm_layout_ask(struct adsm_parameter *at, adsm_parameter_fn *ask,
                    void *context)
{
    size_t offset, bytes;
    for (int n = 0; n <= ADSM_PARAMETERS_MOST; n++) {
        int rc = ask(context, (unsigned)n, &offset, &bytes);
        if (rc == ADSM_E_NOT_FOUND)
            return n;
        if (rc != ADSM_OK)
            return rc == ADSM_E_UNSUPPORTED ? ADSM_LAYOUT_UNKNOWN
                                            : ADSM_LAYOUT_REFUSED;
        if (offset > UINT16_MAX || bytes > UINT16_MAX)
            return ADSM_LAYOUT_UNKNOWN;
        if (n < ADSM_PARAMETERS_MOST)
            at[n] = (struct adsm_parameter){(uint16_t)offset, (uint16_t)bytes,
                                            ADSM_ANY_KIND};
    }
    return ADSM_PARAMETERS_MOST + 1;
}
