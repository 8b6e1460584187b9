"""Priorities: what is left out first when not everything fits."""

ORDER = (
    "memoryHealth",
    "vaults",
    "recentAgents",
    "availableDocuments",
    "introduction",
    "tasksSuggestedDone",
    "changesSinceLastSession",
    "recentSessions",
    "documents",
    "importantFacts",
    "tasksAutoCompleted",
    "queryResults",
    "otherOpenTaskCount",
    "otherPendingMessageCount",
    "linkOffer",
    "activeTasks",
    "pendingMessages",
    "constraints",
    "recovery",
)
"""Sections by what an assistant misses least; within a section the last item goes first.

What can be asked for again goes before what nobody would think to ask for: an assistant that does not know of
a constraint breaks it.
"""
