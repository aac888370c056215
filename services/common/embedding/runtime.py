"""ONNX Runtime with its telemetry off: since 1.32 it reports sessions and errors to its maker unless told not to.

Import it from here and nowhere else: the variable is read when the library is loaded, and what is set later comes after
the first event.
"""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime  # the variable must be there first
from onnxruntime.capi import onnxruntime_pybind11_state as onnx_errors  # as above

onnxruntime.disable_telemetry_events()

__all__ = ["onnx_errors", "onnxruntime"]
