#!/usr/bin/env python3
"""Many clients at the server: load_test.py tiny --clients=64 --requests=4 [--slots=8]

Each client asks for sequences of different lengths, one after the other; each must get the tokens that it would get alone. Some leave in
the middle of an answer, which must free their slots.
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


def run_clients(port, model, answers, clients, requests):
    times, problems = [], []

    def client(number):
        try:
            for i in range(requests):
                kind = (number + i) % KINDS
                if (number + i) % 13 == 12:
                    ask(port, request(kind, model), read_max=2)  # Leaves.
                    continue
                status, tokens, seconds = ask(port, request(kind, model))
                times.append(seconds)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--weights")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--requests", type=int, default=4)
    parser.add_argument("--slots", type=int, default=8)
    options = parser.parse_args()
    model = models.MODELS[options.model]
    with tempfile.TemporaryDirectory() as folder:
        weights = options.weights or f"{folder}/weights.safetensors"
        if not options.weights:
            files.write_random(model, weights)
        server = serve.open_server(model, weights, options.slots)
        port = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answers = [ask(port, request(kind, model))[1] for kind in range(KINDS)]
        for bad in ([], {"tokens": []}, {"tokens": [model.vocabulary]}, {"tokens": [1], "count": model.context}, {"tokens": [1], "top_p": "x"}):
            if (status := ask(port, bad)[0]) != 400:
                raise SystemExit(f"{bad} was answered {status}")
        begin = time.perf_counter()
        times, problems = run_clients(port, model, answers, options.clients, options.requests)
        seconds = time.perf_counter() - begin
        server.shutdown()
        server.batch.stop()
        server.worker.join()
    if problems or any(server.batch.requests):
        raise SystemExit(f"{len(problems)} problems: " + "; ".join(problems[:3]))
    print(f"{options.clients} clients, {options.slots} slots: {len(times)} answers in {seconds:.1f} s, as each alone; {server.batch.steps} steps; "
          f"p50 {np.percentile(times, 50) * 1e3:.0f} ms, p99 {np.percentile(times, 99) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()
