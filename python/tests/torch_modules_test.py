"""Modules of PyTorch by baton.torch: the same numbers, types and shapes as PyTorch's own, with its operators as commands."""
import numpy as np
import pytest

import baton

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("jax", reason="JAX is not installed")
nn, F = torch.nn, torch.nn.functional


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def seed():
    bt()
    torch.manual_seed(0)
    torch._dynamo.reset()


def bt():
    import baton.torch
    return baton.torch


class Of(nn.Module):
    """A function as a module, with modules and tensors that belong to it."""

    def __init__(self, function, **held):
        super().__init__()
        self.function = function
        for name, each in held.items():
            if isinstance(each, nn.Module):
                setattr(self, name, each)
            else:
                self.register_buffer(name, each)

    def forward(self, *arguments, **keywords):
        return self.function(self, *arguments, **keywords)


def same(got, wanted, tolerance=1e-5):
    flat, tree = torch.utils._pytree.tree_flatten(got)
    wanted, wanted_tree = torch.utils._pytree.tree_flatten(wanted)
    assert tree == wanted_tree
    for mine, theirs in zip(flat, wanted):
        if not isinstance(theirs, torch.Tensor):
            assert mine == theirs
            continue
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        torch.testing.assert_close(mine, theirs.detach(), rtol=tolerance, atol=tolerance, equal_nan=True)


def agree(model, *arguments, tolerance=1e-5, **options):
    model.eval()
    program = bt().export(model, arguments, device="local-sync", **options)
    with torch.no_grad():
        same(program(*arguments), model(*arguments), tolerance)
    return program


x2, x3, image = torch.randn(5, 8), torch.randn(2, 6, 8), torch.randn(2, 3, 12, 10)


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = nn.Conv2d(channels, channels, 3, padding=1), nn.Conv2d(channels, channels, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels)])
        for norm in self.norms:
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        return F.relu(x + self.norms[1](self.second(F.relu(self.norms[0](self.first(x))))))


