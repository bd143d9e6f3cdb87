"""Software iWARP for the guest: Debian's kernel is built without siw, whose source is in its linux-source. Built once into the
kernel's cache from Debian's packages, which are unpacked there and removed again."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from testbed.refusal import Refusal

SOURCE = "drivers/infiniband/sw/siw"
TOOLS = {"make": "make", "gcc-12": "gcc-12", "xz": "xz-utils"}


def add_siw(kernel):
    """Puts siw.ko where the guest's modprobe finds it."""
    home, modules = kernel.root.parent, next(kernel.root.glob("lib/modules/*"))
    if (modules / "extra/siw.ko").exists():
        return
    for tool, package in TOOLS.items():
        if not shutil.which(tool):
            raise Refusal(f"siw cannot be built, as there is no {tool} here: install {package}")
    with tempfile.TemporaryDirectory(dir=home) as folder:
        folder = pathlib.Path(folder)
        release = modules.name
        _unpack_packages(folder, release, (home / "version").read_text(encoding="ascii"))
        module = _build(folder, release)
        (modules / "extra").mkdir(exist_ok=True)
        shutil.copy(module, modules / "extra/siw.tmp")
        (modules / "extra/siw.tmp").rename(modules / "extra/siw.ko")
    subprocess.run(["busybox", "depmod", "-b", kernel.root, release], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _unpack_packages(folder, release, version):
    """The kernel's headers and the source of siw, of the very version of the kernel."""
    series = ".".join(release.split(".")[:2])
    base, _, flavour = release.rpartition("-")
    names = [f"linux-headers-{release}", f"linux-headers-{base}-common", f"linux-kbuild-{series}", f"linux-source-{series}"]
    got = subprocess.run(["apt-get", "download", "-q", *(f"{name}={version}" for name in names)], cwd=folder, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    packages = sorted(folder.glob("*.deb"))
    if len(packages) != len(names):
        errors = [line for line in got.stdout.splitlines() if line.startswith("E:")] or ["no reason given"]
        raise Refusal(f"siw cannot be built for the guest's kernel {release} ({flavour} {version}): its headers and source cannot be "
                      f"downloaded: {errors[0]}")
    for package in packages:
        subprocess.run(["dpkg-deb", "-x", package, folder], check=False)
        package.unlink()
    archive = folder / f"usr/src/linux-source-{series}.tar.xz"
    subprocess.run(["tar", "-xJf", archive, "-C", folder, f"linux-source-{series}/{SOURCE}"], check=False)
    archive.unlink(missing_ok=True)


def _build(folder, release):
    headers = folder / f"usr/src/linux-headers-{release}"
    source = next(folder.glob(f"linux-source-*/{SOURCE}"), None)
    if source is None or not (headers / "Makefile").exists():
        raise Refusal("siw cannot be built: Debian's linux-source and linux-headers are not laid out as expected; scripts/testbed/siw.py must learn it")
    makefile = headers / "Makefile"
    makefile.write_text(re.sub(r"(?m)^include /usr/src/", f"include {folder}/usr/src/", makefile.read_text(encoding="ascii")), encoding="ascii")
    made = subprocess.run(["make", "-s", "-C", headers, f"M={source}", "CONFIG_RDMA_SIW=m", "modules"], text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace", check=False)
    if made.returncode != 0 or not (source / "siw.ko").exists():
        last = made.stdout.strip().splitlines()[-1:] or ["no message"]
        raise Refusal(f"siw cannot be built for the guest's kernel: {last[0]}")
    return source / "siw.ko"
