#ifndef BELLJAR_IDENTITY_H
#define BELLJAR_IDENTITY_H

#include <stdbool.h>
#include <sys/types.h>

#include "limits.h"

struct identity {
    uid_t uid;
    gid_t gid;
    gid_t groups[GROUPS_MAX];
    int group_count;
    char home[4096];
};

/*
 * Who `spec` (name, uid, name:group, uid:gid; "" is root) is, by the rules of the Engine and by the texts of
 * /etc/passwd and /etc/group (NULL: there is none). Returns false where there is no such user or group.
 */
bool identity_find(const char *spec, const char *passwd, const char *group, struct identity *identity);
/* The same with the files of this container; `extra` groups (those of --group-add) are added. */
bool identity_resolve(const char *spec, const gid_t *extra, int extra_count, struct identity *identity);
/* Group by name or number, -1 where there is none. */
long identity_group(const char *name);

/*
 * Becomes that user; 0 or an errno. With `keep_real` only the effective ids change: the kernel then judges file
 * access by them, while that user's processes can still not signal this one.
 */
int identity_become(const struct identity *identity, bool keep_real);

/* Drops all capabilities for good, and the right to gain any; called before identity_become. */
int harden_before(void);
/* Called after it. */
int harden_after(void);

#endif
