#ifndef BELLJAR_TREE_H
#define BELLJAR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct process {
    pid_t pid;
    pid_t parent;
    char state;
    bool below;
};

/* Opens /proc once, so that nothing mounted over it later can blind the walk. */
void tree_open(void);
int tree_descriptor(void);
void tree_set_descriptor(int fd);

/*
 * All processes below `root`, as malloc'd; those in `except` and what is below them are left out.
 */
size_t tree_below(pid_t root, const pid_t *except, size_t except_count, struct process **found);
/* Signals every living process below `root`; returns how many there were. */
size_t tree_signal(pid_t root, int signal, const pid_t *except, size_t except_count);

#endif
