#!/usr/bin/env python3
"""What a server is sent that nobody should send: check_hostile.py

Requests that are none, too large, cut off, silent; clients that leave; files of weights that are cut off, of other shapes, full of NaNs. Each
is refused with a sentence or ends alone; who asks properly afterwards gets the same tokens as before.
"""
import json
import pathlib
import socket
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import baton  # noqa: E402
import load_test  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import serve  # noqa: E402
import weights as files  # noqa: E402

MODEL, SLOTS = models.MODELS["tiny"], 2
GOOD = {"tokens": [5, 7, 11], "count": 6}
BODIES = {  # Each is answered 400.
    "no JSON": b"hello", "no text": b"\xff\xfe{}", "nothing": b" ", "half": b'{"tokens": [1', "a list": b"[]", "null": b"null",
    "deep": b"[" * 200_000, "long digits": b'{"tokens": [' + b"1" * 5000 + b"]}", "unknown": b'{"tokens": [1], "temprature": 1}',
    "no tokens": b'{"tokens": []}', "tokens of text": b'{"tokens": "abc"}', "beyond the vocabulary": b'{"tokens": [512]}',
    "below it": b'{"tokens": [-1]}', "fractions": b'{"tokens": [1.0]}', "truth": b'{"tokens": [true]}', "nested": b'{"tokens": [[1]]}',
    "huge prompt": json.dumps({"tokens": [1] * 100_000}).encode(), "no room": b'{"tokens": [1], "count": 64}',
    "huge count": b'{"tokens": [1], "count": ' + b"9" * 400 + b"}", "no count": b'{"tokens": [1], "count": 0}', "half a count": b'{"tokens": [1], "count": 1.5}',
    "below zero": b'{"tokens": [1], "temperature": -1}', "NaN": b'{"tokens": [1], "temperature": NaN}', "infinite": b'{"tokens": [1], "top_k": 1e999}',
    "a number beyond floats": b'{"tokens": [1], "seed": ' + b"9" * 400 + b"}", "a share of 2": b'{"tokens": [1], "top_p": 2}',
    "a share below 0": b'{"tokens": [1], "top_p": -0.5}', "a seed of text": b'{"tokens": [1], "seed": "x"}', "null settings": b'{"tokens": [1], "top_k": null}',
    "an end of text": b'{"tokens": [1], "end": "x"}', "ends of lists": b'{"tokens": [1], "end": [[1]]}',
}
HEADS = {  # What begins a request that gets no further, and its answer.
    b"POST /generate HTTP/1.1\r\n\r\n": 411, b"POST /generate HTTP/1.1\r\nContent-Length: -5\r\n\r\n": 411,
    b"POST /generate HTTP/1.1\r\nContent-Length: 1e3\r\n\r\n": 411, b"POST /generate HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n": 411,
    b"POST /generate HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n": 413, b"POST /generate HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n": 413,
    b"POST /other HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}": 404, b"GET /generate HTTP/1.1\r\n\r\n": 501, b"\x00\x01\x02\r\n\r\n": 400,
}


def send(port, data):
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(data)
    return connection


def posted(body):
    return b"POST /generate HTTP/1.1\r\nContent-Length: " + str(len(body)).encode() + b"\r\n\r\n" + body


def status_of(connection):
    with connection, connection.makefile("rb") as answer:
        line = answer.readline().split()
        return int(line[1]) if len(line) > 1 and line[1].isdigit() else None


def check_requests(port, problems):
    for name, body in BODIES.items():
        if (status := status_of(send(port, posted(body)))) != 400:
            problems.append(f"'{name}' was answered {status}")
    for head, wanted in HEADS.items():
        connection = send(port, head)
        if head.startswith(b"\x00"):  # No HTTP: the library answers as 0.9 did, without a status, or closes.
            connection.close()
        elif (status := status_of(connection)) != wanted:
            problems.append(f"{head[:60]} was answered {status}")


def check_leaving(port, problems):
    """Clients that are silent, or leave: with half a request, while they wait, in the middle of an answer."""
    silent = [send(port, b""), send(port, b"POST /gen"), send(port, posted(b"x" * 100)[:-50])]
    long = json.dumps({"tokens": [1], "count": MODEL.context - 1}).encode()
    for _ in range(20):
        send(port, posted(long)).close()
    reading = [send(port, posted(long)) for _ in range(4)]
    for each in reading:
        each.recv(20)
        each.close()
    if load_test.ask(port, GOOD)[0] != 200:
        problems.append("who asks after them gets nothing")
    for each in silent:
        each.close()


