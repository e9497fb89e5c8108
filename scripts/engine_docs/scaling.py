"""The tables of how one queue would go on many processors: scripts/engine-scaling."""

from engine_docs.articles import Maker
from engine_docs.errors import Problem
from engine_scaling import records, tables
from engine_scaling.records import BadInput


def maker() -> Maker:
    """Makes the parts `scaling kinds`, `check`, `forecast` and `half`."""

    def make(name: str) -> str:
        if name not in tables.TABLES:
            raise Problem(f"no table of scaling named {name}")
        try:
            return tables.TABLES[name](records.load())
        except BadInput as error:
            raise Problem(str(error)) from None

    return make
