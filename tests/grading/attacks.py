"""What hostile submissions try. Sources of answer cells; the tests say what must become of them."""

from classroom import LIMITS

FORGE = '''
import os, threading, time
kernel = get_ipython().kernel

def forge(make):
    """From now on, requests of the grader get what ``make`` returns: JSON text and buffers."""
    async def handler(stream, ident, parent):
        content, buffers = make()
        session = kernel.session
        header = session.pack(session.msg_header("ste_reply"))
        parts = [header, session.pack(parent["header"]), session.pack({}), content]
        stream.send_multipart([*ident, b"<IDS|MSG>", session.sign(parts), *parts, *buffers])
    kernel.shell_handlers["ste_request"] = handler

def ste_quantize(x):
    return x
'''


def forged(content: str, buffers: str = "[]") -> str:
    return f"{FORGE}\nforge(lambda: ({content}, {buffers}))\n"


FORGED = {
    # learner: replies that no honest kernel sends
    "not_json": forged("b'['"),
    "not_a_dict": forged("b'[1, 2]'"),
    "deep_json": forged("b'[' * 50_000 + b']' * 50_000"),
    "deep_value": forged(
        """b'{"ok": true, "result": ' + b'{"list": [' * 500 + b']}' * 500 + b'}'"""
    ),
    "huge_int_in_json": forged("""b'{"ok": true, "result": {"static": ' + b'9' * 9000 + b'}}'"""),
    "huge_int": forged("""b'{"ok": true, "result": {"static": ' + b'9' * 4000 + b'}}'"""),
    "no_result": forged("""b'{"ok": true}'"""),
    "unknown_kind": forged("""b'{"ok": true, "result": {"pickle": "x"}}'"""),
    "lying_shape": forged(
        """b'{"ok": true, "result": {"array": "float32", "shape": [1000000], "buffer": 0}}'""",
        "[b'1234']",
    ),
    "huge_shape": forged(
        """b'{"ok": true, "result": {"array": "int8", "shape": [2000000000], "buffer": 0}}'""",
        "[b'']",
    ),
    "object_array": forged(
        """b'{"ok": true, "result": {"array": "object", "shape": [1], "buffer": 0}}'""",
        "[b'12345678']",
    ),
    "too_many_parts": forged(
        """b'{"ok": true, "result": {"list": [' + b'{"static": 1},' * 50_000 + b'{}]}}'"""
    ),
    "too_many_buffers": forged("""b'{"ok": true, "result": {"static": 1}}'""", "[b'x'] * 5000"),
    "unsigned": FORGE
    + """
kernel.session.sign = lambda parts: b"0" * 64
""",
    "no_key": FORGE
    + """
kernel.session.key = b""
""",
    "half_a_message": FORGE
    + """
import zmq
kernel.shell_socket = None
forge(lambda: (b"{}", [b"x"] * 100_000))
""",
}

PATCHED = {
    # learner: wrong answers that patch what might look at them
    "always_equal": """
class Same:
    shape, dtype, ndim, size, weak_type = (3,), jnp.float32, 1, 3, False
    def __eq__(self, other): return True
    def __array__(self, *a, **k): return self
    def __getattr__(self, name): return lambda *a, **k: self
def ste_quantize(x):
    return Same()
""",
    "subclass": """
import numpy as np
class Sly(np.ndarray):
    def __eq__(self, other): return True
    def tobytes(self, *a): return b""
    dtype = property(lambda self: np.dtype("float64"))
    shape = property(lambda self: (9,))
    def __array_ufunc__(self, *a, **k): return True
    def __reduce__(self): raise SystemExit
def ste_quantize(x):
    return np.zeros(3, np.float32).view(Sly)
""",
    "hostile_object": """
import sys
class Nasty:
    @property
    def __class__(self): raise SystemExit("class")
    def __array__(self, *a, **k): sys.exit("array")
    def __repr__(self): raise KeyboardInterrupt
    __str__ = __iter__ = __len__ = __bool__ = __float__ = __repr__
def ste_quantize(x):
    return Nasty()
""",
    "hostile_exception": """
class Boom(BaseException):
    def __str__(self): raise KeyboardInterrupt
    @property
    def args(self): raise SystemExit
def ste_quantize(x):
    raise Boom()
""",
    "something_else_each_time": """
import itertools
calls = itertools.count()
def ste_quantize(x):
    call = next(calls)
    if call % 3 == 2:
        raise ValueError("not now")
    return jnp.zeros(jnp.shape(x) if call % 2 else (7,))
""",
    "interrupts": """
def ste_quantize(x):
    raise KeyboardInterrupt
""",
    "jax": """
jax.vjp = lambda f, *a: (f(*a), lambda g: (g,))
jax.jit = jax.vmap = jax.grad = jax.jacrev = lambda f, *a, **k: f
jnp.sign = jnp.where = jnp.asarray = None
def ste_quantize(x):
    return x * 0
""",
    "numpy_and_json": """
import json, numpy as np
np.asarray = np.ascontiguousarray = lambda *a, **k: None
np.array_equal = np.allclose = lambda *a, **k: True
json.dumps = json.loads = lambda *a, **k: "{}"
def ste_quantize(x):
    return x * 0
""",
    "our_modules": """
import ste_operations, ste_wire, sys
ste_operations.serve = lambda *a: ({"ok": True, "result": {"static": True}}, [])
ste_operations.decode = ste_wire.decode = lambda *a: ()
sys.modules["ste_wire"] = sys.modules["ste_operations"] = None
def ste_quantize(x):
    return x * 0
""",
    "no_answer_but_idle": """
kernel = get_ipython().kernel
send = kernel.session.send
def silent(stream, kind, *a, **k):
    if kind == "error" or k.get("content", {}) is None: return None
    return send(stream, kind, *a, **k)
kernel.session.send = silent
get_ipython().showtraceback = lambda *a, **k: None
def ste_quantize(x):
    return x * 0
raise ValueError("never seen")
""",
    "pytest_files": """
from pathlib import Path
for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "evil.pth", "pytest.ini"):
    Path(name).write_text("import os; os._exit(0)")
    Path("/tmp", name).write_text("[pytest]\\naddopts = --collect-only")
def ste_quantize(x):
    return x * 0
""",
}

