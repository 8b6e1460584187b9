"""The methods for who looks on: what weeks were like, what would be given, and what one thinks of it."""

from protocol.contexts import Account, RenderParams, RetractParams
from protocol.memories import Memory
from protocol.rows import Method
from protocol.timelines import Timeline, TimelineParams

LOOKING: tuple[Method, ...] = (
    Method(
        name="threadline/timeline",
        params=TimelineParams,
        result=Timeline,
        doc="Tell what a time was like: its sessions with their commits, and what is remembered of it.",
    ),
    Method(
        name="threadline/context/explain",
        params=RenderParams,
        result=Account,
        doc="Tell what a host would be given now, why, and what would be left out; nothing is noted of that.",
    ),
    Method(
        name="threadline/context/retract",
        params=RetractParams,
        result=Memory,
        doc="Take back what was last said of a memory; it counts as it did before.",
    ),
)
