"""How the project is laid out: import direction, guards, file sizes, a cheap import."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "cer_gpu": ROOT / "cer_gpu",
    "cer_gpu.kernels": ROOT / "kernels",
    "cer_gpu.spark": ROOT / "spark_plugin",
}
CODE_FOLDERS = ["cer_gpu", "kernels", "spark_plugin", "bench", "tests", "virtual_device"]

# A module imports from its own layer and those before it only.
LAYERS = [
    {
        "cache_folder",
        "compiling",
        "cores",
        "extras",
        "frozen_dataclass",
        "lazy_modules",
        "notebook",
        "progress",
        "progress_bars",
        "caller_warnings",
        "whole_file",
    },  # compiling: of machine code, whatever it does
    {"printable_text", "digits", "json_text"},
    {"diagnostics"},
    {"errors"},
    {"language"},
    {"logic"},
    {"automata", "joins", "patterns"},
    {"reference"},  # what tests compare with: no other part imports it
    {"plan"},
    {"kernels"},
    {"enumeration"},
    {"engine"},
    {"checked_query"},
    {"next_events"},
    {"step_transitions"},
    {"listed_runs", "view_answers"},
    {"funnel", "sql", "views"},
    {"outer_select", "row_pattern_drawing"},
    {"api", "row_patterns"},
    {"row_pattern_query"},
    {
        "output",
        "demo",
        "backtesting",
        "report",
        "timelines",
        "warm",
        "cli_backtest",
        "cli_inputs",
        "cli_outputs",
        "cli_maintain",
        "cli_sql",
        "cli_watch",
        "watch_state",
        "watched_stream",
    },
    {"cli", "spark"},
    {"__main__"},
]
# The same inside a part, folder by folder.
FLOORS = {
    "plan": [{""}, {"lower"}, {"planning"}],
    "engine": [{""}, {"read"}, {"views"}, {"machines"}, {"answers"}, {"cuda"}, {"rows"}, {"run"}],
}
LAYER = {name: rank for rank, names in enumerate(LAYERS) for name in names}
KERNEL_USERS = {"kernels", "engine", "enumeration"}
KERNEL_IMPORTS = {
    "__future__",
    "collections",
    "contextlib",
    "contextvars",
    "dataclasses",
    "enum",
    "functools",
    "importlib",
    "math",
    "threading",
    "types",
    "typing",
    "numpy",
    "numba",
    "llvmlite",  # Numba's own: intrinsics are written with it
    "cupy",
}


def modules():
    """Every module of the package: (dotted name, file)."""
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            yield ".".join([package, *parts]).removesuffix(".__init__"), path


@cache
def nodes_of(path):
    """The syntax of a file."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def imports(name, path):
    """Absolute names that a module imports, also inside functions."""
    return tuple(_imports(name, path))


def _imports(name, path):
    is_package = path.name == "__init__.py"
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = name.split(".")[: None if is_package else -1]
                parent = parent[: len(parent) - node.level + 1]
                base = ".".join([*parent, base] if base else parent)
            # `from package import name`: the name may be a module.
            yield from ([f"{base}.{alias.name}" for alias in node.names] if base in FOLDERS else [base])
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant))


def part(name):
    """The part of the package that a module belongs to: `engine` for `cer_gpu.engine.read.sources.files`."""
    return name.split(".")[1] if "." in name else ""


MODULES = list(modules())
FOLDERS = {name.rpartition(".")[0] for name, _ in MODULES}
PARTS = {one: [module for module in MODULES if part(module[0]) == one] for one in map(part, dict(MODULES))}
EACH_PART = pytest.mark.parametrize("modules", PARTS.values(), ids=[one or "cer_gpu" for one in PARTS])
"""One test for the modules of each part: there are hundreds of modules, and what fails names its own."""


def test_every_part_has_a_layer():
    assert {part(name) for name, _ in MODULES} - {""} <= LAYER.keys()


@EACH_PART
def test_import_direction(modules):
    for name, path in modules:
        check_direction(name, path)


def check_direction(name, path):
    own = part(name)
    for imported in imports(name, path):
        if imported.split(".")[0] != "cer_gpu":
            if own == "kernels":
                assert imported.split(".")[0] in KERNEL_IMPORTS, f"{name} imports {imported}"
            continue
        other = part(imported)
        if not own or not other or other == own or other not in LAYER:
            continue
        if own == "plan" and other == "kernels" and imported.endswith((".contract", ".runs.programs")):
            continue  # the tables that it makes: what says what they hold imports NumPy alone
        assert LAYER[other] <= LAYER[own], f"{name} imports {imported}, which is above it"
        assert other != "reference", f"{name} imports {imported}; only tests do"
        if other == "kernels":
            assert own in KERNEL_USERS, f"{name} imports {imported}; only {KERNEL_USERS} do"
        if own == "kernels" and other != "compiling":
            raise AssertionError(
                f"{name} imports {imported}; kernels import only each other and what compiles them"
            )


