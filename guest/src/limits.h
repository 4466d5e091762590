#ifndef BELLJAR_LIMITS_H
#define BELLJAR_LIMITS_H

/* Frames and flow control. */
#define FRAME_MAX (8u << 20)
#define FRAME_MAX_BEFORE_HELLO (64u << 10)
#define DATA_MAX (64u << 10)
#define INPUT_WINDOW (512u << 10)
#define OUTPUT_HIGH_WATER (256u << 10)
#define OUTPUT_QUEUE_MAX (64u << 20)
#define READ_CHUNK (256u << 10)

/* Commands. */
#define OUTPUT_CAP_DEFAULT (10u << 20)
#define OUTPUT_CAP_MAX (1u << 30)
#define TERMINAL_DRAIN_MAX (1u << 20)
#define ARGUMENTS_MAX 262144u
#define GROUPS_MAX 1024

/* Relays. */
#define RELAY_HEADER 9
#define RELAY_WINDOW (256u << 10)
#define RELAY_CONNECTIONS_MAX 256

/* Files. */
#define ACCOUNT_FILE_MAX (4u << 20)
#define LINK_DEPTH_MAX 40
#define TAR_NAME_MAX (64u << 10)

/* Times, in milliseconds. */
#define HELLO_TIMEOUT_MS 30000
#define LEASE_DEFAULT_MS 600000
#define GRACE_DEFAULT_MS 1000
#define KILL_DEADLINE_MS 10000
#define KILL_ROUND_MS 2
#define KILL_RETRY_MS 250
#define SUPERVISOR_ANSWER_MS 3000
#define SUPERVISOR_SLACK_MS 2000
#define PTY_QUIET_MS 30
#define WORKER_CANCEL_MS 2000
#define SHUTDOWN_MS 15000

#endif
