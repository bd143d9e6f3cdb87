"""Checks README.md and docs/*.md: the README stays short, lines have at most 120 columns, every relative link names a file and a
heading that exist, and every path in code that begins with a folder of the sources exists. Each id of a requirement that any file
cites is explained in docs/requirements.md, or is a row of docs/CONFORMANCE.md or of a rows.tsv. In a table of docs/internals-*.md
each function stands in one of the files that its row names, and in a walk (a numbered list under a numbered heading) in one of the files
that its step names. scripts/check_prose.py checks the prose. Prints each violation; exit status 1 if there is one.

    check_docs.py [ROOT]    of the documents there; those around this script otherwise"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README_LINES_MAX = 120
COLUMNS_MAX = 120
# Scripts write these from records; their lines are as long as the records' words.
GENERATED = ("CONFORMANCE.md", "JOBS.md")
FOLDERS = ("am", "bench", "core", "docs", "driver", "extended", "nicfw", "pin", "scripts", "segment", "tests")

SPECIFICATIONS = r"(C1|GX|EX|VIS|UPC|PA)"
# C1-161, and in the names of tests ..._C1_161 and ..._GX150.
CITED = re.compile(rf"(?<![A-Za-z0-9]){SPECIFICATIONS}[-_]?(\d{{3}})(?![A-Za-z0-9])")
DEFINED = re.compile(rf"^(?:\| )?{SPECIFICATIONS}-(\d{{3}})\b", re.M)
# "a file": why it cites ids that do not exist.
INVENTS_IDS = {
    "tests/runs/self_test.py": "it tests rows and cases that are wrong on purpose",
    "tests/runs/check_docs_test.py": "it tests this script",
}

FENCE = re.compile(r"^\s*(```|~~~)")
CODE = re.compile(r"(`+)(.+?)\1")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FUNCTION = re.compile(r"(?:\w+::)*(\w+)\(\)")
HEADING = re.compile(r"^#{1,6} +(.+?) *#*$")
WALK = re.compile(r"^#{1,6} +\d+\. ")
STEP = re.compile(r"\d+\. ")
TREE_PATH = re.compile(r"(?<![\w./$<-])(?:" + "|".join(FOLDERS) + r")/[\w./*+{},-]*")


def lines_of(text):
    """Yields (number, line, whether the line is in a block of code)."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
            yield number, line, True
        else:
            yield number, line, fenced or line.startswith(("    ", "\t"))


def steps_of(text):
    """Yields (number of the first line, text) of each step of a walk: of the numbered lists under a heading such as `### 2. A put`."""
    in_walk, first, step = False, 0, []
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if HEADING.match(line):
            in_walk = WALK.match(line) is not None
        if step and not line.startswith("   "):
            yield first, " ".join(step)
            step = []
        if in_walk and STEP.match(line):
            first, step = number, [line]
        elif step:
            step.append(line.strip())


def anchors_of(text):
    """The names by which links reach the headings of a document, as GitHub makes them."""
    anchors = set()
    for _, line, is_code in lines_of(text):
        heading = HEADING.match(line)
        if is_code or not heading:
            continue
        title = LINK.sub(lambda link: link.group(0)[1:].split("]")[0], heading.group(1))
        base = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        name, count = base, 0
        while name in anchors:
            count += 1
            name = f"{base}-{count}"
        anchors.add(name)
    return anchors


def alternatives(path):
    """`a.{h,cc}` is two paths."""
    braces = re.search(r"\{([^{}]*)\}", path)
    if not braces:
        return [path]
    return [one for word in braces.group(1).split(",") for one in alternatives(path[:braces.start()] + word + path[braces.end():])]


def exists(root, path):
    if "*" in path:
        return any(True for _ in root.glob(path.rstrip("/")))
    return (root / path).exists() or (root / (path + ".in")).exists()


class Checker:
    def __init__(self, root):
        self.root = root
        self.violations = []

    def say(self, document, number, sentence):
        self.violations.append(f"{document.relative_to(self.root)}:{number}: {sentence}")

    def check_link(self, document, number, target):
        if re.match(r"[a-z][a-z0-9+.-]*:", target, re.I):
            return
        name, _, anchor = target.partition("#")
        file = document.parent / name if name else document
        if name.startswith("/") or not file.exists():
            self.say(document, number, f"the link {target} names no file")
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text(encoding="utf-8")):
            self.say(document, number, f"the link {target} names no heading")

    def check_paths(self, document, number, code):
        for found in TREE_PATH.findall(code):
            for path in alternatives(found.rstrip(".,")):
                if not exists(self.root, path):
                    self.say(document, number, f"{path} does not exist")

    def check_functions(self, document, number, row):
        """The functions of a row, or of a step, that names files, too."""
        spans = [span for _, span in CODE.findall(row)]
        files = [self.root / path for span in spans if TREE_PATH.fullmatch(span) for path in alternatives(span)]
        text = "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())
        for name in [found.group(1) for span in spans if (found := FUNCTION.fullmatch(span))]:
            if text and not re.search(rf"\b{name}\(", text):
                self.say(document, number, f"{name}() is in none of the files of its {'row' if row.startswith('|') else 'step'}")

    def check_columns(self, document, number, line):
        if len(line) > COLUMNS_MAX and not line.startswith("|"):
            self.say(document, number, f"{len(line)} columns, more than {COLUMNS_MAX}")

    def check(self, document):
        text = document.read_text(encoding="utf-8")
        for number, line, is_code in lines_of(text):
            for code in [line] if is_code else [span for _, span in CODE.findall(line)]:
                self.check_paths(document, number, code)
            if not is_code:
                for target in LINK.findall(CODE.sub("``", line)):
                    self.check_link(document, number, target)
            if document.name.startswith("internals-") and line.startswith("|"):
                self.check_functions(document, number, line)
            if document.name not in GENERATED:
                self.check_columns(document, number, line)

        for number, step in steps_of(text):
            self.check_functions(document, number, step)

    def check_ids(self):
        defined = set()
        for name in ("docs/requirements.md", "docs/CONFORMANCE.md", "tests/**/rows.tsv"):
            for file in self.root.glob(name):
                defined.update(DEFINED.findall(file.read_text(encoding="utf-8")))
        for file in sorted(file for folder in FOLDERS for file in (self.root / folder).rglob("*") if file.is_file()):
            if file.relative_to(self.root).as_posix() in INVENTS_IDS:
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
                for specification, row in CITED.findall(line):
                    if (specification, row) not in defined:
                        self.say(file, number, f"{specification}-{row} is cited and explained nowhere; docs/requirements.md does that")

    def check_readme(self, document):
        lines = document.read_text(encoding="utf-8").splitlines()
        if len(lines) > README_LINES_MAX:
            self.say(document, len(lines), f"{len(lines)} lines, more than {README_LINES_MAX}")
        for number, line in enumerate(lines, 1):
            if len(line) > COLUMNS_MAX and line.startswith("|"):  # check_columns() says the others
                self.say(document, number, f"{len(line)} columns, more than {COLUMNS_MAX}")


def main():
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    checker = Checker(root)
    readme = root / "README.md"
    documents = ([readme] if readme.exists() else []) + sorted((root / "docs").glob("*.md"))
    for document in documents:
        checker.check(document)
    if readme.exists():
        checker.check_readme(readme)
    checker.check_ids()
    for violation in checker.violations:
        print(violation)
    print(f"{len(documents)} documents, {len(checker.violations)} violations")
    return 1 if checker.violations or not documents else 0


if __name__ == "__main__":
    sys.exit(main())
