#!/usr/bin/env python3
"""Many clients at the server: load_test.py tiny --clients=64 --requests=4 [--slots=8]

Each client asks for sequences of different lengths, one after the other; each must get the tokens that it gets alone, from a program of one
slot. Some leave in the middle of an answer, which must free their slots.
"""
import argparse
import http.client
import json
import pathlib
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import serve  # noqa: E402
import weights as files  # noqa: E402

KINDS = 8  # Different requests; each has an answer.


def request(kind, model):
    rng = np.random.default_rng(kind)
    length = int(rng.integers(1, model.context // 2))
    asked = {"tokens": rng.integers(0, model.vocabulary, length).tolist(), "count": int(rng.integers(4, 20))}
    return asked | ({"temperature": 0.9, "top_k": 50, "top_p": 0.95, "seed": kind} if kind % 2 else {})


def ask(port, asked, read_max=None):
    """Tokens and the time to the last one."""
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", "/generate", json.dumps(asked))
        answer = connection.getresponse()
        tokens = []
        while (line := answer.readline()) and (read_max is None or len(tokens) < read_max):
            tokens.append(json.loads(line)["token"] if answer.status == 200 else line)
        return answer.status, tokens, time.perf_counter() - begin
    finally:
        connection.close()


def run_clients(port, model, answers, clients, requests, seconds=None):
    times, problems, end = [], [], time.monotonic() + (seconds or 0)

    def client(number):
        i = -1
        try:
            while (i := i + 1) < requests or time.monotonic() < end:
                kind = (number + i) % KINDS
                if (number + i) % 13 == 12:
                    ask(port, request(kind, model), read_max=2)  # Leaves.
                    continue
                status, tokens, seconds = ask(port, request(kind, model))
                times.append({"seconds": seconds, "tokens": len(tokens)})
                if status != 200 or tokens != answers[kind]:
                    problems.append(f"request {kind} got {status} {tokens}, alone {answers[kind]}")
        except Exception as error:  # A thread's failure is the test's.
            problems.append(repr(error))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return times, problems


def alone(model, weights):
    """What a server of one slot answers."""
    server, problems = serve.open_server(model, weights, slots=1), []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    answers = [ask(server.server_address[1], request(kind, model))[1] for kind in range(KINDS)]
    close(server, problems)
    return answers


def close(server, problems):
    """After everybody has got an answer or left, no slot may be taken."""
    deadline = time.monotonic() + 60
    while (server.batch.waiting or any(server.batch.requests)) and time.monotonic() < deadline:
        time.sleep(0.01)
    if server.batch.waiting or any(server.batch.requests):
        problems.append("slots are taken, and nobody is there")
    problems += server.faults
    server.shutdown()
    server.batch.stop()
    server.worker.join(60)
    server.server_close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--weights")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=4)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--seconds", type=float, help="clients ask until then, instead of so many requests")
    options = parser.parse_args()
    model = models.MODELS[options.model]
    with tempfile.TemporaryDirectory() as folder:
        weights = options.weights or f"{folder}/weights.safetensors"
        if not options.weights:
            files.write_random(model, weights)
        answers = alone(model, weights)
        server = serve.open_server(model, weights, options.slots)
        port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        begin = time.perf_counter()
        times, problems = run_clients(port, model, answers, options.clients, 0 if options.seconds else options.requests, options.seconds)
        seconds = time.perf_counter() - begin
        close(server, problems)
    given = sum(each["tokens"] for each in times)
    times = [each["seconds"] for each in times]
    if problems:
        raise SystemExit(f"{len(problems)} problems: " + "; ".join(problems[:3]))
    print(f"{options.clients} clients, {options.slots} slots: {len(times)} answers in {seconds:.1f} s, as each alone; {server.batch.steps} steps, "
          f"{given / seconds:.0f} tokens/s; p50 {np.percentile(times, 50) * 1e3:.0f} ms, p99 {np.percentile(times, 99) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
