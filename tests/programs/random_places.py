"""Where the tensors of a random program are: arguments, results and what nodes make are put on devices as a seed says.

A program means the same wherever its tensors are, so that the reference of the program without places is the reference with them.
"""
import random
import re


class Places:
    """The devices that programs name: @device0, @device1, ..., each the next one of its kind that the host gives."""

    def __init__(self, uris):
        kinds = [re.split(r"[-:?]", uri)[0] for uri in uris]
        self.globals = [f'  util.global private @device{i} = #hal.device.alias<"{kind}"[{kinds[:i].count(kind)}]> : !hal.device'
                        for i, kind in enumerate(kinds)]
        self.count = len(uris)

    def on(self, source, chance=1.0):
        """An affinity, or None: then the program says nothing."""
        chosen = source.randrange(self.count)
        return f"#hal.device.affinity<@device{chosen}>" if source.random() < chance else None

    def of_boundary(self, source):
        where = self.on(source, 0.5)
        return f" {{iree.abi.affinity = {where}}}" if where else ""

    def of_lines(self, source, lines):
        """Some operations on whole tensors say where they work."""
        placed = []
        for line in lines:
            where = self.on(source, 0.3)
            single = re.match(r"    %\w+ = (?:arith|math)\.\w+ [%\w#, ]+ : tensor<", line)
            placed.append(line.replace(" : tensor<", f" {{stream.affinity = {where}}} : tensor<", 1) if single and where else line)
        return placed

    def moved(self, source, name, tensor_type):
        """The name of a tensor and the line that moves it, or the name as it is and none."""
        where = self.on(source, 0.4)
        if not where or not name:
            return name, []
        made = re.sub(r"#", "_", name) + "_moved"
        return made, [f"    {made} = flow.tensor.transfer {name} : {tensor_type} to {where}"]


class OnePlace:
    """Programs that say nothing of devices."""

    globals = []

    def of_boundary(self, source):
        return ""

    def of_lines(self, source, lines):
        return lines

    def moved(self, source, name, tensor_type):
        return name, []


def chooser_of(seed):
    """Apart from the source that chose the nodes: a seed is the same program with places and without."""
    return random.Random(f"places {seed}")
