"""What the kernel of Linux keeps from a process that decodes: files, network, programs, other processes.

Each fence is put up where the kernel has it: limits everywhere, Landlock since 5.13, seccomp on x86-64 and
64-bit ARM. What is missing is left out; `fence_in` tells what holds. Numbers are those of the kernel's own
headers (linux/landlock.h, linux/seccomp.h, linux/bpf_common.h, asm/unistd.h).
"""

import ctypes
import os
import platform
import resource
import struct

_NO_NEW_PRIVILEGES = 38  # of prctl(2)
_CREATE_RULESET, _RESTRICT_SELF = 444, 446  # landlock_*(2), the same everywhere
_ABI_VERSION = 1

# Rights on files that each version of Landlock knows, on ports (since 4), and scopes (since 6).
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_PORT_RIGHTS, _SCOPES = 0x3, 0x3

_SET_FILTER, _ALL_THREADS = 1, 1  # of seccomp(2)
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06  # of BPF
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # where a call's facts lie
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD, _PROT_EXEC, _AT_EMPTY_PATH = 0x10000, 0x4, 0x1000
_CLONE3 = 435

_OPEN_FILES = 32

# Calls that are harmless.
_HARMLESS = {
    # read write close fstat poll lseek munmap brk rt_sigaction rt_sigprocmask rt_sigreturn ioctl pread64
    # pwrite64 readv writev sched_yield mremap msync mincore madvise dup nanosleep getpid sendto recvfrom
    # sendmsg recvmsg shutdown exit uname fcntl gettimeofday getrusage sysinfo sigaltstack gettid futex
    # sched_getaffinity restart_syscall clock_gettime clock_getres clock_nanosleep exit_group ppoll
    # set_robust_list preadv getcpu getrandom membarrier rseq
    "x86_64": (
        "0 1 3 5 7 8 11 12 13 14 15 16 17 18 19 20 24 25 26 27 28 32 35 39 44 45 46 47 48 60 63 72 96 98 99 "
        "131 186 202 204 219 228 229 230 231 271 273 295 309 318 324 334"
    ),
    "aarch64": (
        "23 25 29 57 62 63 64 65 66 67 68 69 73 80 93 94 98 99 101 113 114 115 123 124 128 132 134 135 139 "
        "160 165 168 169 172 178 179 206 207 210 211 212 214 215 216 227 232 233 278 283 293"
    ),
}

# What filters call an architecture, its number of seccomp(2), and its calls that are harmless with some
# arguments only: clone, mmap, mprotect, newfstatat, tgkill.
_MACHINES = {
    "x86_64": (0xC000003E, 317, (56, 9, 10, 262, 234)),
    "aarch64": (0xC00000B7, 277, (220, 222, 226, 79, 131)),
}


def fence_in() -> list[str]:
    """Take from this process, for good, whatever decoding does without; return what the kernel took."""
    _limit()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return ["limits"]
    fences = {"landlock": _landlock, "seccomp": _seccomp}
    return ["limits", *(name for name, put_up in fences.items() if put_up(libc))]


def _limit() -> None:
    """Let no file grow and few be opened; what memory there may be was said by whoever started this."""
    memory = resource.getrlimit(resource.RLIMIT_AS)[0]
    limits = {
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_AS: memory,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (most, most))


def _landlock(libc: ctypes.CDLL) -> bool:
    """Forbid every path and port, and signals to others."""
    version = libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ABI_VERSION)
    if version < 1:
        return False
    rights = (
        _FILE_RIGHTS[min(version, max(_FILE_RIGHTS))],
        *([_PORT_RIGHTS] if version >= 4 else []),
        *([_SCOPES] if version >= 6 else []),
    )
    attributes = struct.pack(f"={len(rights)}Q", *rights)
    rules = libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    if rules < 0:
        return False
    failed = libc.syscall(_RESTRICT_SELF, rules, 0)
    os.close(rules)
    return not failed


def _seccomp(libc: ctypes.CDLL) -> bool:
    """Refuse all calls of the system but those that decoding needs, in all threads."""
    machine = platform.machine()
    if machine not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        return False
    architecture, call, checked = _MACHINES[machine]
    harmless = tuple(map(int, _HARMLESS[machine].split()))
    program = b"".join(_filter(architecture, harmless, checked))
    steps = ctypes.create_string_buffer(program, len(program))
    whole = struct.pack("=H6xQ", len(program) // 8, ctypes.addressof(steps))
    return not libc.syscall(call, _SET_FILTER, _ALL_THREADS, whole)


def _step(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)


def _filter(architecture: int, harmless: tuple[int, ...], checked: tuple[int, ...]) -> list[bytes]:
    """The program that judges a call: each test skips its verdict unless it holds."""
    clone, mmap, mprotect, stat, kill = checked
    allow, refuse = _step(_RETURN, _ALLOW), _step(_RETURN, _REFUSE | _EPERM)
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        # Threads may be started, by the older call, whose flags can be seen.
        _step(_EQUAL, _CLONE3, 0, 1),
        _step(_RETURN, _REFUSE | _ENOSYS),
    ]
    for number in harmless:
        program += [_step(_EQUAL, number, 0, 1), allow]
    wanted = (
        (clone, 0, _ANY_BIT, _CLONE_THREAD, True),
        (mmap, 2, _ANY_BIT, _PROT_EXEC, False),
        (mprotect, 2, _ANY_BIT, _PROT_EXEC, False),
        (stat, 3, _ANY_BIT, _AT_EMPTY_PATH, True),
        (kill, 0, _EQUAL, os.getpid(), True),
    )
    for number, place, test, value, holds in wanted:
        verdicts = (allow, refuse) if holds else (refuse, allow)
        argument = _step(_LOAD, _ARGUMENTS + 8 * place)
        program += [_step(_EQUAL, number, 0, 4), argument, _step(test, value, 0, 1), *verdicts]
    return [*program, refuse]
