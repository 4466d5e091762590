#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "identity.h"

/* As in linux/capability.h, which musl does not bring. */
struct capability_header {
    uint32_t version;
    int pid;
};

struct capability_data {
    uint32_t effective, permitted, inheritable;
};

#define CAPABILITY_VERSION_3 0x20080522u
#define CAPABILITY_LAST 63

int harden_before(void) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (unsigned long capability = 0; capability <= CAPABILITY_LAST; capability++)
        if (prctl(PR_CAPBSET_READ, capability, 0, 0, 0) == 1 && prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0)
            return errno;
    return 0;
}

int harden_after(void) {
    struct capability_header header = {CAPABILITY_VERSION_3, 0};
    struct capability_data none[2] = {{0, 0, 0}, {0, 0, 0}};
    return syscall(SYS_capset, &header, none) == 0 ? 0 : errno;
}

int identity_become(const struct identity *identity, bool keep_real) {
    if (geteuid() != 0)
        return identity->uid == geteuid() ? 0 : EPERM;
    if (setgroups((size_t)identity->group_count, identity->groups) != 0 && identity->uid != 0)
        return errno;
    if (keep_real)
        return setresgid((gid_t)-1, identity->gid, (gid_t)-1) || setresuid((uid_t)-1, identity->uid, (uid_t)-1) ? errno : 0;
    if (setresgid(identity->gid, identity->gid, identity->gid) || setresuid(identity->uid, identity->uid, identity->uid))
        return errno;
    return 0;
}
