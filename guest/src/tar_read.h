#ifndef BELLJAR_TAR_READ_H
#define BELLJAR_TAR_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One entry, its long names (GNU or pax) already put together. */
struct tar_entry {
    char type;
    uint32_t mode;
    int64_t mtime;
    uint64_t size;
    char *name;
    char *link;
};

/* Fills exactly `length` bytes, or does not return. */
typedef void tar_source(void *bytes, size_t length);

/* False at the end of the archive, and with `*error` set where it is none. */
bool tar_next(tar_source *source, struct tar_entry *entry, int *error);
void tar_entry_free(struct tar_entry *entry);

#endif
