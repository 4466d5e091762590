#ifndef BELLJAR_WIRE_H
#define BELLJAR_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

struct frame {
    uint8_t type;
    uint32_t id;
    const uint8_t *nonce;
    const uint8_t *payload;
    size_t length;
};

enum parse_result { PARSE_MORE, PARSE_FRAME, PARSE_BAD };

/* Looks at the start of `bytes`; on PARSE_FRAME `*consumed` is the frame's whole size. */
enum parse_result frame_parse(const uint8_t *bytes, size_t available, size_t limit, struct frame *frame, size_t *consumed);
void frame_header(uint8_t header[FRAME_HEADER], const struct frame *frame);

struct field {
    uint16_t tag;
    uint32_t length;
    const uint8_t *bytes;
};

struct fields {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

void fields_begin(struct fields *fields, const void *bytes, size_t length);
bool fields_next(struct fields *fields, struct field *field);
uint64_t field_number(const struct field *field);
/* A malloc'd, NUL-terminated copy; NULL where the field holds a NUL itself. */
char *field_text(const struct field *field);

struct writer {
    uint8_t *bytes;
    size_t length;
    size_t capacity;
};

void writer_number(struct writer *writer, uint16_t tag, uint64_t value);
void writer_bytes(struct writer *writer, uint16_t tag, const void *bytes, size_t length);
void writer_text(struct writer *writer, uint16_t tag, const char *text);
void writer_free(struct writer *writer);

uint64_t number_get(const uint8_t *bytes, size_t width);
void number_put(uint8_t *bytes, size_t width, uint64_t value);

/* Ends the process where memory is out: there is nothing sensible left to answer. */
void *must_alloc(size_t size);
void *must_realloc(void *memory, size_t size);
char *must_copy(const char *text);

#endif
