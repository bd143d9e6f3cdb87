"""The guest's first root: busybox, `init`, and the modules that reach the host's tree over 9p."""

import hashlib
import pathlib
import shutil
import subprocess
import tempfile

from testbed.refusal import Refusal

INIT = pathlib.Path(__file__).parent / "init"
FOLDERS = ("bin", "dev", "proc", "sys", "sbin", "lib/modules", "modules", "lower", "upper", "logs", "new")
NEEDED = ("virtio_pci", "9pnet_virtio", "9p", "overlay", "virtio_console")


def write_initrd(home):
    """home/initrd-…; made anew when what goes into it has changed."""
    busybox = pathlib.Path(shutil.which("busybox")).resolve()
    contents = hashlib.sha256(INIT.read_bytes() + busybox.read_bytes() + repr((FOLDERS, NEEDED)).encode())
    path = home / f"initrd-{contents.hexdigest()[:12]}"
    if path.exists():
        return path
    if b"/ld-linux" in busybox.read_bytes()[:4096]:  # the ELF's interpreter
        raise Refusal(f"{busybox} is not a static program: install busybox-static (scripts/install-packages guest)")
    for old in home.glob("initrd-*"):
        old.unlink()
    with tempfile.TemporaryDirectory(dir=home) as folder:
        tree = pathlib.Path(folder) / "tree"
        for name in FOLDERS:
            (tree / name).mkdir(parents=True)
        shutil.copy(busybox, tree / "bin/busybox")
        (tree / "bin/sh").symlink_to("busybox")
        shutil.copy(INIT, tree / "init")
        (tree / "init").chmod(0o755)
        modules = modules_in_order(next(home.glob("root/lib/modules/*")))
        for module in modules:
            shutil.copy(module, tree / "modules")
        (tree / "modules/order").write_text("".join(f"{module.name}\n" for module in modules), encoding="ascii")
        with open(f"{folder}/initrd", "wb") as archive:
            names = "\n".join(str(entry.relative_to(tree)) for entry in sorted(tree.rglob("*")))
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=tree, input=names.encode(), stdout=archive, check=True)
        pathlib.Path(f"{folder}/initrd").rename(path)
    return path


def modules_in_order(tree):
    """The files of NEEDED, each after those that it depends on; what is built in has none."""
    def name_of(path):
        return path.name.partition(".ko")[0].replace("-", "_")

    depends = {}
    for line in (tree / "modules.dep").read_text(encoding="ascii").splitlines():
        path, _, needs = line.partition(":")
        depends[name_of(tree / path)] = (tree / path, [tree / need for need in needs.split()])
    found = []

    def add(name):
        path, needs = depends.get(name, (None, []))
        for need in needs:
            add(name_of(need))
        if path and path not in found:
            found.append(path)

    for name in NEEDED:
        add(name)
    return found
