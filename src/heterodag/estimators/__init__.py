"""Scikit-learn estimators: validate, call, store."""

from heterodag.estimators.cam import CAM
from heterodag.estimators.diffan import DiffAN
from heterodag.estimators.eqvar import EqVar
from heterodag.estimators.golem import GOLEM
from heterodag.estimators.grandag import GraNDAG
from heterodag.estimators.host import HOST
from heterodag.estimators.npvar import NPVar
from heterodag.estimators.varsort import VarSort

__all__ = ["CAM", "GOLEM", "HOST", "DiffAN", "EqVar", "GraNDAG", "NPVar", "VarSort"]
