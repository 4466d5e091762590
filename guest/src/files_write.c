#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "files.h"
#include "limits.h"

/* One write: into a temporary file beside the target where that can be, else into the target itself. */
static struct {
    char target[PATH_MAX];
    char temporary[PATH_MAX];
    int existing; /* the target, opened for writing; -1 where there is none or it cannot be opened */
    bool found;
    struct stat status;
    int fd;
} job = {.existing = -1, .fd = -1};

static void remove_temporary(void) {
    if (*job.temporary)
        unlink(job.temporary);
}

static _Noreturn void fail_clean(int error) {
    remove_temporary();
    files_fail(error);
}

static size_t folder_length(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follows links of the last component by hand, so that the link stays and its target is what is replaced. */
static void resolve_target(const struct file_request *request) {
    char link[PATH_MAX];
    if (strlen(request->path) >= sizeof job.target)
        files_fail(ENAMETOOLONG);
    strcpy(job.target, request->path);
    for (int depth = 0; !request->replace; depth++) {
        ssize_t length = readlink(job.target, link, sizeof link - 1);
        if (length < 0)
            return;
        if (depth == LINK_DEPTH_MAX)
            files_fail(ELOOP);
        link[length] = 0;
        size_t folder = link[0] == '/' ? 0 : folder_length(job.target);
        if (folder + (size_t)length >= sizeof job.target)
            files_fail(ENAMETOOLONG);
        memcpy(job.target + folder, link, (size_t)length + 1);
    }
}

/* Whether the user may write to what is there is asked of the kernel by opening it. */
static void examine_target(const struct file_request *request) {
    if (job.target[strlen(job.target) - 1] == '/')
        files_fail(EISDIR);
    job.found = lstat(job.target, &job.status) == 0;
    if (!job.found && errno != ENOENT)
        files_fail(errno);
    if (!job.found)
        return;
    if (S_ISDIR(job.status.st_mode))
        files_fail(EISDIR);
    if (request->replace)
        return;
    int append = request->append ? O_APPEND : 0;
    job.existing = files_open_regular(AT_FDCWD, job.target, O_WRONLY | O_NOFOLLOW | append, &job.status);
    if (job.existing < 0 && errno != ETXTBSY)
        files_fail(errno);
}

static bool open_temporary(void) {
    uint64_t random = 0;
    size_t folder = folder_length(job.target);
    for (int attempt = 0; attempt < 16; attempt++) {
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
            random = (uint64_t)getpid() << 32 | (uint64_t)attempt;
        int size = snprintf(job.temporary, sizeof job.temporary, "%.*s.belljar-%016llx", (int)folder, job.target, (unsigned long long)random);
        if (size < 0 || (size_t)size >= sizeof job.temporary) {
            errno = ENAMETOOLONG;
            break;
        }
        job.fd = open(job.temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (job.fd >= 0)
            return true;
        if (errno != EEXIST)
            break;
    }
    *job.temporary = 0;
    return false;
}

static void open_in_place(const struct file_request *request, int error) {
    if (job.existing < 0 && request->append && !job.found) {
        job.existing = open(job.target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0644);
        error = errno;
        if (job.existing >= 0 && request->has_mode)
            fchmod(job.existing, request->mode);
    }
    if (job.existing < 0)
        files_fail(error);
    if (!request->append && ftruncate(job.existing, 0) != 0)
        files_fail(errno);
    job.fd = job.existing;
}

static uint64_t take_content(void) {
    const uint8_t *bytes;
    uint64_t total = 0;
    size_t length;
    while ((length = files_receive(&bytes)) > 0) {
        if (!files_write_all(job.fd, bytes, length))
            fail_clean(errno);
        total += length;
    }
    return total;
}

static void copy_over(void) {
    static uint8_t chunk[DATA_MAX];
    int from = open(job.temporary, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    ssize_t got;
    if (from < 0 || ftruncate(job.existing, 0) != 0)
        fail_clean(errno);
    while ((got = read(from, chunk, sizeof chunk)) > 0)
        if (!files_write_all(job.existing, chunk, (size_t)got))
            fail_clean(errno);
    remove_temporary();
}

/* Mounted files (/etc/hosts) cannot be renamed over; nor can another's file in a sticky folder. */
static bool put_in_place(const struct file_request *request) {
    mode_t mode = request->has_mode ? request->mode : job.found && S_ISREG(job.status.st_mode) ? job.status.st_mode & 07777 : 0644;
    if (!request->replace && job.found && fchown(job.fd, job.status.st_uid, job.status.st_gid) != 0)
        errno = 0; /* only root can leave a file with its owner */
    if (fchmod(job.fd, mode) != 0)
        fail_clean(errno);
    if (rename(job.temporary, job.target) == 0)
        return false;
    bool other_way = errno == EBUSY || errno == EXDEV || errno == EPERM || errno == EACCES;
    if (job.existing < 0 || !other_way)
        fail_clean(errno);
    copy_over();
    if (request->has_mode)
        fchmod(job.existing, mode);
    return true;
}

_Noreturn void files_write(const struct file_request *request) {
    struct writer writer = {0};
    bool in_place = true;
    int error = request->parents ? files_make_parents(request->path) : 0;
    if (error)
        files_fail(error);
    resolve_target(request);
    examine_target(request);
    if (request->append || !open_temporary())
        open_in_place(request, errno);
    files_abort = remove_temporary;
    uint64_t size = take_content();
    if (*job.temporary)
        in_place = put_in_place(request);
    else if (request->has_mode)
        fchmod(job.fd, request->mode);
    /* Whoever is told of the file may execute it at once, which nobody can while it is open for writing. */
    if (job.existing >= 0 && job.existing != job.fd)
        close(job.existing);
    if (close(job.fd) != 0)
        files_fail(errno);
    writer_number(&writer, FIELD_SIZE, size);
    if (in_place)
        writer_number(&writer, FIELD_IN_PLACE, 1);
    files_done(&writer);
}
