/*
 * Names and texts of the status codes, from the one list in adsm.h.
 */
#include "base/status.h"

const char *adsm_status_name(int status)
{
    switch (status) {
#define STATUS_NAME(name, value, text)                                         \
    case value:                                                                \
        return #name;
        ADSM_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    }
    return "?";
}

const char *adsm_status_text(int status)
{
    switch (status) {
#define STATUS_TEXT(name, value, text)                                         \
    case value:                                                                \
        return text;
        ADSM_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}
