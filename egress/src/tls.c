#include <string.h>
#include <unistd.h>

#include "egress.h"

enum { LARGEST = 32768, SERVER_NAME = 0 };

struct reader {
    const uint8_t *at, *end;
};

static bool take(struct reader *from, size_t size, struct reader *part) {
    if ((size_t)(from->end - from->at) < size)
        return false;
    *part = (struct reader){from->at, from->at + size};
    from->at += size;
    return true;
}

/* A vector whose length stands before it in so many bytes (RFC 8446 3.4). */
static bool take_vector(struct reader *from, int width, struct reader *part) {
    struct reader length;
    size_t size = 0;
    if (!take(from, (size_t)width, &length))
        return false;
    while (length.at < length.end)
        size = size << 8 | *length.at++;
    return take(from, size, part);
}

/* The server_name extension of a ClientHello (RFC 6066 3). */
static bool server_name(struct reader hello, char *name) {
    struct reader skipped, extensions, extension, type, list, entry;
    if (!take(&hello, 34, &skipped) || !take_vector(&hello, 1, &skipped) || !take_vector(&hello, 2, &skipped) ||
        !take_vector(&hello, 1, &skipped) || !take_vector(&hello, 2, &extensions))
        return false;
    while (take(&extensions, 2, &type) && take_vector(&extensions, 2, &extension)) {
        if ((type.at[0] << 8 | type.at[1]) != SERVER_NAME)
            continue;
        if (!take_vector(&extension, 2, &list) || !take(&list, 1, &type) || type.at[0] != 0 ||
            !take_vector(&list, 2, &entry) || entry.end - entry.at > NAME_MAX_LENGTH)
            return false;
        size_t length = (size_t)(entry.end - entry.at);
        memcpy(name, entry.at, length);
        name[length] = 0;
        return strlen(name) == length;
    }
    return false;
}

/* Joins the handshake of all records that are there: 1 whole, 0 more is needed, -1 no ClientHello. */
static int client_hello(struct reader from, char *name) {
    static uint8_t handshake[LARGEST];
    struct reader type, record, hello;
    size_t length = 0;
    while (take(&from, 3, &type)) {
        if (type.at[0] != 22 || type.at[1] != 3)
            return -1;
        if (!take_vector(&from, 2, &record))
            return 0;
        memcpy(handshake + length, record.at, (size_t)(record.end - record.at));
        length += (size_t)(record.end - record.at);
        struct reader message = {handshake, handshake + length};
        if (!take(&message, 1, &type))
            continue;
        if (type.at[0] != 1)
            return -1;
        if (take_vector(&message, 3, &hello))
            return server_name(hello, name) ? 1 : -1;
    }
    return 0;
}

/* The client says in the open which host it wants: it gets that one, or a fatal unrecognized_name. */
void serve_tls(int client) {
    static const uint8_t alert[] = {21, 3, 1, 0, 2, 2, 112};
    static uint8_t buffer[LARGEST];
    char name[NAME_MAX_LENGTH + 1];
    size_t length = 0;
    int state = 0;
    while (state == 0 && length < sizeof buffer) {
        long got = read_some(client, buffer + length, sizeof buffer - length);
        if (got <= 0)
            return;
        length += (size_t)got;
        state = client_hello((struct reader){buffer, buffer + length}, name);
    }
    int upstream = state == 1 ? outward_connect(name, 443) : OUTWARD_DENIED;
    if (upstream < 0)
        write_all(client, alert, sizeof alert);
    else if (write_all(upstream, buffer, length))
        relay(client, upstream);
}
