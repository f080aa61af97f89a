"""Scikit-learn estimators: validate, call, store."""

from .host import HOST

__all__ = ["HOST"]
