"""Checks of scalar and choice arguments: return the clean value or raise.

Messages have one form: **`name` must be <rule>; got <value>.** followed, where one
remedy is likely, by that remedy.
"""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection


def check_positive(value: Any, /, *, name: str) -> float:
    """Return `value` as a finite float greater than 0."""
    number = _check_real(value, name=name, rule="a finite number greater than 0")
    if not (math.isfinite(number) and number > 0.0):
        msg = f"`{name}` must be a finite number greater than 0; got {value!r}."
        raise ValueError(msg)
    return number


def check_between(
    value: Any, low: float, high: float, /, *, name: str, open_ends: bool = True
) -> float:
    """Return `value` as a float between `low` and `high`."""
    rule = f"a number {'strictly ' if open_ends else ''}between {low:g} and {high:g}"
    number = _check_real(value, name=name, rule=rule)
    inside = low < number < high if open_ends else low <= number <= high
    if not inside:
        msg = f"`{name}` must be {rule}; got {value!r}."
        raise ValueError(msg)
    return number


def check_count(value: Any, /, *, name: str, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum`; floats and bools are refused."""
    rule = f"an integer of at least {minimum}"
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        msg = f"`{name}` must be {rule}; got {value!r}."
        raise TypeError(msg)
    if value < minimum:
        msg = f"`{name}` must be {rule}; got {value!r}."
        raise ValueError(msg)
    return int(value)


def check_flag(value: Any, /, *, name: str) -> bool:
    """Return `value` if it is a bool; words such as "no" would count as true."""
    if not isinstance(value, bool):
        msg = f"`{name}` must be True or False; got {value!r}."
        raise TypeError(msg)
    return value


def check_choice(
    value: Any,
    choices: Collection[str],
    /,
    *,
    name: str,
    also: str = "",
    where: str = "",
) -> str:
    """Return `value` if it is one of the strings in `choices`.

    `also` says in the message what else the caller takes, `where` which of several values
    it is about.
    """
    listed = ", ".join(f'"{choice}"' for choice in choices)
    if also:
        listed += f", or {also}"
    if not isinstance(value, str):
        msg = f"`{name}` must be one of {listed}; got {value!r}{where}."
        raise TypeError(msg)
    if value not in choices:
        msg = f"`{name}` must be one of {listed}; got {value!r}{where}."
        raise ValueError(msg)
    return value


def check_instance(value: Any, base: type, /, *, name: str) -> None:
    """Raise if `value` is a class of the family `base` where an object of it is meant."""
    if isinstance(value, type) and issubclass(value, base):
        msg = (
            f"`{name}` must be an object, not its class; got {value.__name__}. Write "
            f"`{value.__name__}(...)`, or its name in lower case as a string."
        )
        raise TypeError(msg)


def _check_real(value: Any, /, *, name: str, rule: str) -> float:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        msg = f"`{name}` must be {rule}; got {value!r}."
        raise TypeError(msg)
    return float(value)