def is_for_devices(name):
    """Whether a module is a CUDA form of kernels, or what these share."""
    family, _, module = name.removeprefix("cer_gpu.kernels.").partition(".")
    return family == "device" or module.startswith("cuda")


KERNEL_MODULES = [(name, path) for name, path in MODULES if name.startswith("cer_gpu.kernels.")]


def test_kernels_for_the_cpu_import_nothing_of_cuda():
    for name, path in KERNEL_MODULES:
        if not is_for_devices(name):
            found = {
                imported
                for imported in imports(name, path)
                if imported.startswith(("cupy", "numba.cuda")) or is_for_devices(imported)
            }
            assert not found, f"{name} imports {found}"


def test_contracts_import_numpy_alone():
    for name, path in KERNEL_MODULES:
        if name.endswith(".contract"):
            found = {imported.partition(".")[0] for imported in imports(name, path)}
            assert found <= {"typing", "numpy", "cer_gpu"}, f"{name} imports {found}"
            own = {imported for imported in imports(name, path) if imported.startswith("cer_gpu")}
            assert all(".contract" in imported for imported in own), f"{name} imports {own}"


def test_every_family_of_kernels_has_a_contract():
    families = {name.split(".")[2] for name, _ in KERNEL_MODULES if name.count(".") > 2} - {"device"}
    assert families == {name.split(".")[2] for name, _ in KERNEL_MODULES if name.endswith(".contract")}


def floor(name):
    """The floor of its part that a module is on; None for a part without floors."""
    floors = FLOORS.get(part(name))
    if floors is None:
        return None
    folder = [*name.split(".")[2:], ""][0]
    return next((rank for rank, names in enumerate(floors) if folder in names), 0)


@EACH_PART
def test_import_direction_inside_a_part(modules):
    for name, path in modules:
        own = floor(name)
        if (
            own is None or name == "cer_gpu.engine.run.bound_query"
        ):  # it chooses the device, and loads CUDA then
            continue
        for imported in imports(name, path):
            if part(imported) == part(name) and floor(imported) is not None:
                assert floor(imported) <= own, f"{name} imports {imported}, which is above it"


def test_no_two_classes_have_one_name():
    homes = {}
    for name, path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def in_circles(follow):
    """The nodes of a graph that can be reached from themselves."""
    found = []
    for name in follow:
        seen, todo = set(), list(follow[name])
        while todo:
            one = todo.pop()
            if one not in seen:
                seen.add(one)
                todo += follow[one]
        if name in seen:
            found.append(name)
    return found


def follows():
    """The modules that each module imports."""
    known = {name for name, _ in MODULES}
    return {
        name: {found for one in imports(name, path) if (found := module_of(one, known)) not in (None, name)}
        for name, path in MODULES
    }


def test_no_files_import_each_other():
    """Neither directly nor in a circle, also not for types alone."""
    # The front door names what it opens only when it is asked for it.
    assert [name for name in in_circles(follows()) if name != "cer_gpu"] == []


def test_no_folders_import_each_other():
    """Neither directly nor in a circle. The modules at the top, which open all, have layers of their own."""
    packages = {name for name, path in MODULES if path.name == "__init__.py"}

    def folder(name):
        return name if name in packages else name.rpartition(".")[0]

    graph = {}
    for name, others in follows().items():
        beyond = {folder(other) for other in others} - {folder(name), "cer_gpu"}
        graph.setdefault(folder(name), set()).update(beyond)
    for others in graph.values():
        others &= graph.keys()
    del graph["cer_gpu"]
    assert in_circles(graph) == []


def module_of(imported, known):
    """The module that an imported name is, or is defined in."""
    while imported and imported not in known:
        imported = imported.rpartition(".")[0]
    return imported or None


MOST_PARAMETERS = 12


def test_kernels_have_few_parameters():
    """What travels together is one named tuple."""
    many = {
        f"{name}.{node.name}": count
        for name, path in KERNEL_MODULES
        for node in nodes_of(path)
        if isinstance(node, ast.FunctionDef)
        if (count := sum(map(len, (node.args.posonlyargs, node.args.args, node.args.kwonlyargs))))
        > MOST_PARAMETERS
    }
    assert not many


