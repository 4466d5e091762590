#ifndef BELLJAR_PAGES_H
#define BELLJAR_PAGES_H

#include <stddef.h>
#include <stdint.h>

/* Memory that forked children do not get: a supervisor that lives long must not hold old output. */
void *pages_resize(void *pages, size_t old_size, size_t new_size);
void pages_free(void *pages, size_t size);

/* The last `cap` of all bytes that were put in. */
struct ring {
    uint8_t *bytes;
    size_t allocated;
    size_t cap;
    size_t start;
    size_t size;
};

void ring_put(struct ring *ring, const uint8_t *bytes, size_t length);
/* The longest run at the front; `*length` is at most `limit`. */
const uint8_t *ring_front(const struct ring *ring, size_t limit, size_t *length);
void ring_drop(struct ring *ring, size_t length);
void ring_free(struct ring *ring);

#endif
