# An MCP server for assistants that run in containers: mount the repository at /work and a volume at /memory.
FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY dist/*.whl constraints.txt /tmp/
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt "$(ls /tmp/*.whl)[semantic]" && rm /tmp/*.whl
RUN useradd --create-home threadline && mkdir /memory && chown threadline /memory
USER threadline
ENV THREADLINE_HOME=/memory
WORKDIR /work
ENTRYPOINT ["threadline"]
CMD ["mcp"]
