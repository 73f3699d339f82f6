"""A long chain of means, half of each taken away from what it is of: of the rows of a matrix, and of a vector. Two paths lead from each
link to the one before, so that what follows paths takes 2^24 steps, at each of several places."""
LINKS = 24


def function(name, kind, sums, along):
    print(f"func.func @{name}(%v0: tensor<{kind}xf32>) -> tensor<{kind}xf32> {{\n  %zero = arith.constant dense<0.0> : tensor<{sums}f32>\n"
          f"  %half = arith.constant dense<0.0625> : tensor<{sums}f32>")
    for i in range(LINKS):
        print(f"""  %sum{i} = linalg.reduce {{arith.addf}} ins(%v{i} : tensor<{kind}xf32>) outs(%zero : tensor<{sums}f32>) dimensions = [{along}]
  %mean{i} = arith.mulf %sum{i}, %half : tensor<{sums}f32>
  %place{i} = tensor.empty() : tensor<{kind}xf32>
  %all{i} = linalg.broadcast ins(%mean{i} : tensor<{sums}f32>) outs(%place{i} : tensor<{kind}xf32>) dimensions = [{along}]
  %v{i + 1} = arith.subf %v{i}, %all{i} : tensor<{kind}xf32>""")
    print(f"  return %v{LINKS} : tensor<{kind}xf32>\n}}")


function("rows", "512x8", "512x", 1)
function("vector", "8", "", 0)