MODULES = {
    "mlp": lambda: (nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 16), nn.SiLU(), nn.Linear(16, 4), nn.Softplus()), x2),
    "conv_net": lambda: (nn.Sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 3 * 2, 5)), image),
    "residual_with_batch_norm": lambda: (Residual(3), image),
    "depthwise": lambda: (nn.Sequential(nn.Conv2d(3, 6, 5, padding=2, groups=3, dilation=1), nn.Hardswish(), nn.Conv2d(6, 4, 1)), image),
    "convolutions_of_other_ranks": lambda: (Of(lambda s, x, y: (s.one(x), s.three(y)), one=nn.Conv1d(6, 4, 3, dilation=2, padding="same"),
                                                three=nn.Conv3d(1, 2, 2, stride=(1, 2, 1))), x3, torch.randn(1, 1, 4, 5, 4)),
    "transposed_convolution": lambda: (nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1),
                                                     nn.ConvTranspose2d(4, 4, 2, groups=2, dilation=2)), image),
    "norms": lambda: (Of(lambda s, x: (s.layer(x), s.group(x.transpose(1, 2)), s.rms(x), s.instance(x), F.normalize(x, dim=-1)), layer=nn.LayerNorm(8),
                         group=nn.GroupNorm(4, 8), rms=nn.RMSNorm(8), instance=nn.InstanceNorm1d(6)), x3),
    "embedding": lambda: (Of(lambda s, i: (s.words(i).sum(1), s.bag(i)), words=nn.Embedding(20, 8, padding_idx=0), bag=nn.Embedding(20, 3)),
                          torch.tensor([[1, 0, 19], [7, 7, 2]])),
    "attention": lambda: (Of(lambda s, q, m: (F.scaled_dot_product_attention(q, q * 2, q + 1), F.scaled_dot_product_attention(q, q, q, is_causal=True),
                                              F.scaled_dot_product_attention(q, q, q, attn_mask=m, scale=0.3),
                                              F.scaled_dot_product_attention(q, q, q, attn_mask=m.float()))),
                          torch.randn(2, 3, 5, 4), torch.rand(5, 5) > 0.3),
    "multi_head_attention": lambda: (Of(lambda s, x, m: s.attend(x, x, x, key_padding_mask=m), attend=nn.MultiheadAttention(8, 2, batch_first=True)), x3,
                                     torch.tensor([[False] * 6, [False] * 4 + [True] * 2])),
    "transformer_encoder": lambda: (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True, norm_first=True), x3),
    "lstm": lambda: (nn.LSTM(8, 5, num_layers=2, batch_first=True, bidirectional=True), x3),
    "gru": lambda: (nn.GRU(8, 5), x3),
    "pooling": lambda: (Of(lambda s, x: (F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, 2, 1), F.avg_pool2d(x, 3, 2, ceil_mode=True, count_include_pad=False),
                                         F.adaptive_avg_pool2d(x, (5, 3)), F.adaptive_avg_pool2d(x, 1), F.max_pool2d(x, 2, return_indices=True),
                                         F.max_pool1d(x[:, 0], 3, ceil_mode=True), F.adaptive_max_pool2d(x, 2), F.lp_pool2d(x.abs(), 2, 2))), image),
    "sizes_that_change": lambda: (Of(lambda s, x: (F.interpolate(x, scale_factor=2), F.interpolate(x, (7, 5), mode="bilinear"),
                                                   F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True), F.pixel_shuffle(x[:, :1].repeat(1, 4, 1, 1), 2),
                                                   F.pad(x, (1, 2, 0, 1), value=3), F.pad(x[0], (2, 1), mode="reflect"), F.pad(x, (1, 1, 2, 0), mode="replicate"),
                                                   F.pad(x, (-1, 0)), F.pad(x[0], (1, 1), mode="circular"), F.unfold(x, 3, padding=1))), image),
    "by_number": lambda: (Of(lambda s, x, i: (x.gather(1, i), x.scatter(1, i, 2.0), x.scatter_add(1, i, x), x[i[:, 0]], x[:, i[0]], x[i, i], x.index_select(1, i[0]),
                                              x.index_add(0, i[0, :2], x[:2]), torch.take_along_dim(x, i, 1), x[1:4:2, -3:], x[..., None, 2], x[-1],
                                              x.scatter_reduce(1, i, x, "amax"), x.masked_fill(x > 0, 7), torch.where(x > 0, x, 0.5), x[:, [0, -1]])),
                          x2, torch.randint(0, 5, (5, 8))),
    "written_in_parts": lambda: (Of(lambda s, x: _written(x)), x2),
    "softmax_and_losses": lambda: (Of(lambda s, x, y: (x.softmax(1), x.log_softmax(0), F.cross_entropy(x, y), F.nll_loss(x.log_softmax(1), y, reduction="none"),
                                                       F.mse_loss(x, x * 2), F.binary_cross_entropy_with_logits(x, x.sigmoid()), F.smooth_l1_loss(x, x + 2),
                                                       F.kl_div(x.log_softmax(1), x.softmax(1), reduction="batchmean"), F.cross_entropy(x, y, label_smoothing=0.1),
                                                       x.logsumexp(1), F.cosine_similarity(x, x + 1))), x2, torch.randint(0, 8, (5,))),
    "einsum": lambda: (Of(lambda s, x, y: (torch.einsum("bik,bjk->bij", x, x), torch.einsum("bik,kn->ibn", x, y), x @ y, torch.tensordot(x, y, 1),
                                           torch.baddbmm(x @ y, x, y.expand(2, 8, 4), alpha=2), torch.outer(y[0], y[1]), torch.cdist(x, x))), x3, torch.randn(8, 4)),
    "scans_and_order": lambda: (Of(lambda s, x: (x.cumsum(1), x.cumprod(0), x.cummax(1), x.topk(3), x.topk(2, 0, largest=False), x.sort(descending=True), x.argsort(0),
                                                 x.max(1), x.min(0, keepdim=True), x.argmax(), x.median(1), x.flip(0), x.roll(2, 1), x.tril(1), x.unbind(0)[1],
                                                 x.var(0), x.std(), x.norm(dim=1), x.any(), x.amax((0, 1)), torch.logcumsumexp(x, 1))), x2),
    "integers": lambda: (Of(lambda s, a, b: (a + b, a * b, a // b, a % b, torch.div(a, b, rounding_mode="trunc"), a & b, a | b, a ^ b, ~a, a << 2, a >> 1, a / b,
                                             a.sum(), a.float().mean(), a.to(torch.int8), a > b, a.clamp(-1, 2), (a > 0).sum(), torch.bucketize(a, b.sort()[0]),
                                             a.bool(), a * 0.5, a + True, torch.arange(5) + a, -a, a.abs(), a.pow(2), torch.fmod(a, b))),
                         torch.tensor([-7, -1, 0, 5, 9]), torch.tensor([2, -3, 4, -4, 5])),
    "numbers": lambda: (Of(lambda s, x: (x.exp(), x.abs().log1p(), x.erf(), x.abs().rsqrt(), x.sin(), x.atan(), x.sigmoid(), x.floor(), x.round(), x.trunc(), x.sign(),
                                         x.clamp(min=0), F.elu(x), F.leaky_relu(x, 0.1), F.mish(x), F.hardsigmoid(x), F.gelu(x, approximate="tanh"), F.prelu(x, x[0, :1]),
                                         x.lerp(x * 2, 0.3), torch.addcmul(x, x, x, value=2), torch.atan2(x, x + 1), x**3, 2**x, x.abs()**0.5, x.frac(), F.glu(x),
                                         torch.isnan(x), x.nan_to_num(), x.hypot(x), F.selu(x), x.double() + 1, 1 - x, 1 / x)), x2),
    "made_of_nothing": lambda: (Of(lambda s, x: (torch.zeros(3), torch.full((2, 2), 5), torch.ones_like(x), torch.arange(1, 9, 3), torch.linspace(0, 1, 5),
                                                 torch.eye(3), x.new_zeros(2), torch.tensor([1, 2]) + 1, torch.tril(torch.ones(3, 3)), x, torch.arange(0.0, 1.0, 0.25),
                                                 s.held, 3, None), held=torch.randn(2)), x2),
    "transforms": lambda: (Of(lambda s, x: (torch.fft.rfft(x).abs(), torch.view_as_real(torch.fft.fft2(x)), torch.fft.irfft(torch.fft.rfft(x, norm="ortho"), norm="ortho"),
                                            torch.fft.ifft(torch.fft.fft(x)).real, torch.polar(x.abs(), x).real)), x2),
    "attention_that_is_viewed": lambda: (Of(lambda s, q: _viewed(F.scaled_dot_product_attention(q, q, q))), torch.randn(2, 4, 6, 8)),
    "attention_of_few_dimensions": lambda: (Of(lambda s, q: (F.scaled_dot_product_attention(q, q, q), F.scaled_dot_product_attention(q[None], q[None], q[None]))),
                                            torch.randn(5, 4)),
    "numbers_without_dimensions": lambda: (Of(lambda s, x, i: (x.max(0), x.min(-1, keepdim=True), x.cummax(0), x.cumsum(0), x.logcumsumexp(0), x.sort(), x.topk(1),
                                                               x.median(0), x.kthvalue(1, 0), x.softmax(0), x.sum(0), x.amax(0), x.any(0), x.prod(0), x.norm(dim=0),
                                                               x.gather(0, i), x.scatter(0, i, 2.0), x.scatter_add(0, i, x), x.index_select(0, i), x.index_add(0, i, x),
                                                               x.index_fill(0, i, 3), torch.complex(x, x.expand(3)))), torch.tensor(2.5), torch.tensor(0)),
    "parts_that_differ_in_length": lambda: (Of(lambda s, x, y: (F.adaptive_max_pool2d(x, (5, 3)), F.adaptive_max_pool2d(x, (7, 1), return_indices=True),
                                                                F.adaptive_max_pool3d(y, (2, 3, 2), return_indices=True), F.adaptive_max_pool1d(x[0], 4))),
                                            image, torch.randn(1, 2, 3, 4, 5)),
    "smooth_sizes": lambda: (Of(lambda s, x: (F.interpolate(x, (5, 14), mode="bicubic"), F.interpolate(x, scale_factor=1.7, mode="bicubic", align_corners=True),
                                              F.interpolate(x, (5, 14), mode="bicubic", antialias=True), F.interpolate(x, (5, 4), mode="bilinear", antialias=True))),
                             image),
    "bags": lambda: (Of(lambda s, i, w, begins: (s.sum(i), s.sum(i, per_sample_weights=w), s.mean(i), s.max(i), s.max(i.reshape(-1), begins), s.mean(i.reshape(-1), begins)),
                        sum=nn.EmbeddingBag(20, 4, mode="sum"), mean=nn.EmbeddingBag(20, 4, mode="mean", padding_idx=7), max=nn.EmbeddingBag(20, 4, mode="max")),
                     torch.tensor([[1, 0, 19], [7, 7, 2]]), torch.rand(2, 3), torch.tensor([0, 2, 2])),
    "reduced_by_number": lambda: (Of(lambda s, x, i, n: [x.scatter_reduce(1, i, x * 2, how, include_self=itself) for how in ("sum", "prod", "mean", "amax", "amin")
                                                         for itself in (True, False)]
                                     + [x.index_reduce(0, i[:, 0], x, how, include_self=False) for how in ("prod", "mean", "amax", "amin")]
                                     + [n.scatter_reduce(1, i, n, "mean"), x.masked_scatter(x > 0, x.flip(0)), x.put(i, x), x.diagonal_scatter(x[:, 0], 1),
                                        torch.searchsorted(x.sort(1)[0], x), torch.searchsorted(x, x, sorter=x.argsort(1), right=True), torch.histc(x, 7),
                                        torch.addbmm(x[:, :2], x[None], x.T[None, :, :2])]), x2, torch.randint(0, 5, (5, 8)), torch.randint(-9, 9, (5, 8))),
    "no_numbers": lambda: (Of(lambda s, x: (x.median(1), x.nanmedian(1)[0], x.median(), x.nanmedian(), x.max(1), x.cummax(1), x.cummin(0), x.sign(), F.max_pool1d(x, 2, return_indices=True), x.sort(1),
                                            x.norm(0, dim=1), x.norm(-torch.inf, dim=1), torch.cdist(x, x, p=0))),
                           torch.tensor([[1.0, torch.nan, 0, 4], [3, 1, 2, 2], [torch.nan] * 4])),
    "integers_to_a_power": lambda: (Of(lambda s, a, b: (a**b, 2**b, torch.gcd(a, b), torch.lcm(a, b), torch.addmm(a, a, b, beta=2, alpha=3))),
                                    torch.tensor([[1, -1, 2], [-1, 3, 0], [-2, -3, 5]]), torch.tensor([[-2, -3, -1], [-2, 3, 0], [3, 2, 1]])),
    "functions_with_names": lambda: (Of(lambda s, x: (torch.i0(x), torch.special.i1e(x), torch.special.ndtri(x.sigmoid()), torch.special.log_ndtr(x), torch.frexp(x),
                                                      torch.polygamma(1, s.places), torch.special.zeta(x.abs() + 1.5, 2.0), torch.igamma(x.abs() + 1, x.abs()),
                                                      torch.nextafter(x, x + 1), torch.heaviside(x, x[0]), torch.special.entr(x.abs()), torch.xlogy(x, x.abs()),
                                                      s.bilinear(x[:, :3], x[:, 3:])), bilinear=nn.Bilinear(3, 5, 2),
                                places=torch.tensor([-3.25, -0.5, 2])), x2),
    "bits": lambda: (Of(lambda s, x, c, b: (x.view(torch.int32), x.half().view(torch.int16), x.view(torch.float64), x.view(torch.uint8), x.view(torch.bfloat16),
                                            x.view(torch.int64).view(torch.float32), x.view(torch.complex64), c.view(torch.float32), c.view(torch.int64), b.view(torch.uint8),
                                            b.view(torch.uint8).view(torch.bool), x.bfloat16().view(torch.float32), c.view(torch.complex128))),
                        x2, torch.randn(3, 4, dtype=torch.complex64), torch.tensor([True, False, True])),
    "sampled": lambda: (Of(lambda s, x, g: (F.grid_sample(x, g, align_corners=False), F.fold(F.unfold(x, 2), (12, 10), 2))), image, torch.rand(2, 4, 5, 2) * 2 - 1),
}