STOPPED = {
    # learner: (source, a part of the message); each ends its own run
    "threads": (
        "import threading, time\nthreading.stack_size(2**16)\n"
        "for _ in range(20_000):\n    threading.Thread(target=time.sleep, args=(60,)).start()\n",
        "threads",
    ),
    "numpy_memory": (
        "import numpy as np\nkept = [np.ones(2**24) for _ in range(100)]\n",
        "GB of memory",
    ),
    "jax_memory": (
        "kept = [jnp.ones(2**25).block_until_ready() for _ in range(100)]\n",
        "GB of memory",
    ),
    "many_files": (
        "import os\nfor number in range(10**6):\n    os.mkfifo(f'/tmp/{number}')\n",
        "files",
    ),
    "stops_itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\n",
        f"{LIMITS.cell} s",
    ),
    "shell_flood": (
        FORGE
        + """
async def handler(stream, ident, parent):
    other = {"header": dict(parent["header"], msg_id="another")}
    while True:
        kernel.session.send(stream, "ste_reply", {"ok": True}, other, ident=ident)
kernel.shell_handlers["ste_request"] = handler
""",
        f"{LIMITS.request} s",
    ),
}

FORK = "import os, time\nfor _ in range(500):\n    if not os.fork():\n        time.sleep(60)\n"
NOT_PERMITTED = {
    # learner: what the system itself refuses, so that nobody has to be quick enough to stop it
    "fork_bomb": "import subprocess\nsubprocess.run(['sh', '-c', 'f() { f | f & }; f; sleep 9'])\n",
    "fork": FORK,
    "multiprocessing": (
        "import multiprocessing\n"
        "multiprocessing.get_context('spawn').Process(target=print).start()\n"
    ),
    "memory_of_nobody": (
        "import os\nkept = [os.memfd_create(str(n)) for n in range(900)]\n"
        "for one in kept:\n    os.write(one, bytes(2**26))\n"
    ),
}

FULL_DISK = """
for place in ("/scratch", "/tmp", "/dev/shm", "/run/ste"):
    try:
        with open(place + "/filling", "wb") as file:
            while file.write(b"x" * 2**20):
                pass
    except OSError:
        pass
import os, shutil, signal
shutil.rmtree("/run/ste", ignore_errors=True)
try:
    os.kill(-1, signal.SIGTERM)
    os.kill(1, signal.SIGKILL)
except OSError:
    pass
"""

LEFT_BEHIND = """
import subprocess, threading, time
try:
    subprocess.Popen(["setsid", "-f", "sleep", "MARK"], start_new_session=True)
except OSError:
    pass
threading.Thread(target=time.sleep, args=(600,)).start()
"""

DIRTY = """
def ste_quantize(x):
    escapes = "\\x1b[31mred\\x1b]0;title\\x07 \\x9b2J \\u202e \\ud800 \\0"
    raise ValueError("<script>alert(1)</script> " + escapes)
"""
DIRTY_CELL = """
print("\\x1b[2J" * 10, "\\ud800")
raise type("\\x1b[5mBad", (Exception,), {})("\\ud800 \\x1b[31mred")
"""

