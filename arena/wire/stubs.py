"""The service by name: what both ends must agree on to talk, without gRPC and without the generated stubs.

Both ends register and call these methods with raw bytes and leave the messages to `arena.wire.codec`.
"""

from __future__ import annotations

PROTOCOL_MAJOR = 1
"""Another major is refused."""
PROTOCOL_MINOR = 0
"""The smaller of the two sides' minors holds."""

SERVICE = "arena.sixtysix.v1.BotService"
DESCRIBE_METHOD = "Describe"
PLAY_METHOD = "Play"
DESCRIBE = f"/{SERVICE}/{DESCRIBE_METHOD}"
"""Unary: `DescribeRequest` to `DescribeResponse`."""
PLAY = f"/{SERVICE}/{PLAY_METHOD}"
"""Both ways a stream: `PlayRequest` to `PlayResponse`."""

MAX_ITEMS = 128
"""Events or answers in one message."""
MAX_MESSAGE_BYTES = 256 * 1024
MAX_ERROR_BYTES = 2048
"""Bytes of `Answer.error`, in UTF-8."""