def _viewed(x):
    """The view that GPT-2 takes: PyTorch's parts of attention have strides that do not stand it."""
    return x.transpose(1, 2).reshape(2, 6, -1).view(-1, 32)


def _written(x):
    y = x.clone()
    y[0] = 1
    y[:, 2:4] += 5
    y[y > 3] = 0
    y[torch.tensor([1, 3]), torch.tensor([2, 0])] = -1
    y.mul_(2).add_(1)
    return y, x


@pytest.mark.parametrize("name", MODULES)
def test_modules_agree_with_pytorch(name):
    model, *arguments = MODULES[name]()
    agree(model, *arguments, tolerance=2e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_floats(dtype):
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 4), nn.Softmax(-1)).to(dtype)
    agree(model, x2.to(dtype), tolerance=2e-2 if dtype.itemsize == 2 else 1e-10)


def test_any_batch():
    model = nn.Sequential(nn.Conv1d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(4, 2)).eval()
    program = bt().export(model, (torch.randn(4, 3, 9),), dynamic_shapes=({0: torch.export.Dim("batch", min=2, max=64)},), device="local-sync")
    widened = nn.Sequential(nn.ConvTranspose2d(3, 4, 3, stride=2, output_padding=1), nn.Conv2d(4, 4, 3, groups=4, stride=2), nn.MaxPool2d(2)).eval()
    wide = bt().export(widened, (image,), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), device="local-sync")
    attend = Of(lambda s, x: (F.softmax(x @ x.transpose(1, 2), -1) @ x, x.flatten(1), x.sum(0), x.new_ones(x.shape[0]), x.shape[0] * 2.0 + x, x[:, -1], torch.cat([x, x])))
    dynamic = bt().export(attend, (x3,), dynamic_shapes=(({0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC},),), device="local-sync")
    bag = nn.EmbeddingBag(20, 4, mode="max")
    bags = bt().export(bag, (torch.zeros(4, 3, dtype=torch.int64),), dynamic_shapes=({0: torch.export.Dim.DYNAMIC},), device="local-sync")
    for batch in (2, 7, 64):
        x = torch.randn(batch, 3, 9)
        with torch.no_grad():
            same(program(x), model(x))
            same(bags(torch.arange(batch * 3).reshape(batch, 3) % 20), bag(torch.arange(batch * 3).reshape(batch, 3) % 20))
            z = torch.randn(min(batch, 9), 3, 12, 10)
            same(wide(z), widened(z))
        y = torch.randn(batch, batch + 1, 8)
        same(dynamic(y), attend(y), 1e-4)
    with pytest.raises(baton.StatusError):
        program(torch.randn(65, 3, 9))


