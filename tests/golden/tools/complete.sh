# complete.sh TOOL WORD...: what bash offers for the last word, a line each, by the completions that TOOL prints.
eval "$("$1" --help-as=bash)"
compopt() { :; }  # It works only while a completion runs.
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
name=$(basename "$1")
"_${name//-/_}"
printf '%s\n' "${COMPREPLY[@]}"