# Each of these is a way out; the cell raises with the names of those that worked.
PROBE = """
import ctypes, fcntl, mmap, os, resource, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)

def found_by_name():
    names = set(NAMES)
    for top in os.listdir("/"):
        if top in ("proc", "sys", "usr", "dev"):
            continue
        for folder, _, files in os.walk("/" + top):
            if names.intersection(files):
                return True

def secret_seen():
    for process in ["self", *filter(str.isdigit, os.listdir("/proc"))]:
        for place in ("environ", "cmdline"):
            try:
                if SECRET in open(f"/proc/{process}/{place}", "rb").read():
                    return True
            except OSError:
                pass

def can_open(path, mode="rb"):
    with open(path, mode):
        return True

def marked(file):
    # A bit that means nothing for these files, so that nothing breaks where this works.
    before = os.stat(file).st_mode & 0o7777
    os.chmod(file, before ^ 0o1000)
    worked = os.stat(file).st_mode & 0o7777 != before
    os.chmod(file, before)
    return worked

def message_left():
    os.setxattr("/proc/self/exe", "user.ste", b"1")
    worked = "user.ste" in os.listxattr("/proc/self/exe")
    os.removexattr("/proc/self/exe", "user.ste")
    return worked

def readable(name):
    return os.access("/proc/" + name, os.R_OK) and can_open("/proc/" + name)

def vmsplice():
    reading, writing = os.pipe()
    page = ctypes.create_string_buffer(4096)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(page), 4096)
    return libc.vmsplice(writing, vector, ctypes.c_ulong(1), 0) == 4096

def locked():
    page = ctypes.create_string_buffer(2**16)
    return libc.mlock(page, 2**16) == 0

HARMLESS = {
    "a file that is not its own": lambda: any(map(os.path.exists, PATHS)),
    "the same through /proc/1/root": lambda: any(os.path.exists("/proc/1/root" + p) for p in PATHS),
    "such a file by its name": found_by_name,
    "the checks as a module": lambda: __import__("straight_through.checks.problems"),
    "the surrogates as a module": lambda: __import__("straight_through.surrogates"),
    "the network": lambda: socket.create_connection(("127.0.0.1", PORT), timeout=2),
    "the grader's process": lambda: os.kill(GRADER, 0) is None,
    "what the grader's process runs": lambda: os.path.exists(f"/proc/{GRADER}/cmdline"),
    "a secret of the environment": secret_seen,
}
FORBIDDEN = {
    "more open files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (9999, 9999)) is None,
    "larger files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1)) is None,
    "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)) is None,
    "a process": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "a namespace": lambda: libc.unshare(0x20000) == 0,
    "memory of no process": lambda: os.memfd_create("x"),
    "a mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0,
    "a device": lambda: os.mknod("/tmp/disk", 0o60600, os.makedev(8, 0)) is None,
    "another root": lambda: os.chroot("/tmp") is None,
    "the kernel's settings": lambda: can_open("/proc/sys/kernel/core_pattern", "wb"),
    "the interpreter": lambda: can_open(os.__file__, "r+b"),
    "a file for every interpreter": lambda: can_open(SITE + "/sitecustomize.py", "wb"),
    "the kernel's own files": lambda: can_open("/ste/ste_kernel.py", "r+b"),
    "the compiled cache": lambda: can_open("/cache/planted", "wb"),
    "the connection file": lambda: can_open(sys.argv[-1], "r+b"),
    "the root folder": lambda: os.mkdir("/here") is None,
    "its own program, past the mounts": lambda: marked("/proc/self/exe"),
    "a message left on its program": message_left,
    "a lease on its program": lambda: fcntl.fcntl(
        os.open("/proc/self/exe", os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK
    ) == 0,
    "flags of its program": lambda: fcntl.ioctl(
        os.open("/proc/self/exe", os.O_RDONLY), 0x80086601, bytes(8)
    ),
    "a device of the host": lambda: marked(0),
    "another device of the host": lambda: marked("/dev/urandom"),
    "memory that nobody counts": lambda: mmap.mmap(-1, 4096),
    "the same through a device": lambda: can_open("/dev/zero", "r+b"),
    "the same through a pipe": vmsplice,
    "the same through a socket": locked,
    "a socket of the virtual machine": lambda: socket.socket(40, socket.SOCK_STREAM),
    "another's file descriptor": lambda: libc.syscall(438, libc.syscall(434, 1, 0), 0, 0) >= 0,
    "what the host's kernel does": lambda: any(
        map(readable, ("timer_list", "slabinfo", "kpageflags", "vmallocinfo"))
    ),
    "tracing the first process": lambda: libc.ptrace(16, GRADER, 0, 0) == 0,
}

worked = []
for name, attack in {**HARMLESS, **(FORBIDDEN if SANDBOXED else {})}.items():
    try:
        if attack():
            worked.append(name)
    except BaseException:
        pass
raise RuntimeError(f"{len(worked)} worked: " + ", ".join(worked))
"""