def test_weights_are_the_models():
    model = nn.Linear(3, 2)
    program = bt().export(model, (torch.ones(1, 3),), device="local-sync")
    with torch.no_grad():
        model.weight.fill_(2)
        model.bias.zero_()
    assert program(torch.ones(1, 3)).tolist() == [[6, 6]]
    result = program(torch.ones(1, 3))
    result += 1
    assert program(torch.ones(1, 3)).tolist() == [[6, 6]]


def test_buffers_and_inputs_that_change():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros((), dtype=torch.int64))

        def forward(self, x):
            self.count += 1
            x.mul_(2)
            return x + self.count

    model = Counter()
    program = bt().export(model, (torch.ones(2),), device="local-sync")
    x = torch.ones(2)
    assert program(x).tolist() == [3, 3] and program(x).tolist() == [6, 6]
    assert x.tolist() == [4, 4] and program.parameters["count"].item() == 2


def test_arguments_by_name_and_in_trees():
    model = Of(lambda s, pair, *, scale, flag=True: {"sum": pair[0] + pair[1]["b"] * scale, "flag": flag})
    program = bt().export(model, ((x2, {"b": x2 + 1}),), {"scale": torch.tensor(2.0), "flag": False}, device="local-sync")
    same(program((x2, {"b": x2 + 1}), scale=torch.tensor(3.0), flag=False), {"sum": x2 + (x2 + 1) * 3, "flag": False})
    with pytest.raises(ValueError, match="was False when the model was exported"):
        program((x2, {"b": x2}), scale=torch.tensor(3.0), flag=True)
    with pytest.raises(TypeError, match="was exported for arguments"):
        program(x2)
    with pytest.raises(TypeError, match="a float where the model was given a tensor"):
        program((x2, {"b": 1.5}), scale=torch.tensor(3.0), flag=False)
    with pytest.raises(baton.StatusError, match="expected"):
        program((x2, {"b": x2.double()}), scale=torch.tensor(3.0), flag=False)


def test_branches_and_loops():
    from torch._higher_order_ops.while_loop import while_loop

    def function(self, x, count):
        a = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, (x,))
        _, b = while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 0.5 + x), (count, x * 1))
        return a, b

    model = Of(function)
    program = bt().export(model, (x2, torch.tensor(0)), device="local-sync")
    for x in (x2.abs(), -x2.abs()):
        b = x
        for _ in range(3):
            b = b * 0.5 + x
        same(program(x, torch.tensor(1)), (x + 1 if x.sum() > 0 else x * 2, b))


def test_strides_and_gradients_of_arguments():
    model = nn.Linear(8, 3)
    program = bt().export(model, (x2,), device="local-task")
    for x in (torch.randn(8, 5).t(), torch.randn(5, 16)[:, ::2], x2.clone().requires_grad_(), torch.randn(1, 8).expand(5, 8)):
        with torch.no_grad():
            same(program(x), model(x))


def test_a_saved_program(tmp_path):
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(4 * 10 * 8, 3)).eval()
    bt().export(model, (image,), device="local-sync").save(tmp_path / "model.bvm", tmp_path / "model.safetensors")
    program = baton.load(tmp_path / "model.bvm", device="local-task", parameters={"model": tmp_path / "model.safetensors"})
    with torch.no_grad():
        same(torch.from_dlpack(program.main(image)), model(image))


# torch.compile -------------------------------------------------------------------------------------------------------


def compiled(model, **options):
    bt()
    return torch.compile(model, backend="baton", options={"device": "local-sync", **options})


def test_compile_for_inference():
    model = nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True).eval()
    fast = compiled(model)
    with torch.no_grad():
        for batch in (2, 3, 2):
            x = torch.randn(batch, 6, 8)
            same(fast(x), model(x))

    def broken_in_two(x):
        y = x * 2
        if y.sum() > 0:  # A graph breaks here.
            return y + 1, x
        return y - 1, x

    fast = compiled(broken_in_two)
    for x in (torch.ones(3), -torch.ones(3)):
        same(fast(x), broken_in_two(x))


def test_constants_that_a_function_makes():
    """PyTorch lifts them before it takes anything apart."""
    def function(x):
        made = torch.tensor([1.0, -2.0, 3.0])
        made[1] = 5
        return x * made, x[torch.tensor([2, -1])], made.detach() + torch.tensor(2.5), torch.bucketize(x, torch.tensor([-1.0, 0, 1]))

    fast, x = compiled(function), torch.randn(3)
    same(fast(x), function(x))
    x.requires_grad_()
    same(torch.autograd.grad(fast(x)[0].sum(), x), torch.autograd.grad(function(x)[0].sum(), x))


