"""Checks the prose of comments and documents: no sentence begins with a word that leaves it without a subject, as
docs/contributing.md asks, and none names an issue, which no reader of the sources has. Comments of C, C++, Python, shell and Meson
files are read, docstrings and Markdown too. Prints each violation; exit status 1 if there is one.

    check_prose.py [ROOT]    of the files there; those around this script otherwise"""

import ast
import io
import pathlib
import re
import sys
import tokenize

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("am", "bench", "core", "docs", "driver", "extended", "nicfw", "pin", "scripts", "segment", "tests")
# "a path": why its prose is another's, or must be as it is.
EXCEPTIONS = {
    "docs/CONFORMANCE.md": "scripts/conformance writes it from the rows of the specifications",
    "docs/JOBS.md": "tests/guest/matrix.py writes it from the results of jobs",
    "tests/runs/check_prose_test.py": "its strings and comments show what the check finds",
}
# A heading and a label in bold are no sentences.
OPENING = re.compile(r"(?:^|[.!?:;|(]\s+|\(|\|\s*)(?!\s*(?:[-*]\s+)?(?:#|--|\*\*))[\s>|*_/`-]*\b(Of|Who|Whoever|What|So|Else)\s")
ISSUE = re.compile(r"\b[Ii]ssue \d+\b|\bDESIGN\b")
SENTENCE_END = re.compile(r"[.!?](?:\s|$)")
MARKDOWN_FENCE = re.compile(r"^\s*(```|~~~)")
C_TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


class Paragraph:
    """Lines of prose that belong together."""

    def __init__(self, number, column, text):
        self.number = number
        self.column = column
        self.lines = [text]

    def continues(self, number, column):
        return number == self.number + len(self.lines) and column == self.column

    def violations(self):
        text = "\n".join(self.lines)
        for opening in OPENING.finditer(text):
            word = opening.group(1)
            end = SENTENCE_END.search(text, opening.start(1))
            is_question = end is not None and text[end.start()] == "?"
            if word == "What" and is_question:
                continue
            line = text.count("\n", 0, opening.start(1))
            yield self.number + line, f'a sentence begins with "{word}"'
        for issue in ISSUE.finditer(text):
            yield self.number + text.count("\n", 0, issue.start()), f'it names "{issue.group(0)}": say what that asks, or name a document'


def joined(pieces):
    """Paragraphs of (number, column, text) pieces in their order: an empty piece, or one that begins an item, ends what was before."""
    paragraphs = []
    for number, column, text in pieces:
        is_item = re.match(r"\s*([-*]|\d+\.)\s", text) is not None
        last = paragraphs[-1] if paragraphs else None
        if not text.strip():
            paragraphs.append(Paragraph(number, -1, ""))
        elif last is None or is_item or not last.continues(number, column):
            paragraphs.append(Paragraph(number, column, text))
        else:
            last.lines.append(text)
    return paragraphs


def pieces_of_c(text):
    for token in C_TOKENS.finditer(text):
        comment = token.group(0)
        if not comment.startswith(("//", "/*")):
            continue
        number = text.count("\n", 0, token.start()) + 1
        column = token.start() - (text.rfind("\n", 0, token.start()) + 1)
        if comment.startswith("//"):
            yield number, column, re.sub(r"^//+[!<]*", "", comment)
        else:
            for offset, line in enumerate(comment[2:-2].split("\n")):
                yield number + offset, column, re.sub(r"^\s*\*+(?!\*)|^\*+", "", line)


def pieces_of_python(text):
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            yield token.start[0], token.start[1], token.string.lstrip("#")


def docstrings(text):
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            for offset, line in enumerate(node.body[0].value.value.split("\n")):
                yield node.body[0].lineno + offset, 0, "" if line.startswith("    ") and offset else line


def pieces_of_shell(text):
    for number, line in enumerate(text.split("\n"), 1):
        comment = re.search(r"(?:^|\s)#(?![!{])(.*)", re.sub(r"\\.|'[^']*'|\"[^\"]*\"", lambda quoted: "_" * len(quoted.group(0)), line))
        if comment:
            yield number, comment.start(1), line[comment.start(1):]


def pieces_of_markdown(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if MARKDOWN_FENCE.match(line):
            fenced = not fenced
            yield number, 0, ""
            continue
        is_code = fenced or line.startswith("    ") and not re.match(r"\s*([-*]|\d+\.)\s", line)
        comment = re.search(r"(?:^|\s)(?://|#)\s(.*)", line) if is_code else None
        yield number, number if line.startswith("|") else 0, comment.group(1) if comment else "" if is_code else line


def pieces_of(path):
    """The prose of a file; None: it is of no kind that has any."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in (".h", ".cc", ".c"):
        return pieces_of_c(text)
    if path.suffix == ".md":
        return pieces_of_markdown(text)
    interpreter = text.split("\n", 1)[0] if text.startswith("#!") and not path.suffix else ""
    if path.suffix == ".sh" or path.name == "meson.build" or re.search(r"\b(ba)?sh\b", interpreter):
        return pieces_of_shell(text)
    if path.suffix == ".py" or "python" in interpreter:
        return list(pieces_of_python(text)) + [(0, 0, "")] + list(docstrings(text))
    return None


def files_below(root):
    yield from sorted(path for path in root.glob("*") if path.is_file())
    for folder in FOLDERS:
        yield from sorted(path for path in (root / folder).rglob("*") if path.is_file())


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    files = violations = 0
    for path in files_below(root):
        name = path.relative_to(root).as_posix()
        if name in EXCEPTIONS:
            continue
        pieces = pieces_of(path)
        if pieces is None:
            continue
        files += 1
        for paragraph in joined(pieces):
            for number, sentence in paragraph.violations():
                violations += 1
                print(f"{name}:{number}: {sentence}")
    print(f"{files} files, {violations} violations")
    return 1 if violations or not files else 0


if __name__ == "__main__":
    sys.exit(main())
