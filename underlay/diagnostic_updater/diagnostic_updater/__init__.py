"""Subset of diagnostic_updater (Python) for machines without a ROS install."""

from typing import Any

from diagnostic_updater._diagnostic_status_wrapper import DiagnosticStatusWrapper
from diagnostic_updater._diagnostic_updater import DiagnosticTask, FunctionDiagnosticTask, Updater

__all__ = ["DiagnosticStatusWrapper", "DiagnosticTask", "FunctionDiagnosticTask", "Updater"]


def __getattr__(name: str) -> Any:
    # only names of classes: test tools and the import system probe modules for others
    if not name[:1].isupper():
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    raise NotImplementedError(f"diagnostic_updater '{name}': not in this subset; install ros-jazzy-diagnostic-updater")
