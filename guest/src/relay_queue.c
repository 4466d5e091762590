#include "relay_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

void queue_put(struct queue *queue, const void *bytes, size_t length) {
    if (queue->start + queue->length + length > queue->capacity) {
        if (queue->length)
            memmove(queue->bytes, queue->bytes + queue->start, queue->length);
        queue->start = 0;
        if (queue->length + length > queue->capacity) {
            queue->capacity = (queue->length + length) * 2;
            queue->bytes = must_realloc(queue->bytes, queue->capacity);
        }
    }
    if (length)
        memcpy(queue->bytes + queue->start + queue->length, bytes, length);
    queue->length += length;
}

long queue_write(struct queue *queue, int fd) {
    long total = 0;
    while (queue->length) {
        ssize_t written = write(fd, queue->bytes + queue->start, queue->length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno == EAGAIN ? total : -1;
        queue_drop(queue, (size_t)written);
        total += written;
    }
    return total;
}

void queue_drop(struct queue *queue, size_t length) {
    queue->start += length;
    queue->length -= length;
    if (queue->length == 0)
        queue->start = 0;
}

void queue_free(struct queue *queue) {
    free(queue->bytes);
    *queue = (struct queue){0};
}
