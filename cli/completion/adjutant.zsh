#compdef adjutant
# zsh completion for adjutant. Load it, after compinit: eval "$(adjutant completion zsh)"
_adjutant() {
  local line
  local -a found shown
  for line in "${(@f)$("${(Q)words[1]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    [[ -n $line ]] || continue
    found+=("${line%%$'\t'*}")
    shown+=("${line/$'\t'/  -- }")
  done
  (( $#found )) && compadd -l -d shown -a found
}
if [[ ${funcstack[1]} == _adjutant ]]; then
  _adjutant "$@"
else
  compdef _adjutant adjutant
fi
