"""Scikit-learn estimators: validate, call, store."""

from .eqvar import EqVar
from .host import HOST
from .npvar import NPVar
from .varsort import VarSort

__all__ = ["HOST", "EqVar", "NPVar", "VarSort"]
