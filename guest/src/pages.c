#define _GNU_SOURCE
#include "pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *pages_resize(void *pages, size_t old_size, size_t new_size) {
    void *moved = pages ? mremap(pages, old_size, new_size, MREMAP_MAYMOVE)
                        : mmap(NULL, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED)
        _exit(70);
    madvise(moved, new_size, MADV_DONTFORK);
    return moved;
}

void pages_free(void *pages, size_t size) {
    if (pages)
        munmap(pages, size);
}

static void ring_grow(struct ring *ring, size_t needed) {
    if (needed > ring->cap)
        needed = ring->cap;
    if (needed <= ring->allocated)
        return;
    size_t size = ring->allocated ? ring->allocated : 64 << 10;
    while (size < needed)
        size *= 2;
    if (size > ring->cap && ring->cap >= 64 << 10)
        size = (ring->cap + 4095) & ~(size_t)4095;
    ring->bytes = pages_resize(ring->bytes, ring->allocated, size);
    ring->allocated = size;
}

void ring_put(struct ring *ring, const uint8_t *bytes, size_t length) {
    if (length > ring->cap) {
        bytes += length - ring->cap;
        length = ring->cap;
    }
    if (length == 0)
        return;
    /* It wraps only at its cap, so that what is in it lies in one piece while it grows. */
    ring_grow(ring, ring->size + length);
    if (ring->size + length > ring->cap)
        ring_drop(ring, ring->size + length - ring->cap);
    size_t at = (ring->start + ring->size) % ring->cap;
    size_t first = ring->cap - at < length ? ring->cap - at : length;
    memcpy(ring->bytes + at, bytes, first);
    memcpy(ring->bytes, bytes + first, length - first);
    ring->size += length;
}

const uint8_t *ring_front(const struct ring *ring, size_t limit, size_t *length) {
    size_t run = ring->size;
    if (ring->cap && run > ring->cap - ring->start)
        run = ring->cap - ring->start;
    *length = run < limit ? run : limit;
    return ring->bytes + ring->start;
}

void ring_drop(struct ring *ring, size_t length) {
    ring->start = ring->cap ? (ring->start + length) % ring->cap : 0;
    ring->size -= length;
}

void ring_free(struct ring *ring) {
    pages_free(ring->bytes, ring->allocated);
    memset(ring, 0, sizeof *ring);
}
