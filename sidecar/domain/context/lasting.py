"""What of a context still holds when the conversation is another: the rest belongs to whoever asked, at that moment."""

from msgspec import UNSET
from msgspec.structs import replace

from protocol.contexts import StartContext

_PASSING = {
    "introduction": "",
    "link_offer": UNSET,
    "recovery": None,
    "query_results": (),
    "pending_messages": (),
    "other_pending_message_count": UNSET,
    "changes_since_last_session": None,
    "tasks_auto_completed": (),
    "tasks_suggested_done": (),
    "recent_agents": (),
}
_NAMES = frozenset(
    {
        "introduction",
        "linkOffer",
        "recovery",
        "queryResults",
        "pendingMessages",
        "otherPendingMessageCount",
        "changesSinceLastSession",
        "tasksAutoCompleted",
        "tasksSuggestedDone",
        "recentAgents",
    }
)


def keep(context: StartContext) -> StartContext:
    """Give a context without letters, news and the state of a conversation."""
    left_out = {name: count for name, count in context.left_out.items() if name not in _NAMES}
    return replace(context, **_PASSING, left_out=left_out)
