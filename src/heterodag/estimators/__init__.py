"""Scikit-learn estimators: validate, call, store."""

from .cam import CAM
from .eqvar import EqVar
from .host import HOST
from .npvar import NPVar
from .varsort import VarSort

__all__ = ["CAM", "HOST", "EqVar", "NPVar", "VarSort"]
