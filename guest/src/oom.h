#ifndef BELLJAR_OOM_H
#define BELLJAR_OOM_H

#include <stdint.h>

/* Kills for want of memory in this container, as its cgroup (version 1 or 2) counts them; 0 where it cannot be read. */
uint64_t oom_kills(void);
/* Sends an event for each growth that is seen; where the kernel notifies (version 2), at once. */
void oom_watch(void);
uint64_t oom_check(void);

#endif
