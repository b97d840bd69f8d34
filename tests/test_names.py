"""Names of files and classes: the last word is a noun that the glossary or the list of ordinary nouns has."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cer_gpu", "kernels", "spark_plugin")
GLOSSARY = ROOT / "docs" / "contributing" / "glossary.md"
MOST_WORDS = 40


def words_of(text: str) -> frozenset[str]:
    """The words of a list that is written as a text."""
    return frozenset(text.split())


NOUNS = words_of(
    """
    account accumulator adder age aggregate aggregation agreement allowance alternative amount analysis
    answer arena argument arithmetic array atom attribute automaton availability backtest bag bar barrier
    bisimulation block body boolean bound branch bucket budget buffer builder call candidate category
    cause cell chain change check checker checkpoint choice chooser chunker class classifier clause cast
    climb clock code column commit compaction comparison compiler complement completion component
    composition compression condition conjunction constant constraint construction consumption content
    context continuation contract core correlation cost count counter cover cut data dataclass debt
    decimal decision deduplication demand demo dependence deriver description device diagnostic diagram
    digit disambiguation distance disjunction display distribution domain draft duration edge effort
    element elimination encoder end engine enumeration episode equality error estimate evaluation event
    eviction exit expansion expiry explanation exploration expression extra extreme fact fault field file
    filler filter finder float fold folder footer form format formula fragment function funnel geometry
    grammar grid group habit head headroom heap helper hierarchy histogram homomorphism identity input
    instant instruction interface interval iteration job join joint keeper kernel keyword kind ladder
    lake language launcher layout leaf length letter level library line list lister literal liveness
    loader local log logic look lookahead lookup loop loss map mask matcher matrix measure member memory
    message meta metric mode module monotonicity move name need neighbour node note notebook null number
    object offset operator option order origin outcome output overlap owner page pair parameter parser
    part partition pass path pattern payload phrase place plan planner plot plugin pool position
    predicate prefix printer probe producer production program progress provenance push query range reach
    reader reason record recorder reduct reduction reference refusal region registry relation remainder
    repetition report rerun rest result resumption retry reuse rewriter root route row rule runner scan
    schema scope scratch seam search select selection selector semantics sequence serialization series
    session set share shift side sign signature sink site size skip slab slice slip source speed spill
    split stack stage stamp start state statistics status step store strategy stream structure style
    subset subtree sum summary suppression statement sweep synchrony table tail task term test text
    threshold tie time timeline token total trace transformer transition tree trie triplet tuple turn
    type upload use validator value variable variant version vertex walk warning watch watermark way
    weight witness work worker wrapper writer zone
    """
)
"""Ordinary nouns that everyone knows, and the field's terms that textbooks have; singular."""

ABBREVIATIONS = words_of(
    """
    api cea ceql cli cpu cuda dfa diff dnf gcq gpu hcq id ipc java jit jvm lalr lp mermaid pcea pfa qtree sql
    svg theta
    """
)

VERBS = words_of(
    """
    bind build classify compose construct consume derive determinise enumerate evaluate explain explore
    follow maintain merge minimise simulate suppress trim unify warm write
    """
)
"""A file may be named by the verb of the one pass or function that it defines. A class may not."""

SECOND_WORDS = {
    "bucketful": "batch",
    "foresight": "lookahead",
    "glance": "outlook",
    "helpers": "the thing that it defines",
    "lot": "batch",
    "manager": "the thing that it manages",
    "misc": "the thing that it defines",
    "piece": "segment",
    "sheaf": "batch",
    "stripe": "segment",
    "stuff": "the thing that it defines",
    "tile": "unit",
    "util": "the thing that it defines",
    "utils": "the thing that it defines",
}
"""Words that are refused, with the word to use in their place."""

NO_NOUNS = words_of(
    """
    about above abreast across after again ahead alike all alone along anywhere apart around aside
    asunder away back before behind below beneath beside besides between beyond both built by chosen done
    drawn during either every everything few following for forth found from further given gone held here
    hidden if in inside instead kept known laid late left lone lost made many marked meanwhile met more
    much near nearby next nothing of often older on once only open opposite other out over owed paid past
    put ran read seen sent several shown single some sought spread strict such taken there through thus
    to together told toward under until up usable when where while whole wide with within without worn
    woven written yet younger
    """
)
"""Participles without -ed, adverbs, prepositions and the like: never the head of a name."""

EXCEPTIONS = {
    # Terms of the field that end like participles.
    "backtesting": "running strategies over history",
    "binding": "of variables",
    "compiling": "the folder of what compiles kernels",
    "drawing": "a picture",
    "ending": "the end of a run, with its bounds",
    "finding": "an error or a note",
    "lower": "the folder of what lowers a query to a machine",
    "lowering": "one way from a query to a machine",
    "partitioning": "of a stream by a key",
    "planning": "the folder of what plans a query",
    "read": "the folder of what reads events",
    "reading": "how rows become symbols",
    "renumbering": "new numbers for old ones",
    "rewriting": "of formulas",
    "setting": "a key of the configuration",
    "sorting": "of rows",
    "staging": "copying by way of page-locked buffers",
    "typing": "of the values on a stack",
    "timed": "the folder of timed automata (timed CEL)",
    "family": "no adverb",
}
"""Heads that are kept although they look like participles or adverbs."""

