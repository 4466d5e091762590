#ifndef BELLJAR_SUPERVISOR_H
#define BELLJAR_SUPERVISOR_H

#include <stdint.h>

#include "launch.h"

/*
 * The process between the guest and one command. It is the subreaper of everything the command starts, so each
 * orphan comes to its own command's supervisor; it ends when nothing is left. Both sides talk over a packet socket.
 */

enum order_kind { ORDER_KILL, ORDER_SIGNAL };

struct order {
    int32_t kind;
    int32_t signal;
    uint32_t grace_ms;
};

enum report_kind { REPORT_STARTED, REPORT_KILLING, REPORT_FAILED, REPORT_EXITED, REPORT_UNKILLABLE, REPORT_GONE };

struct report {
    int32_t kind;
    int32_t pid;
    int32_t status;
    int32_t stage;
    int32_t error;
    uint32_t remaining;
    uint64_t cpu_us;
    uint64_t peak_memory_kb;
};

/* Runs in a fresh child of the guest; `streams` are the command's standard streams. */
_Noreturn void supervisor_run(struct launch *launch, const int streams[3], int control);

#endif
