#ifndef BELLJAR_INPUT_H
#define BELLJAR_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"

/* Data from the host on its way to a descriptor: at most INPUT_WINDOW waits, then the host has no credit left. */
struct input_chunk;

struct input {
    struct watch watch;
    uint32_t id;
    struct input_chunk *head;
    struct input_chunk **tail;
    size_t waiting;
    size_t owed; /* taken, and not yet granted again */
    bool packets; /* one send for each chunk, type first, as workers want it */
    bool ended;
    bool broken; /* the reader is gone: what still comes is dropped, and credit goes on */
    void (*finished)(struct input *input);
};

void input_open(struct input *input, int fd, uint32_t id);
/* False where the host sent more than it had credit for. */
bool input_put(struct input *input, const uint8_t *bytes, size_t length);
void input_end(struct input *input);
void input_close(struct input *input);

#endif
