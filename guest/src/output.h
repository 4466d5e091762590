#ifndef BELLJAR_OUTPUT_H
#define BELLJAR_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"
#include "pages.h"

/*
 * One output stream of a command. Streamed: bytes go out as they come, while there is credit. Buffered: the tail is
 * kept until the command has ended. Once done, what a background child still writes is read and dropped, so that it
 * neither blocks nor meets a closed pipe.
 */
struct output {
    struct watch watch;
    uint32_t id;
    uint8_t channel;
    bool streamed;
    bool terminal;
    bool done;
    int64_t drain_left; /* -1: the command has not ended */
    uint64_t total;
    int64_t credit;
    struct ring ring;
    void (*changed)(void *owner);
    void *owner;
};

void output_open(struct output *output, int fd);
/* The command has ended: what is in the pipe now is still its output, what comes later is not. */
void output_drain(struct output *output);
void output_finish(struct output *output);
/* A terminal hands its bytes over a little late; this says whether some are there now. */
bool output_quiet(const struct output *output);
/* Sends one chunk of what is buffered; false when there is none. */
bool output_send_buffered(struct output *output);
void output_close(struct output *output);

#endif
