"""A JSON-RPC server with nothing in it: what asyncio and json cost by themselves."""

import asyncio
import json
import sys


async def serve() -> None:
    reader = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while True:
        header = await reader.readuntil(b"\r\n\r\n")
        length = int(header.partition(b":")[2])
        message = json.loads(await reader.readexactly(length))
        if "id" in message:
            answer = {"jsonrpc": "2.0", "id": message["id"], "result": None}
            body = json.dumps(answer).encode()
            sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(serve())
