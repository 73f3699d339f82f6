#!/usr/bin/env python3
"""A server that decodes sequences side by side: serve.py tiny --weights=FILE [--slots=8] [--port=8080]

    POST /generate {"tokens": [1, 2, 3], "count": 32, "temperature": 0.8, "top_k": 40, "top_p": 0.9, "seed": 1, "end": 0}

The answer is streamed, a line for each token. A sequence joins the batch when a slot is free and leaves it at its end, or when its
client has gone; the step is recorded once, whoever is in it. A prompt goes in by parts, all of them before the next step.
"""
import argparse
import collections
import dataclasses
import http.server
import json
import pathlib
import queue
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

PROMPT = 16


@dataclasses.dataclass
class Request:
    tokens: list
    count: int
    settings: tuple
    end: int | None = None
    given: queue.SimpleQueue = dataclasses.field(default_factory=queue.SimpleQueue)  # Tokens; None behind the last one.
    left: bool = False  # The client has gone.
    made: int = 0


def request_of(body, model):
    """What a client asks for, or a ValueError with what is wrong with it."""
    said = json.loads(body)
    if not isinstance(said, dict):
        raise ValueError("a request is an object")
    tokens, count, end = said.get("tokens"), said.get("count", 16), said.get("end")
    if not isinstance(tokens, list) or not tokens or not all(type(each) is int and 0 <= each < model.vocabulary for each in tokens):
        raise ValueError(f"tokens are a list of numbers from 0 to {model.vocabulary - 1}")
    if type(count) is not int or count < 1 or (end is not None and type(end) is not int):
        raise ValueError("count is a positive number, end a token")
    if len(tokens) + count > model.context:
        raise ValueError(f"{len(tokens)} tokens and {count} more are beyond the context of {model.context}")
    settings = tuple(float(said.get(name, default)) for name, default in (("temperature", 0), ("top_k", 0), ("top_p", 1), ("seed", 0)))
    if not all(np.isfinite(settings)):
        raise ValueError("settings are finite numbers")
    return Request(tokens, count, settings, end)


class Batch:
    """The sequences that are decoded side by side, by one thread."""

    def __init__(self, model, program, slots):
        self.model, self.program, self.slots = model, program, slots
        self.cache = running.empty_cache(model, slots)
        self.requests = [None] * slots
        self.tokens = np.zeros((slots, 1), np.int32)
        self.positions = np.full(slots, model.context, np.int32)  # An empty slot stands where nothing is kept.
        self.settings = np.tile(np.array([[0, 0, 1, 0]], np.float32), (slots, 1))
        self.waiting, self.changed, self.stopped = collections.deque(), threading.Condition(), False
        self.steps = 0

    def add(self, request):
        with self.changed:
            self.waiting.append(request)
            self.changed.notify()

    def stop(self):
        with self.changed:
            self.stopped = True
            self.changed.notify()

    def run(self):
        while True:
            with self.changed:
                self.changed.wait_for(lambda: self.stopped or self.waiting or any(self.requests))
                if self.stopped:
                    break
            self._admit()
            if any(self.requests):
                self._step()
        for request in [*self.requests, *self.waiting]:
            if request:
                request.given.put(None)

    def _admit(self):
        for slot in range(self.slots):
            if self.requests[slot] is None and self.waiting:
                self._begin(slot, self.waiting.popleft())

    def _begin(self, slot, request):
        settings = np.array([request.settings], np.float32)
        for begin in range(0, len(request.tokens), PROMPT):
            part = request.tokens[begin:begin + PROMPT]
            tokens = np.zeros((1, PROMPT), np.int32)
            tokens[0, :len(part)] = part
            token, _, *self.cache = self.program.prefill(*self.cache, tokens, np.array([begin], np.int32), np.array([slot], np.int32),
                                                         np.array([len(part) - 1], np.int32), settings)
        self.requests[slot], self.settings[slot] = request, settings[0]
        self.positions[slot] = len(request.tokens)
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
        if request.made == request.count or token == request.end or request.left:
            request.given.put(None)
            self.requests[slot], self.positions[slot] = None, self.model.context


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, batch):
        self.batch = batch
        self.worker = threading.Thread(target=batch.run, daemon=True)
        self.worker.start()
        super().__init__(address, Handler)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    BODY_MAX = 1 << 20

    def do_POST(self):  # noqa: N802 - the name that the library calls.
        try:
            size = int(self.headers.get("Content-Length", "0"))
            if self.path != "/generate" or not 0 < size <= self.BODY_MAX:
                return self._refuse(404, "POST /generate with a Content-Length up to a MiB")
            request = request_of(self.rfile.read(size), self.server.batch.model)
        except (ValueError, TypeError) as error:
            return self._refuse(400, str(error))
        self.server.batch.add(request)
        try:
            self._stream(request)
        except OSError:
            request.left = True
            self.close_connection = True

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
        while (token := request.given.get()) is not None:
            line = json.dumps({"token": token}).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

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
