#!/usr/bin/env python3
"""What `transformers` saves is read as it stands: check_published.py [gpt2] [llama] [llama-tied]

A model of a random configuration is saved as config.json and model.safetensors; its logits after a prompt and a few tokens are those that
PyTorch computes (1e-4 of the largest). Skipped where `torch` or `transformers` is not installed.
"""
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import numpy as np  # noqa: E402
import weights as files  # noqa: E402

try:
    import torch
    import transformers
except ImportError as error:
    running.skip(error)

LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)
PROMPT, STEPS, SEED = 16, 8, 5


def random_model(name, rng):
    """A configuration of its own each time, and weights that say something: those of `transformers` are nearly zero."""
    heads, layers, vocabulary = int(rng.choice([2, 4, 6])), int(rng.integers(1, 4)), int(rng.integers(90, 300))
    width = heads * int(rng.choice([8, 16]))
    torch.manual_seed(SEED)
    if name == "gpt2":
        made = transformers.GPT2LMHeadModel(transformers.GPT2Config(
            vocab_size=vocabulary, n_positions=48, n_embd=width, n_layer=layers, n_head=heads, n_inner=int(rng.integers(20, 90)) * 2,
            layer_norm_epsilon=1e-4))
    else:
        made = transformers.LlamaForCausalLM(transformers.LlamaConfig(
            vocab_size=vocabulary, max_position_embeddings=48, hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
            num_key_value_heads=heads // 2 if name == "llama" else 1, rms_norm_eps=1e-6,
            intermediate_size=int(rng.integers(20, 90)) * 2, rope_theta=5000.0, tie_word_embeddings=name == "llama-tied"))
    for each in made.parameters():
        torch.nn.init.normal_(each, 0.0 if each.ndim > 1 else 0.5, 0.2)
    return made.eval()


def logits_of(program, model, tokens):
    """Behind the prompt, then behind each further token."""
    zero, last = np.zeros(1, np.int32), np.array([PROMPT - 1], np.int32)
    _, logits, *cache = program.prefill(*running.empty_cache(model, 1), tokens[:, :PROMPT], zero, zero, last, LIKELIEST)
    made, position = [np.asarray(logits)[0].copy()], np.array([PROMPT], np.int32)
    for i in range(PROMPT, tokens.shape[1]):
        _, position, logits, *cache = program.decode(*cache, tokens[:, i:i + 1].copy(), position, LIKELIEST)
        made.append(np.asarray(logits)[0].copy())
    return np.stack(made)


def check(name):
    rng = np.random.default_rng([SEED, len(name)])
    with tempfile.TemporaryDirectory() as folder:
        theirs = random_model(name, rng)
        theirs.save_pretrained(folder)
        model, path = files.published(folder)
        tokens = rng.integers(0, model.vocabulary, (1, PROMPT + STEPS), np.int32)
        with torch.no_grad():
            wanted = theirs(torch.from_numpy(tokens.astype(np.int64))).logits[0, PROMPT - 1:].numpy()
        given = logits_of(running.load(running.compiled(model, folder, prompt=PROMPT), path), model, tokens)
    off = float(np.abs(given - wanted).max() / np.abs(wanted).max())
    print(f"{name}: {model.layers} layers of {model.width}, {model.heads} heads ({model.groups} of keys), {model.hidden} hidden units, "
          f"vocabulary {model.vocabulary}: logits off by {off:.1e}")
    return off


def main():
    offs = [check(name) for name in sys.argv[1:] or ("gpt2", "llama", "llama-tied")]
    if max(offs) > 1e-4:
        raise SystemExit("that is more than 1e-4")


if __name__ == "__main__":
    main()
