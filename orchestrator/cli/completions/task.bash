# bash completion for task (agent-orchestrator), made by `task completion bash`. In ~/.bashrc:
#   source <(task completion bash)

_agent_orchestrator() {
    local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[0]/#\~/$HOME} options='' valued='' places='' want='' entry word n
    local given=() kinds=()
    COMPREPLY=()
    if ((COMP_CWORD < 2)); then
        want='=@VERBS@'
    else
        case ${COMP_WORDS[1]} in
@CASES@
            *) return ;;
        esac
        if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
        if [[ $current == = ]]; then current=''; fi
        for entry in $valued; do
            if [[ ${entry%%=*} == "$before" ]]; then want=${entry#*=}; fi
        done
        if [[ -z $want && $current == -* ]]; then
            want==${options// /,}
        elif [[ -z $want ]]; then
            for ((n = 2; n < COMP_CWORD; n++)); do
                word=${COMP_WORDS[n]}
                if [[ " $valued" == *" $word="* ]]; then
                    n=$((n + 1))
                    if [[ ${COMP_WORDS[n]} == = ]]; then n=$((n + 1)); fi
                elif [[ $word != -* ]]; then
                    given+=("$word")
                fi
            done
            kinds=($places)
            want=${kinds[${#given[@]}]-}
        fi
    fi
    case $want in
        '' | -) ;;
        folders | files)
            n=-f
            if [[ $want == folders ]]; then n=-d; fi
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen $n -- "$current")
            ;;
        =*)
            IFS=,
            for word in ${want#=}; do
                if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
            done
            ;;
        *)
            while IFS= read -r word; do
                if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
            done < <("$command" complete "$want" ${given[@]+"${given[@]}"} 2>/dev/null)
            ;;
    esac
}

complete -F _agent_orchestrator task agent-orchestrator
