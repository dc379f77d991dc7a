"""Takes away the system calls that no answer needs, for good, in all threads of this process.

No new processes: a fork bomb multiplies faster than anybody can watch, and the usual limits do not
hold for root. No memory that belongs to no process or that nobody counts, no namespaces, no
tracing, no other programs. Nothing about a file but its content can be changed: a process reaches
its own program past all read-only mounts, through /proc/self/exe.
"""

import ctypes
import errno
import platform
import struct

# Numbers of system calls: asm/unistd_64.h on x86_64, asm-generic/unistd.h on aarch64.
SAME = {
    "denied": {
        **{"memfd_secret": 447, "io_uring_setup": 425, "open_tree": 428, "move_mount": 429},
        **{"fsopen": 430, "pidfd_open": 434, "pidfd_getfd": 438},
    },
    "pretended": {"fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469},
}
X86_64 = {
    "arch": 0xC000003E,
    **{"seccomp": 317, "clone": 56, "clone3": 435, "mmap": 9, "ioctl": 16, "fcntl": 72},
    "socket": 41,
    "denied": {
        **SAME["denied"],
        **{"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101},
        **{"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "memfd_create": 319},
        **{"bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "vmsplice": 278},
        **{"process_vm_readv": 310, "process_vm_writev": 311, "unshare": 272, "setns": 308},
        **{"add_key": 248, "request_key": 249, "keyctl": 250, "personality": 135},
        **{"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161},
        **{"open_by_handle_at": 304, "fanotify_init": 300},
    },
    "pretended": {
        **SAME["pretended"],
        **{"chmod": 90, "fchmod": 91, "fchmodat": 268},
        **{"chown": 92, "fchown": 93, "lchown": 94, "fchownat": 260},
        **{"setxattr": 188, "lsetxattr": 189, "fsetxattr": 190},
        **{"removexattr": 197, "lremovexattr": 198, "fremovexattr": 199},
        **{"utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280},
    },
}
AARCH64 = {
    "arch": 0xC00000B7,
    **{"seccomp": 277, "clone": 220, "clone3": 435, "mmap": 222, "ioctl": 29, "fcntl": 25},
    "socket": 198,
    "denied": {
        **SAME["denied"],
        **{"execve": 221, "execveat": 281, "ptrace": 117},
        **{"shmget": 194, "semget": 190, "msgget": 186, "mq_open": 180, "memfd_create": 279},
        **{"bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "vmsplice": 75},
        **{"process_vm_readv": 270, "process_vm_writev": 271, "unshare": 97, "setns": 268},
        **{"add_key": 217, "request_key": 218, "keyctl": 219, "personality": 92},
        **{"mount": 40, "umount2": 39, "pivot_root": 41, "chroot": 51},
        **{"open_by_handle_at": 265, "fanotify_init": 262},
    },
    "pretended": {
        **SAME["pretended"],
        **{"fchmod": 52, "fchmodat": 53, "fchownat": 54, "fchown": 55},
        **{"setxattr": 5, "lsetxattr": 6, "fsetxattr": 7},
        **{"removexattr": 14, "lremovexattr": 15, "fremovexattr": 16, "utimensat": 88},
    },
}
MACHINES = {"x86_64": X86_64, "aarch64": AARCH64}
LOAD, JUMP_EQUAL, JUMP_FROM, JUMP_SET, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # linux/filter.h
ALLOW = RETURN, 0, 0, 0x7FFF0000  # linux/seccomp.h
KILL = RETURN, 0, 0, 0x80000000
PRETEND = RETURN, 0, 0, 0x00050000  # no error, and nothing done
DENY = RETURN, 0, 0, 0x00050000 | errno.EPERM
CLONE_THREAD, MAP_SHARED, MAP_ANONYMOUS = 0x10000, 0x01, 0x20
FAMILIES = (1, 2, 10, 16)  # local ones, IP, netlink: all end in the sandbox, unlike AF_VSOCK
# Of a terminal: TCGETS, TIOCGWINSZ. Of any file: FIONREAD, FIONBIO, FIONCLEX, FIOCLEX.
IOCTLS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
LEASES = (1024, 1026)  # fcntl: F_SETLEASE, F_NOTIFY


def program(machine: dict) -> bytes:
    """The filter as classic BPF: instructions of (code, jump if true, jump if false, constant)."""
    steps = [
        (LOAD, 0, 0, 4),  # the architecture: 32-bit calls have other numbers
        (JUMP_EQUAL, 1, 0, machine["arch"]),
        KILL,
        (LOAD, 0, 0, 0),  # the number of the call
        (JUMP_FROM, 0, 1, 0x40000000),  # x32, likewise
        KILL,
        # So that the C library falls back to clone, whose flags can be looked at.
        (JUMP_EQUAL, 0, 1, machine["clone3"]),
        (RETURN, 0, 0, 0x00050000 | errno.ENOSYS),
    ]
    for kind, answer in (("denied", DENY), ("pretended", PRETEND)):
        for number in sorted(machine[kind].values()):
            steps += [(JUMP_EQUAL, 0, 1, number), answer]
    steps += _if(machine["clone"], 0, [(JUMP_SET, 1, 0, CLONE_THREAD), DENY, ALLOW])
    # Shared memory without a file stays when it is no longer mapped, and then nobody counts it.
    shared = [(JUMP_SET, 0, 2, MAP_SHARED), (JUMP_SET, 0, 1, MAP_ANONYMOUS), DENY, ALLOW]
    steps += _if(machine["mmap"], 3, shared)
    steps += _if(machine["socket"], 0, [*_each(FAMILIES, ALLOW), DENY])
    steps += _if(machine["ioctl"], 1, [*_each(IOCTLS, ALLOW), DENY])
    steps += _if(machine["fcntl"], 1, [*_each(LEASES, DENY), ALLOW])
    return b"".join(struct.pack("HBBI", *step) for step in [*steps, ALLOW])


def _if(number: int, place: int, steps: list[tuple]) -> list[tuple]:
    """For one system call: look at an argument (its lower half), then go on with ``steps``, which
    return."""
    inner = [(LOAD, 0, 0, 16 + 8 * place), *steps]
    return [(JUMP_EQUAL, 0, len(inner), number), *inner]


def _each(values: tuple[int, ...], answer: tuple) -> list[tuple]:
    return [step for value in values for step in ((JUMP_EQUAL, 0, 1, value), answer)]


def restrict() -> bool:
    """Install the filter; False where that is not possible."""
    machine = MACHINES.get(platform.machine())
    if machine is None or platform.system() != "Linux":
        return False
    code = program(machine)
    instructions = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(instructions))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    set_filter, all_threads = 1, 1
    return libc.syscall(machine["seccomp"], set_filter, all_threads, header) == 0
