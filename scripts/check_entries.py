"""Checks that every function of the public headers that enters the library keeps handlers off while it is inside
(PA-024): its body, or that of a function of the same file which it calls, has a LibraryCall, a RareCall or a ClientCall.
Functions that may do without are named below, with the reason. Prints each violation; exit status 1 if there is one.

    check_entries.py [ROOT]    of the sources there; those around this script otherwise"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEEPS_OFF = re.compile(r"\b(ClientCall|LibraryCall|RareCall|OnlyEntry)\b|\breply_call\(")
DEFINITION = re.compile(r"^(?!(?:if|for|while|switch|return|else|namespace|using|struct|class|enum)\b)[A-Za-z_][^;{}()=]*?[ *&](\w+)"
                        r"\([^;{}]*?\)\s*(?:noexcept\s*)?(?:->[^{};]*)?\{", re.M)
# "a name or a pattern": why no call of it needs to keep handlers off.
EXEMPT = {
    r"gasnet_Error(Name|Desc)|gasnet_AMGetMsgSource|gex_Token_Info": "reads constants, or the token of a handler",
    r"gex_\w+_Query\w+|gex_\w+_SetCData|gasnet_QueryGexObjects|gex_TM_Pair|gex_TM_Translate\w+":
        "reads or writes one word of an object, takes no lock and no memory",
    r"gasnet_getMax\w+SegmentSize|gasnet_getNodeInfo|gasnet_getSegmentInfo|gasnet_getenv":
        "copies what is constant from gasnet_init, or gasnet_attach, on",
    r"gasnet_init|gasnet_attach|pinwire_client_init": "no handler runs before gasnet_attach has ended",
    r"gasnet_exit|pinwire_exit\w*": "leave_job() refuses interrupts itself, and never returns",
    r"gasnet_hsl_(lock|trylock|unlock)|pinwire_hsl_\w+_at": "a lock that is held keeps handlers off by itself",
    r"(pinwire|gasnet)_(hold|resume)_interrupts\w*": "begins or ends a section, which keeps them off by itself",
    r"gasnet_set_waitmode": "writes atomic words",
    r"gasnet_barrier_result": "reads what a barrier has left",
    r"gex_Event_Wait(All|Some)|gex_Event_QueryLeaf|gasnetc_AMPoll|gex_Segment_EP_Bind|pinwire_begin_nbi_accessregion_at":
        "calls one that keeps them off, and nothing else",
    r"pinwire_(team_all|dispatch|driver_name|network_depth|lanes|version\w*)": "reads constants",
    r"pinwire_(ad_path|checked_direct|check_wait|vis_is_nothing|vis_tells_peer)": "reads facts of an object, in code that is inline in the client's",
    r"gex_System_(Get|Set)VerboseErrors|gex_System_QueryMaxThreads|gex_System_QueryHidden\w+|gex_System_QueryProgressThreads":
        "reads or writes an atomic word",
    r"pinwire_(trace|stats)_mask|pinwire_trace_local|pinwire_(set|get|freeze)_source_line|pinwire_current_location":
        "words of this thread, or atomic ones",
    r"gasnett_format_\w+|gasnett_\w+_bufsz": "writes into the caller's buffer",
    r"gex_VIS_SetPeerCompletionHandler": "writes words of this thread",
}
# These take locks or memory though a pattern above fits their names.
NEVER_EXEMPT = re.compile(r"gex_System_Query(Nbrhd|Host)Info|gex_System_QueryMyPosition|gex_Segment_QueryBound|gex_EP_QueryBoundSegmentNB")


def declared(text):
    """Names that a public header declares, inline functions and all."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return set(re.findall(r"\b((?:gasnet|gex|pinwire)\w*)\s*\(", text))


def bodies(text):
    """Every function that begins in column 0, by name: what stands between its braces."""
    found = {}
    for match in DEFINITION.finditer(text):
        depth, end = 1, match.end()
        while depth != 0 and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found.setdefault(match.group(1), []).append(text[match.end():end - 1])
    for match in re.finditer(r"^#define (\w+)\([^)]*\)((?:[^\n]*\\\n)+[^\n]*)", text, re.M):
        for use in re.finditer(rf"^{match.group(1)}\((\w+)", text, re.M):
            found.setdefault(use.group(1), []).append(match.group(2))
    return found


def keeps_off(body, functions, seen=frozenset()):
    if KEEPS_OFF.search(body):
        return True
    called = {name for name in functions if name not in seen and re.search(rf"\b{name}(<[^()]*>)?\(", body)}
    return any(keeps_off(one, functions, seen | called) for name in called for one in functions[name])


def main(root):
    public = set().union(*(declared(path.read_text()) for path in (root / "core/api").glob("*.h")))
    problems, entries, used = [], 0, set()
    for path in sorted((root / "extended").rglob("*.cc")):
        functions = bodies(path.read_text())
        for name in sorted(public & functions.keys()):
            entries += 1
            if all(keeps_off(body, functions) for body in functions[name]):
                continue
            reasons = [pattern for pattern in EXEMPT if re.fullmatch(pattern, name)]
            used.update(reasons)
            if not reasons or NEVER_EXEMPT.fullmatch(name):
                problems.append(f"{path.relative_to(root)}: {name} does not keep handlers off; it wants a LibraryCall, or its reason in "
                                f"scripts/check_entries.py")
    problems += [f"scripts/check_entries.py: no entry needs {pattern!r}" for pattern in EXEMPT if pattern not in used]
    if entries < 150:
        problems.append(f"only {entries} entries of the public headers are found: the pattern of definitions no longer fits")
    print("\n".join(problems + [f"{entries} entries, {len(problems)} violations"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT))