def test_compile_for_training():
    def model():
        torch.manual_seed(1)
        return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(4 * 6 * 5, 4), nn.LayerNorm(4))

    plain, ours = model(), model()
    fast = compiled(ours)
    for net, call in ((plain, plain), (ours, fast)):
        rule = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
        for _ in range(3):
            rule.zero_grad()
            F.cross_entropy(call(image), torch.tensor([1, 3])).backward()
            rule.step()
    same(dict(ours.state_dict()), dict(plain.state_dict()), 1e-4)


@pytest.mark.parametrize("function, sentence", [
    (lambda s, x: x * x.sum().item(), "item\\(\\) takes a number out"), (lambda s, x: x[x > 0], "torch.where keeps"), (lambda s, x: x.masked_select(x > 0), "torch.where keeps"),
    (lambda s, x: x + torch.rand(8), "no random numbers"), (lambda s, x: x if torch.equal(x, x) else -x, "stays a tensor")])
def test_what_only_the_data_knows_is_said(function, sentence):
    with pytest.raises(bt().NotLowered, match=sentence):
        bt().export(Of(function).eval(), (x2,), device="local-sync")


WINDOWS = {
    "max": lambda x: F.adaptive_max_pool2d(x, 5), "max_of_space": lambda x: F.max_pool3d(x[None], 2), "adaptive_max_of_space": lambda x: F.adaptive_max_pool3d(x[None], (2, 5, 3)),
    "mean": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True), "mean_of_space": lambda x: F.avg_pool3d(x[None], 2, padding=1, count_include_pad=False),
    "adaptive_mean_of_space": lambda x: F.adaptive_avg_pool3d(x[None], (2, 5, 3)), "edges": lambda x: F.pad(x, (1, 2, 3, 4), mode="replicate"),
    "mirrors": lambda x: F.pad(x, (1, 2, 3, 4), mode="reflect"), "bicubic": lambda x: F.interpolate(x, (5, 14), mode="bicubic"),
    "smooth": lambda x: F.interpolate(x, (5, 7), mode="bilinear", antialias=True), "nearest": lambda x: F.interpolate(x, scale_factor=1.7),
    "rows_that_see_nothing": lambda x: F.scaled_dot_product_attention(x, x, x, attn_mask=torch.arange(12)[:, None] < 9)}


@pytest.mark.parametrize("name", WINDOWS)
def test_gradients_through_windows(name):
    x = image.clone().requires_grad_()
    mine = torch.autograd.grad(torch.compile(WINDOWS[name], backend="baton", options={"device": "local-sync"})(x).square().sum(), x)
    same(mine, torch.autograd.grad(WINDOWS[name](x).square().sum(), x), 1e-4)


@pytest.mark.parametrize("dimension", [0, 1])
def test_gradients_of_weight_norm(dimension):
    model = torch.nn.utils.parametrizations.weight_norm(nn.Linear(8, 3), dim=dimension)
    mine, theirs = (torch.autograd.grad(each(x2).square().sum(), list(model.parameters())) for each in (compiled(model), model))
    same(mine, theirs, 1e-4)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_gradients_of_bags(mode):
    bag, indices = nn.EmbeddingBag(20, 4, mode=mode, padding_idx=7), torch.tensor([[1, 0, 19], [7, 7, 2]])
    compiled = torch.compile(bag, backend="baton", options={"device": "local-sync"})
    mine, theirs = (torch.autograd.grad(each(indices).square().sum(), bag.weight) for each in (compiled, bag))
    same(mine, theirs)


def test_compile_refuses_by_name():
    bt()
    with pytest.raises(Exception, match="device, libraries, flags and whole; speed is none"):
        torch.compile(lambda x: x + 1, backend="baton", options={"speed": 9})(x2)
    with pytest.raises(Exception, match=r"torch_modules_test.py:\d+: .*(rand|bernoulli).* is not lowered"):
        compiled(lambda x: x + torch.rand_like(x), whole=True)(x2)


# What has no form in programs PyTorch runs between two of them -------------------------------------------------------


def _random_between(x):
    a = x * 2 + torch.rand(8)
    b = torch.randn_like(a.sin())
    return a + b, torch.randint(0, 9, (3,)), torch.bernoulli(x.sigmoid()), b.amax(1)


LEFT = {
    "numbers": _random_between, "matrices": lambda x: (torch.linalg.svd(x + 1)[1] * 2, torch.linalg.eigvals(x[:, :5].exp()).abs().sort()[0].exp()),
    "polynomials": lambda x: torch.special.chebyshev_polynomial_t(x, 3) + torch.special.bessel_j0(x * 2), "weights": lambda x: torch.linalg.householder_product(x[:, :3], x[0, :3] * 0.1).cos(),
    "floats_of_8_bits": lambda x: ((x * 2).to(torch.float8_e4m3fn).float() + 1).exp(),
    "complex_inverses": lambda x: (torch.linalg.pinv(torch.complex(x, x.cos())[:, :3]), torch.linalg.inv(torch.complex(x, x.cos())[:, :5])),
    "nothing_else": lambda x: torch.linalg.eigvals(x[:, :5]).abs().sort()[0], "a_result_that_is_read_twice": lambda x: (lambda r: (r + 1, r * x, r))(torch.rand(5, 8))}


@pytest.mark.parametrize("name", LEFT)
def test_what_pytorch_runs_between_programs(name):
    """The same numbers, and of random ones the same stream, in both orders of seeds."""
    fast = torch.compile(LEFT[name], backend="baton", fullgraph=True, options={"device": "local-sync"})
    for seed in (3, 4, 3):
        torch.manual_seed(seed)
        got = fast(x2)
        torch.manual_seed(seed)
        same(got, LEFT[name](x2), 1e-4)


