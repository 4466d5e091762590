#define _GNU_SOURCE
#include "transport.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "limits.h"
#include "loop.h"
#include "pages.h"

/* Kept without its nonce, which is added when it is written: a forked child can so forget all copies. */
struct queued {
    struct queued *next;
    uint32_t id;
    uint8_t type;
    size_t length;
    size_t sent;
    uint8_t payload[];
};

static struct transport_events events;
static struct watch input_watch, output_watch;
static uint8_t nonce[NONCE_LENGTH];
static bool accepted, closed;

static uint8_t *received;
static size_t received_length, received_capacity;

static struct queued *queue_head, **queue_tail = &queue_head;
static size_t queue_bytes;

void transport_close(void) {
    if (closed)
        return;
    closed = true;
    loop_unwatch(&input_watch);
    loop_unwatch(&output_watch);
    close(input_watch.fd);
    close(output_watch.fd);
}

static void end(void) {
    transport_close();
    events.ended();
}

static void parse_received(void) {
    size_t at = 0;
    while (!closed) {
        struct frame frame;
        size_t used = 0;
        size_t limit = accepted ? FRAME_MAX : FRAME_MAX_BEFORE_HELLO;
        enum parse_result result = frame_parse(received + at, received_length - at, limit, &frame, &used);
        if (result == PARSE_MORE)
            break;
        if (result == PARSE_BAD || (accepted && memcmp(frame.nonce, nonce, NONCE_LENGTH) != 0))
            _exit(65);
        at += used;
        events.frame(&frame);
    }
    if (at)
        memmove(received, received + at, received_length - at);
    received_length -= at;
    if (received_length == 0 && received_capacity > 4 * READ_CHUNK) {
        pages_free(received, received_capacity);
        received = NULL;
        received_capacity = 0;
    }
}

static void input_ready(void *owner, short ready) {
    (void)owner;
    (void)ready;
    if (received_capacity - received_length < READ_CHUNK) {
        size_t capacity = received_length + READ_CHUNK + received_length / 2;
        received = pages_resize(received, received_capacity, capacity);
        received_capacity = capacity;
    }
    ssize_t got = read(input_watch.fd, received + received_length, received_capacity - received_length);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        end();
        return;
    }
    received_length += (size_t)got;
    parse_received();
}

static short input_interest(void *owner) {
    (void)owner;
    return POLLIN;
}

static short output_interest(void *owner) {
    (void)owner;
    return queue_head ? POLLOUT : 0;
}

static size_t gather(struct iovec *vectors, uint8_t (*headers)[FRAME_HEADER], size_t limit) {
    size_t count = 0, frames = 0;
    for (struct queued *item = queue_head; item && frames < limit; item = item->next, frames++) {
        struct frame frame = {.type = item->type, .id = item->id, .nonce = nonce, .length = item->length};
        frame_header(headers[frames], &frame);
        size_t skip = item->sent;
        if (skip < FRAME_HEADER) {
            vectors[count++] = (struct iovec){headers[frames] + skip, FRAME_HEADER - skip};
            skip = FRAME_HEADER;
        }
        if (item->length > skip - FRAME_HEADER)
            vectors[count++] = (struct iovec){item->payload + skip - FRAME_HEADER, item->length - (skip - FRAME_HEADER)};
    }
    return count;
}

static void drop_sent(size_t sent) {
    while (queue_head) {
        struct queued *item = queue_head;
        size_t left = FRAME_HEADER + item->length - item->sent;
        if (sent < left) {
            item->sent += sent;
            return;
        }
        sent -= left;
        queue_bytes -= FRAME_HEADER + item->length;
        queue_head = item->next;
        if (!queue_head)
            queue_tail = &queue_head;
        free(item);
    }
}

void transport_flush(void) {
    while (queue_head && !closed) {
        struct iovec vectors[32];
        uint8_t headers[16][FRAME_HEADER];
        size_t count = gather(vectors, headers, 16);
        ssize_t sent = writev(output_watch.fd, vectors, (int)count);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            return;
        if (sent < 0) {
            end();
            return;
        }
        drop_sent((size_t)sent);
    }
}

static void output_ready(void *owner, short ready) {
    (void)owner;
    (void)ready;
    transport_flush();
}

static struct queued *enqueue(uint8_t type, uint32_t id, size_t length) {
    if (queue_bytes > OUTPUT_QUEUE_MAX)
        _exit(71);
    struct queued *item = malloc(sizeof *item + length);
    if (!item)
        _exit(70);
    item->next = NULL;
    item->id = id;
    item->type = type;
    item->length = length;
    item->sent = 0;
    *queue_tail = item;
    queue_tail = &item->next;
    queue_bytes += FRAME_HEADER + length;
    return item;
}

void transport_send(uint8_t type, uint32_t id, const void *payload, size_t length) {
    if (closed)
        return;
    struct queued *item = enqueue(type, id, length);
    if (length)
        memcpy(item->payload, payload, length);
}

void transport_send_fields(uint8_t type, uint32_t id, struct writer *writer) {
    transport_send(type, id, writer->bytes, writer->length);
    writer_free(writer);
}

void transport_send_data(uint32_t id, uint8_t channel, const void *bytes, size_t length) {
    if (closed)
        return;
    struct queued *item = enqueue(FRAME_DATA, id, length + 1);
    item->payload[0] = channel;
    memcpy(item->payload + 1, bytes, length);
}

void transport_send_credit(uint32_t id, uint8_t channel, uint64_t bytes) {
    uint8_t payload[9] = {channel};
    number_put(payload + 1, 8, bytes);
    transport_send(FRAME_CREDIT, id, payload, sizeof payload);
}

bool transport_room(void) {
    return closed || queue_bytes < OUTPUT_HIGH_WATER;
}

bool transport_closed(void) {
    return closed;
}

void transport_accept(const uint8_t given[NONCE_LENGTH]) {
    memcpy(nonce, given, NONCE_LENGTH);
    accepted = true;
}

void transport_wipe(void) {
    explicit_bzero(nonce, sizeof nonce); /* what was received lies in pages that no child has */
}

static void set_nonblocking(int fd) {
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

void transport_open(int input, int output, const struct transport_events *handlers) {
    events = *handlers;
    set_nonblocking(input);
    set_nonblocking(output);
    input_watch = (struct watch){.fd = input, .interest = input_interest, .ready = input_ready};
    output_watch = (struct watch){.fd = output, .interest = output_interest, .ready = output_ready};
    loop_watch(&input_watch);
    loop_watch(&output_watch);
}
