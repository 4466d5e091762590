#include "output.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "limits.h"
#include "transport.h"

static uint8_t scratch[DATA_MAX];

/* A kept sandbox whose host has left lets all output pass. */
static bool held_by_credit(const struct output *output) {
    return !output->done && output->streamed && !transport_closed();
}

static short interest(void *owner) {
    struct output *output = owner;
    return held_by_credit(output) && (output->credit <= 0 || !transport_room()) ? 0 : POLLIN;
}

void output_finish(struct output *output) {
    if (output->done)
        return;
    output->done = true;
    if (output->streamed) {
        uint8_t payload[9] = {output->channel};
        number_put(payload + 1, 8, output->total);
        transport_send(FRAME_END, output->id, payload, sizeof payload);
    }
    output->changed(output->owner);
}

static void take(struct output *output, size_t length) {
    if (output->done)
        return;
    output->total += length;
    if (output->streamed) {
        transport_send_data(output->id, output->channel, scratch, length);
        output->credit -= (int64_t)length;
    } else {
        ring_put(&output->ring, scratch, length);
    }
    if (output->drain_left > 0)
        output->drain_left -= (int64_t)length;
}

static size_t wanted(const struct output *output) {
    int64_t size = sizeof scratch;
    if (held_by_credit(output) && output->credit < size)
        size = output->credit;
    if (!output->done && output->drain_left > 0 && output->drain_left < size)
        size = output->drain_left;
    return (size_t)size;
}

/* Reads once; false when there was nothing. */
static bool read_once(struct output *output) {
    ssize_t got = read(output->watch.fd, scratch, wanted(output));
    if (got < 0 && errno == EINTR)
        return true;
    if (got < 0 && errno == EAGAIN) {
        if (output->drain_left >= 0 && !output->terminal)
            output_finish(output);
        return false;
    }
    if (got <= 0) {
        loop_unwatch(&output->watch);
        close(output->watch.fd);
        output->watch.fd = -1;
        output_finish(output);
        return false;
    }
    take(output, (size_t)got);
    if (output->drain_left == 0)
        output_finish(output);
    return true;
}

static void ready(void *owner, short events) {
    (void)events;
    struct output *output = owner;
    if (interest(output))
        read_once(output);
}

void output_open(struct output *output, int fd) {
    output->drain_left = -1;
    output->watch = (struct watch){.fd = fd, .interest = interest, .ready = ready, .owner = output};
    loop_watch(&output->watch);
}

void output_drain(struct output *output) {
    int waiting = 0;
    if (output->done)
        return;
    if (!output->terminal)
        ioctl(output->watch.fd, FIONREAD, &waiting);
    output->drain_left = output->terminal ? (int64_t)TERMINAL_DRAIN_MAX : waiting;
    if (waiting == 0 && !output->terminal) {
        output_finish(output);
        return;
    }
    while (!output->streamed && !output->done && read_once(output))
        ;
}

bool output_quiet(const struct output *output) {
    int waiting = 0;
    ioctl(output->watch.fd, FIONREAD, &waiting);
    return waiting == 0;
}

bool output_send_buffered(struct output *output) {
    size_t length;
    const uint8_t *front = ring_front(&output->ring, DATA_MAX, &length);
    if (length == 0)
        return false;
    transport_send_data(output->id, output->channel, front, length);
    ring_drop(&output->ring, length);
    if (output->ring.size == 0)
        ring_free(&output->ring);
    return true;
}

void output_close(struct output *output) {
    ring_free(&output->ring);
    if (output->watch.fd < 0)
        return;
    loop_unwatch(&output->watch);
    close(output->watch.fd);
    output->watch.fd = -1;
}
