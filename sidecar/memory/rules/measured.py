"""How sure each rule is, as a blind judge found rules of its kind on data that nobody had tuned on.

Our own were written afterwards and have not been judged blind yet.
"""

from protocol.memories import RuleName

CONFIDENCE: dict[RuleName, int] = {
    "deliberate-comment": 5,
    "lasting-words": 5,
    "guideline": 4,
    "comment": 3,
    "model": 3,
    "decision": 2,
    "obligation": 2,
    "prohibition": 2,
    "wish": 2,
    "dependency": 1,
    "project-fact": 1,
}
"""Grades by the share that was right: 84 % and more, 61 to 80 %, 64 to 69 %, 54 to 59 %, 44 to 50 %."""
CREATES: frozenset[RuleName] = frozenset({"deliberate-comment", "lasting-words"})
"""Rules that make memory; what all others find waits for review."""