def test_dropout_while_training():
    model = nn.Sequential(nn.Linear(8, 400), nn.Dropout(0.25), nn.GELU(), nn.Linear(400, 3))
    fast, x = compiled(model), x2.clone().requires_grad_()
    torch.manual_seed(3)
    first, second = fast(x), fast(x)
    torch.manual_seed(3)
    same(fast(x), first.detach())
    assert not torch.equal(first, second)
    dropped = compiled(nn.Dropout(0.25))
    ones = torch.ones(200, 200, requires_grad=True)
    made = dropped(ones)
    made.sum().backward()
    assert abs((made == 0).float().mean() - 0.25) < 0.02
    same(ones.grad, made.detach())
    same(made[made != 0].unique(), torch.tensor([4 / 3]))


def test_an_operator_without_a_module_is_pytorchs(operators, caplog):
    model = Of(lambda s, x: operators.scaled(x + 1, 3.0) * 2)
    same(compiled(model)(x2), model(x2))
    same(compiled(model, libraries=[command_module([]), baton.module("other", {"f": (lambda x: x, "(i32) -> (i32)")})])(x2), model(x2))
    torch._dynamo.reset()
    same(compiled(model, libraries=[baton.module("other", {"f": (lambda x: x, "(i32) -> (i32)")})])(x2), model(x2))
    assert any("batontest.scaled.default has no form in programs" in each.message and "torch_modules_test.py" in each.message for each in caplog.records)
    torch._dynamo.reset()
    with pytest.raises(baton.StatusError, match="batontest"):
        compiled(model, whole=True)(x2)


def test_parts_of_unknown_shapes():
    """The size of what PyTorch makes between two programs is known when it is there."""
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        fast = torch.compile(lambda x: (x * 2)[x > 0].exp().sum(), backend="baton", fullgraph=True, options={"device": "local-sync"})
        for x in (x2, x2 + 1, x2.abs()):
            same(fast(x), (x * 2)[x > 0].exp().sum(), 1e-4)


OPEN = {
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), lambda n: (2, n, 8)),
    "parts": (lambda x: (torch.cat([x, x * 2])[1:-1].flip(0), x.shape[0] * 2 + 1, torch.arange(x.shape[0]) * x.argmax(0).sum(), x.sort(0)[0].cumsum(0)), lambda n: (n, 3)),
    "windows": (lambda x: F.interpolate(F.avg_pool2d(F.max_pool2d(x, 3, 2, 1), 2), scale_factor=2), lambda n: (1, 2, 4 * n, 8)),
    "random": (lambda x: (x + torch.rand_like(x) * 0).softmax(0), lambda n: (n, 3))}


@pytest.mark.parametrize("name", OPEN)
def test_one_program_for_many_sizes(name, monkeypatch):
    """The first few have a program each, all others one together; its gradient, too."""
    from baton.torch import open_sizes, parts
    made, (function, shape) = [], OPEN[name]
    for module in (parts, open_sizes):
        class Counted(module.Program):
            def __init__(self, *arguments, of=module.__name__, **keywords):
                super().__init__(*arguments, **keywords)
                made.append(of)

        monkeypatch.setattr(module, "Program", Counted)
    fast = torch.compile(function, backend="baton", fullgraph=True, options={"device": "local-sync"})
    for n in (3, 5, 7, 9, 11, 14):
        x = torch.randn(shape(n))
        torch._dynamo.mark_dynamic(x, x.dim() - 2, min=12 if name == "windows" else 3)
        if name in ("attention", "windows"):
            other = x.clone().requires_grad_()
            x.requires_grad_()
            mine, theirs = (torch.autograd.grad(f(each).square().sum(), each) for f, each in ((fast, x), (function, other)))
            same(mine, theirs, 1e-4)
        else:
            same(fast(x), function(x))
    count = {"attention": 2, "windows": 2}.get(name, 1)
    assert made.count(open_sizes.__name__) == count and made.count(parts.__name__) <= 4 * count, made


RULES = {
    "sgd": lambda p: torch.optim.SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01), "adam": lambda p: torch.optim.Adam(p, 0.01, foreach=True),
    "adamw": lambda p: torch.optim.AdamW(p, torch.tensor(0.01), amsgrad=True, foreach=False), "rmsprop": lambda p: torch.optim.RMSprop(p, 0.01, centered=True, foreach=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, 0.01, foreach=True), "nadam": lambda p: torch.optim.NAdam(p, 0.01, foreach=True), "rprop": lambda p: torch.optim.Rprop(p, 0.01, foreach=True)}


@pytest.mark.parametrize("name", RULES)
def test_steps_of_optimizers(name):
    """Compiled with the clipping of gradients before them."""
    plain, ours = (torch.nn.ParameterList(torch.linspace(-1, 1, size).reshape(-1, 2) for size in (6, 8)) for _ in range(2))
    for parameters, is_ours in ((plain, False), (ours, True)):
        rule = RULES[name](parameters)

        def step():
            nn.utils.clip_grad_norm_(parameters, 1.5, foreach=True)
            nn.utils.clip_grad_value_(parameters, 0.4, foreach=True)
            rule.step()

        update = compiled(step) if is_ours else step
        for i in range(3):
            for each in parameters:
                each.grad = (each.detach() * (i + 1)).cos()
            update()
    same(list(ours), list(plain), 1e-5)


