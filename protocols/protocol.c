/* Protocols by the option's words, and names for messages and tests. */
#include "protocols/protocol.h"

const struct adsm_protocol *adsm_protocol_of(enum adsm_opt_protocol word)
{
    static const struct adsm_protocol *const all[] = {
#define ONE(option, constant, word, name, help)                                \
    [ADSM_OPT_PROTOCOL_##constant] = &adsm_protocol_##name,
        ADSM_WORDS_PROTOCOL(ONE)
#undef ONE
    };
    return all[word];
}

const char *adsm_state_name(enum adsm_state state)
{
    static const char *const names[ADSM_STATES] = {"INVALID", "READ_ONLY",
                                                   "DIRTY"};
    return state < ADSM_STATES ? names[state] : "?";
}

const char *adsm_event_name(enum adsm_event event)
{
    static const char *const names[ADSM_EVENTS] = {
        [ADSM_READ_FAULT] = "READ_FAULT",
        [ADSM_WRITE_FAULT] = "WRITE_FAULT",
        [ADSM_CALL] = "CALL",
        [ADSM_CALL_IN] = "CALL_IN",
        [ADSM_CALL_KEPT] = "CALL_KEPT",
        [ADSM_CALL_OUT] = "CALL_OUT",
        [ADSM_RETURN] = "RETURN",
        [ADSM_WRITE_BACK] = "WRITE_BACK",
        [ADSM_BULK_READ] = "BULK_READ",
        [ADSM_BULK_OVERWRITE] = "BULK_OVERWRITE",
        [ADSM_DEVICE_READ] = "DEVICE_READ",
        [ADSM_DEVICE_WRITE] = "DEVICE_WRITE",
        [ADSM_PART_READ] = "PART_READ",
        [ADSM_PART_WRITE] = "PART_WRITE",
        [ADSM_FETCH_AHEAD] = "FETCH_AHEAD",
        [ADSM_GIVEN_UP] = "GIVEN_UP",
    };
    return event < ADSM_EVENTS ? names[event] : "?";
}
