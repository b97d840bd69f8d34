"""In a worker: makes the next task of the same process cheaper.

Before every task PySpark clears the caches of the module finders, so that those for zip archives read their
directories again, once for each package; after every task it collects garbage among all objects of all
modules. With Python 3.11 that takes 0.15 CPU seconds a task, which is more than a task over millions of
events may need for itself.
"""

from __future__ import annotations

import gc
import re
import sys
from functools import cache
from zipimport import zipimporter

ARCHIVES = re.compile(r"(^|[/\\])(pyspark\.zip|py4j-[^/\\]*\.zip|spark-core_[^/\\]*\.jar)$")
"""Those of Spark itself on the path of modules, which do not change while it runs."""


def settle() -> None:
    """Leave the next task of this process as little as possible to clear and to collect."""
    _settled(len(sys.modules))
    for path, finder in list(sys.path_importer_cache.items()):
        # Whoever imports from there later gets another finder, which knows the directory at once.
        if isinstance(finder, zipimporter) and ARCHIVES.search(finder.archive):
            del sys.path_importer_cache[path]


def settle_task() -> None:
    """Settle behind a task of Spark; nothing where its function is called without Spark."""
    from pyspark import TaskContext

    if TaskContext.get() is not None:
        settle()


@cache
def _settled(modules: int) -> None:
    """Take what lives, the modules above all, out of what is searched for garbage; again after new imports.

    Parameters
    ----------
    modules : int
        How many there are: another kind of task in the same process imports others.
    """
    gc.collect()
    gc.freeze()
