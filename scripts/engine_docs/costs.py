"""The table of operations' costs, as measured by scripts/engine-costs."""

from pathlib import Path

from engine_costs.expectations import BadInput, Expectations
from engine_docs.articles import Maker
from engine_docs.layout import Problem


def maker(file: Path) -> Maker:
    """Makes the part `costs engine`."""

    def make(name: str) -> str:
        if name != "engine":
            raise Problem(f"no costs of {name}")
        try:
            expectations = Expectations.load(file)
        except BadInput as error:
            raise Problem(str(error)) from None
        lines = [
            "| scenario | an operation is | allocations | bytes | atomics | instructions |",
            "| --- | --- | ---: | ---: | ---: | ---: |",
        ]
        for scenario, cost in expectations.costs.items():
            figures = (
                f"{cost.allocations:.2f}", _number(cost.held_bytes, ".0f"), _number(cost.atomics, ".1f"),
                _number(cost.instructions, ",.0f"),
            )  # fmt: skip
            meaning = expectations.meanings[scenario].replace("addOperation { }", "`addOperation { }`")
            lines.append(f"| `{scenario}` | {meaning} | {' | '.join(figures)} |")
        return "\n".join([*lines, "", f"Counted with {expectations.environment}."]) + "\n"

    return make


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
