#define _GNU_SOURCE
#include "oom.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop.h"
#include "transport.h"

static struct watch events_watch = {.fd = -1};
static uint64_t reported;

static int open_counter(void) {
    int fd = open("/sys/fs/cgroup/memory.events", O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : open("/sys/fs/cgroup/memory/memory.oom_control", O_RDONLY | O_CLOEXEC);
}

uint64_t oom_kills(void) {
    char text[1024];
    if (events_watch.fd < 0)
        return 0;
    ssize_t length = pread(events_watch.fd, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *count = strstr(text, "oom_kill ");
    return count ? strtoull(count + strlen("oom_kill "), NULL, 10) : 0;
}

uint64_t oom_check(void) {
    uint64_t kills = oom_kills();
    if (kills <= reported)
        return kills;
    reported = kills;
    struct writer writer = {0};
    writer_number(&writer, FIELD_OOM_KILLS, kills);
    transport_send_fields(FRAME_EVENT, 0, &writer);
    return kills;
}

static short interest(void *owner) {
    (void)owner;
    return POLLPRI;
}

static void ready(void *owner, short events) {
    (void)owner;
    (void)events;
    oom_check();
}

void oom_watch(void) {
    events_watch.fd = open_counter();
    reported = oom_kills();
    events_watch.interest = interest;
    events_watch.ready = ready;
    if (events_watch.fd >= 0 && access("/sys/fs/cgroup/memory.events", F_OK) == 0)
        loop_watch(&events_watch);
}
