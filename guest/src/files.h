#ifndef BELLJAR_FILES_H
#define BELLJAR_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "wire.h"

struct file_request {
    uint8_t type;
    char *path;
    char *user;
    uint64_t offset;
    uint64_t length;
    uint64_t limit;
    uint64_t credit;
    uint32_t mode;
    bool has_length;
    bool has_mode;
    bool parents;
    bool append;
    bool replace; /* a link (or anything but a directory) in the way is replaced, not followed */
    bool recursive;
    bool no_follow;
};

bool file_request_parse(const struct frame *frame, struct file_request *request);
void file_request_free(struct file_request *request);

/* The worker's whole life: becomes the user, does the request, answers on the socket, exits. */
_Noreturn void files_run(const struct file_request *request, int socket);

/* For the operations below. */
void files_send(const void *bytes, size_t length);
/* The next data from the host; 0 at its end. Runs `files_abort` and exits where the host went away. */
size_t files_receive(const uint8_t **bytes);
extern void (*files_abort)(void);
_Noreturn void files_fail(int error);
_Noreturn void files_fail_at(int error, const char *path);
_Noreturn void files_done(struct writer *writer);
_Noreturn void files_too_large(uint64_t size);
bool files_write_all(int fd, const void *bytes, size_t length);
int files_make_parents(const char *path);
const char *files_kind(mode_t mode);
/* Refuses what is not a regular file, without opening what could block or act on being opened. */
int files_open_regular(int folder, const char *name, int flags, struct stat *status);

_Noreturn void files_stat(const struct file_request *request);
_Noreturn void files_read(const struct file_request *request);
_Noreturn void files_write(const struct file_request *request);
_Noreturn void files_list(const struct file_request *request);
_Noreturn void files_remove(const struct file_request *request);
_Noreturn void files_mkdir(const struct file_request *request);
_Noreturn void files_pack(const struct file_request *request);
_Noreturn void files_unpack(const struct file_request *request);

#endif
