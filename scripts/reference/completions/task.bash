# bash completion for task (agent-orchestrator), made by `task completion bash`. In ~/.bashrc:
#   source <(task completion bash)

_agent_orchestrator() {
    local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[0]/#\~/$HOME} options='' valued='' places='' want='' entry word n
    local given=() kinds=() whole=$current first=$COMP_CWORD
    COMPREPLY=()
    if ((COMP_CWORD < 2)); then
        want='=@VERBS@'
    else
        case ${COMP_WORDS[1]} in
@CASES@
            *) return ;;
        esac
        if [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD - 2]}; fi
        if [[ $current == = ]]; then current='' whole=''; fi
        for entry in $valued; do
            if [[ ${entry%%=*} == "$before" ]]; then want=${entry#*=}; fi
        done
        if [[ -z $want && $current == -* ]]; then
            want==${options// /,}
        elif [[ -z $want ]]; then
            # readline parts words at `@` and `:` as well.
            word=${COMP_LINE:0:COMP_POINT} word=${word##*[[:space:]]}
            while [[ $whole != "$word" && $word == *"${COMP_WORDS[first - 1]}$whole" ]] && ((first > 2)); do
                first=$((first - 1)) whole=${COMP_WORDS[first]}$whole
            done
            for ((n = 2; n < first; n++)); do
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
            # Of a word that it has parted readline replaces $2 alone.
            if [[ $whole == "$current" ]]; then word=''; else word=${whole%"$2"}; fi
            n=${#word}
            while IFS= read -r word; do
                if [[ $word == "$whole"* ]]; then COMPREPLY+=("${word:n}"); fi
            done < <("$command" complete "$want" ${given[@]+"${given[@]}"} 2>/dev/null)
            ;;
    esac
}

complete -F _agent_orchestrator task agent-orchestrator
