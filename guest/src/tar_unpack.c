#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "tar.h"
#include "tar_read.h"

/* Modes of directories are set at the end: one without write permission could not be filled. */
struct folder_mode {
    struct folder_mode *next;
    uint32_t mode;
    char name[];
};

static int root = -1;
static bool replace;
static struct folder_mode *folder_modes;

static const uint8_t *pending;
static size_t pending_length;
static bool input_ended;

static size_t take_some(const uint8_t **bytes, size_t limit) {
    if (pending_length == 0 && !input_ended) {
        pending_length = files_receive(&pending);
        input_ended = pending_length == 0;
    }
    size_t length = pending_length < limit ? pending_length : limit;
    *bytes = pending;
    pending += length;
    pending_length -= length;
    return length;
}

static void take_exactly(void *bytes, size_t length) {
    uint8_t *at = bytes;
    while (length) {
        const uint8_t *part;
        size_t got = take_some(&part, length);
        if (got == 0)
            files_fail(EBADMSG);
        memcpy(at, part, got);
        at += got;
        length -= got;
    }
}

/* Opens the folder `name` in `parent`, made where it is missing; links are never followed. */
static int enter(int parent, const char *name, const char *path) {
    int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);
    if (fd < 0 && replace && (errno == ENOTDIR || errno == ELOOP) && unlinkat(parent, name, 0) == 0)
        errno = ENOENT;
    if (fd < 0 && errno == ENOENT) {
        if (mkdirat(parent, name, 0755) != 0 && errno != EEXIST)
            files_fail_at(errno, path);
        fd = openat(parent, name, flags);
    }
    if (fd < 0)
        files_fail_at(errno, path);
    return fd;
}

/* Walks from the root to the folder of `path`; `*last` is the final component, "" for the root itself. */
static int enter_parent(const char *path, char **last) {
    char *copy = must_copy(path), *rest = copy, *name;
    int fd = dup(root);
    *last = must_copy("");
    while ((name = strsep(&rest, "/"))) {
        if (!*name || strcmp(name, ".") == 0)
            continue;
        if (strcmp(name, "..") == 0)
            files_fail_at(EINVAL, path);
        if (**last) {
            int next = enter(fd, *last, path);
            close(fd);
            fd = next;
        }
        free(*last);
        *last = must_copy(name);
    }
    free(copy);
    return fd;
}

static void make_way(int parent, const char *name, const char *path) {
    if (unlinkat(parent, name, 0) != 0 && errno != ENOENT)
        files_fail_at(errno == EPERM ? EISDIR : errno, path);
}

static void skip_content(const struct tar_entry *entry) {
    uint64_t left = (entry->size + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    while (left) {
        const uint8_t *part;
        size_t got = take_some(&part, left);
        if (got == 0)
            files_fail(EBADMSG);
        left -= got;
    }
}

static void unpack_file(int parent, const char *name, const struct tar_entry *entry) {
    uint8_t padding[TAR_BLOCK];
    uint64_t left = entry->size;
    make_way(parent, name, entry->name);
    int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        files_fail_at(errno, entry->name);
    while (left) {
        const uint8_t *part;
        size_t got = take_some(&part, left);
        if (got == 0)
            files_fail(EBADMSG);
        if (!files_write_all(fd, part, got))
            files_fail_at(errno, entry->name);
        left -= got;
    }
    take_exactly(padding, (TAR_BLOCK - entry->size % TAR_BLOCK) % TAR_BLOCK);
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = entry->mtime}};
    futimens(fd, times);
    if (fchmod(fd, entry->mode) != 0)
        files_fail_at(errno, entry->name);
    close(fd);
}

static void unpack_folder(int parent, const char *name, const struct tar_entry *entry) {
    int fd = *name ? enter(parent, name, entry->name) : dup(root);
    close(fd);
    struct folder_mode *later = must_alloc(sizeof *later + strlen(entry->name) + 1);
    strcpy(later->name, entry->name);
    later->mode = entry->mode;
    later->next = folder_modes;
    folder_modes = later;
}

static void unpack_hard_link(int parent, const char *name, const struct tar_entry *entry) {
    char *target;
    int folder = enter_parent(entry->link, &target);
    make_way(parent, name, entry->name);
    if (linkat(folder, target, parent, name, 0) != 0)
        files_fail_at(errno, entry->name);
    free(target);
    close(folder);
}

static void unpack_entry(const struct tar_entry *entry) {
    char *name;
    int parent = enter_parent(entry->name, &name);
    bool is_file = entry->type == '0' || entry->type == '7';
    if (entry->type == '5') {
        unpack_folder(parent, name, entry);
    } else if (!*name) {
        files_fail_at(EINVAL, entry->name);
    } else if (entry->type == '2') {
        make_way(parent, name, entry->name);
        if (symlinkat(entry->link, parent, name) != 0)
            files_fail_at(errno, entry->name);
    } else if (entry->type == '1') {
        unpack_hard_link(parent, name, entry);
    } else if (is_file) {
        unpack_file(parent, name, entry);
    } else {
        files_fail_at(ENXIO, entry->name);
    }
    if (!is_file)
        skip_content(entry);
    free(name);
    close(parent);
}

static void set_folder_modes(void) {
    for (struct folder_mode *item = folder_modes; item; item = item->next) {
        char *name;
        int parent = enter_parent(item->name, &name);
        int fd = *name ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : dup(root);
        if (fd >= 0 && fchmod(fd, item->mode) != 0 && errno != EPERM)
            files_fail_at(errno, item->name);
        close(fd);
        close(parent);
        free(name);
    }
}

static void open_root(const struct file_request *request) {
    struct stat status;
    int error = files_make_parents(request->path);
    if (error)
        files_fail(error);
    if (replace && lstat(request->path, &status) == 0 && !S_ISDIR(status.st_mode))
        unlink(request->path);
    if (mkdir(request->path, request->has_mode ? request->mode : 0755) != 0 && errno != EEXIST)
        files_fail(errno);
    root = open(request->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (replace ? O_NOFOLLOW : 0));
    if (root < 0)
        files_fail(errno);
}

_Noreturn void files_unpack(const struct file_request *request) {
    struct writer writer = {0};
    struct tar_entry entry;
    const uint8_t *rest;
    int error;
    replace = request->replace;
    open_root(request);
    while (tar_next(take_exactly, &entry, &error)) {
        unpack_entry(&entry);
        tar_entry_free(&entry);
    }
    if (error)
        files_fail(error);
    while (take_some(&rest, SIZE_MAX) > 0)
        ;
    set_folder_modes();
    files_done(&writer);
}
