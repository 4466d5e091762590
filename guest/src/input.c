#include "input.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "limits.h"
#include "transport.h"

struct input_chunk {
    struct input_chunk *next;
    size_t length;
    size_t sent;
    uint8_t bytes[]; /* the frame type, then the data */
};

static short interest(void *owner) {
    struct input *input = owner;
    return input->head ? POLLOUT : 0;
}

static void drop_head(struct input *input) {
    struct input_chunk *chunk = input->head;
    input->head = chunk->next;
    if (!input->head)
        input->tail = &input->head;
    input->waiting -= chunk->length;
    input->owed += chunk->length;
    free(chunk);
}

static void grant(struct input *input) {
    if (input->owed == 0 || input->ended || (input->owed < INPUT_WINDOW / 4 && input->head))
        return;
    transport_send_credit(input->id, CHANNEL_INPUT, input->owed);
    input->owed = 0;
}

static void break_off(struct input *input) {
    input->broken = true;
    while (input->head)
        drop_head(input);
}

static bool send_head(struct input *input) {
    struct input_chunk *chunk = input->head;
    ssize_t sent = input->packets ? send(input->watch.fd, chunk->bytes, chunk->length + 1, MSG_NOSIGNAL | MSG_DONTWAIT)
                                  : write(input->watch.fd, chunk->bytes + 1 + chunk->sent, chunk->length - chunk->sent);
    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR)
            break_off(input);
        return false;
    }
    chunk->sent += input->packets ? chunk->length : (size_t)sent;
    if (chunk->sent < chunk->length)
        return false;
    drop_head(input);
    return true;
}

static void flush(struct input *input) {
    while (input->head && send_head(input))
        ;
    grant(input);
    if (!input->head && input->ended && input->finished)
        input->finished(input);
}

static void ready(void *owner, short events) {
    (void)events;
    flush(owner);
}

void input_open(struct input *input, int fd, uint32_t id) {
    input->watch = (struct watch){.fd = fd, .interest = interest, .ready = ready, .owner = input};
    input->id = id;
    input->tail = &input->head;
    loop_watch(&input->watch);
}

static void append_chunk(struct input *input, uint8_t type, const uint8_t *bytes, size_t length) {
    struct input_chunk *chunk = malloc(sizeof *chunk + length + 1);
    if (!chunk)
        _exit(70);
    *chunk = (struct input_chunk){.length = length};
    chunk->bytes[0] = type;
    if (length)
        memcpy(chunk->bytes + 1, bytes, length);
    *input->tail = chunk;
    input->tail = &chunk->next;
    input->waiting += length;
}

bool input_put(struct input *input, const uint8_t *bytes, size_t length) {
    if (input->ended || length == 0)
        return true;
    if (input->waiting + input->owed + length > INPUT_WINDOW)
        return false;
    append_chunk(input, FRAME_DATA, bytes, length);
    if (input->broken)
        break_off(input);
    flush(input);
    return true;
}

void input_end(struct input *input) {
    if (input->ended)
        return;
    input->ended = true;
    if (input->packets)
        append_chunk(input, FRAME_END, NULL, 0);
    flush(input);
}

void input_close(struct input *input) {
    input->ended = true;
    while (input->head)
        drop_head(input);
    if (input->watch.fd < 0)
        return;
    loop_unwatch(&input->watch);
    close(input->watch.fd);
    input->watch.fd = -1;
}
