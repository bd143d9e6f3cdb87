"""One guest's machine: QEMU's words for it."""

import ctypes
import mmap
import time

NIC_MODELS = ("e1000e", "vmxnet3", "virtio-net-pci")
# Without these words virtio reads and writes behind the IOMMU's back.
NIC_WORDS = {"virtio-net-pci": ",iommu_platform=on,disable-legacy=on"}
# no_timer_check: on a busy host the timer ticks too late for that check, and behind an IOMMU that is a panic.
KERNEL_WORDS = "console=ttyS0 panic=-1 quiet loglevel=3 mitigations=off nokaslr random.trust_cpu=on nowatchdog no_timer_check"


def tsc_khz():
    """The guest's TSC is the host's; calibrated inside, against an emulated timer, it comes out several times off."""
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(bytes.fromhex("0f31 48c1e220 4809d0 c3"))  # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(page)))

    def moment():
        samples = []
        for _ in range(50):
            before, ticks, after = time.monotonic_ns(), rdtsc(), time.monotonic_ns()
            samples.append((after - before, ticks, (before + after) / 2))
        return min(samples)[1:]

    ticks0, ns0 = moment()
    time.sleep(0.05)
    ticks1, ns1 = moment()
    return round((ticks1 - ticks0) / (ns1 - ns0) * 1e6)


def _share(tag, path, access):
    path = str(path).replace(",", ",,")
    return ["-fsdev", f"local,id={tag},path={path},security_model=none,multidevs=remap{access}",
            "-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]


def _nics(model, count, iommu_bits):
    words = ["-device", f"intel-iommu,intremap=on,aw-bits={iommu_bits}"]
    for i in range(count):
        words += ["-netdev", f"hubport,hubid=1,id=hub{i}",
                  "-device", f"{model},netdev=hub{i},mac=52:54:00:00:00:{i + 1:02x}{NIC_WORDS.get(model, '')}"]
    return words


def qemu_words(kernel, log_dir, options, output_fd, link_fd=None, index=1):
    """`options`: vcpus, memory, nic (model, count) or None, iommu_bits. The command's output goes to output_fd; link_fd is one
    end of the datagrams to the other guest."""
    serial = str(log_dir / "console").replace(",", ",,")
    clock = f"tsc=reliable tsc_early_khz={tsc_khz()}"
    words = ["qemu-system-x86_64", "-name", "pinwire-guest", "-nodefaults", "-no-user-config", "-display", "none",
             "-monitor", "none", "-no-reboot", "-machine", "q35", "-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max",
             "-smp", str(options.vcpus), "-m", str(options.memory), "-serial", f"file:{serial}",
             "-kernel", str(kernel.image), "-initrd", str(kernel.initrd),
             "-append", f"{KERNEL_WORDS} {clock}" + (" intel_iommu=on" if options.nic else "")]
    words += _share("root", "/", ",readonly=on") + _share("modules", kernel.root / "lib/modules", ",readonly=on")
    words += _share("logs", log_dir, "")
    words += ["-device", "virtio-serial-pci", "-add-fd", f"fd={output_fd},set=1",
              "-chardev", "file,id=out,path=/dev/fdset/1,append=on", "-device", "virtserialport,chardev=out,name=out"]
    if options.nic:
        words += _nics(*options.nic, options.iommu_bits)
    if link_fd is not None:
        words += ["-netdev", f"dgram,id=link,local.type=fd,local.str={link_fd}",
                  "-device", f"virtio-net-pci,netdev=link,mac=52:54:00:00:01:{index:02x}"]
    return words
