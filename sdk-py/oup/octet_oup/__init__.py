"""OUP in Python: drive an octet server from a program.

    async with stdio("octet", "serve", "--stdio", on_approval=decide) as client:
        session = await client.open("ada:local:desk", cwd="/home/ada")
        turn = await session.turn("How many tests fail?")
        async for event in turn:
            ...

stdio starts a server, websocket connects to one. octet_oup.wire holds the bindings: models, methods, errors, limits,
features and tables.
"""

from octet_oup._answers import Answer, Decision, OnApproval, OnQuestion
from octet_oup._client import Client
from octet_oup._connect import Connecting, stdio, websocket
from octet_oup._errors import (
    AuthError,
    Disconnected,
    Mismatch,
    OupError,
    ProtocolError,
    ServerError,
    TimedOut,
    Unsupported,
)
from octet_oup._events import (
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalRequested,
    BackgroundEnded,
    Event,
    FileAttached,
    Gap,
    Message,
    Notified,
    PlanUpdated,
    Progress,
    QuestionRequested,
    ReasoningDelta,
    SteerDropped,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    UserMessage,
    Warned,
)
from octet_oup._generated.oup_models import Cursor, InputItem
from octet_oup._session import Events, Session
from octet_oup._turn import Input, Tool, Turn, TurnResult

__all__ = [
    "Answer",
    "ApprovalCancelled",
    "ApprovalDecided",
    "ApprovalRequested",
    "AuthError",
    "BackgroundEnded",
    "Client",
    "Connecting",
    "Cursor",
    "Decision",
    "Disconnected",
    "Event",
    "Events",
    "FileAttached",
    "Gap",
    "Input",
    "InputItem",
    "Message",
    "Mismatch",
    "Notified",
    "OnApproval",
    "OnQuestion",
    "OupError",
    "PlanUpdated",
    "Progress",
    "ProtocolError",
    "QuestionRequested",
    "ReasoningDelta",
    "ServerError",
    "Session",
    "SteerDropped",
    "TextDelta",
    "TimedOut",
    "Tool",
    "ToolEnded",
    "ToolProgress",
    "ToolStarted",
    "Turn",
    "TurnEnded",
    "TurnResult",
    "TurnStarted",
    "Unknown",
    "Unsupported",
    "UserMessage",
    "Warned",
    "stdio",
    "websocket",
]
