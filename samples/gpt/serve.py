#!/usr/bin/env python3
"""A server that decodes sequences side by side: serve.py tiny --weights=FILE [--slots=8] [--port=8080]

    POST /generate {"tokens": [1, 2, 3], "count": 32, "temperature": 0.8, "top_k": 40, "top_p": 0.9, "seed": 1, "end": 0}

The answer is streamed, a line for each token; `end` is a token or a list of them. A sequence joins the batch when a slot is free and leaves it
at its end, or when its client has gone; the step is recorded once, whoever is in it. A prompt goes in by parts, all of them before the
next step. Who asks for what cannot be gets a sentence and 400; 503 where too many wait or the device has failed.
"""
import argparse
import collections
import dataclasses
import http.server
import json
import pathlib
import queue
import select
import socket
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

PROMPT = 16
SETTINGS = {"temperature": (0, 0, 1e6), "top_k": (0, 0, 2 ** 24), "top_p": (1, 0, 1), "seed": (0, -2 ** 24, 2 ** 24)}  # Default, least, greatest.


class Refused(ValueError):
    """What a client is told."""


@dataclasses.dataclass
class Request:
    tokens: list
    count: int
    settings: tuple
    ends: frozenset = frozenset()
    given: queue.SimpleQueue = dataclasses.field(default_factory=queue.SimpleQueue)  # Tokens; None behind the last one.
    left: bool = False  # The client has gone.
    failed: str = ""    # Why it ended early.
    made: int = 0


def _is_number(given, kind=int):
    return isinstance(given, kind) and not isinstance(given, bool)


def _setting(said, name):
    default, least, greatest = SETTINGS[name]
    given = said.get(name, default)
    if not _is_number(given, (int, float)) or not least <= given <= greatest:  # A NaN is not between them.
        raise Refused(f"{name} is a number from {least} to {greatest}")
    return float(given)


