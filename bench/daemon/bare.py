"""
The limit for taking tickets: an aiohttp handler that stores a row and says so, committed in groups, an fsync a commit.

    python -m bench.daemon.bare FOLDER

Prints where it listens, and ends with its input.
"""

import asyncio
import json
import sys
from pathlib import Path

from aiohttp import web

from bench.raw import GroupCommit


async def serve(folder: Path) -> None:
    """Take tickets until nobody needs them."""
    store, count = GroupCommit(str(folder / "bare.db")), 0

    async def accept(request: web.Request) -> web.Response:
        nonlocal count
        count += 1
        name, ticket = f"T-{count}", json.loads(await request.text())
        await store.keep((name, 0, "", ticket["text"].encode()))
        return web.json_response({"ticket": name, "status": "running"}, status=202)

    app = web.Application()
    app.router.add_post("/tickets", accept)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(f"Listens on http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await runner.cleanup()
    store.close()


if __name__ == "__main__":
    asyncio.run(serve(Path(sys.argv[1])))
