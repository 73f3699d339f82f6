// A tensor of the program becomes an object of the module `custom`.
module @example {
  func.func private @custom.string.from_tensor(tensor<?xi8>) -> !custom.string
  func.func private @custom.string.print(!custom.string)

  func.func @main() {
    %numbers = util.unfoldable_constant dense<[0, 1, 2, 3, 4]> : tensor<5xi8>
    %any = tensor.cast %numbers : tensor<5xi8> to tensor<?xi8>
    %string = call @custom.string.from_tensor(%any) : (tensor<?xi8>) -> !custom.string
    call @custom.string.print(%string) : (!custom.string) -> ()
    return
  }
}
