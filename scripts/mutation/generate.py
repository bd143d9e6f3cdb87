"""Mutants from the text of a C++ source: one small change each, at a place that a seed chooses."""

import dataclasses
import random
import re

from mutation.table import GENERATED, Mutant

# Spaces at both sides tell an operator from a template's bracket or a reference: clang-format puts them there.
SWAPS = [
    ("compare", r" (<=|>=|==|!=|<|>) ", {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
    ("logic", r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    ("arithmetic", r" (\+|-) ", {"+": "-", "-": "+"}),
    ("assign", r" (\+=|-=|\|=|&=) ", {"+=": "-=", "-=": "+=", "|=": "=", "&=": "="}),
    ("extreme", r"std::(min|max)\b", {"min": "max", "max": "min"}),
    ("truth", r"\b(true|false)\b", {"true": "false", "false": "true"}),
    ("order", r"memory_order_(acquire|release|acq_rel|seq_cst)\b",
     {"acquire": "relaxed", "release": "relaxed", "acq_rel": "relaxed", "seq_cst": "relaxed"}),
]
NUMBER = re.compile(r"(?<![\w.'])(\d[\d']*)(?=u?\b(?!\.))")
# A member's first value shows until it is assigned, mostly before it is read, and a tuned number that is off by one tells no test
# anything: the former is left alone, the latter becomes four times as great.
MEMBER = re.compile(r"^\s*(mutable |volatile )*[\w:<>,*& ]+\s[*&]?\w+(\[\w+\])?( : \w+)?(\{.*\}| = [^;]*);")
TUNED = re.compile(r"\bconstexpr [\w:<>]+ \w+ = |^\s+k\w+ = ")
TUNED_FACTOR, OFF_BY_ONE_MAX = 4, 3
# Lines that say what must hold, or what a machine reads before the compiler does, are not code under test.
NOT_CODE = re.compile(r"^\s*(#|static_assert\b|check\(|dcheck\(|using\b|namespace\b|template\b|case .*:$|default:|public:|private:)")
STATEMENT = re.compile(r"^(?!return\b|break;|continue;|case\b|default\b|if\b|for\b|while\b|else\b|do\b|using\b|static\b|const\b|constexpr\b|auto\b|goto\b|delete\b)"
                       r"(\+\+|--)?[\w:>.\-\[\]()* ]+?(\(.*\)|\s[-+|&^]?=\s.*|\+\+|--)?;$")
DECLARATION = re.compile(r"^[\w:<>,*& ]+\s[*&]?\w+(\{.*\}|\[.*\])?( = .*)?;$|^[\w:<>,*&]+\s[*&]?\w+\(.*\)( const)?( noexcept)?( override)?( = \w+)?;$")


@dataclasses.dataclass(frozen=True)
class Site:
    at: int
    before: str
    after: str
    change: str  # as equivalents name it


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code_of(text):
    """The text with comments and the insides of strings blanked, every offset as it was."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\''
    return re.sub(pattern, blank, text, flags=re.S)


def lines_of(code):
    """Offset and text of each line that has code."""
    at = 0
    for line in code.split("\n"):
        if line.strip():
            yield at, line
        at += len(line) + 1


def closing(code, at):
    """Where the bracket closes that opens at `at`; -1: not at all."""
    depth = 0
    for i in range(at, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i
    return -1


def negations(code, at, line):
    """`if (a)` becomes `if (!(a))`; of `if (init; a)` only the condition."""
    for match in re.finditer(r"\b(if|while) \(", line):
        opens = at + match.end() - 1
        closes = closing(code, opens)
        inner = code[opens + 1 : closes]
        begin = inner.rfind(";") + 1
        begin += len(inner[begin:]) - len(inner[begin:].lstrip())
        if closes > 0 and inner[begin:].strip():
            yield opens + 1 + begin, closes


def drops(code, at, line, previous):
    """A statement of a line of its own, or the last of `if (...) statement;`."""
    text = line.strip()
    start = at + len(line) - len(line.lstrip())
    guard = re.match(r"(if|while|for) \(", text)
    if guard:
        closes = closing(code, start + guard.end() - 1) - start
        rest = text[closes + 1 :].strip() if 0 < closes < len(text) else ""
        if rest and STATEMENT.match(rest):
            yield start + text.rindex(rest), rest
        return
    begins = previous == "" or previous[-1] in ";{}:)"
    balanced = text.count("(") == text.count(")") and text.count("{") == text.count("}")
    if begins and balanced and STATEMENT.match(text) and not DECLARATION.match(text):
        yield start, text


def is_in_class(code, at):
    """Whether the innermost brace that is open there is a class's."""
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(code[i], 0)
        if depth < 0:
            return re.search(r"\b(class|struct|union)\b[^;{}]*$", code[:i]) is not None
    return False


def is_first_value(code, at, line):
    """Whether the line gives a member its first value."""
    return MEMBER.match(line) is not None and "static" not in line and is_in_class(code, at)


def sites_of(text):
    """Every place of a source where a mutant can be made."""
    code = code_of(text)
    found, previous = [], ""
    for at, line in lines_of(code):
        whole = previous + line if previous.endswith("=") else line
        if not NOT_CODE.match(line) and not is_first_value(code, at, whole):
            is_tuned = TUNED.search(whole) is not None
            found += sites_of_line(text, code, at, line, previous, is_tuned)
        previous = line.rstrip()
    return found


def another_number(number, is_tuned):
    value = int(number.replace("'", ""))
    return str(value * TUNED_FACTOR if is_tuned and value > OFF_BY_ONE_MAX else value + 1)


def sites_of_line(text, code, at, line, previous, is_tuned):
    found = []
    for _, pattern, swaps in SWAPS:
        for match in re.finditer(pattern, line):
            old = match.group(1)
            found.append(Site(at + match.start(1), old, swaps[old], f"{old} -> {swaps[old]}"))
    for match in NUMBER.finditer(line):
        old = match.group(1)
        new = another_number(old, is_tuned)
        found.append(Site(at + match.start(1), old, new, f"{old} -> {new}"))
    for begin, end in negations(code, at, line):
        inner = text[begin:end]
        found.append(Site(begin, inner, f"!({inner})", "negated"))
    for begin, statement in drops(code, at, line, previous):
        found.append(Site(begin, text[begin : begin + len(statement)], ";", "dropped"))
    return found


def code_lines(text):
    return sum(1 for _ in lines_of(code_of(text)))


def line_number(text, at):
    return text.count("\n", 0, at) + 1


def line_at(text, at):
    begin = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return text[begin : end if end >= 0 else len(text)].strip()


def shuffled_sites(text, seed, file):
    """All sites in the order in which a run tries them: lines take turns, so that no long line has all the mutants."""
    choose = random.Random(f"{seed} {file}")
    of_lines = {}
    for site in sites_of(text):
        of_lines.setdefault(line_number(text, site.at), []).append(site)
    for sites in of_lines.values():
        choose.shuffle(sites)
    ordered = []
    while of_lines:
        for line in choose.sample(sorted(of_lines), len(of_lines)):
            ordered.append(of_lines[line].pop())
            if not of_lines[line]:
                del of_lines[line]
    return ordered


def mutant_of(text, file, site, equivalents=()):
    number, line = line_number(text, site.at), line_at(text, site.at)
    reason = next((e.reason for e in equivalents if (e.file, e.line, e.change) == (file, line, site.change)), "")
    return Mutant(f"{file}:{number}: {site.change}", file, site.before, site.after, line, site.at, GENERATED, equivalent=reason)