def check_settings(port, answer, problems):
    """Settings at their ends give tokens of the vocabulary; those that leave one token give the likeliest; `end` ends."""
    if (got := load_test.ask(port, GOOD | {"end": [answer[2], -1]})[1]) != answer[:answer.index(answer[2]) + 1]:
        problems.append(f"the end {answer[2]} of {answer} gave {got}")
    for one in ({"top_p": 0}, {"top_k": 1}, {"top_p": 1e-30}, {"temperature": 1e-30}):
        if (got := load_test.ask(port, GOOD | {"temperature": 1} | one)[1]) != answer:
            problems.append(f"{one} gave {got}, the likeliest are {answer}")
    for all_ in ({"temperature": 1e6}, {"top_k": 2 ** 24}, {"seed": -2 ** 24}, {"top_k": 0.5}):
        status, got, _ = load_test.ask(port, GOOD | {"temperature": 1} | all_)
        if status != 200 or len(got) != 6 or not all(0 <= each < MODEL.vocabulary for each in got):
            problems.append(f"{all_} was answered {status} {got}")


def check_files(program, folder, weights, problems):
    """Files that are no weights of this model are refused when the program is loaded, by a sentence with what is wrong."""
    whole = pathlib.Path(weights).read_bytes()
    described, arrays = models.shapes(MODEL), files.read(weights)
    narrow = described | {"ln_f.bias": type(described["ln_f.bias"])((63,), np.float32)}
    other = described | {"ln_f.bias": type(described["ln_f.bias"])((64,), np.float16)}
    without = {name: each for name, each in described.items() if name != "wpe.weight"}

    def rewritten(described):
        files.write(f"{folder}/other.safetensors", described, lambda name, each: np.resize(arrays[name], each.shape))
        return pathlib.Path(f"{folder}/other.safetensors").read_bytes()

    for name, data in {"empty": b"", "cut off in its header": whole[:100], "cut off": whole[:-1000], "a header beyond it": b"\xff" * 8 + whole[8:],
                       "no JSON": whole[:8] + b"x" + whole[9:], "a narrow tensor": rewritten(narrow), "another type": rewritten(other),
                       "one missing": rewritten(without)}.items():
        path = pathlib.Path(folder) / "bad.safetensors"
        path.write_bytes(data)
        try:
            running.load(program, path)
        except baton.StatusError as error:
            if len(str(error)) < 20:
                problems.append(f"a file that is {name} is refused by '{error}'")
        else:
            problems.append(f"a file that is {name} is taken")


def check_nans(program, folder, problems):
    """Weights that are no numbers give tokens of the vocabulary."""
    path = f"{folder}/nans.safetensors"
    files.write(path, models.shapes(MODEL), lambda _, each: np.full(each.shape, np.nan, np.float32))
    batch = serve.Batch(MODEL, running.load(program, path), SLOTS)
    for temperature in (0, 1):
        request = serve.request_of(json.dumps(GOOD | {"temperature": temperature, "top_k": 5, "top_p": 0.5}), MODEL)
        batch.add(request)
        batch._admit()  # pylint: disable=protected-access
        while any(batch.requests):
            batch._step()  # pylint: disable=protected-access
        got = list(iter(request.given.get, None))
        if len(got) != 6 or not all(0 <= each < MODEL.vocabulary for each in got):
            problems.append(f"weights that are NaN gave {got}")


class Failing:
    """A program whose device fails."""

    def prefill(self, *_):
        raise baton.InternalError("the device is gone")


def check_failure(problems):
    """When a step fails, who has asked is told, and nobody is let in."""
    server = serve.Server(("127.0.0.1", 0), serve.Batch(MODEL, Failing(), SLOTS))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port = server.server_address[1]
    connection = send(port, posted(json.dumps(GOOD).encode() + b" "))
    said = b""
    while b"error" not in said and (more := connection.recv(1000)):
        said += more
    server.worker.join(60)
    if b"device has failed" not in said or load_test.ask(port, GOOD)[0] != 503:
        problems.append(f"a step that failed was answered {said}")
    problems += server.faults
    server.shutdown()
    server.server_close()


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        weights = f"{folder}/weights.safetensors"
        files.write_random(MODEL, weights)
        program = running.compiled(MODEL, folder, SLOTS, serve.PROMPT)
        check_files(program, folder, weights, problems)
        check_nans(program, folder, problems)
        check_failure(problems)
        server = serve.Server(("127.0.0.1", 0), serve.Batch(MODEL, running.load(program, weights), SLOTS))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        answer = load_test.ask(port, GOOD)[1]
        check_requests(port, problems)
        check_settings(port, answer, problems)
        check_leaving(port, problems)
        if (again := load_test.ask(port, GOOD)[1]) != answer or len(answer) != 6:
            problems.append(f"afterwards {GOOD} gives {again}, before {answer}")
        load_test.close(server, problems)
    if problems:
        raise SystemExit(f"{len(problems)} problems: " + "; ".join(problems))
    print(f"{len(BODIES) + len(HEADS)} requests that are none, clients that leave, settings at their ends, 8 files, NaNs: each ends alone")


if __name__ == "__main__":
    main()
