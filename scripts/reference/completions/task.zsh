#compdef task agent-orchestrator
# zsh completion for task (agent-orchestrator), made by `task completion zsh`. In ~/.zshrc, after compinit:
#   source <(task completion zsh)

_agent_orchestrator() {
    local current=${words[CURRENT]} before=${words[CURRENT-1]} command=${words[1]/#\~\//$HOME/}
    local options='' valued='' places='' want='' entry word
    local -a given kinds names
    integer n
    if ((CURRENT < 3)); then
        names=(
@VERBS@
        )
        _describe -t verbs verb names
        return
    fi
    case ${words[2]} in
@CASES@
        *) return 1 ;;
    esac
    for entry in ${=valued}; do
        if [[ ${entry%%=*} == $before ]]; then want=${entry#*=}; fi
    done
    if [[ -z $want && $current == -* ]]; then
        want="=${options// /,}"
    elif [[ -z $want ]]; then
        for ((n = 3; n < CURRENT; n++)); do
            word=${words[n]}
            if [[ " $valued" == *" $word="* ]]; then
                ((n++))
            elif [[ $word != -* ]]; then
                given+=($word)
            fi
        done
        kinds=(${=places})
        want=${kinds[${#given}+1]-}
    fi
    case $want in
        '' | -) return 1 ;;
        folders) _files -/ ;;
        files) _files ;;
        '='*) compadd -- ${(s:,:)want#=} ;;
        *)
            names=(${(f)"$($command complete $want $given 2>/dev/null)"})
            ((${#names})) && compadd -- $names
            ;;
    esac
}

compdef _agent_orchestrator task agent-orchestrator