KEPT_FILES = {
    # Users choose an engine by its name (`engine="ordered"`), and `explain` prints it.
    "cer_gpu/plan/lower/apart.py",
    "cer_gpu/plan/lower/general.py",
    "cer_gpu/plan/lower/ordered.py",
    "cer_gpu/plan/lower/regular.py",
    "cer_gpu/plan/lower/timed.py",
    # The machine of the lowering `general`, which takes every query.
    "cer_gpu/plan/general.py",
    "cer_gpu/engine/machines/general.py",
    "cer_gpu/engine/cuda/machines/general.py",
}

KEPT_CLASS_FILES = {
    # Nodes of the syntax tree are named by the words of the language, which errors quote: AND, ALL, UNLESS.
    "cer_gpu/language/tree.py",
    "cer_gpu/patterns/tree.py",
    "cer_gpu/language/expressions.py",
    "cer_gpu/language/functions.py",
}


def glossary() -> list[str]:
    """The words that the glossary explains."""
    return re.findall(r"^\| \*\*([a-z]+)\*\* \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)


def singulars(word: str) -> set[str]:
    """What a word may be the plural of, and the word itself."""
    found = {word}
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    if word.endswith("es"):
        found.add(word[:-2])
        found.add(word[:-2] + "is")
    if word.endswith("s"):
        found.add(word[:-1])
    irregular = {"automata": "automaton", "indices": "index", "matrices": "matrix", "leaves": "leaf"}
    return found | {irregular[word]} if word in irregular else found


def head(name: str) -> str:
    """The last word of the name of a file or class, in small letters."""
    if "_" in name.strip("_") or name.islower():
        return name.strip("_").split("_")[-1].lower()
    return re.findall(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+", name)[-1].lower()


def reason(name: str, known: frozenset[str], verbs: bool) -> str | None:
    """Why a name is refused; None if it is not."""
    word = head(name)
    if word in SECOND_WORDS:
        return f"`{word}` is a second word: use {SECOND_WORDS[word]}"
    if singulars(word) & set(EXCEPTIONS) or (verbs and word in VERBS):
        return None
    if word in NO_NOUNS:
        return f"`{word}` is no noun"
    if re.search(r"(ed|ing|ly)$", word) and word not in known:
        return f"`{word}` is a participle or an adverb"
    if not singulars(word) & known:
        return f"`{word}` is no noun that the test knows"
    return None


def refused() -> list[str]:
    """The files, folders and classes whose names are refused, each with the reason."""
    known = NOUNS | ABBREVIATIONS | set(glossary())
    found = []
    folders = set()
    for top in FOLDERS:
        for path in sorted((ROOT / top).rglob("*.py")):
            place = path.relative_to(ROOT).as_posix()
            folders.update(parent.as_posix() for parent in path.relative_to(ROOT).parents if parent.parts)
            if not path.stem.startswith("__") and place not in KEPT_FILES:
                why = reason(path.stem, known, verbs=True)
                if why:
                    found.append(f"{place}: {why}")
            if place in KEPT_CLASS_FILES:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                # A class in small letters is used as a function is.
                if isinstance(node, ast.ClassDef) and not node.name.lstrip("_")[0].islower():
                    why = reason(node.name, known, verbs=False)
                    if why:
                        found.append(f"{place}: class {node.name}: {why}")
    for folder in sorted(folders):
        why = reason(folder.rpartition("/")[2], known, verbs=True)
        if why:
            found.append(f"{folder}/: {why}")
    return found


def test_names_are_nouns():
    assert refused() == []


def test_the_glossary_is_short_and_has_an_example_for_each_word():
    words = glossary()
    assert words
    assert len(words) <= MOST_WORDS
    assert len(set(words)) == len(words)
    for line in GLOSSARY.read_text(encoding="utf-8").splitlines():
        if line.startswith("| **"):
            assert len([cell for cell in line.strip("|").split("|") if cell.strip()]) == 3, line


def test_a_word_of_the_glossary_is_no_ordinary_noun_and_not_refused():
    words = set(glossary())
    assert not words & NOUNS
    assert not words & (NO_NOUNS | set(SECOND_WORDS))


def test_kept_files_exist():
    assert [place for place in sorted(KEPT_FILES | KEPT_CLASS_FILES) if not (ROOT / place).is_file()] == []


def test_participles_adverbs_and_second_words_are_refused():
    known = NOUNS | set(glossary())
    for name in ("asked", "looking_ahead", "singly", "instead", "cpu_kept", "LookedFor", "_Held", "Sheaf"):
        assert reason(name, known, verbs=True), name
    for name in ("spill", "cpu_lookahead", "OpenRuns", "sorting", "reported_ends", "classify"):
        assert reason(name, known, verbs=True) is None, name
    assert reason("Classify", known, verbs=False)