def request_of(body, model):
    """What a client asks for, or Refused with what is wrong with it."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Refused(f"a request is JSON: {error}") from None
    if not isinstance(said, dict):
        raise Refused("a request is an object")
    if unknown := sorted(set(said) - {"tokens", "count", "end", *SETTINGS}):
        raise Refused(f"a request has no '{unknown[0][:40]}'")
    tokens, count, ends = said.get("tokens"), said.get("count", 16), said.get("end", [])
    if not isinstance(tokens, list) or not tokens or not all(_is_number(each) and 0 <= each < model.vocabulary for each in tokens):
        raise Refused(f"tokens are a list of numbers from 0 to {model.vocabulary - 1}")
    ends = ends if isinstance(ends, list) else [ends]
    if not _is_number(count) or count < 1 or not all(_is_number(each) for each in ends):
        raise Refused("count is a positive number, end a token or a list of them")
    if len(tokens) + count > model.context:
        raise Refused(f"{len(tokens)} tokens and the asked number more are beyond the context of {model.context}")
    return Request(tokens, count, tuple(_setting(said, name) for name in SETTINGS), frozenset(ends))


class Batch:
    """The sequences that are decoded side by side, by one thread."""
    WAITING_MAX = 1024

    def __init__(self, model, program, slots):
        self.model, self.program, self.slots = model, program, slots
        self.cache = running.empty_cache(model, slots)
        self.requests = [None] * slots
        self.tokens = np.zeros((slots, 1), np.int32)
        self.positions = np.full(slots, model.context, np.int32)  # An empty slot stands where nothing is kept.
        self.settings = np.tile(np.array([[0, 0, 1, 0]], np.float32), (slots, 1))
        self.waiting, self.changed, self.stopped = collections.deque(), threading.Condition(), False
        self.failed = ""
        self.steps = 0

    def add(self, request):
        """Whether there is room for it."""
        with self.changed:
            if self.stopped or self.failed or len(self.waiting) >= self.WAITING_MAX:
                return False
            self.waiting.append(request)
            self.changed.notify()
        return True

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify()

    def run(self):
        try:
            while self._has_work():
                self._admit()
                if any(self.requests):
                    self._step()
        except Exception as error:  # Whatever a step fails by, the clients are told.
            self.failed = f"{type(error).__name__}: {error}"
            print(f"the batch ended: {self.failed}", file=sys.stderr, flush=True)
        with self.changed:  # From here on nobody is let in.
            self.stopped = True
            left = [each for each in (*self.requests, *self.waiting) if each]
        for request in left:
            request.failed = "the server's device has failed" if self.failed else "the server stops"
            request.given.put(None)

    def _has_work(self):
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or self.waiting or any(self.requests))
            return not self.stopped

    def _admit(self):
        for slot in range(self.slots):
            while self.requests[slot] is None and self.waiting:
                request = self.waiting.popleft()
                if not request.left:
                    self._begin(slot, request)

    def _begin(self, slot, request):
        self.requests[slot], settings = request, np.array([request.settings], np.float32)
        for begin in range(0, len(request.tokens), PROMPT):
            part = request.tokens[begin:begin + PROMPT]
            tokens = np.zeros((1, PROMPT), np.int32)
            tokens[0, :len(part)] = part
            token, _, *self.cache = self.program.prefill(*self.cache, tokens, np.array([begin], np.int32), np.array([slot], np.int32),
                                                         np.array([len(part) - 1], np.int32), settings)
        self.settings[slot], self.positions[slot] = settings[0], len(request.tokens)
        self._give(slot, int(np.asarray(token)[0, 0]))

    def _step(self):
        tokens, _, _, *self.cache = self.program.decode(*self.cache, self.tokens.copy(), self.positions.copy(), self.settings.copy())
        self.steps += 1
        tokens = np.asarray(tokens)
        for slot in range(self.slots):
            if self.requests[slot]:
                self.positions[slot] += 1
                self._give(slot, int(tokens[slot, 0]))

    def _give(self, slot, token):
        request = self.requests[slot]
        request.given.put(token)
        request.made += 1
        self.tokens[slot] = token
        if request.made == request.count or token in request.ends or request.left:
            request.given.put(None)
            self.requests[slot], self.positions[slot] = None, self.model.context


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, batch):
        self.batch, self.faults = batch, []
        self.worker = threading.Thread(target=batch.run, daemon=True)
        self.worker.start()
        super().__init__(address, Handler)

    def handle_error(self, request, client_address):
        """A client that leaves is no fault; whatever else ends a request is kept and told."""
        if not isinstance(sys.exception(), OSError):
            self.faults.append(repr(sys.exception()))
            super().handle_error(request, client_address)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # Seconds that a client may be silent in the middle of what it sends, or not read.
    BODY_MAX = 1 << 20

    def do_POST(self):  # noqa: N802 - the name that the library calls.
        request = None
        try:
            if request := self._asked():
                self._stream(request)
        except OSError:  # The client has gone, or is silent.
            self.close_connection = True
            if request:
                request.left = True

    def _asked(self):
        """The request, let in; None where it was refused."""
        if self.path != "/generate":
            return self._refuse(404, "there is only POST /generate")
        size = self.headers.get("Content-Length", "")
        if not size.isascii() or not size.isdigit():
            return self._refuse(411, "a request has a Content-Length")
        if len(size) > 9 or int(size) > self.BODY_MAX:
            return self._refuse(413, f"a request has up to {self.BODY_MAX} bytes")
        try:
            request = request_of(self.rfile.read(int(size)), self.server.batch.model)
        except Refused as error:
            return self._refuse(400, str(error))
        return request if self.server.batch.add(request) else self._refuse(503, "too many wait, or the server ends")

    def _refuse(self, code, why):
        body = json.dumps({"error": why}).encode() + b"\n"
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def _stream(self, request):
        self.send_response(200)
        self.send_header("Content-Type", "application/jsonl")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while (token := self._next(request)) is not None:
            self._chunk({"token": token})
        if request.failed:
            self._chunk({"error": request.failed})
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, said):
        line = json.dumps(said).encode() + b"\n"
        self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")

    def _next(self, request):
        """The next token; while there is none, looks whether the client is still there."""
        while True:
            try:
                return request.given.get(timeout=0.5)
            except queue.Empty:
                if select.select([self.connection], [], [], 0)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                    raise ConnectionError("the client has gone") from None

    def log_message(self, *_):
        """One line a request is too much under load."""


def open_server(model, weights, slots, device="local-task", port=0):
    with tempfile.TemporaryDirectory() as folder:
        program = running.load(running.compiled(model, folder, slots, PROMPT, running.target_of(device)), weights, device)
    return Server(("127.0.0.1", port), Batch(model, program, slots))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=f"{', '.join(models.MODELS)}, or a folder with config.json and model.safetensors")
    parser.add_argument("--weights", required=True)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--device", default="local-task")
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    server = open_server(files.find(options.model), options.weights, options.slots, options.device, options.port)
    print(f"listening on port {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
