#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "files.h"
#include "input.h"
#include "limits.h"
#include "transport.h"

struct worker {
    struct worker *next;
    uint32_t id;
    pid_t pid;
    struct watch watch;
    struct input input;
    struct timer cancel_timer;
    int64_t credit;
    bool unlimited;
    bool cancelled;
    bool answered;
    bool reaped;
};

static struct worker *workers;

static struct worker *find(uint32_t id) {
    struct worker *worker = workers;
    while (worker && worker->id != id)
        worker = worker->next;
    return worker;
}

static void answer(struct worker *worker, int kind, int error) {
    struct writer writer = {0};
    writer_number(&writer, FIELD_ERROR, (uint64_t)kind);
    writer_number(&writer, FIELD_ERRNO, (uint64_t)error);
    transport_send_fields(FRAME_RESULT, worker->id, &writer);
    worker->answered = true;
}

static void free_when_done(struct worker *worker) {
    if (!worker->reaped || worker->watch.fd >= 0)
        return;
    for (struct worker **link = &workers; *link; link = &(*link)->next)
        if (*link == worker) {
            *link = worker->next;
            break;
        }
    timer_clear(&worker->cancel_timer);
    input_close(&worker->input);
    free(worker);
}

static short interest(void *owner) {
    struct worker *worker = owner;
    bool may_send = worker->unlimited || worker->credit > 0 || worker->cancelled;
    return may_send && transport_room() ? POLLIN : 0;
}

static void ready(void *owner, short events) {
    static uint8_t packet[DATA_MAX + 64];
    struct worker *worker = owner;
    (void)events;
    ssize_t got = recv(worker->watch.fd, packet, sizeof packet, MSG_DONTWAIT);
    /* A reset tells only that the worker ended without reading all; its answer may still be in the queue. */
    if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
        return;
    if (got <= 0) {
        loop_unwatch(&worker->watch);
        close(worker->watch.fd);
        worker->watch.fd = -1;
        if (!worker->answered)
            answer(worker, worker->cancelled ? ERROR_CANCELLED : ERROR_OTHER, worker->cancelled ? ECANCELED : EINTR);
        free_when_done(worker);
        return;
    }
    if (worker->answered || (worker->cancelled && packet[0] == FRAME_DATA))
        return;
    if (packet[0] == FRAME_RESULT)
        worker->answered = true;
    else
        worker->credit -= got - 2;
    transport_send(packet[0], worker->id, packet + 1, (size_t)got - 1);
}

static bool start(struct worker *worker, struct file_request *request) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    worker->pid = fork();
    if (worker->pid == 0)
        files_run(request, ends[1]);
    int error = errno;
    close(ends[1]);
    int input = worker->pid > 0 ? fcntl(ends[0], F_DUPFD_CLOEXEC, 0) : -1;
    if (worker->pid < 0 || input < 0) {
        close(ends[0]);
        errno = error;
        return false;
    }
    worker->watch = (struct watch){.fd = ends[0], .interest = interest, .ready = ready, .owner = worker};
    loop_watch(&worker->watch);
    worker->input.packets = true;
    input_open(&worker->input, input, worker->id);
    return true;
}

void worker_request(const struct frame *frame) {
    if (find(frame->id))
        _exit(65);
    struct file_request request;
    struct worker *worker = must_alloc(sizeof *worker);
    worker->id = frame->id;
    int error = file_request_parse(frame, &request) ? 0 : EINVAL;
    worker->unlimited = request.credit == 0;
    worker->credit = (int64_t)request.credit;
    if (!error && start(worker, &request)) {
        worker->next = workers;
        workers = worker;
    } else {
        answer(worker, error ? ERROR_INVALID : ERROR_RESOURCE, error ? error : errno);
        free(worker);
    }
    file_request_free(&request);
}

static void cancel_overdue(void *owner) {
    struct worker *worker = owner;
    if (!worker->reaped)
        kill(worker->pid, SIGKILL);
}

/* The worker meets the end of its input, removes what is half-written and ends; a stuck one is killed. */
void worker_cancel(uint32_t id) {
    struct worker *worker = find(id);
    if (!worker || worker->cancelled)
        return;
    worker->cancelled = true;
    shutdown(worker->watch.fd, SHUT_WR);
    worker->input.broken = true;
    worker->cancel_timer = (struct timer){.fire = cancel_overdue, .owner = worker};
    timer_set(&worker->cancel_timer, WORKER_CANCEL_MS);
}

bool worker_data(uint32_t id, const uint8_t *bytes, size_t length) {
    struct worker *worker = find(id);
    return !worker || input_put(&worker->input, bytes, length);
}

void worker_end(uint32_t id) {
    struct worker *worker = find(id);
    if (worker)
        input_end(&worker->input);
}

void worker_credit(uint32_t id, uint64_t bytes) {
    struct worker *worker = find(id);
    if (worker)
        worker->credit += (int64_t)bytes;
}

bool workers_active(void) {
    return workers != NULL;
}

size_t workers_known(pid_t **list, size_t count, size_t capacity) {
    for (struct worker *worker = workers; worker; worker = worker->next) {
        if (count == capacity)
            *list = must_realloc(*list, (capacity *= 2) * sizeof **list);
        if (!worker->reaped)
            (*list)[count++] = worker->pid;
    }
    return count;
}

bool workers_reaped(pid_t pid) {
    for (struct worker *worker = workers; worker; worker = worker->next)
        if (worker->pid == pid) {
            worker->reaped = true;
            free_when_done(worker);
            return true;
        }
    return false;
}
