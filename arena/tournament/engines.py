"""The engines that a tournament can ask for; apart, since the command line needs them before anything heavy."""

from __future__ import annotations

from enum import StrEnum


class EngineKind(StrEnum):
    """Where matches are played."""

    LOCAL = "local"
    """On this machine."""
    RAY = "ray"
    """On the nodes of a Ray cluster."""
