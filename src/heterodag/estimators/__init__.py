"""Scikit-learn estimators: validate, call, store."""

from .cam import CAM
from .diffan import DiffAN
from .eqvar import EqVar
from .golem import GOLEM
from .grandag import GraNDAG
from .host import HOST
from .npvar import NPVar
from .varsort import VarSort

__all__ = ["CAM", "GOLEM", "HOST", "DiffAN", "EqVar", "GraNDAG", "NPVar", "VarSort"]
