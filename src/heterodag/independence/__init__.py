"""Edge tests for Algorithm 3, all through one contract (see `contract`), and `recover_dag`."""

from heterodag.independence.contract import EdgeProblem, EdgeTests
from heterodag.independence.recover import DAGResult, recover_dag

__all__ = ["DAGResult", "EdgeProblem", "EdgeTests", "recover_dag"]
