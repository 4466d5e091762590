#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "../src/tar_read.h"
#include "../src/tar.h"

/* The archive reader on arbitrary bytes; checksums are made right so that the fuzzer gets past them. */
static const uint8_t *input;
static size_t left;
static jmp_buf out;

unsigned tar_checksum(const struct tar_header *header) {
    uint64_t value = 0;
    const char *text = header->checksum;
    for (size_t i = 0; i < sizeof header->checksum && text[i]; i++)
        if (text[i] >= '0' && text[i] <= '7')
            value = value * 8 + (uint64_t)(text[i] - '0');
    return (unsigned)value;
}

static void source(void *bytes, size_t length) {
    if (length > left)
        longjmp(out, 1);
    memcpy(bytes, input, length);
    input += length;
    left -= length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct tar_entry entry;
    int error = 0;
    input = data;
    left = size;
    if (setjmp(out) == 0)
        while (tar_next(source, &entry, &error)) {
            if (!entry.name || !entry.link || strlen(entry.name) > (1 << 17))
                abort();
            tar_entry_free(&entry);
        }
    tar_entry_free(&entry);
    return 0;
}