LISTS = {
    "two_numbers": lambda xs, ys: (torch._foreach_add(xs, 2), torch._foreach_mul(xs, [2.0, 3.0]), torch._foreach_sub(xs, ys, alpha=2), torch._foreach_div(xs, torch.tensor(2.0)),
                                   torch._foreach_pow(2.0, xs), torch._foreach_pow(xs, [2, 3]), torch._foreach_maximum(xs, 0.1), torch._foreach_minimum(xs, ys),
                                   torch._foreach_clamp_min(xs, [0.0, 0.5]), torch._foreach_clamp_max(xs, ys)),
    "one_number": lambda xs, ys: (torch._foreach_exp(xs), torch._foreach_neg(xs), torch._foreach_frac(xs), torch._foreach_sigmoid(xs), torch._foreach_norm(xs),
                                  torch._foreach_norm(xs, 1), torch._foreach_max(xs), torch._foreach_round(xs), torch._foreach_sign(xs)),
    "three_numbers": lambda xs, ys: (torch._foreach_addcmul(xs, ys, ys, 2), torch._foreach_addcdiv(xs, ys, ys, [2.0, 3.0]), torch._foreach_lerp(xs, ys, 0.3),
                                     torch._foreach_addcmul(xs, ys, xs, torch.tensor([2.0, 3.0])), torch._foreach_lerp(xs, ys, ys))}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_tensors(name):
    lists = [torch.randn(3, 4), torch.randn(5)], [torch.randn(3, 4), torch.randn(5)]
    same(compiled(LISTS[name], whole=True)(*lists), LISTS[name](*lists), 1e-4)


# Matrices, places between elements, masks ---------------------------------------------------------------------------


def _definite(a):
    return a @ a.mH + 5 * torch.eye(a.shape[-1], dtype=a.dtype)


def _triangles(a, b):
    L = torch.linalg
    return (L.solve_triangular(a.triu(), b, upper=True), L.solve_triangular(a.tril(), b, upper=False, unitriangular=True),
            L.solve_triangular(a.triu(), b.mT, upper=True, left=False), torch.cholesky_solve(b, L.cholesky(_definite(a))),
            torch.cholesky_inverse(L.cholesky(_definite(a), upper=True), upper=True), torch.triangular_solve(b, a.triu(), transpose=True)[0])


def _whole_again(u, values, v):
    return (u * values.to(u.dtype)[..., None, :]) @ v


def _factors(a, b):
    L = torch.linalg
    low = a[..., :3]
    return ((lambda q, r: (q @ r, q.mH @ q))(*L.qr(low)), (lambda q, r: q @ r)(*L.qr(low, mode="complete")), (lambda p, l, u: (p @ l @ u, l, u))(*L.lu(a)),
            (lambda u, s, v: (s, _whole_again(u, s, v)))(*L.svd(low, full_matrices=False)), (lambda u, s, v: (s, u.mH @ u, v @ v.mH))(*L.svd(low.mT)),
            (lambda w, v: (w, _whole_again(v, w, v.mH)))(*L.eigh(a + a.mH)), L.pinv(low), L.matrix_rank(low))


MATRICES = {
    "solutions": lambda a, b: (torch.linalg.solve(a, b), torch.linalg.solve(a[0], b), torch.linalg.solve(a, b.mT, left=False), torch.linalg.solve(a.mT, b[..., 0]),
                               torch.linalg.inv(a), torch.linalg.matrix_power(a, -2), torch.lu_solve(b, *torch.linalg.lu_factor(a))),
    "determinants": lambda a, b: (torch.linalg.det(a), torch.linalg.det(a.mT), torch.linalg.slogdet(a), torch.logdet(_definite(a))),
    "triangles": _triangles, "exponentials": lambda a, b: torch.linalg.matrix_exp(a), "factors": _factors}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.complex64])
@pytest.mark.parametrize("name", MATRICES)
def test_matrices_in_an_export(name, dtype):
    a, b = torch.randn(2, 4, 4, dtype=dtype), torch.randn(2, 4, 3, dtype=dtype)
    program = bt().export(Of(lambda s, a, b: MATRICES[name](a, b)), (a, b), device="local-sync")
    same(program(a, b), MATRICES[name](a, b), 1e-9 if dtype == torch.float64 else 1e-3)


@pytest.mark.parametrize("name", ["solutions", "determinants", "triangles"])
def test_gradients_of_matrices(name):
    """Of a model that stays whole: gradients read the factors that a program made."""
    arguments = [torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True), torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)]

    def gradients(function):
        results = torch.utils._pytree.tree_leaves(function(*arguments))
        return torch.autograd.grad(sum(each.square().sum() for each in results), arguments, allow_unused=True)

    same(gradients(compiled(MATRICES[name], whole=True)), gradients(MATRICES[name]), 1e-8)


@pytest.mark.parametrize("rows, columns", [(1, 1), (1, 4), (5, 2), (7, 7), (20, 33), (3, 0)])
def test_singular_values_of_any_size(rows, columns):
    a = torch.randn(2, rows, columns, dtype=torch.float64)
    if min(rows, columns) > 3:
        a[1] = a[1, :, :2] @ a[1, :2]  # Of few ranks: the other vectors complete them.
    for is_full in (True, False):
        u, values, v = bt().export(Of(lambda s, a: torch.linalg.svd(a, full_matrices=is_full)), (a,), device="local-sync")(a)
        wanted = torch.linalg.svd(a, full_matrices=is_full)
        same(values, wanted[1], 1e-9)
        least = min(rows, columns)
        same(_whole_again(u[..., :least], values, v[..., :least, :]), a, 1e-9)
        same([u.mH @ u, v @ v.mH], [wanted[0].mH @ wanted[0], wanted[2] @ wanted[2].mH], 1e-9)


