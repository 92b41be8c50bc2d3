# bash completion for adjutant. Load it: eval "$(adjutant completion bash)"
_adjutant() {
  local words=() word line head tab=$'\t'
  # Bash breaks words at : and = as well; what stands around such a piece is one word.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if ((${#words[@]})) && [[ $word == [:=]* || ${words[${#words[@]} - 1]} == *[:=] ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  word=${words[${#words[@]} - 1]}
  head=${word%"${word##*[:=]}"}
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      line=${line%%"$tab"*}
      COMPREPLY+=("${line#"$head"}")
    fi
  done < <("$1" __complete -- "${words[@]}" 2>/dev/null)
}
complete -F _adjutant adjutant
