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
            'start:create a task'"'"'s folder; begin the task, or go on with it'
            'status:show the state of a task'
            'list:show all tasks'
            'watch:show all tasks live on one screen, and answer questions there'
            'serve:show all tasks on a page for a browser; answer questions there'
            'hosts:show the boxes, containers and clusters where agents work'
            'stop:end the PM'"'"'s work on a task, and its agents'
            'attach:watch the agents in tmux'
            'checkin:let the PM check a task now'
            'logs:show what the PM decided, or what an agent'"'"'s terminal showed'
            'why:show why the PM did what it did'
            'report:write a page about a task, or about the night, for the browser'
            'diff:show what a task, or one of its steps, has changed'
            'merge:merge a task'"'"'s branch into yours, or undo that'
            'rebase:move a task'"'"'s work on top of your branch as it is now'
            'undo:undo the file operations of a step'
            'delete:delete a task, with all that belongs to it'
            'archive:pack a task into one file and remove it, or restore it'
            'spawn:start an agent with a handoff of your own'
            'order:start an agent with a sentence'
            'questions:show what waits for your answer'
            'answer:answer a question'
            'notify:try the notification channels, list notifications'
            'memory:search what was learned in a project, add to it, put it away'
            'observe:report how handoffs, questions and time went, by day'
            'workflow:design, check, approve and show a workflow of several agents'
            'skill:list composite skills, and carry one out phase by phase'
            'templates:show the templates that a task can start from'
            'setup-agents:write the default agents into a project'
            'mcp:let an agent CLI look at tasks by the Model Context Protocol'
            'config:show each setting, its value and where the value comes from'
            'doctor:check what is installed and what a task would lack'
            'completion:print a completion script for bash, zsh or fish'
            'daemon:start, stop, install or inspect the daemon'
            'help:explain a verb, `json` documents and `schemas`, or `exit-codes`'
        )
        _describe -t verbs verb names
        return
    fi
    case ${words[2]} in
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