def test_matrices_that_pytorch_refuses():
    """PyTorch's checks stay under torch.compile; a program says by its numbers that there is no inverse."""
    fast = compiled(lambda a: torch.linalg.inv(a) * 2)
    same(fast(_definite(torch.ones(3, 3))), torch.linalg.inv(_definite(torch.ones(3, 3))) * 2)
    with pytest.raises(RuntimeError, match="singular"):
        fast(torch.zeros(3, 3))
    program = bt().export(Of(lambda s, a: torch.linalg.cholesky(a)), (torch.eye(3),), device="local-sync")
    assert program(-torch.eye(3)).isnan().any()


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_places_between_elements(mode, padding):
    """Also those that stand on elements, and on the edges: the identity's."""
    x = torch.randn(2, 3, 6, 5, requires_grad=True)
    grids = (torch.rand(2, 4, 7, 2) * 3 - 1.5).requires_grad_(), F.affine_grid(torch.eye(2, 3).expand(2, 2, 3), x.shape, align_corners=True).requires_grad_()

    def function(x, *grids):
        made = [F.grid_sample(x, grid, mode, padding, align_corners=align) for grid in grids for align in (False, True)]
        if mode != "bicubic":
            volume = torch.cat([grids[0][:, None], grids[0][:, None, ..., :1]], -1)
            made.append(F.grid_sample(x[:, :, None], volume, mode, padding, align_corners=True))
        return made

    fast = compiled(function, whole=True)
    same(fast(x, *grids), [each.detach() for each in function(x, *grids)], 1e-4)
    mine, theirs = (torch.autograd.grad(sum(each.square().sum() for each in f(x, *grids)), [x, *grids]) for f in (fast, function))
    same(mine, theirs, 1e-3)


def test_integers_without_room():
    """Integers of 8 and 16 bits keep the low bits of what they have no room for."""
    x = torch.tensor([300.0, -300, -17.5, 127.9, 128, -129, 40000, -40000, 70000, 255.5, -1])
    function = lambda x: [x.to(dtype) for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)]
    for source in (x, x.double(), x.bfloat16()):
        same(compiled(function, whole=True)(source), function(source))


def _masked(x, mask, values, rows):
    y, z, w, u = (x.clone() for _ in range(4))
    y[mask], z[mask], w[mask[:, 0]] = 0.5, values, rows
    u[:, mask[0]] = values[:2]
    return y, z, w, u, x.clone().index_put_((mask,), values, accumulate=True), x.clone().index_put_((mask[:, 0],), rows[0], accumulate=True)


def test_masks_that_are_written():
    mask = torch.tensor([[True, False, True, False], [False] * 4, [True, True, False, True]])
    arguments = torch.randn(3, 4), mask, torch.arange(5.0), torch.randn(2, 4)
    same(compiled(_masked, whole=True)(*arguments), _masked(*arguments))


NUMBERS = {
    "modes": lambda x: (x.round().mode(0), x.round().mode(1, keepdim=True), x[0, 0].mode(0), (x > 0).mode(1)),
    "places": lambda x: (torch.nonzero_static(x > 0, size=25), torch.repeat_interleave(x[:3, 0], torch.tensor([1, 0, 2]), output_size=3)),
    "windows": lambda x: (torch.hamming_window(8), torch.kaiser_window(8) * x, torch.fft.fftfreq(5), torch.bartlett_window(4), torch.tril_indices(3, 3)),
    "bits": lambda x: (x.int() << 2, x.int() >> 1, torch.bitwise_left_shift(x.long(), 1), torch.complex(x, x * 2).conj().imag),
    "scans": lambda x: (torch._higher_order_ops.scan(lambda c, y: (c + y, c * y), torch.zeros(8), x), torch._higher_order_ops.map(lambda y, z: y * z, x, torch.arange(8.0)))}


@pytest.mark.parametrize("name", NUMBERS)
def test_whole_programs(name):
    same(compiled(NUMBERS[name], whole=True)(x2), NUMBERS[name](x2))


# Operators of torch.library ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def operators():
    library = torch.library.Library("batontest", "DEF")
    library.define("scaled(Tensor x, float factor=2.0, int[] shape=[1, 2], str mode='plain', bool flag=False) -> Tensor")
    library.define("split(Tensor x) -> (Tensor, Tensor)")
    library.define("bump_(Tensor(a!) x, float by) -> ()")
    library.impl("scaled", lambda x, factor=2.0, shape=(1, 2), mode="plain", flag=False: x * factor, "CPU")
    library.impl("split", lambda x: (x.amin(1), x.argmax(1)), "CPU")
    library.impl("bump_", lambda x, by: (x.add_(by), None)[1], "CPU")
    torch.library.register_fake("batontest::scaled", lambda x, *a, **k: torch.empty_like(x), lib=library)
    torch.library.register_fake("batontest::split", lambda x: (x.new_empty(x.shape[0]), x.new_empty(x.shape[0], dtype=torch.int64)), lib=library)
    torch.library.register_fake("batontest::bump_", lambda x, by: None, lib=library)
    yield torch.ops.batontest
    library._destroy()


def command_module(seen):
    def scaled(commands, x, factor, shape, mode, flag, y):
        seen.append((factor, np.frombuffer(shape, np.int64).tolist(), mode.decode(), flag))
        commands.host(lambda x, y: np.multiply(np.frombuffer(x, np.float32), factor, out=np.frombuffer(y, np.float32)), x, y)

    def split(commands, x, low, place):
        def run(x, low, place):
            x = np.frombuffer(x, np.float32).reshape(-1, 8)
            np.frombuffer(low, np.float32)[:], np.frombuffer(place, np.int64)[:] = x.min(1), x.argmax(1)

        commands.host(run, x, low, place)

    return baton.module("batontest", {"scaled": scaled, "split": split})


def test_operators_are_commands(operators):
    seen = []
    model = Of(lambda s, x: (operators.scaled(x + 1, 3.0, mode="fast") * 2, *operators.split(x)))
    program = bt().export(model, (x2,), device="local-sync", libraries=[command_module(seen)])
    same(program(x2), model(x2))
    assert seen[0] == (3.0, [1, 2], "fast", 0)
    fast = compiled(model, libraries=[command_module(seen)])
    same(fast(x2), model(x2))
    dynamic = bt().export(model, (x2,), dynamic_shapes=(({0: torch.export.Dim.DYNAMIC},),), device="local-sync", libraries=[command_module(seen)])
    for rows in (2, 9):
        x = torch.randn(rows, 8)
        same(dynamic(x), model(x))


def test_an_operator_without_a_module(operators):
    with pytest.raises(baton.StatusError, match="batontest"):
        bt().export(Of(lambda s, x: operators.scaled(x)), (x2,), device="local-sync")
