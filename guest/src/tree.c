#define _GNU_SOURCE
#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire.h"

static int proc = -1;

void tree_open(void) {
    proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int tree_descriptor(void) {
    return proc;
}

void tree_set_descriptor(int fd) {
    proc = fd;
}

static bool read_process(const char *name, struct process *process) {
    char path[64], text[512];
    snprintf(path, sizeof path, "%.20s/stat", name);
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = 0;
    char *after_name = strrchr(text, ')'); /* the name may hold anything */
    int parent = 0;
    if (!after_name || sscanf(after_name, ") %c %d", &process->state, &parent) != 2)
        return false;
    process->pid = (pid_t)atoi(name);
    process->parent = parent;
    process->below = false;
    return true;
}

static int by_pid(const void *left, const void *right) {
    pid_t a = ((const struct process *)left)->pid, b = ((const struct process *)right)->pid;
    return a < b ? -1 : a > b;
}

static size_t read_all(struct process **all) {
    size_t count = 0, capacity = 256;
    struct process *list = must_alloc(capacity * sizeof *list);
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        if (count == capacity)
            list = must_realloc(list, (capacity *= 2) * sizeof *list);
        if (read_process(entry->d_name, &list[count]))
            count++;
    }
    if (directory)
        closedir(directory);
    qsort(list, count, sizeof *list, by_pid);
    *all = list;
    return count;
}

static bool is_excepted(pid_t pid, const pid_t *except, size_t except_count) {
    for (size_t i = 0; i < except_count; i++)
        if (except[i] == pid)
            return true;
    return false;
}

size_t tree_below(pid_t root, const pid_t *except, size_t except_count, struct process **found) {
    struct process *all;
    size_t count = read_all(&all);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++) {
            if (all[i].below || is_excepted(all[i].pid, except, except_count))
                continue;
            struct process key = {.pid = all[i].parent};
            struct process *parent = bsearch(&key, all, count, sizeof key, by_pid);
            if (all[i].parent == root || (parent && parent->below))
                changed = all[i].below = true;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (all[i].below && all[i].pid != root)
            all[kept++] = all[i];
    *found = all;
    return kept;
}

size_t tree_signal(pid_t root, int signal, const pid_t *except, size_t except_count) {
    struct process *found;
    size_t alive = 0, count = tree_below(root, except, except_count, &found);
    for (size_t i = 0; i < count; i++) {
        if (found[i].state == 'Z' || found[i].state == 'X')
            continue;
        alive++;
        kill(found[i].pid, signal);
    }
    free(found);
    return alive;
}
