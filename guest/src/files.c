#define _GNU_SOURCE
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest.h"
#include "identity.h"
#include "kinds.h"
#include "launch.h"
#include "transport.h"

enum { FD_SOCKET = 3 };

void (*files_abort)(void);

static bool take_text(struct file_request *request, const struct field *field) {
    char **target = field->tag == FIELD_PATH ? &request->path : &request->user;
    free(*target);
    *target = field_text(field);
    return *target != NULL;
}

static void take_number(struct file_request *request, const struct field *field) {
    uint64_t value = field_number(field);
    const struct {
        enum field_tag tag;
        uint64_t *number;
    } numbers[] = {{FIELD_OFFSET, &request->offset}, {FIELD_LENGTH, &request->length}, {FIELD_LIMIT, &request->limit}, {FIELD_CREDIT, &request->credit}};
    const struct {
        enum field_tag tag;
        bool *flag;
    } flags[] = {{FIELD_PARENTS, &request->parents}, {FIELD_APPEND, &request->append},       {FIELD_REPLACE, &request->replace},
                 {FIELD_RECURSIVE, &request->recursive}, {FIELD_NO_FOLLOW, &request->no_follow}, {FIELD_LENGTH, &request->has_length},
                 {FIELD_MODE, &request->has_mode}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].tag == field->tag)
            *numbers[i].number = value;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].tag == field->tag)
            *flags[i].flag = field->tag == FIELD_LENGTH || field->tag == FIELD_MODE || value;
    if (field->tag == FIELD_MODE)
        request->mode = (uint32_t)value & 07777;
}

bool file_request_parse(const struct frame *frame, struct file_request *request) {
    struct fields fields;
    struct field field;
    memset(request, 0, sizeof *request);
    request->type = frame->type;
    request->limit = UINT64_MAX;
    fields_begin(&fields, frame->payload, frame->length);
    while (fields_next(&fields, &field)) {
        if (field.tag != FIELD_PATH && field.tag != FIELD_USER)
            take_number(request, &field);
        else if (!take_text(request, &field))
            return false;
    }
    if (fields.bad)
        _exit(65);
    if (!request->user && guest.user)
        request->user = must_copy(guest.user);
    return request->path && *request->path;
}

void file_request_free(struct file_request *request) {
    free(request->path);
    free(request->user);
}

void files_send(const void *bytes, size_t length) {
    static uint8_t packet[DATA_MAX + 2];
    packet[0] = FRAME_DATA;
    packet[1] = CHANNEL_STDOUT;
    memcpy(packet + 2, bytes, length);
    if (send(FD_SOCKET, packet, length + 2, MSG_NOSIGNAL) < 0) {
        if (files_abort)
            files_abort();
        _exit(1);
    }
}

size_t files_receive(const uint8_t **bytes) {
    static uint8_t packet[DATA_MAX + 2];
    ssize_t got;
    do
        got = recv(FD_SOCKET, packet, sizeof packet, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0) {
        if (files_abort)
            files_abort();
        _exit(1);
    }
    *bytes = packet + 1;
    return packet[0] == FRAME_DATA ? (size_t)got - 1 : 0;
}

static _Noreturn void send_result(struct writer *writer) {
    uint8_t *packet = must_alloc(writer->length + 1);
    packet[0] = FRAME_RESULT;
    if (writer->length)
        memcpy(packet + 1, writer->bytes, writer->length);
    send(FD_SOCKET, packet, writer->length + 1, MSG_NOSIGNAL);
    _exit(0);
}

_Noreturn void files_done(struct writer *writer) {
    send_result(writer);
}

static _Noreturn void fail_with(int kind, int error, const char *path) {
    struct writer writer = {0};
    writer_number(&writer, FIELD_ERROR, (uint64_t)kind);
    writer_number(&writer, FIELD_ERRNO, (uint64_t)error);
    if (path)
        writer_bytes(&writer, FIELD_PATH, path, strnlen(path, 4096));
    send_result(&writer);
}

_Noreturn void files_fail_at(int error, const char *path) {
    fail_with(kind_of_file_error(error), error, path);
}

_Noreturn void files_fail(int error) {
    files_fail_at(error, NULL);
}

_Noreturn void files_too_large(uint64_t size) {
    struct writer writer = {0};
    writer_number(&writer, FIELD_ERROR, ERROR_TOO_LARGE);
    writer_number(&writer, FIELD_ERRNO, EFBIG);
    writer_number(&writer, FIELD_SIZE, size);
    send_result(&writer);
}

static void become_user(const struct file_request *request) {
    struct identity identity;
    if (!request->user)
        return;
    if (!identity_resolve(request->user, guest.groups, guest.group_count, &identity))
        fail_with(ERROR_NO_SUCH_USER, 0, NULL);
    bool may_switch = geteuid() == 0 && !guest.local;
    if (!may_switch && identity.uid != geteuid())
        fail_with(ERROR_CANNOT_SWITCH_USER, EPERM, NULL);
    int error = may_switch ? identity_become(&identity, true) : 0;
    if (error)
        fail_with(error == EINVAL ? ERROR_NO_SUCH_USER : ERROR_CANNOT_SWITCH_USER, error, NULL);
}

_Noreturn void files_run(const struct file_request *request, int socket) {
    static void (*const operations[])(const struct file_request *) = {
        [FRAME_STAT] = files_stat,     [FRAME_READ] = files_read,   [FRAME_WRITE] = files_write, [FRAME_LIST] = files_list,
        [FRAME_REMOVE] = files_remove, [FRAME_MKDIR] = files_mkdir, [FRAME_PACK] = files_pack,   [FRAME_UNPACK] = files_unpack};
    transport_wipe();
    dup2(fcntl(socket, F_DUPFD, 64), FD_SOCKET);
    for (int fd = 0; fd < FD_SOCKET; fd++)
        close(fd);
    close_from(FD_SOCKET + 1);
    umask(0);
    become_user(request);
    if (guest.cwd && chdir(guest.cwd) != 0 && request->path[0] != '/')
        files_fail(errno);
    operations[request->type](request);
    _exit(1);
}
