#include "kinds.h"

#include <errno.h>

#include "protocol.h"

int kind_of_file_error(int error) {
    switch (error) {
    case ENOENT:
        return ERROR_NOT_FOUND;
    case EACCES:
    case EPERM:
        return ERROR_PERMISSION;
    case EISDIR:
        return ERROR_IS_DIRECTORY;
    case ENOTDIR:
        return ERROR_NOT_DIRECTORY;
    case ELOOP:
        return ERROR_LOOP;
    case ENAMETOOLONG:
        return ERROR_NAME_TOO_LONG;
    case EEXIST:
        return ERROR_EXISTS;
    case ENOTEMPTY:
        return ERROR_NOT_EMPTY;
    case ENOSPC:
    case EDQUOT:
        return ERROR_NO_SPACE;
    case EROFS:
        return ERROR_READ_ONLY;
    case EFBIG:
        return ERROR_TOO_LARGE;
    case ENXIO:
    case ENODEV:
        return ERROR_NOT_REGULAR;
    case EINVAL:
        return ERROR_INVALID;
    case ECANCELED:
        return ERROR_CANCELLED;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return ERROR_RESOURCE;
    default:
        return ERROR_OTHER;
    }
}

static int kind_of_exec_error(int error) {
    switch (error) {
    case ENOENT:
    case ENOTDIR:
        return ERROR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case ENOEXEC:
    case EISDIR:
    case ELIBBAD:
    case ETXTBSY:
        return ERROR_NOT_EXECUTABLE;
    case E2BIG:
        return ERROR_ARGUMENTS_TOO_LONG;
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return ERROR_RESOURCE;
    default:
        return ERROR_OTHER;
    }
}

int kind_of_launch_failure(const struct launch_failure *failure) {
    switch (failure->stage) {
    case STAGE_PROCESS:
        return ERROR_RESOURCE;
    case STAGE_USER:
        return ERROR_NO_SUCH_USER;
    case STAGE_SWITCH:
        return ERROR_CANNOT_SWITCH_USER;
    case STAGE_CWD:
        return ERROR_NO_SUCH_CWD;
    case STAGE_INTERPRETER:
        return ERROR_NOT_EXECUTABLE;
    default:
        return kind_of_exec_error(failure->error);
    }
}
