"""What is learned about a data set on the way through its rows."""

from dataclasses import dataclass, field
from itertools import islice

from app.errors import InvalidInput
from app.i18n import Message
from app.planning.dataset.layouts import Layout, find_layout, widen
from app.planning.dataset.rows import Row, wrong_file
from app.planning.dataset.samples import UnusableError, turns_of

MOST_SKIPPED_TOLD = 20
MOST_COLUMNS_TOLD = 100
MOST_COLUMNS_NOTED = 1_000
LONGEST_NAME_TOLD = 100


@dataclass(slots=True)
class Reading:
    """The layout, which the first row that has one decides; the columns; the rows that cannot be used."""

    layout: Layout | None = None
    skipped: list[tuple[int, Message]] = field(default_factory=list)
    skipped_count: int = 0
    # A dictionary, for the order of the file.
    names: dict[str, None] = field(default_factory=dict)

    def turns(self, row: Row) -> list[str] | None:
        """The texts of a row; None, and the reason noted, when it cannot be used."""
        try:
            return self._turns(row)
        except UnusableError as error:
            self.skipped_count += 1
            if len(self.skipped) < MOST_SKIPPED_TOLD:
                self.skipped.append((row.place, error.reason))
            return None

    def _turns(self, row: Row) -> list[str]:
        if row.problem is not None:
            raise UnusableError(row.problem)
        if not isinstance(row.value, dict):
            raise UnusableError(Message("It is no object with named fields."))
        if not row.value.keys() <= self.names.keys():
            self._note(row.value)
        if self.layout is None:
            raise UnusableError(Message("None of its columns is known."))
        return turns_of(row.value, self.layout)

    def _note(self, names: dict[str, object]) -> None:
        self.layout = widen(self.layout, names) if self.layout else find_layout(names)
        if len(self.names) < MOST_COLUMNS_NOTED:
            self.names |= dict.fromkeys(islice(names, MOST_COLUMNS_NOTED))

    def ignored(self) -> tuple[str, ...]:
        """The columns that nothing was taken from."""
        used = set(self.layout.columns.values()) if self.layout else set()
        return tuple(name[:LONGEST_NAME_TOLD] for name in self.names if name not in used)[:MOST_COLUMNS_TOLD]

    def nothing_usable(self) -> InvalidInput:
        """What to say of a data set without a sample."""
        if not self.skipped:
            return wrong_file(Message("The file holds no sample."))
        place, why = self.skipped[0]
        return wrong_file(
            Message(
                "No sample of the file can be used. The first, at %(place)d: %(why)s", place=place, why=why
            )
        )
