#include "tar_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "limits.h"
#include "tar.h"
#include "wire.h"

static uint64_t get_number(const char *text, size_t width) {
    uint64_t value = 0;
    if ((uint8_t)text[0] & 0x80) {
        value = (uint8_t)text[0] & 0x7f;
        for (size_t i = 1; i < width; i++)
            value = value << 8 | (uint8_t)text[i];
        return value;
    }
    for (size_t i = 0; i < width && text[i]; i++)
        if (text[i] >= '0' && text[i] <= '7')
            value = value * 8 + (uint64_t)(text[i] - '0');
    return value;
}

static bool is_end(const struct tar_header *header) {
    static const struct tar_header zeros;
    return memcmp(header, &zeros, sizeof zeros) == 0;
}

static char *read_text(tar_source *source, uint64_t size) {
    char padding[TAR_BLOCK];
    char *text = must_alloc(size + 1);
    source(text, size);
    source(padding, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
    return text;
}

static void replace_text(char **target, char *text) {
    free(*target);
    *target = text;
}

/* Records of "LENGTH KEY=VALUE\n". */
static bool read_pax(struct tar_entry *entry, char *text, uint64_t size, bool *has_size) {
    char *at = text, *end = text + size;
    while (at < end) {
        char *key;
        size_t length = strtoul(at, &key, 10);
        if (length < 5 || length > (size_t)(end - at) || *key != ' ' || at[length - 1] != '\n')
            return false;
        char *value = memchr(key, '=', length - (size_t)(key - at));
        at[length - 1] = 0;
        at += length;
        if (!value)
            return false;
        *value++ = 0;
        if (strcmp(key + 1, "path") == 0)
            replace_text(&entry->name, must_copy(value));
        else if (strcmp(key + 1, "linkpath") == 0)
            replace_text(&entry->link, must_copy(value));
        else if (strcmp(key + 1, "size") == 0) {
            entry->size = strtoull(value, NULL, 10);
            *has_size = true;
        }
    }
    return true;
}

static char *header_name(const struct tar_header *header) {
    size_t prefix = strnlen(header->prefix, sizeof header->prefix), name = strnlen(header->name, sizeof header->name);
    char *text = must_alloc(prefix + name + 2);
    if (memcmp(header->magic, "ustar", 6) != 0)
        prefix = 0;
    memcpy(text, header->prefix, prefix);
    if (prefix)
        text[prefix++] = '/';
    memcpy(text + prefix, header->name, name);
    return text;
}

static void complete(struct tar_entry *entry, const struct tar_header *header, bool has_size) {
    entry->type = header->type ? header->type : '0';
    entry->mode = (uint32_t)get_number(header->mode, sizeof header->mode) & 07777;
    entry->mtime = (int64_t)get_number(header->mtime, sizeof header->mtime);
    if (!has_size)
        entry->size = get_number(header->size, sizeof header->size);
    if (!entry->name)
        entry->name = header_name(header);
    if (!entry->link) {
        entry->link = must_alloc(sizeof header->link + 1);
        memcpy(entry->link, header->link, strnlen(header->link, sizeof header->link));
    }
}

void tar_entry_free(struct tar_entry *entry) {
    free(entry->name);
    free(entry->link);
    memset(entry, 0, sizeof *entry);
}

bool tar_next(tar_source *source, struct tar_entry *entry, int *error) {
    bool has_size = false;
    memset(entry, 0, sizeof *entry);
    for (;;) {
        struct tar_header header;
        source(&header, sizeof header);
        *error = 0;
        if (is_end(&header))
            return false;
        uint64_t size = get_number(header.size, sizeof header.size);
        *error = EBADMSG;
        if (get_number(header.checksum, sizeof header.checksum) != tar_checksum(&header))
            return false;
        if (!strchr("LKxg", header.type) || !header.type) {
            complete(entry, &header, has_size);
            *error = 0;
            return true;
        }
        if (size > TAR_NAME_MAX)
            return false;
        char *text = read_text(source, size);
        bool good = true;
        if (header.type == 'L')
            replace_text(&entry->name, must_copy(text));
        else if (header.type == 'K')
            replace_text(&entry->link, must_copy(text));
        else if (header.type == 'x')
            good = read_pax(entry, text, size, &has_size);
        free(text);
        if (!good)
            return false;
    }
}
