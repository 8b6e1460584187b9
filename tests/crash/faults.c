/* Loaded before the C library (LD_PRELOAD): counts, records, fails or cuts short the file operations below one folder.
 *
 * A process arms it by `faults_arm`, or is started with FAULTS="PREFIX|MODE|WHEN|ERRNO|KINDS|SPAN". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN = 1, WRITE = 2, SYNC = 4, TRUNCATE = 8, RENAME = 16, UNLINK = 32, MKDIR = 64, READ = 128, LOCK = 256, CHANGE = 512 };
enum { COUNT, KILL_BEFORE, KILL_AFTER, TEAR, FAIL };

static char prefix[4096];
static int mode = -1, error_number, kinds, record = -1;
static long when, span;
static volatile long operations;

void faults_arm(const char *folder, int how, long at, int number, int mask, long length) {
    snprintf(prefix, sizeof prefix, "%s", folder);
    error_number = number; kinds = mask; span = length; when = at; operations = 0; mode = how;
}
void faults_disarm(void) { mode = -1; }
long faults_count(void) { return operations; }
void faults_record(int descriptor) { record = descriptor; }

__attribute__((constructor)) static void begin(void) {
    char *told = getenv("FAULTS"), folder[4096];
    int how, number, mask; long at, length;
    if (told && sscanf(told, "%4095[^|]|%d|%ld|%d|%d|%ld", folder, &how, &at, &number, &mask, &length) == 6)
        faults_arm(folder, how, at, number, mask, length);
}

static void die(void) { syscall(SYS_kill, syscall(SYS_getpid), SIGKILL); for (;;) pause(); }
static int is_ours(const char *path) {
    if (mode < 0 || !path) return 0;
    size_t length = strlen(prefix);
    if (!strncmp(path, prefix, length)) return 1;
    /* The folder itself, too: to sync it makes the names in it durable. */
    return length && prefix[length - 1] == '/' && strlen(path) == length - 1 && !strncmp(path, prefix, length - 1);
}

static const char *path_of(int descriptor, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = syscall(SYS_readlink, link, buffer, 4095);
    if (length < 0) return NULL;
    buffer[length] = 0;
    return buffer;
}

static void put(const void *data, size_t length) {
    while (length) {
        ssize_t done = syscall(SYS_write, record, data, length);
        if (done <= 0) return;
        data = (const char *)data + done; length -= done;
    }
}
static void keep(uint32_t kind, const char *path, uint64_t offset, const void *data, uint64_t length) {
    if (record < 0) return;
    uint32_t head[2] = {kind, (uint32_t)strlen(path)};
    uint64_t tail[2] = {offset, length};
    put(head, sizeof head); put(tail, sizeof tail); put(path, head[1]); put(data, length);
}
/* An acknowledgement, in the order of the operations around it. */
void faults_note(const char *text) { keep(0, "", 0, text, strlen(text)); }

/* 0: go on; 1: fail; 2: go on and die afterwards; 3: do half of it and die. */
static int judge(int kind) {
    if (mode < 0 || !(kinds & kind)) return 0;
    long number = __sync_add_and_fetch(&operations, 1);
    if (number < when || mode == COUNT) return 0;
    if (mode == FAIL) return number < when + span;
    if (number > when) return 0;
    if (mode == KILL_BEFORE || (mode == TEAR && kind != WRITE)) die();
    return mode == TEAR ? 3 : 2;
}

#define FAILED do { errno = error_number; return -1; } while (0)

static int opened(int (*real)(const char *, int, ...), const char *path, int flags, int permissions) {
    if (!is_ours(path)) return real(path, flags, permissions);
    int verdict = judge(flags & (O_WRONLY | O_RDWR | O_CREAT) ? OPEN | CHANGE : OPEN);
    if (verdict == 1) FAILED;
    struct stat facts;
    int is_new = (flags & O_CREAT) && syscall(SYS_newfstatat, AT_FDCWD, path, &facts, AT_SYMLINK_NOFOLLOW);
    int result = real(path, flags, permissions);
    if (result >= 0 && is_new) keep(OPEN, path, 0, "", 0);
    if (result >= 0 && !is_new && (flags & O_TRUNC)) keep(TRUNCATE, path, 0, "", 0);
    if (verdict == 2) die();
    return result;
}
static int permissions_of(int flags, va_list list) { return flags & O_CREAT ? va_arg(list, int) : 0; }
#define OPENING(name) int name(const char *path, int flags, ...) { \
    va_list list; va_start(list, flags); int permissions = permissions_of(flags, list); va_end(list); \
    return opened((int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name), path, flags, permissions); }
OPENING(open)
OPENING(open64)

