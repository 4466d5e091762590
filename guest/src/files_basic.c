#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "limits.h"

const char *files_kind(mode_t mode) {
    switch (mode & S_IFMT) {
    case S_IFREG:
        return "file";
    case S_IFDIR:
        return "directory";
    case S_IFLNK:
        return "link";
    case S_IFIFO:
        return "fifo";
    case S_IFSOCK:
        return "socket";
    default:
        return "device";
    }
}

static void write_status(struct writer *writer, const struct stat *status) {
    writer_text(writer, FIELD_KIND, files_kind(status->st_mode));
    writer_number(writer, FIELD_SIZE, (uint64_t)status->st_size);
    writer_number(writer, FIELD_MODE, status->st_mode & 07777);
    writer_number(writer, FIELD_MTIME_NS, (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec);
    writer_number(writer, FIELD_UID, status->st_uid);
    writer_number(writer, FIELD_GID, status->st_gid);
}

_Noreturn void files_stat(const struct file_request *request) {
    struct writer writer = {0};
    struct stat status;
    char link[4096];
    if (fstatat(AT_FDCWD, request->path, &status, request->no_follow ? AT_SYMLINK_NOFOLLOW : 0) != 0)
        files_fail(errno);
    write_status(&writer, &status);
    ssize_t length = S_ISLNK(status.st_mode) ? readlink(request->path, link, sizeof link) : -1;
    if (length >= 0)
        writer_bytes(&writer, FIELD_LINK, link, (size_t)length);
    files_done(&writer);
}

int files_open_regular(int folder, const char *name, int flags, struct stat *status) {
    int no_follow = flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
    if (fstatat(folder, name, status, no_follow) != 0)
        return -1;
    int fd = -1;
    if (S_ISREG(status->st_mode))
        fd = openat(folder, name, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    else
        errno = S_ISDIR(status->st_mode) ? EISDIR : S_ISLNK(status->st_mode) ? ELOOP : ENXIO;
    if (fd >= 0 && (fstat(fd, status) != 0 || !S_ISREG(status->st_mode))) {
        close(fd);
        errno = ENXIO;
        return -1;
    }
    return fd;
}

/* Files of /proc say that they are empty, so those are read to their end; others up to the size they had. */
_Noreturn void files_read(const struct file_request *request) {
    static uint8_t chunk[DATA_MAX];
    struct stat status;
    int fd = files_open_regular(AT_FDCWD, request->path, O_RDONLY, &status);
    if (fd < 0)
        files_fail(errno);
    uint64_t size = (uint64_t)status.st_size, available = request->offset < size ? size - request->offset : 0;
    uint64_t left = size ? available : UINT64_MAX;
    if (request->has_length && request->length < left)
        left = request->length;
    if (size && left > request->limit)
        files_too_large(size);
    uint64_t sent = 0;
    while (left) {
        ssize_t got = pread(fd, chunk, left < sizeof chunk ? left : sizeof chunk, (off_t)(request->offset + sent));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno != EAGAIN)
            files_fail(errno);
        if (got <= 0)
            break;
        if ((sent += (uint64_t)got) > request->limit)
            files_too_large(sent);
        files_send(chunk, (size_t)got);
        left -= (uint64_t)got;
    }
    struct writer writer = {0};
    writer_number(&writer, FIELD_SIZE, sent);
    files_done(&writer);
}

_Noreturn void files_list(const struct file_request *request) {
    struct writer writer = {0};
    struct dirent *entry;
    DIR *directory = opendir(request->path);
    if (!directory)
        files_fail(errno);
    while ((entry = readdir(directory))) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        writer_text(&writer, FIELD_NAME, entry->d_name);
        write_status(&writer, &status);
        if (writer.length > DATA_MAX / 2) {
            files_send(writer.bytes, writer.length);
            writer.length = 0;
        }
    }
    files_send(writer.bytes ? writer.bytes : (const uint8_t *)"", writer.length);
    writer.length = 0;
    files_done(&writer);
}

static int remove_below(int folder, const char *name) {
    if (unlinkat(folder, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno;
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    if (!directory)
        return errno == ENOTDIR ? EPERM : errno;
    int error = 0;
    struct dirent *entry;
    while (!error && (errno = 0, entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = remove_below(fd, entry->d_name);
    closedir(directory);
    if (!error && unlinkat(folder, name, AT_REMOVEDIR) != 0)
        error = errno;
    return error;
}

_Noreturn void files_remove(const struct file_request *request) {
    struct writer writer = {0};
    struct stat status;
    int error = 0;
    if (lstat(request->path, &status) != 0)
        files_fail(errno);
    if (request->recursive)
        error = remove_below(AT_FDCWD, request->path);
    else if (S_ISDIR(status.st_mode))
        error = EISDIR;
    else if (unlinkat(AT_FDCWD, request->path, 0) != 0)
        error = errno;
    if (error)
        files_fail(error);
    files_done(&writer);
}

int files_make_parents(const char *path) {
    char *copy = must_copy(path);
    int error = 0;
    for (char *at = copy + 1; *at && !error; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        if (mkdir(copy, 0755) != 0 && errno != EEXIST) {
            struct stat status;
            error = errno;
            if (stat(copy, &status) == 0 && S_ISDIR(status.st_mode))
                error = 0; /* a read-only or forbidden parent that exists is no obstacle */
        }
        *at = '/';
    }
    free(copy);
    return error;
}

_Noreturn void files_mkdir(const struct file_request *request) {
    struct writer writer = {0};
    struct stat status;
    int error = request->parents ? files_make_parents(request->path) : 0;
    if (error)
        files_fail(error);
    if (mkdir(request->path, request->has_mode ? request->mode : 0755) != 0) {
        error = errno;
        if (!request->parents || error != EEXIST || stat(request->path, &status) != 0 || !S_ISDIR(status.st_mode))
            files_fail(error);
    }
    files_done(&writer);
}

bool files_write_all(int fd, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    while (length) {
        ssize_t written = write(fd, at, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return false;
        at += written;
        length -= (size_t)written;
    }
    return true;
}
