"""The heart: how well do these parents explain this variable? `LocalScores` answers; fitters do the work."""
