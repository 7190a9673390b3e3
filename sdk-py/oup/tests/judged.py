"""A client that the referee judges.

    octet-conform client -- python judged.py {url} {token} {session} {prompt} {decision}

It runs one turn, decides as it is told, and prints what was answered.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Sequence

from octet_oup import Answer, Decision, OupError, websocket
from octet_oup.wire import ApprovalRequestedEvent, UserQuestionRequestedEvent


async def main(url: str, token: str, session: str, prompt: str, decision: str) -> int:
    async def decide(request: ApprovalRequestedEvent) -> Decision:
        return Decision(decision)

    async def answer(request: UserQuestionRequestedEvent) -> Sequence[Answer]:
        return [Answer(labels=[question.options[0].label]) for question in request.questions]

    async with websocket(url, token=token, on_approval=decide, on_question=answer) as client:
        opened = await client.open(session)
        turn = await opened.turn(prompt)
        result = await turn.result()
        sys.stdout.write(f"{result.text}\n")
        if result.status == "completed":
            return 0
        sys.stderr.write(f"{result.status}: {result.error.message if result.error else 'no reason given'}\n")
        return 1


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    try:
        status = asyncio.run(main(*sys.argv[1:]))
    except OupError as fault:
        sys.stderr.write(f"{type(fault).__name__}: {fault}\n")
        status = 1
    sys.exit(status)
