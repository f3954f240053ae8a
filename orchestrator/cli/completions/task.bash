# bash completion for task (agent-orchestrator), made by `task completion bash`. In ~/.bashrc:
#   source <(task completion bash)

_agent_orchestrator() {
    local IFS=$' \t\n' current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[0]/#\~/$HOME} options='' valued='' places='' want='' entry word n
    local given=() kinds=() whole=$current first=$COMP_CWORD
    COMPREPLY=()
    if ((COMP_CWORD < 2)); then
        want='=start,status,list,watch,serve,hosts,stop,attach,checkin,logs,why,report,diff,merge,rebase,undo,delete,archive,spawn,order,questions,answer,notify,memory,observe,workflow,skill,templates,setup-agents,mcp,config,doctor,completion,daemon,help'
    else
        case ${COMP_WORDS[1]} in
            start) options='--help --project --template --family --check --json --yes --follow --verbose' valued='--project=folders --template=templates --family=-' places='tasks' ;;
            status) options='--help --project --json --exit-code' valued='--project=folders' places='tasks' ;;
            list) options='--help --project --archived --json' valued='--project=folders' ;;
            watch) options='--help --project' valued='--project=folders' places='tasks' ;;
            serve) options='--help --port' valued='--port=-' ;;
            hosts) options='--help --json' ;;
            stop) options='--help --project' valued='--project=folders' places='tasks' ;;
            attach) options='--help --project --read-only' valued='--project=folders' places='tasks+runs runs' ;;
            checkin) options='--help --project' valued='--project=folders' places='tasks' ;;
            logs) options='--help --project --attempt --check --prepare -n -f' valued='--project=folders --attempt=- -n=-' places='tasks+runs -' ;;
            why) options='--help --project -n --json' valued='--project=folders -n=-' places='tasks+runs+questions runs+questions' ;;
            report) options='--help --project --all --html --md --json --output --open' valued='--project=folders --output=files' places='tasks' ;;
            diff) options='--help --project --attempt --stat --list' valued='--project=folders --attempt=-' places='tasks+steps steps' ;;
            merge) options='--help --project --dry-run --anyway --no-ff --undo' valued='--project=folders' places='tasks' ;;
            rebase) options='--help --project --dry-run' valued='--project=folders' places='tasks' ;;
            undo) options='--help --project --dry-run' valued='--project=folders' places='tasks steps' ;;
            delete) options='--help --project --yes --unmerged --archived' valued='--project=folders' places='tasks' ;;
            archive) options='--help --project --yes --restore' valued='--project=folders' places='tasks' ;;
            spawn) options='--help --project --task-dir --handoff --instructions --remote' valued='--project=folders --task-dir=folders --handoff=files --instructions=- --remote=-' places='tasks+agents agents' ;;
            order) options='--help --project' valued='--project=folders' places='tasks+agents agents -' ;;
            questions) options='--help --project --json' valued='--project=folders' places='tasks' ;;
            answer) options='--help --project' valued='--project=folders' places='tasks+questions questions -' ;;
            notify) options='--help --channel --all --json' valued='--channel=-' places='=test,list' ;;
            memory) options='--help --type --importance --tag --limit --undo --project --all-projects --json' valued='--type==episodic,procedural,semantic --importance=- --tag=- --limit=- --project=folders' places='=search,show,add,forget,mark,export -' ;;
            observe) options='--help --date --days --details --project --all-projects --json --merge --markdown --html --prometheus --otlp --unsent' valued='--date=- --days=- --project=folders --merge=- --markdown=files --html=files --prometheus=files --otlp=-' ;;
            workflow) options='--help --why --base --persona --cli --project --format --json' valued='--why=- --base=- --persona==plan-developer,workflow-designer,risk-assessment,design-verifier --cli==claude,gemini,opencode --project=folders --format==text,mermaid,dot' places='=new,design,check,approve,show,adapt,archive tasks files' ;;
            skill) options='--help --state --route --domain --daemon --project --json' valued='--state=files --route==skill-orchestration --domain==technical,personal,creative,professional --project=folders' places='=list,show,run,dispatcher,entry,step_1_generate_task_id,step_2_classify_domain,step_3_read_skill,step_4_create_memory,step_5_trigger_agents,step_6_complete_workflow,advance_phase,complete -' ;;
            templates) options='--help --json' ;;
            setup-agents) options='--help --project --form --workflow --remove' valued='--project=folders --form==claude,codex,gemini,opencode,kiro,all' ;;
            mcp) options='--help --may' valued='--may==answer,start' ;;
            config) options='--help --json' ;;
            doctor) options='--help --project --json' valued='--project=folders' places='boxes' ;;
            completion) options='--help' places='=bash,zsh,fish' ;;
            daemon) options='--help --json' places='=run,start,status,stop,install,uninstall,alarm' ;;
            help) options='--help' places='=start,status,list,watch,serve,hosts,stop,attach,checkin,logs,why,report,diff,merge,rebase,undo,delete,archive,spawn,order,questions,answer,notify,memory,observe,workflow,skill,templates,setup-agents,mcp,config,doctor,completion,daemon,help,json,schemas,exit-codes' ;;
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
