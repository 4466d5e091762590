#include "wire.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *must_alloc(size_t size) {
    void *memory = calloc(1, size ? size : 1);
    if (!memory)
        _exit(70);
    return memory;
}

void *must_realloc(void *memory, size_t size) {
    void *grown = realloc(memory, size ? size : 1);
    if (!grown)
        _exit(70);
    return grown;
}

char *must_copy(const char *text) {
    size_t size = strlen(text) + 1;
    return memcpy(must_alloc(size), text, size);
}

uint64_t number_get(const uint8_t *bytes, size_t width) {
    uint64_t value = 0;
    for (size_t i = width; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

void number_put(uint8_t *bytes, size_t width, uint64_t value) {
    for (size_t i = 0; i < width; i++, value >>= 8)
        bytes[i] = (uint8_t)value;
}

enum parse_result frame_parse(const uint8_t *bytes, size_t available, size_t limit, struct frame *frame, size_t *consumed) {
    if (available < 4)
        return PARSE_MORE;
    size_t length = number_get(bytes, 4);
    if (length < FRAME_HEADER - 4 || length > limit)
        return PARSE_BAD;
    if (available >= 5 && bytes[4] != PROTOCOL_VERSION)
        return PARSE_BAD;
    if (available < 4 + length)
        return PARSE_MORE;
    if (number_get(bytes + 6, 2) != 0)
        return PARSE_BAD;
    frame->type = bytes[5];
    frame->id = (uint32_t)number_get(bytes + 8, 4);
    frame->nonce = bytes + 12;
    frame->payload = bytes + FRAME_HEADER;
    frame->length = length - (FRAME_HEADER - 4);
    *consumed = 4 + length;
    return PARSE_FRAME;
}

void frame_header(uint8_t header[FRAME_HEADER], const struct frame *frame) {
    number_put(header, 4, frame->length + FRAME_HEADER - 4);
    header[4] = PROTOCOL_VERSION;
    header[5] = frame->type;
    number_put(header + 6, 2, 0);
    number_put(header + 8, 4, frame->id);
    memcpy(header + 12, frame->nonce, NONCE_LENGTH);
}

void fields_begin(struct fields *fields, const void *bytes, size_t length) {
    fields->at = bytes;
    fields->end = fields->at + length;
    fields->bad = false;
}

bool fields_next(struct fields *fields, struct field *field) {
    size_t left = (size_t)(fields->end - fields->at);
    if (left == 0)
        return false;
    if (left < 6 || number_get(fields->at + 2, 4) > left - 6) {
        fields->bad = true;
        return false;
    }
    field->tag = (uint16_t)number_get(fields->at, 2);
    field->length = (uint32_t)number_get(fields->at + 2, 4);
    field->bytes = fields->at + 6;
    fields->at += 6 + field->length;
    return true;
}

uint64_t field_number(const struct field *field) {
    return number_get(field->bytes, field->length < 8 ? field->length : 8);
}

char *field_text(const struct field *field) {
    if (memchr(field->bytes, 0, field->length))
        return NULL;
    char *text = must_alloc((size_t)field->length + 1);
    memcpy(text, field->bytes, field->length);
    return text;
}

static uint8_t *writer_room(struct writer *writer, size_t size) {
    if (writer->length + size > writer->capacity) {
        writer->capacity = (writer->length + size) * 2;
        writer->bytes = must_realloc(writer->bytes, writer->capacity);
    }
    uint8_t *at = writer->bytes + writer->length;
    writer->length += size;
    return at;
}

void writer_bytes(struct writer *writer, uint16_t tag, const void *bytes, size_t length) {
    uint8_t *at = writer_room(writer, 6 + length);
    number_put(at, 2, tag);
    number_put(at + 2, 4, length);
    if (length)
        memcpy(at + 6, bytes, length);
}

void writer_number(struct writer *writer, uint16_t tag, uint64_t value) {
    uint8_t bytes[8];
    number_put(bytes, 8, value);
    writer_bytes(writer, tag, bytes, 8);
}

void writer_text(struct writer *writer, uint16_t tag, const char *text) {
    writer_bytes(writer, tag, text, strlen(text));
}

void writer_free(struct writer *writer) {
    free(writer->bytes);
    memset(writer, 0, sizeof *writer);
}
