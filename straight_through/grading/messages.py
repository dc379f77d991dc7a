"""What a submission's kernel says, checked and cut before anything else reads it.

A submission holds the key that signs its kernel's messages, so each of them may be forged. What
passes here has the form that an honest kernel gives it, a bounded size, and text that can be
printed and stored. What a learner's cells print or show is of no use to the grader and ends here.
"""

import re
import time
from queue import Empty

import zmq

MAX_BYTES = 8 * 2**20  # of a message; an honest kernel caps a cell's output at an eighth of it
MAX_PARTS = 200  # a frame for each array, and a few more
COMPLETE = 2  # seconds within which the rest of a message must follow its beginning
LONGEST = 20_000  # characters of a text
MOST_LINES = 200  # of a traceback
ESCAPES = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


class Forged(ValueError):
    """A message that no honest kernel sends."""


def receive(channel, timeout: float) -> dict:
    """The next message of a channel. Raises Empty if there is none, Forged if it is no message.

    jupyter_client would wait without end for the rest of a message that has only begun.
    """
    parts: list[bytes] = []
    size, until = 0, time.monotonic() + timeout
    while True:
        if not channel.socket.poll(max(0, int(1000 * (until - time.monotonic())))):
            if parts:
                raise Forged("half a message")
            raise Empty
        if not parts:
            until = time.monotonic() + COMPLETE
        try:  # a message that was there a moment ago is gone when its sender is
            parts.append(channel.socket.recv(zmq.NOBLOCK))
        except zmq.Again:
            raise Forged("half a message") from None
        size += len(parts[-1])
        if size > MAX_BYTES or len(parts) > MAX_PARTS:
            raise Forged("a message that is too long")
        if not channel.socket.getsockopt(zmq.RCVMORE):
            break
    _, rest = channel.session.feed_identities(parts)
    message = channel.session.deserialize(rest)
    answers(message, "")
    return message


def clean(text, longest: int = LONGEST) -> str:
    """``text`` without terminal escapes, nor characters that cannot be printed or stored."""
    text = ESCAPES.sub("", str(text)[: 4 * longest])[:longest]
    return "".join(map(_printable, text))


def _printable(character: str) -> str:
    if character.isprintable() or character == "\n":
        return character
    return " " if character.isspace() else "\ufffd"


def answers(message, request: str) -> bool:
    """True if the message says that it belongs to this request; Forged if it is no message."""
    if not isinstance(message, dict):
        raise Forged("no message")
    parent, content = message.get("parent_header"), message.get("content")
    if not isinstance(parent, dict) or not isinstance(content, dict):
        raise Forged("a message of the wrong form")
    return parent.get("msg_id") == request


def published(message) -> dict | None:
    """A message of the output channel with what the grader needs of it; None if that is nothing."""
    kind, content = message["msg_type"], message["content"]
    if kind == "status":
        made = {"execution_state": str(content.get("execution_state"))[:20]}
    elif kind == "error":
        traceback = content.get("traceback")
        made = {
            "ename": clean(content.get("ename", ""), 80),
            "evalue": clean(content.get("evalue", "")),
            "traceback": [
                clean(line) for line in (traceback if isinstance(traceback, list) else [])
            ][-MOST_LINES:],
        }
    elif kind == "execute_result":
        data = content.get("data")
        text = data.get("text/plain", "") if isinstance(data, dict) else ""
        made = {"data": {"text/plain": clean(text)}, "metadata": {}, "execution_count": None}
    else:
        return None
    parent = {"msg_id": message["parent_header"].get("msg_id")}
    return {"msg_type": kind, "parent_header": parent, "content": made}


def failure(content) -> dict:
    """What a reply says of an exception, as plain text of bounded length."""
    content = content if isinstance(content, dict) else {}
    line = content.get("line")
    return {
        "type": clean(content.get("type", "Exception"), 80).replace("\n", " "),
        "message": clean(content.get("message", ""), 600),
        "line": line if type(line) is int and 0 < line < 10**6 else None,
        "text": clean(content.get("text", ""), 200).replace("\n", " "),
    }
