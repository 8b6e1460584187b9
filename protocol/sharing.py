"""The methods about what agents and people share: tasks, messages, documents, links, and who is there."""

from protocol.conversations import AgentList, ListAgentsParams
from protocol.documents import (
    DocumentList,
    ReadDocumentParams,
    ShownDocument,
    WriteDocumentParams,
    WrittenDocument,
)
from protocol.links import Graph, GraphParams, LinkParams, LinkResult, UnlinkParams
from protocol.messages import (
    AckParams,
    MessageList,
    ReadMessagesParams,
    SendParams,
    SentMessage,
    ShownMessage,
    Thread,
    ThreadParams,
)
from protocol.projects import ProjectParams
from protocol.rows import Method
from protocol.tasks import (
    CreateTasksParams,
    ListTasksParams,
    TaskPage,
    UpdateTaskParams,
    WrittenTasks,
)

SHARED: tuple[Method, ...] = (
    Method(
        name="threadline/memories/link",
        params=LinkParams,
        result=LinkResult,
        doc="Link two memories, tasks, files or documents.",
    ),
    Method(
        name="threadline/memories/unlink",
        params=UnlinkParams,
        result=LinkResult,
        doc="Remove a link.",
    ),
    Method(
        name="threadline/memories/graph",
        params=GraphParams,
        result=Graph,
        doc="Show what is linked with what.",
    ),
    Method(
        name="threadline/tasks/create",
        params=CreateTasksParams,
        result=WrittenTasks,
        doc="Write down a task or a whole plan, all of it or nothing.",
    ),
    Method(
        name="threadline/tasks/update",
        params=UpdateTaskParams,
        result=WrittenTasks,
        doc="Change a task: its state, who does it, what is said of it.",
    ),
    Method(
        name="threadline/tasks/list",
        params=ListTasksParams,
        result=TaskPage,
        doc="List tasks, the most urgent first, with what they wait for.",
    ),
    Method(
        name="threadline/messages/send",
        params=SendParams,
        result=SentMessage,
        doc="Tell something to an agent, to all of them, or to the user.",
    ),
    Method(
        name="threadline/messages/read",
        params=ReadMessagesParams,
        result=MessageList,
        doc="Read messages, the most urgent first; what was waiting counts as delivered.",
    ),
    Method(
        name="threadline/messages/ack",
        params=AckParams,
        result=ShownMessage,
        doc="Say that a message has been dealt with.",
    ),
    Method(
        name="threadline/messages/thread",
        params=ThreadParams,
        result=Thread,
        doc="Read the thread that a message belongs to.",
    ),
    Method(
        name="threadline/documents/list",
        params=ProjectParams,
        result=DocumentList,
        doc="List the documents of a project, without their texts.",
    ),
    Method(
        name="threadline/documents/read",
        params=ReadDocumentParams,
        result=ShownDocument,
        doc="Read a document, or one of its last versions.",
    ),
    Method(
        name="threadline/documents/write",
        params=WriteDocumentParams,
        result=WrittenDocument,
        doc="Write a document, unless somebody else has changed it meanwhile.",
    ),
    Method(
        name="threadline/agents/list",
        params=ListAgentsParams,
        result=AgentList,
        doc="List the agents that were active lately, the latest first.",
    ),
)
