"""Decide which of two columns is the cause: one pair (`decision`), folders (`folders`), accuracy (`scoring`)."""

from heterodag.pairs.decision import PairResult, direction
from heterodag.pairs.folders import Pair, PairFolder, read_pairs
from heterodag.pairs.scoring import PairScores, decide_pairs, score_pairs

__all__ = ["Pair", "PairFolder", "PairResult", "PairScores", "decide_pairs", "direction", "read_pairs", "score_pairs"]
