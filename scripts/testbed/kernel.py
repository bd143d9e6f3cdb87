"""The guest's kernel: Debian's package, fetched with apt-get and unpacked into a cache. Nothing is installed."""

import contextlib
import dataclasses
import fcntl
import hashlib
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import time

from testbed.initrd import write_initrd
from testbed.refusal import Refusal

# Not the cloud kernel's: it has neither 9p nor rxe nor these NICs.
META_PACKAGE = "linux-image-amd64"
TOOLS = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "cpio": "cpio",
         "apt-get": "apt", "dpkg-deb": "dpkg", "tar": "tar"}
# Only these of the package's 400 MB are taken: files or folders below kernel/.
MODULES = ("arch/x86/crypto", "crypto", "lib", "virt/lib", "fs/9p", "net/9p", "fs/netfs", "fs/fscache", "fs/overlayfs",
           "fs/configfs", "drivers/virtio", "drivers/char/virtio_console.ko", "drivers/infiniband/core",
           "drivers/infiniband/sw", "drivers/vfio", "drivers/net/dummy.ko", "drivers/net/veth.ko", "drivers/net/tun.ko",
           "drivers/net/virtio_net.ko", "drivers/net/net_failover.ko", "drivers/net/vmxnet3",
           "drivers/net/ethernet/intel/e1000", "drivers/net/ethernet/intel/e1000e", "drivers/ptp", "drivers/pps",
           "net/core", "net/ipv4/udp_tunnel.ko", "net/ipv6/ip6_udp_tunnel.ko", "net/sched/sch_netem.ko", "net/bridge",
           "net/llc", "net/802/stp.ko",
           # net_tap's flow rules
           "net/sched/sch_ingress.ko", "net/sched/sch_multiq.ko", "net/sched/cls_flower.ko", "net/sched/act_gact.ko",
           "net/sched/act_mirred.ko", "net/sched/act_skbedit.ko")


# The contents of a cache; another list or layout is another cache.
LAYOUT = (MODULES, "version")
UNUSED_S_MAX = 30 * 86400


@dataclasses.dataclass(frozen=True)
class Kernel:
    image: pathlib.Path
    initrd: pathlib.Path
    root: pathlib.Path  # holds lib/modules


def default_cache():
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "pinwire" / "guest"


def prepare(cache):
    """The kernel in `cache`, fetched first if it isn't there."""
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise Refusal(f"there is no {tool} here: install {package} (scripts/install-packages guest)")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with open(cache / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return _prepare_locked(cache)
    except OSError as failure:
        raise Refusal(f"the cache {cache} cannot be written ({failure}): name another with --cache") from None


def _prepare_locked(cache):
    home = cache / hashlib.sha256(repr(LAYOUT).encode()).hexdigest()[:12]
    if not home.is_dir():
        partial = cache / "partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            _unpack(_fetch(partial), partial)
            partial.rename(home)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    os.utime(home)
    for other in cache.iterdir():  # another checkout may be using it
        if other.is_dir() and time.time() - other.stat().st_mtime > UNUSED_S_MAX:
            shutil.rmtree(other, ignore_errors=True)
    return Kernel(home / "vmlinux", write_initrd(home), home / "root")


def _apt(*words, **more):
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)


def _fetch(folder):
    """Downloads the package behind META_PACKAGE; its path. A machine with stale lists or none gets them anew."""
    said = ""
    for attempt in ("as it is", "updated"):
        if attempt == "updated" and os.geteuid() == 0:
            said = _apt("apt-get", "update", "-q").stdout
        depends = re.search(r"Depends: (linux-image-\S+)", _apt("apt-cache", "depends", META_PACKAGE).stdout)
        if depends:
            said = _apt("apt-get", "download", "-q", depends[1], cwd=folder).stdout
            packages = list(folder.glob("*.deb"))
            if packages:
                return packages[0]
    last = said.strip().splitlines()[-1:] or ["it is in no package list"]
    raise Refusal(f"the guest's kernel ({META_PACKAGE}) cannot be downloaded: {last[0]}; "
                  "is there a network and a Debian mirror? Then run apt-get update")


def _unpack(package, home):
    root = home / "root"
    root.mkdir()
    version = _apt("dpkg-deb", "-f", package, "Version").stdout.strip()
    (home / "version").write_text(version, encoding="ascii")  # of the package: what is built for it must match
    wanted = ["./boot/vmlinuz*", "./lib/modules/*/modules.*"] + [f"./lib/modules/*/kernel/{path}" for path in MODULES]
    with contextlib.ExitStack() as stack:
        reader = stack.enter_context(subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE))
        # tar fails where a pattern finds nothing; what is needed is looked for afterwards.
        subprocess.run(["tar", "-x", "-C", root, "--wildcards", *wanted], stdin=reader.stdout, stderr=subprocess.DEVNULL, check=False)
    package.unlink()
    images, trees = list(root.glob("boot/vmlinuz*")), list(root.glob("lib/modules/*"))
    if len(images) != 1 or len(trees) != 1 or not (trees[0] / "kernel/drivers/infiniband/sw").is_dir():
        raise Refusal(f"{package.name} is not laid out as Debian 12's kernel packages are; scripts/testbed/kernel.py must learn it")
    _uncompress(images[0], home / "vmlinux")
    subprocess.run(["busybox", "depmod", "-b", root, trees[0].name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _uncompress(image, to):
    """The ELF inside boots at once; the image's own decompressor takes seconds under emulation."""
    data = image.read_bytes()
    for match in re.finditer(re.escape(b"\xfd7zXZ\0"), data):
        with contextlib.suppress(lzma.LZMAError, EOFError):
            kernel = lzma.LZMADecompressor().decompress(data[match.start():])
            if kernel.startswith(b"\x7fELF"):
                to.write_bytes(kernel)
                return
    shutil.copy(image, to)
