# fish completion for task (agent-orchestrator), made by `task completion fish`. In ~/.config/fish/config.fish:
#   task completion fish | source

function __agent_orchestrator
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l options
    set -l valued
    set -l places
    set -l want
    set -l given
    if test (count $words) -lt 2
        printf '%s\t%s\n' \
@VERBS@
        return
    end
    switch $words[2]
@CASES@
        case '*'
            return
    end
    for entry in $valued
        if test (string split -m 1 = -- $entry)[1] = $words[-1]
            set want (string split -m 1 = -- $entry)[2]
        end
    end
    if test -z "$want"
        if string match -q -- '-*' $current
            printf '%s\n' $options
            return
        end
        set -l skip 0
        for word in $words[3..-1]
            if test $skip = 1
                set skip 0
            else if string match -q -- "$word=*" $valued
                set skip 1
            else if not string match -q -- '-*' $word
                set -a given $word
            end
        end
        set want $places[(math (count $given) + 1)]
    end
    switch "$want"
        case '' -
            return
        case folders
            __fish_complete_directories $current
        case files
            __fish_complete_path $current
        case '=*'
            string split , -- (string sub -s 2 -- $want)
        case '*'
            $words[1] complete $want $given 2>/dev/null
    end
end

complete -c task -f -a '(__agent_orchestrator)'
complete -c agent-orchestrator -f -a '(__agent_orchestrator)'
