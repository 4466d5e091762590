#ifndef BELLJAR_LAUNCH_H
#define BELLJAR_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "identity.h"

/* What a command is started with. Owned by whoever made it; nothing in it points into a frame. */
struct launch {
    char **arguments;
    char **environment;
    char *user; /* NULL: as the guest itself */
    char *cwd;  /* absolute, or NULL: where the guest is */
    bool pty;
    bool strict;
    bool local;
    const gid_t *groups;
    int group_count;
    struct rlimit descriptors;
};

enum launch_stage { STAGE_PROCESS, STAGE_USER, STAGE_SWITCH, STAGE_CWD, STAGE_EXEC, STAGE_INTERPRETER };

struct launch_failure {
    int stage;
    int error;
};

void launch_free(struct launch *launch);
/* Finds the user and completes the environment by HOME, PATH and TERM. */
bool launch_resolve(struct launch *launch, struct identity *identity, struct launch_failure *failure);
/* In the child, with its standard streams in place: becomes the command, or writes a launch_failure to `report`. */
_Noreturn void launch_become(const struct launch *launch, const struct identity *identity, int report);

/* Descriptors of the guest that a child must not have: everything from `first` up. */
void close_from(int first);
void reset_signals(void);
void ignore_signals(void);

#endif
