#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "limits.h"
#include "tar.h"

/* GNU format: names longer than their field go before as entries of types L and K, in any bytes. */

static uint8_t block[DATA_MAX];
static size_t block_length;
static uint64_t content_bytes, content_limit, skipped;

unsigned tar_checksum(const struct tar_header *header) {
    const uint8_t *bytes = (const uint8_t *)header;
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof *header; i++) {
        size_t at = offsetof(struct tar_header, checksum);
        sum += i >= at && i < at + sizeof header->checksum ? ' ' : bytes[i];
    }
    return sum;
}

static void emit(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    while (length) {
        size_t part = sizeof block - block_length < length ? sizeof block - block_length : length;
        memcpy(block + block_length, at, part);
        block_length += part;
        at += part;
        length -= part;
        if (block_length == sizeof block) {
            files_send(block, block_length);
            block_length = 0;
        }
    }
}

static void emit_padding(uint64_t size) {
    static const uint8_t zeros[TAR_BLOCK];
    emit(zeros, (TAR_BLOCK - size % TAR_BLOCK) % TAR_BLOCK);
}

/* Octal, or base 256 where it does not fit. */
static void put_number(char *at, size_t width, uint64_t value) {
    if (value < 1ull << (3 * (width - 1))) {
        char digits[24];
        snprintf(digits, sizeof digits, "%0*llo", (int)width - 1, (unsigned long long)value);
        memcpy(at, digits, width);
        return;
    }
    for (size_t i = width; i > 1; i--, value >>= 8)
        at[i - 1] = (char)value;
    at[0] = (char)0x80;
}

static void emit_header(char type, const char *name, const char *link, const struct stat *status, uint64_t size) {
    struct tar_header header = {.type = type, .magic = "ustar ", .version = " "};
    memcpy(header.name, name, strnlen(name, sizeof header.name));
    memcpy(header.link, link, strnlen(link, sizeof header.link));
    put_number(header.mode, sizeof header.mode, status->st_mode & 07777);
    put_number(header.uid, sizeof header.uid, status->st_uid);
    put_number(header.gid, sizeof header.gid, status->st_gid);
    put_number(header.size, sizeof header.size, size);
    put_number(header.mtime, sizeof header.mtime, status->st_mtim.tv_sec > 0 ? (uint64_t)status->st_mtim.tv_sec : 0);
    snprintf(header.checksum, sizeof header.checksum, "%06o", tar_checksum(&header));
    header.checksum[7] = ' ';
    emit(&header, sizeof header);
}

static void emit_long(char type, const char *text) {
    struct stat status = {0};
    size_t size = strlen(text) + 1;
    if (size <= 100)
        return;
    emit_header(type, "././@LongLink", "", &status, size);
    emit(text, size);
    emit_padding(size);
}

static void emit_entry(char type, const char *name, const char *link, const struct stat *status, uint64_t size) {
    emit_long('L', name);
    emit_long('K', link);
    emit_header(type, name, link, status, size);
}

/* A file that shrinks while it is read is filled up with zeros, one that grows is cut at the size it had. */
static void pack_file(int folder, const char *entry, const char *name) {
    static uint8_t chunk[DATA_MAX];
    struct stat status;
    int fd = files_open_regular(folder, entry, O_RDONLY | O_NOFOLLOW, &status);
    if (fd < 0)
        files_fail_at(errno, name);
    uint64_t size = (uint64_t)status.st_size, left = size;
    if ((content_bytes += size) > content_limit)
        files_too_large(content_bytes);
    emit_entry('0', name, "", &status, size);
    while (left) {
        size_t part = left < sizeof chunk ? left : sizeof chunk;
        ssize_t got = read(fd, chunk, part);
        if (got < 0)
            files_fail_at(errno, name);
        if (got == 0)
            memset(chunk, 0, (size_t)(got = (ssize_t)part));
        emit(chunk, (size_t)got);
        left -= (uint64_t)got;
    }
    emit_padding(size);
    close(fd);
}

static void pack_folder(int fd, const char *prefix);

static void pack_entry(int folder, const char *entry, const char *prefix) {
    struct stat status;
    size_t size = strlen(prefix) + strlen(entry) + 3;
    char *name = must_alloc(size), link[4096];
    snprintf(name, size, "%s%s", prefix, entry);
    if (fstatat(folder, entry, &status, AT_SYMLINK_NOFOLLOW) != 0)
        status.st_mode = S_IFSOCK; /* it went away */
    if (S_ISREG(status.st_mode)) {
        pack_file(folder, entry, name);
    } else if (S_ISLNK(status.st_mode)) {
        ssize_t length = readlinkat(folder, entry, link, sizeof link - 1);
        link[length < 0 ? 0 : length] = 0;
        emit_entry('2', name, link, &status, 0);
    } else if (S_ISDIR(status.st_mode)) {
        int fd = openat(folder, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0)
            files_fail_at(errno, name);
        strcat(name, "/");
        emit_entry('5', name, "", &status, 0);
        pack_folder(fd, name);
    } else {
        skipped++;
    }
    free(name);
}

static void pack_folder(int fd, const char *prefix) {
    DIR *directory = fdopendir(fd);
    struct dirent *entry;
    if (!directory)
        files_fail_at(errno, prefix);
    if (strlen(prefix) > TAR_NAME_MAX)
        files_fail_at(ENAMETOOLONG, prefix);
    while ((entry = readdir(directory)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            pack_entry(fd, entry->d_name, prefix);
    closedir(directory);
}

_Noreturn void files_pack(const struct file_request *request) {
    static const uint8_t end[2 * TAR_BLOCK];
    struct writer writer = {0};
    content_limit = request->limit;
    int fd = open(request->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        files_fail(errno);
    pack_folder(fd, "");
    emit(end, sizeof end);
    if (block_length)
        files_send(block, block_length);
    writer_number(&writer, FIELD_SIZE, content_bytes);
    writer_number(&writer, FIELD_SKIPPED, skipped);
    files_done(&writer);
}
