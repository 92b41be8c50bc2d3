# fish completion for adjutant. Load it: adjutant completion fish | source
function __adjutant_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] __complete -- $words[2..-1] "$current" 2>/dev/null)
    if test "$found" = :files
        __fish_complete_path "$current"
    else if set -q found[1]
        printf '%s\n' $found
    end
end
complete -c adjutant -f -a '(__adjutant_complete)'