static ssize_t wrote(int descriptor, const void *data, size_t length, off_t offset, int is_placed) {
    char buffer[4096];
    const char *path = mode < 0 ? NULL : path_of(descriptor, buffer);
    int verdict = is_ours(path) ? judge(WRITE) : 0;
    if (verdict == 1) FAILED;
    if (is_ours(path) && record >= 0 && !is_placed) {
        struct stat facts;
        int is_appended = fcntl(descriptor, F_GETFL) & O_APPEND;
        offset = is_appended && !fstat(descriptor, &facts) ? facts.st_size : lseek(descriptor, 0, SEEK_CUR);
    }
    size_t part = verdict == 3 ? length / 2 : length;
    ssize_t done = is_placed ? syscall(SYS_pwrite64, descriptor, data, part, offset)
                             : syscall(SYS_write, descriptor, data, part);
    if (done > 0 && is_ours(path)) keep(WRITE, path, offset, data, done);
    if (verdict) die();
    return done;
}
ssize_t write(int d, const void *data, size_t length) { return wrote(d, data, length, 0, 0); }
ssize_t pwrite(int d, const void *data, size_t length, off_t at) { return wrote(d, data, length, at, 1); }
ssize_t pwrite64(int d, const void *data, size_t length, off64_t at) { return wrote(d, data, length, at, 1); }

static int on_descriptor(int descriptor, int kind, uint64_t value, long call) {
    char buffer[4096];
    const char *path = mode < 0 ? NULL : path_of(descriptor, buffer);
    int verdict = is_ours(path) ? judge(kind) : 0;
    if (verdict == 1) FAILED;
    /* A kill leaves the page cache alone and a power cut is modelled: nothing has to reach a disk here. */
    int result = kind == SYNC ? 0 : syscall(call, descriptor, value);
    if (!result && is_ours(path)) keep(kind, path, value, "", 0);
    if (verdict) die();
    return result;
}
int fsync(int d) { return on_descriptor(d, SYNC, 0, SYS_fsync); }
int fdatasync(int d) { return on_descriptor(d, SYNC, 0, SYS_fdatasync); }
int ftruncate(int d, off_t size) { return on_descriptor(d, TRUNCATE, size, SYS_ftruncate); }
int ftruncate64(int d, off64_t size) { return on_descriptor(d, TRUNCATE, size, SYS_ftruncate); }

static int on_path(const char *path, const char *other, int kind, int (*act)(const char *, const char *)) {
    int verdict = is_ours(path) ? judge(kind) : 0;
    if (verdict == 1) FAILED;
    int result = act(path, other);
    if (!result && is_ours(path)) keep(kind, path, 0, other ? other : "", other ? strlen(other) : 0);
    if (verdict) die();
    return result;
}
static int really_rename(const char *from, const char *to) { return syscall(SYS_rename, from, to); }
static int really_unlink(const char *path, const char *none) { (void)none; return syscall(SYS_unlink, path); }
static int really_rmdir(const char *path, const char *none) { (void)none; return syscall(SYS_rmdir, path); }
static mode_t wanted;
static int really_mkdir(const char *path, const char *none) { (void)none; return syscall(SYS_mkdir, path, wanted); }
int rename(const char *from, const char *to) { return on_path(from, to, RENAME, really_rename); }
int unlink(const char *path) { return on_path(path, NULL, UNLINK, really_unlink); }
int rmdir(const char *path) { return on_path(path, NULL, UNLINK, really_rmdir); }
int mkdir(const char *path, mode_t bits) { wanted = bits; return on_path(path, NULL, MKDIR, really_mkdir); }

static ssize_t reading(int descriptor, void *data, size_t length, off_t offset, int is_placed) {
    char buffer[4096];
    const char *path = mode < 0 || !(kinds & READ) ? NULL : path_of(descriptor, buffer);
    if (is_ours(path) && judge(READ) == 1) FAILED;
    return is_placed ? syscall(SYS_pread64, descriptor, data, length, offset)
                     : syscall(SYS_read, descriptor, data, length);
}
ssize_t read(int d, void *data, size_t length) { return reading(d, data, length, 0, 0); }
ssize_t pread(int d, void *data, size_t length, off_t at) { return reading(d, data, length, at, 1); }
ssize_t pread64(int d, void *data, size_t length, off64_t at) { return reading(d, data, length, at, 1); }

static int locking(int descriptor) {
    char buffer[4096];
    return mode >= 0 && (kinds & LOCK) && is_ours(path_of(descriptor, buffer)) && judge(LOCK) == 1;
}
int flock(int d, int how) { if (locking(d)) FAILED; return syscall(SYS_flock, d, how); }
#define CONTROL(name) int name(int d, int command, ...) { \
    va_list list; va_start(list, command); void *value = va_arg(list, void *); va_end(list); \
    if ((command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK) && locking(d)) FAILED; \
    return ((int (*)(int, int, ...))dlsym(RTLD_NEXT, #name))(d, command, value); }
CONTROL(fcntl)
CONTROL(fcntl64)
