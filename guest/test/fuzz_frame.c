#include <stdlib.h>
#include <string.h>

#include "../src/limits.h"
#include "../src/wire.h"

/* Frames, and in each its fields, as the guest walks them. Touches every byte, so that ASan sees a wrong bound. */
static unsigned touch(const uint8_t *bytes, size_t length) {
    unsigned sum = 0;
    for (size_t i = 0; i < length; i++)
        sum += bytes[i];
    return sum;
}

static unsigned walk_fields(const struct frame *frame) {
    struct fields fields;
    struct field field;
    unsigned sum = 0;
    fields_begin(&fields, frame->payload, frame->length);
    while (fields_next(&fields, &field)) {
        char *text = field_text(&field);
        sum += touch(field.bytes, field.length) + (unsigned)field_number(&field) + (text ? (unsigned)strlen(text) : 0);
        free(text);
    }
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static unsigned sink;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    struct frame frame;
    for (size_t at = 0, used = 0; at < size; at += used) {
        if (frame_parse(copy + at, size - at, FRAME_MAX, &frame, &used) != PARSE_FRAME)
            break;
        if (used < FRAME_HEADER || used > size - at)
            abort();
        sink ^= touch(frame.nonce, NONCE_LENGTH) + walk_fields(&frame);
    }
    free(copy);
    __asm__ volatile("" : : "r"(sink)); /* so that the walk is not optimised away */
    return 0;
}
