"""A stand-in for a language model: it speaks as two providers do, and writes down every word it is asked."""

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from sidecar.text import own_words

KEY = "placeholder-not-a-key"

_FENCE, _END = (line("|").partition("|")[0] for line in (own_words.opening, own_words.closing))
_SMALL = 100

Json = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request: what a client has sent to the model."""

    path: str
    body: Json

    @property
    def text(self) -> str:
        """All that the model reads, as it would read it."""
        return "\n".join(_texts([self.body.get(part) for part in ("system", "messages")]))

    @property
    def fences(self) -> int:
        """How often it was given memory."""
        return self.text.count(_FENCE)

    @property
    def memory(self) -> str:
        """What it was given of our memory."""
        return "".join(part.partition(_END)[0] for part in self.text.split(_FENCE)[1:])

    @property
    def tools(self) -> list[str]:
        offered = [tool.get("function", tool) for tool in self.body.get("tools", [])]
        return [str(tool.get("name")) for tool in offered]

    @property
    def latest(self) -> str:
        """What came since the model last spoke."""
        messages = self.body.get("messages", [])
        spoke = [at for at, one in enumerate(messages) if one.get("role") == "assistant"]
        return json.dumps(messages[spoke[-1] + 1 if spoke else 0 :])

    @property
    def has_result(self) -> bool:
        return '"tool_result"' in self.latest or '"role": "tool"' in self.latest


@dataclass
class Model:
    """Answers every request with the same words, unless a cue in the latest prompt makes it use a tool first."""

    cues: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)
    """What it uses at which cue: the first of these tools that it is offered, with these arguments."""
    words: str = "Understood, all done."
    sizes: list[int] = field(default_factory=list)
    """How large it says the next requests of conversations are, then 100; clients compact by it."""
    asked: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Self:
        model = self

        class Handler(_Handler):
            def answer(self, asked: Asked) -> None:
                model.asked.append(asked)
                model._answer(self, asked)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def take(self) -> list[Asked]:
        """Give the requests of the conversation since this was last asked."""
        taken = [one for one in self.asked if one.tools]
        self.asked.clear()
        return taken

    def _answer(self, handler: "_Handler", asked: Asked) -> None:
        path = asked.path.partition("?")[0]
        speaks = _speak_anthropic if path.endswith("/messages") else None
        if path.endswith("/chat/completions"):
            speaks = _speak_openai
        if speaks is None:
            handler.send(b'{"input_tokens": 10}')
            return
        size = self.sizes.pop(0) if asked.tools and self.sizes else _SMALL
        parts = speaks(asked, self._choose(asked), self.words, size)
        if asked.body.get("stream"):
            handler.send(b"".join(parts), "text/event-stream")
        else:
            handler.send(next(parts))

    def _choose(self, asked: Asked) -> tuple[str, Json] | None:
        if asked.has_result:
            return None
        return next(
            (
                (tool, arguments)
                for cue, uses in self.cues.items()
                for tool, arguments in uses.items()
                if cue in asked.latest and tool in asked.tools
            ),
            None,
        )


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, asked: Asked) -> None:
        raise NotImplementedError

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        self.answer(Asked(self.path, json.loads(data or b"{}")))

    def do_GET(self) -> None:
        self.send(b'{"data": []}')

    def do_HEAD(self) -> None:
        self.send(b"")

    def log_message(self, *_: object) -> None:
        """Say nothing of every request."""

    def send(self, body: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _speak_anthropic(
    asked: Asked, call: tuple[str, Json] | None, words: str, size: int
) -> Iterator[bytes]:
    usage = {"input_tokens": size, "output_tokens": 5}
    message = {
        "id": f"msg_{id(asked)}",
        "type": "message",
        "role": "assistant",
        "model": asked.body.get("model", "stub"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    if not asked.body.get("stream"):
        said = [{"type": "text", "text": words}]
        yield json.dumps({**message, "content": said, "stop_reason": "end_turn"}).encode()
        return
    if call is None:
        block: Json = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": words}
    else:
        block = {"type": "tool_use", "id": f"toolu_{id(asked)}", "name": call[0], "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    stop = "end_turn" if call is None else "tool_use"
    for kind, fields in (
        ("message_start", {"message": message}),
        ("content_block_start", {"index": 0, "content_block": block}),
        ("content_block_delta", {"index": 0, "delta": delta}),
        ("content_block_stop", {"index": 0}),
        ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
        ("message_stop", {}),
    ):
        yield f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _speak_openai(
    asked: Asked, call: tuple[str, Json] | None, words: str, size: int
) -> Iterator[bytes]:
    usage = {"prompt_tokens": size, "completion_tokens": 5, "total_tokens": size + 5}
    base = {"id": f"chat-{id(asked)}", "created": 1, "model": "stub", "usage": usage}
    message: Json = {"role": "assistant", "content": words}
    if not asked.body.get("stream"):
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        yield json.dumps({**base, "object": "chat.completion", "choices": [choice]}).encode()
        return
    if call is not None:
        function = {"name": call[0], "arguments": json.dumps(call[1])}
        use = {"index": 0, "id": f"call_{id(asked)}", "type": "function", "function": function}
        message = {"role": "assistant", "tool_calls": [use]}
    for delta, stop in ((message, None), ({}, "stop" if call is None else "tool_calls")):
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        chunk = {**base, "object": "chat.completion.chunk", "choices": [choice]}
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def _texts(value: object) -> Iterator[str]:
    """Give every text within a request, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
