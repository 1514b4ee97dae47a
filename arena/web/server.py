"""The pages over HTTP: read only, by GET alone, with the same policy as on a disk."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from arena.reports.html.decks import pictures
from arena.reports.html.site import LIVE_POLICY, STATIC, static
from arena.web.watch import Watch

LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": LIVE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
TOO_EARLY = {**HEADERS, "Retry-After": "1", "Refresh": "1"}
"""A browser asks again by itself."""
TYPES = {
    "css": "text/css",
    "csv": "text/csv",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "svg": "image/svg+xml",
}
EVENT_HEADERS = [
    (name.lower().encode(), value.encode())
    for name, value in (HEADERS | {"Content-Type": "text/event-stream; charset=utf-8"}).items()
]
LIVE_STATIC = ("live.js",)


def application(watch: Watch, host: str) -> Starlette:
    """The whole site of one run; on a loopback address it answers to its own names alone."""
    texts = dict(pictures()) | {name: static(name) for name in (*STATIC, *LIVE_STATIC)}
    files = {name: text.encode() for name, text in texts.items()}

    def answer(content: bytes, suffix: str) -> Response:
        return Response(content, media_type=TYPES.get(suffix, "text/plain"), headers=HEADERS)

    async def page(request: Request) -> Response:
        path = request.path_params["path"] or "index.html"
        suffix = path.rpartition(".")[2]
        if path in files:
            return answer(files[path], suffix)
        if watch.edition is None:
            return PlainTextResponse("nothing to show yet\n", 503, headers=TOO_EARLY)
        edition = watch.edition
        content = edition.made.get(path) or await asyncio.to_thread(edition.page, path)
        if content is None:
            return PlainTextResponse("there is no such page\n", 404, headers=HEADERS)
        return answer(content, suffix)

    async def api(request: Request) -> Response:
        if watch.edition is None or watch.progress is None:
            return JSONResponse({"error": "nothing to show yet"}, 503, headers=HEADERS)
        match request.path_params["name"]:
            case "report" | "trust" as name:
                content = await asyncio.to_thread(watch.edition.page, f"{name}.json")
            case "progress":
                content = watch.line.encode()
            case _:
                return JSONResponse({"error": "expected report, trust or progress"}, 404, headers=HEADERS)
        return Response(content, media_type="application/json", headers=HEADERS)

    async def health(_: Request) -> Response:
        return JSONResponse({"ok": watch.healthy}, 200 if watch.healthy else 503, headers=HEADERS)

    async def metrics(_: Request) -> Response:
        return Response(_metrics(watch), media_type="text/plain; version=0.0.4", headers=HEADERS)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        looking = asyncio.create_task(watch.look_for_ever())
        yield
        looking.cancel()

    return Starlette(
        routes=[
            Route("/healthz", health),
            Route("/metrics", metrics),
            Route("/events", _Events(watch), methods=["GET"]),
            Route("/api/{name}", api),
            Route("/favicon.ico", lambda _: RedirectResponse("/cards/back.svg")),
            Route("/{path:path}", page),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(LOOPBACK))] if host in LOOPBACK else [],
        lifespan=lifespan,
    )


async def serve(watch: Watch, host: str, port: int, end: Awaitable[object] | None = None) -> None:
    """Serve until Ctrl-C, or until `end` comes."""
    config = uvicorn.Config(
        application(watch, host), host, port, log_level="warning", access_log=False, timeout_graceful_shutdown=1
    )
    server = _Server(config, watch)

    async def stop() -> None:
        if end is not None:
            await end
            server.should_exit = True

    stopping = asyncio.ensure_future(stop())
    await server.serve()
    stopping.cancel()


class _Server(uvicorn.Server):
    """Sends all listeners home before it waits for their connections to end."""

    def __init__(self, config: uvicorn.Config, watch: Watch) -> None:
        super().__init__(config)
        self._watch = watch

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._watch.end()
        await super().shutdown(sockets)


class _Events:
    """Tells each listener each event; as plain ASGI, since this is what is done by far the most often."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": EVENT_HEADERS})
        telling = asyncio.create_task(self._tell(send))
        self._watch.spectators += 1
        try:
            while (await receive())["type"] != "http.disconnect":
                pass
        finally:
            self._watch.spectators -= 1
            telling.cancel()

    async def _tell(self, send: Send) -> None:
        told = b""
        while not self._watch.ended:
            if self._watch.event is told:
                await self._watch.news.wait()
                continue
            told = self._watch.event
            await send({"type": "http.response.body", "body": told, "more_body": True})
        await send({"type": "http.response.body"})


def _metrics(watch: Watch) -> bytes:
    """For Prometheus."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest  # seldom asked for

    registry = CollectorRegistry()

    def gauge(name: str, about: str, value: float, **labels: str) -> None:
        known = gauges.get(name) or Gauge(f"arena_{name}", about, list(labels), registry=registry)
        gauges[name] = known
        (known.labels(**labels) if labels else known).set(value)

    gauges: dict[str, Gauge] = {}
    gauge("web_spectators", "Who listens to the changes.", watch.spectators)
    gauge("web_looks", "Looks at the store.", watch.looks)
    if (progress := watch.progress) is not None:
        gauge("matches_finished", "Matches that count.", progress.finished)
        gauge("matches_planned", "Matches of the schedule.", progress.planned)
        gauge("matches_void", "Matches that the arena failed to play.", progress.void)
        gauge("running", "1 while the run is played.", progress.state == "running")
        if progress.lag is not None:
            gauge(
                "lag_p99_seconds",
                "99 of 100 heartbeats of the arena came less late.",
                (progress.lag.p99_ms or 0) / 1000,
            )
            gauge("paused_seconds", "Time that was charged to nobody.", progress.lag.paused_s)
    if watch.edition is not None:
        gauge("web_pages_cpu_seconds", "CPU time of making the pages that are shown.", watch.edition.cpu_s)
        for row in watch.edition.site.report.rows:
            bot = row.participant.name
            gauge("bot_mu", "Strength, 25 is average.", row.rating.mu, bot=bot)
            gauge("bot_sigma", "Its standard deviation.", row.rating.sigma, bot=bot)
            gauge("bot_faults", "Faults of all kinds.", sum(row.standing.faults.values()), bot=bot)
    return generate_latest(registry)
