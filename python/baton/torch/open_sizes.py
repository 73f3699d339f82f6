"""A graph with sizes that TorchDynamo left open (`mark_dynamic`, `dynamic=True`, or what it saw change) as one program for all of them."""
import torch

from .graph import NotLowered
from .program import Program, sizes_of_any


class OpenProgram:
    """Fails where a size is not told by a tensor, or where the program would be another one for other sizes."""

    def __init__(self, graph, arguments, device, libraries, flags):
        placeholders = [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]
        self._tensors = {i: each for i, each in enumerate(placeholders) if isinstance(arguments[i], torch.Tensor)}
        numbers = {i: each for i, each in enumerate(placeholders) if i not in self._tensors}
        sizes = [size for each in (*(each.shape for each in self._tensors.values()), numbers.values()) for size in each]
        symbols = {symbol for size in sizes if isinstance(size, torch.SymInt) for symbol in size.node.expr.free_symbols}
        if not symbols:
            raise NotLowered("no size is open")
        # Where each size stands by itself: (which argument, which dimension of it).
        self._where = {size.node.expr: (i, k) for i, each in self._tensors.items() for k, size in enumerate(each.shape)
                       if isinstance(size, torch.SymInt) and size.node.expr in symbols}
        if symbols - self._where.keys():
            raise NotLowered(f"no tensor has the sizes {symbols - self._where.keys()}")
        environment = next(size for size in sizes if isinstance(size, torch.SymInt)).node.shape_env
        ranges = {symbol: environment.var_to_range[symbol] for symbol in symbols}
        specs, known = sizes_of_any(self._tensors.values(), numbers, ranges)
        # Results that are sizes are computed of those of the arguments.
        output = next(node for node in reversed(graph.nodes) if node.op == "output")
        made = output.args[0] if isinstance(output.args[0], (tuple, list)) else [output.args[0]]
        self._sizes = {}
        for i, node in enumerate(made):
            value = node.meta.get("val") if isinstance(node, torch.fx.Node) else node
            if isinstance(value, torch.SymInt):
                self._sizes[i] = value.node.expr
            elif isinstance(value, (torch.SymFloat, torch.SymBool)):
                raise NotLowered("a result is a number computed of sizes")
        self._program = Program(graph, specs, known, device, libraries, flags)

    def of(self, arguments):
        """A function of the tensors among these arguments."""
        sizes = {symbol: arguments[i].shape[k] for symbol, (i, k) in self._where.items()}

        def call(tensors):
            results = self._program(tensors)
            for i, expression in self._sizes.items():
                results[i] = int(expression.subs(sizes))
            return results

        return call
