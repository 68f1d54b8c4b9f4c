/* A disk that fails, under whatever writes or reads: loaded before the C library (LD_PRELOAD), it
   stands between a process and the files below one folder. */

#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX]; /* empty: nothing fails */
static long bytes_left;       /* that come through before the error */
static int error;             /* its number; 0: none comes */
static size_t at_most;        /* bytes of one call; 0: all of them */
static int reads;             /* which fail, in place of writes */

void fault_set(const char *below, long bytes, int number, size_t most, int of_reads)
{
    snprintf(folder, sizeof folder, "%s", below);
    bytes_left = bytes;
    error = number;
    at_most = most;
    reads = of_reads;
}

/* Return how many of the bytes come through; -1 and errno: none does. */
static ssize_t passed(int file, size_t size, int of_reads)
{
    char link[64], path[PATH_MAX];
    if (!folder[0] || reads != of_reads || !size)
        return (ssize_t)size;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || strncmp(path, folder, strlen(folder)))
        return (ssize_t)size;
    if (at_most && size > at_most)
        size = at_most;
    if (error) {
        if (bytes_left <= 0) {
            errno = error;
            return -1;
        }
        if (size > (size_t)bytes_left)
            size = (size_t)bytes_left;
        bytes_left -= (long)size;
    }
    return (ssize_t)size;
}

ssize_t write(int file, const void *data, size_t size)
{
    ssize_t some = passed(file, size, 0);
    return some < 0 ? -1 : syscall(SYS_write, file, data, (size_t)some);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    for (int at = 0; at < count; at++)
        if (parts[at].iov_len) /* the others come in further calls */
            return write(file, parts[at].iov_base, parts[at].iov_len);
    return 0;
}

ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset)
{
    ssize_t some = passed(file, size, 0);
    return some < 0 ? -1 : syscall(SYS_pwrite64, file, data, (size_t)some, offset);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t offset)
{
    return pwrite64(file, data, size, offset);
}

ssize_t read(int file, void *data, size_t size)
{
    ssize_t some = passed(file, size, 1);
    return some < 0 ? -1 : syscall(SYS_read, file, data, (size_t)some);
}

ssize_t pread64(int file, void *data, size_t size, off64_t offset)
{
    ssize_t some = passed(file, size, 1);
    return some < 0 ? -1 : syscall(SYS_pread64, file, data, (size_t)some, offset);
}

ssize_t pread(int file, void *data, size_t size, off_t offset)
{
    return pread64(file, data, size, offset);
}

ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t offset)
{
    return count ? pread64(file, parts[0].iov_base, parts[0].iov_len, offset) : 0;
}

ssize_t preadv(int file, const struct iovec *parts, int count, off_t offset)
{
    return preadv64(file, parts, count, offset);
}
