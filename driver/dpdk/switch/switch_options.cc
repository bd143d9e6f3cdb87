#include "driver/dpdk/switch/switch_options.h"

#include <getopt.h>

#include <cerrno>
#include <cstdlib>

#include "driver/dpdk/fabric/device_text.h"

namespace pinwire {
namespace {

constexpr uint32_t kQueuesMax = 16;

enum Word : int {
  kPorts = 1000,
  kDirectory,
  kQueues,
  kFrameBytes,
  kBuffers,
  kHuge,
  kLog,
  kHelp,
  kLoss,
  kBurstLoss,
  kBurstFrames,
  kDuplicate,
  kReorder,
  kCorrupt,
  kTruncate,
  kDelay,
  kSeed,
};

constexpr option kOptions[] = {
    {"ports", required_argument, nullptr, kPorts},
    {"dir", required_argument, nullptr, kDirectory},
    {"queues", required_argument, nullptr, kQueues},
    {"frame-bytes", required_argument, nullptr, kFrameBytes},
    {"buffers", required_argument, nullptr, kBuffers},
    {"huge-pages", no_argument, nullptr, kHuge},
    {"log", no_argument, nullptr, kLog},
    {"help", no_argument, nullptr, kHelp},
    {"loss", required_argument, nullptr, kLoss},
    {"burst-loss", required_argument, nullptr, kBurstLoss},
    {"burst-frames", required_argument, nullptr, kBurstFrames},
    {"dup", required_argument, nullptr, kDuplicate},
    {"reorder", required_argument, nullptr, kReorder},
    {"corrupt", required_argument, nullptr, kCorrupt},
    {"truncate", required_argument, nullptr, kTruncate},
    {"delay-us", required_argument, nullptr, kDelay},
    {"seed", required_argument, nullptr, kSeed},
    {nullptr, 0, nullptr, 0},
};

// Each of the following returns what the option expects, or nothing where it has taken the text.

std::string take_number(const char* text, uint64_t low, uint64_t high, uint64_t& value) {
  char* end = nullptr;
  errno = 0;
  value = std::strtoull(text, &end, 0);
  if (errno == 0 && end != text && *end == 0 && *text != '-' && value >= low && value <= high)
    return "";
  return "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
}

std::string take_number(const char* text, uint32_t low, uint32_t high, uint32_t& value) {
  uint64_t wide = 0;
  std::string expected = take_number(text, uint64_t{low}, uint64_t{high}, wide);
  if (expected.empty()) value = static_cast<uint32_t>(wide);
  return expected;
}

std::string take_chance(const char* text, double& value) {
  char* end = nullptr;
  value = std::strtod(text, &end);
  return end != text && *end == 0 && value >= 0 && value <= 1 ? "" : "a probability from 0 to 1";
}

std::string take_directory(const char* text, std::string& directory) {
  directory = text;
  if (!directory.empty() && check_device_text("", directory, "").ok()) return "";
  return "a directory whose path has no comma, bracket, quote, backslash or blank";
}

std::string take_flag(bool& flag) {
  flag = true;
  return "";
}

std::string take_word(int word, const char* text, SwitchOptions& options) {
  SwitchFaults& faults = options.faults;
  switch (word) {
    case kPorts:
      return take_number(text, 1u, kSwitchPortsMax, options.ports);
    case kDirectory:
      return take_directory(text, options.directory);
    case kQueues:
      return take_number(text, 1u, kQueuesMax, options.queues);
    case kFrameBytes:
      return take_number(text, 64u, 65535u - 1024u, options.frame_bytes);
    case kBuffers:
      return take_number(text, 512u, 1u << 20, options.buffers);
    case kHuge:
      return take_flag(options.huge_pages);
    case kLog:
      return take_flag(options.show_log);
    case kHelp:
      return take_flag(options.help);
    case kLoss:
      return take_chance(text, faults.loss);
    case kBurstLoss:
      return take_chance(text, faults.burst_loss);
    case kBurstFrames:
      return take_number(text, 1u, 1u << 20, faults.burst_frames);
    case kDuplicate:
      return take_chance(text, faults.duplicate);
    case kReorder:
      return take_chance(text, faults.reorder);
    case kCorrupt:
      return take_chance(text, faults.corrupt);
    case kTruncate:
      return take_chance(text, faults.truncate);
    case kDelay:
      return take_number(text, 0u, 1'000'000u, faults.delay_us);
    case kSeed:
      return take_number(text, uint64_t{0}, UINT64_MAX, faults.seed);
    default:
      return "one of the options that --help lists";
  }
}

}  // namespace

Result<SwitchOptions> parse_switch_options(int argc, char** argv) {
  SwitchOptions options;
  optind = 0;
  opterr = 0;
  for (;;) {
    int index = 0;
    const int word = getopt_long(argc, argv, "", kOptions, &index);
    if (word == -1) break;
    if (word == '?' || word == ':') {
      return error("pinwire_switch: %s is unknown or lacks its value; --help lists the options",
                   argv[optind - 1]);
    }
    if (const std::string expected = take_word(word, optarg, options); !expected.empty()) {
      return error("pinwire_switch: invalid --%s=\"%s\": expected %s", kOptions[index].name,
                   optarg != nullptr ? optarg : "", expected.c_str());
    }
  }
  if (options.help) return options;
  if (optind < argc)
    return error(
        "pinwire_switch: invalid argument \"%s\": expected options alone; --help lists them",
        argv[optind]);
  if (options.ports == 0 || options.directory.empty()) {
    return error("pinwire_switch: --ports N and --dir DIR are needed; --help lists the options");
  }
  return options;
}

const char* switch_usage() {
  return "pinwire_switch --ports N --dir DIR [options]\n"
         "An Ethernet switch in user space: N vhost ports with the sockets DIR/sw_<0..N-1>.sock.\n"
         "DIR is a directory to which its user alone may write (mode 0700).\n"
         "Says \"ready\" when they exist; ends on SIGTERM, SIGINT or its parent's death.\n"
         "  --dir DIR          without comma, bracket, quote, backslash or blank: DPDK quotes "
         "nothing\n"
         "  --queues Q         queues of each port (1)\n"
         "  --frame-bytes B    longest frame (9712)\n"
         "  --buffers K        frames under way in the switch (by the number of ports)\n"
         "  --huge-pages       take huge pages\n"
         "  --log              show what DPDK says\n"
         "Faults, as probabilities per frame:\n"
         "  --loss P --dup P --reorder P --corrupt P --truncate P\n"
         "  --burst-loss P     that a burst of lost frames starts; --burst-frames K (32) of them\n"
         "  --delay-us T       every frame comes T microseconds later\n"
         "  --seed S           of the faults (1)\n";
}

}  // namespace pinwire
