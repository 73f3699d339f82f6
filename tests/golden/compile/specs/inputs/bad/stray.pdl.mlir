util.func private @f()
