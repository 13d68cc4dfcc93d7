"""Settings of the tests of the null distributions."""

from __future__ import annotations

from hypothesis import settings

# Time per example says more about a shared machine than about the code.
settings.register_profile("nulls", deadline=None)
settings.load_profile("nulls")
