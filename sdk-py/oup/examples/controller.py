"""Lets a server do one job, and decides about its tools: python controller.py JOB octet serve --stdio [option...]."""

import asyncio
import sys

from octet_oup import Decision, stdio
from octet_oup.wire import ApprovalRequestedEvent


async def decide(request: ApprovalRequestedEvent) -> Decision:
    return Decision.approve() if request.tool_name == "shell" else Decision.deny("only shell commands today")


async def main(job: str, *server: str) -> None:
    async with stdio(*server, on_approval=decide) as client:
        session = await client.open("_main:local:controller")
        result = await (await session.turn(job)).result()
        print(f"{result.status}: {result.text}", *(f"{tool.name} {tool.status}" for tool in result.tools), sep="\n")


asyncio.run(main(*sys.argv[1:]))
