"""The tables of tests/mutants: what is replaced where, what runs for which file, and which generated mutants are equivalent."""

import dataclasses
import fnmatch
import pathlib
import tomllib

WRITTEN, GENERATED = "written", "generated"


class TableError(Exception):
    """A table that does not fit the sources: the run fails."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    before: str  # the text that is replaced
    after: str
    breaks: str
    at: int  # offset of `before` in the file
    kind: str = WRITTEN
    is_slow: bool = False  # no cheap run kills it
    equivalent: str = ""  # why no test can see it
    killers: tuple = ()  # the names of runs that each kill it, whatever the others do

    def applied_to(self, text):
        return text[: self.at] + self.after + text[self.at + len(self.before) :]


@dataclasses.dataclass(frozen=True)
class Run:
    """One program that a test suite runs, or a job of it."""

    name: str
    target: str  # for ninja, and the program
    args: tuple
    is_cheap: bool
    by: tuple = ()  # the command that runs the program, without it the program itself
    needs: tuple = ()  # more targets for ninja
    environment: tuple = ()

    @property
    def targets(self):
        return [self.target, *self.needs]

    def command(self, sources, build):
        """(words, environment), in which {sources}, {build} and {target} are replaced."""
        places = {"sources": str(sources), "build": str(build), "target": str(build / self.target)}
        words = [word.format(**places) for word in (self.by or ("{target}",)) + self.args]
        return words, [(name, value.format(**places)) for name, value in self.environment]


@dataclasses.dataclass(frozen=True)
class Equivalent:
    """A generated mutant that no test can kill: every one of `change` in a line that reads `line`."""

    file: str
    line: str
    change: str
    reason: str


def load(path):
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise TableError(f"{path.name}: {wrong}") from wrong


def offset_of(text, row):
    """Where the pattern of a row stands; it must stand there once."""
    found = text.count(row["before"])
    if found != 1:
        raise TableError(f"{row['name']}: its pattern stands {found} times in {row['file']}, not once; write it anew")
    if row["before"] == row["after"]:
        raise TableError(f"{row['name']}: changes nothing")
    return text.index(row["before"])


def written_mutants(root, folder):
    """Those of every table, in the order of their files. Raises TableError with every row that does not apply."""
    mutants, wrong, names = [], [], set()
    for path in sorted(folder.glob("*.toml")):
        for row in load(path).get("mutant", []):
            try:
                source = root / row["file"]
                if not source.is_file():
                    raise TableError(f"{row['name']}: there is no {row['file']}")
                if row["name"] in names:
                    raise TableError(f"{row['name']}: the name is taken")
                names.add(row["name"])
                at = offset_of(source.read_text(encoding="utf-8"), row)
                mutants.append(Mutant(row["name"], row["file"], row["before"], row["after"], row["breaks"], at,
                                      is_slow=row.get("slow", False), equivalent=row.get("equivalent", ""),
                                      killers=tuple(row.get("killers", []))))
            except (TableError, KeyError) as error:
                wrong.append(f"{path.name}: {error}")
    if wrong:
        raise TableError("\n".join(wrong))
    return sorted(mutants, key=lambda mutant: (mutant.file, mutant.at))


def equivalents(root, folder):
    """The rows [[equivalent]]; a row whose line is gone is an error, as a pattern that does not apply."""
    rows, wrong = [], []
    for path in sorted(folder.glob("*.toml")):
        for row in load(path).get("equivalent", []):
            entry = Equivalent(row["file"], row["line"], row["change"], row["reason"])
            source = root / entry.file
            lines = source.read_text(encoding="utf-8").splitlines() if source.is_file() else []
            if entry.line not in (line.strip() for line in lines):
                wrong.append(f"{path.name}: an equivalent's line is not in {entry.file}: {entry.line}")
            if not entry.reason.strip():
                wrong.append(f"{path.name}: an equivalent without a reason: {entry.line}")
            rows.append(entry)
    if wrong:
        raise TableError("\n".join(wrong))
    return rows


class Coverage:
    """Which programs run for a mutant of a file, the cheapest first: coverage.toml."""

    def __init__(self, path):
        table = load(path)
        self.runs = {name: Run(name, row["target"], tuple(row.get("args", [])), row.get("cheap", False),
                               tuple(row.get("by", [])), tuple(row.get("needs", [])), tuple(row.get("env", {}).items()))
                     for name, row in table["run"].items()}
        self.rows = [(row["files"], row["runs"]) for row in table["covers"]]
        self.mutated = table["generate"]["files"]
        for _, names in self.rows:
            for name in names:
                if name not in self.runs:
                    raise TableError(f"coverage.toml: no run is called {name}")

    def of(self, file):
        """The runs of every row that names the file, in the order of the rows."""
        names = [name for patterns, runs in self.rows if any(fnmatch.fnmatch(file, p) for p in patterns) for name in runs]
        runs = [self.runs[name] for name in dict.fromkeys(names)]
        if not runs:
            raise TableError(f"coverage.toml: nothing covers {file}")
        return runs

    def check_killers(self, mutants):
        """Raises TableError with every mutant that names a run twice, or one that does not cover its file."""
        wrong = []
        for mutant in mutants:
            covering = {run.name for run in self.of(mutant.file)}
            strange = [name for name in mutant.killers if name not in covering or mutant.killers.count(name) > 1]
            wrong += [f"{mutant.name}: {name} is no run of its own that covers {mutant.file}" for name in strange]
        if wrong:
            raise TableError("\n".join(wrong))

    def files(self, root):
        """Those of which mutants are generated."""
        found = {path.relative_to(root).as_posix() for pattern in self.mutated for path in pathlib.Path(root).glob(pattern)}
        return sorted(found)