PRIVATE_OF_OTHERS = {
    "_getframe",  # of sys
    "_exit",  # public: of os
    "_import_from_c", "_import_from_c_capsule", "_import_from_c_device", "_import_from_c_device_capsule",
    "_getvalue", "_dynfunc",  # of Numba
    "_parse_table",  # of Lark's parser: it is stored with the package
    "_jdf", "_jsc", "_active_spark_context", "_ensure_initialized",  # what PySpark has no public name for
    "_replace", "_fields", "_asdict", "_make",  # public: of named tuples
}  # fmt: skip
"""Private names of libraries; what they do has no public name there."""


def private_names_used(path):
    """Private names that a file takes from another object and does not define itself."""
    own, used = set(), set()
    for node in nodes_of(path):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            own.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            own.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            used |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Attribute):
            if isinstance(node.ctx, ast.Store):
                own.add(node.attr)
            elif ast.unparse(node.value) not in {"self", "cls", "super()"}:
                used.add(node.attr)
    private = {name for name in used if name.startswith("_") and not name.startswith("__")}
    return private - own - PRIVATE_OF_OTHERS


def test_no_file_reaches_into_private_parts_of_another():
    """`thing._part` and `from module import _part` stand in the file alone that defines `_part`."""
    assert {name: found for name, path in MODULES if (found := private_names_used(path))} == {}


def test_files_are_short():
    long = {
        str(path.relative_to(ROOT)): lines
        for folder in CODE_FOLDERS
        for path in (ROOT / folder).rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 510
    }
    assert not long


@pytest.mark.parametrize("folder", ["kernels", "spark_plugin"])
def test_folders_are_not_imported_by_their_own_name(folder):
    done = subprocess.run(
        [sys.executable, "-c", f"import {folder}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "import cer_gpu." in done.stderr


def test_import_is_cheap():
    """`import cer_gpu` loads none of the large libraries; they come with the first use."""
    heavy = ["numpy", "numba", "pyarrow", "lark", "pandas", "rich", "typer"]
    script = f"import sys, cer_gpu; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_first_count_is_cheap():
    """It loads neither Numba nor what only other queries need, nor slow parts of pyarrow (and so pandas)."""
    heavy = [
        "numba", "lark", "pandas", "numpy.ma", "pyarrow.compute", "pyarrow.dataset", "rich", "typer", "email",
        "hashlib", "concurrent.futures", "importlib.metadata", "cer_gpu.compiling.entry", "difflib",
        "cer_gpu.language.slips", "cer_gpu.plan.lower.chain", "cer_gpu.plan.lower.rule",
        "cer_gpu.plan.lower.general",
        "cer_gpu.engine.read.sources.files", "glob", "cer_gpu.joins.hcq", "cer_gpu.automata.chains",
        "cer_gpu.engine.machines.strategies", "cer_gpu.engine.machines.automaton_stream",
        "cer_gpu.engine.machines.attribute_windows", "cer_gpu.enumeration.structure",
        "cer_gpu.kernels.selection.cpu",
    ]  # fmt: skip
    script = f"""
import struct, sys
import pyarrow as pa

def column(kind, form, *values):
    # `pa.array` imports pandas, too
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(struct.pack(form, *values))])

names = [None, pa.py_buffer(struct.pack("4i", 0, 1, 2, 3)), pa.py_buffer(b"ABC")]
kinds = pa.DictionaryArray.from_arrays(
    column(pa.int32(), "4i", 0, 1, 2, 1), pa.Array.from_buffers(pa.string(), 3, names)
)
events = pa.Table.from_arrays([kinds, column(pa.float64(), "4d", 3, 4, 5, 6)], ["type", "price"])
before = set(sys.modules)
import cer_gpu
query = cer_gpu.compile("SELECT * WHERE A AS a ; B AS b FILTER a[price > 2] WITHIN 5 EVENTS")
print(query.count(events), [name for name in {heavy} if name in set(sys.modules) - before])
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "2 []"


def test_packages_are_all_installed():
    """Every folder with modules is in pyproject.toml's list of packages."""
    import tomllib

    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {name for name, path in MODULES if path.name == "__init__.py"}
    found |= {name.rpartition(".")[0] for name, path in MODULES if path.name != "__init__.py"}
    assert found == listed


@pytest.mark.xdist_group("kept together")
def test_groups_are_kept_together(request):
    """Otherwise each process of `make test` starts a JVM, and no test says why all takes longer."""
    grouped = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@kept together") == grouped
