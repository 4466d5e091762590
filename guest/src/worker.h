#ifndef BELLJAR_WORKER_H
#define BELLJAR_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "wire.h"

/*
 * File requests run in a forked child each, which becomes the user asked for: permissions are then the kernel's, and
 * a file system that hangs holds up nobody else. A worker talks in packets (frame type, payload), relayed here.
 */
void worker_request(const struct frame *frame);
void worker_cancel(uint32_t id);
bool worker_data(uint32_t id, const uint8_t *bytes, size_t length);
void worker_end(uint32_t id);
void worker_credit(uint32_t id, uint64_t bytes);

bool workers_active(void);
/* Adds the process ids of all workers to a malloc'd list. */
size_t workers_known(pid_t **list, size_t count, size_t capacity);
bool workers_reaped(pid_t pid);

#endif
