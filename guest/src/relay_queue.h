#ifndef BELLJAR_RELAY_QUEUE_H
#define BELLJAR_RELAY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that wait to be written. */
struct queue {
    uint8_t *bytes;
    size_t start;
    size_t length;
    size_t capacity;
};

void queue_put(struct queue *queue, const void *bytes, size_t length);
/* Writes what the descriptor takes: how much, or -1 where it is broken. */
long queue_write(struct queue *queue, int fd);
void queue_drop(struct queue *queue, size_t length);
void queue_free(struct queue *queue);

#endif
