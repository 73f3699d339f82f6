"""Every mnemonic of isa.inc runs in a golden program. (That no code changes is in tests/bytecode/isa_text_test.cpp.)"""
import re

from house import files, finish, read

ROW = re.compile(r'^(?:PURE|OBJECT|BRANCH|CONTROL)\(0x[0-9a-f]+, \w+, "([^"]+)"', re.MULTILINE)
rows = ROW.findall(read("bytecode/isa.inc"))
problems = []

programs = [path for path in files(".bvmasm") if path.parts[:3] == ("tests", "golden", "run")]
used = set()
for path in programs:
    for line in read(path).splitlines():
        used.update(line.split(";")[0].split()[:1])
problems += [f"bytecode/isa.inc: no program in tests/golden/run has '{mnemonic}'"
             for mnemonic in rows if mnemonic not in used]

finish(problems, len(rows))
