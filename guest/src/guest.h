#ifndef BELLJAR_GUEST_H
#define BELLJAR_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "limits.h"

/* What holds for the whole life of the guest: how it was started, and what the hello said. */
struct guest {
    bool local;
    bool init;      /* PID 1 of its namespace */
    bool exclusive; /* nothing but this guest's commands runs in the namespace */
    bool keep;
    char *user; /* NULL: the guest's own */
    char *cwd;
    char **environment; /* of the service, before what a command adds */
    gid_t groups[GROUPS_MAX];
    int group_count;
    int null_input;
    struct rlimit descriptors;
};

extern struct guest guest;

#endif
