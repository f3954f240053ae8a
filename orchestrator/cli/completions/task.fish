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
            start 'create a task'"'"'s folder; begin the task, or go on with it' \
            status 'show the state of a task' \
            list 'show all tasks' \
            watch 'show all tasks live on one screen, and answer questions there' \
            serve 'show all tasks on a page for a browser; answer questions there' \
            hosts 'show the boxes, containers and clusters where agents work' \
            stop 'end the PM'"'"'s work on a task, and its agents' \
            attach 'watch the agents in tmux' \
            checkin 'let the PM check a task now' \
            logs 'show what the PM decided, or what an agent'"'"'s terminal showed' \
            why 'show why the PM did what it did' \
            report 'write a page about a task, or about the night, for the browser' \
            diff 'show what a task, or one of its steps, has changed' \
            merge 'merge a task'"'"'s branch into yours, or undo that' \
            rebase 'move a task'"'"'s work on top of your branch as it is now' \
            undo 'undo the file operations of a step' \
            delete 'delete a task, with all that belongs to it' \
            archive 'pack a task into one file and remove it, or restore it' \
            spawn 'start an agent with a handoff of your own' \
            order 'start an agent with a sentence' \
            questions 'show what waits for your answer' \
            answer 'answer a question' \
            notify 'try the notification channels, list notifications' \
            memory 'search what was learned in a project, add to it, put it away' \
            observe 'report how handoffs, questions and time went, by day' \
            workflow 'design, check, approve and show a workflow of several agents' \
            skill 'list composite skills, and carry one out phase by phase' \
            templates 'show the templates that a task can start from' \
            setup-agents 'write the default agents into a project' \
            mcp 'let an agent CLI look at tasks by the Model Context Protocol' \
            config 'show each setting, its value and where the value comes from' \
            doctor 'check what is installed and what a task would lack' \
            completion 'print a completion script for bash, zsh or fish' \
            daemon 'start, stop, install or inspect the daemon' \
            help 'explain a verb, `json` documents and `schemas`, or `exit-codes`'
        return
    end
    switch $words[2]
        case start
            set options --help --project --template --family --check --json --yes --follow --verbose
            set valued --project=folders --template=templates --family=-
            set places tasks
        case status
            set options --help --project --json --exit-code
            set valued --project=folders
            set places tasks
        case list
            set options --help --project --archived --json
            set valued --project=folders
        case watch
            set options --help --project
            set valued --project=folders
            set places tasks
        case serve
            set options --help --port
            set valued --port=-
        case hosts
            set options --help --json
        case stop
            set options --help --project
            set valued --project=folders
            set places tasks
        case attach
            set options --help --project --read-only
            set valued --project=folders
            set places tasks+runs runs
        case checkin
            set options --help --project
            set valued --project=folders
            set places tasks
        case logs
            set options --help --project --attempt --check --prepare -n -f
            set valued --project=folders --attempt=- -n=-
            set places tasks+runs -
        case why
            set options --help --project -n --json
            set valued --project=folders -n=-
            set places tasks+runs+questions runs+questions
        case report
            set options --help --project --all --html --md --json --output --open
            set valued --project=folders --output=files
            set places tasks
        case diff
            set options --help --project --attempt --stat --list
            set valued --project=folders --attempt=-
            set places tasks+steps steps
        case merge
            set options --help --project --dry-run --anyway --no-ff --undo
            set valued --project=folders
            set places tasks
        case rebase
            set options --help --project --dry-run
            set valued --project=folders
            set places tasks
        case undo
            set options --help --project --dry-run
            set valued --project=folders
            set places tasks steps
        case delete
            set options --help --project --yes --unmerged --archived
            set valued --project=folders
            set places tasks
        case archive
            set options --help --project --yes --restore
            set valued --project=folders
            set places tasks
        case spawn
            set options --help --project --task-dir --handoff --instructions --remote
            set valued --project=folders --task-dir=folders --handoff=files --instructions=- --remote=-
            set places tasks+agents agents
        case order
            set options --help --project
            set valued --project=folders
            set places tasks+agents agents -
        case questions
            set options --help --project --json
            set valued --project=folders
            set places tasks
        case answer
            set options --help --project
            set valued --project=folders
            set places tasks+questions questions -
        case notify
            set options --help --channel --all --json
            set valued --channel=-
            set places =test,list
        case memory
            set options --help --type --importance --tag --limit --undo --project --all-projects --json
            set valued --type==episodic,procedural,semantic --importance=- --tag=- --limit=- --project=folders
            set places =search,show,add,forget,mark,export -
        case observe
            set options --help --date --days --details --project --all-projects --json --merge --markdown --html --prometheus --otlp --unsent
            set valued --date=- --days=- --project=folders --merge=- --markdown=files --html=files --prometheus=files --otlp=-
        case workflow
            set options --help --why --base --persona --cli --project --format --json
            set valued --why=- --base=- --persona==plan-developer,workflow-designer,risk-assessment,design-verifier --cli==claude,gemini,opencode --project=folders --format==text,mermaid,dot
            set places =new,design,check,approve,show,adapt,archive tasks files
        case skill
            set options --help --state --route --domain --daemon --project --json
            set valued --state=files --route==skill-orchestration --domain==technical,personal,creative,professional --project=folders
            set places =list,show,run,dispatcher,entry,step_1_generate_task_id,step_2_classify_domain,step_3_read_skill,step_4_create_memory,step_5_trigger_agents,step_6_complete_workflow,advance_phase,complete -
        case templates
            set options --help --json
        case setup-agents
            set options --help --project --form --workflow --remove
            set valued --project=folders --form==claude,codex,gemini,opencode,kiro,all
        case mcp
            set options --help --may
            set valued --may==answer,start
        case config
            set options --help --json
        case doctor
            set options --help --project --json
            set valued --project=folders
            set places boxes
        case completion
            set options --help
            set places =bash,zsh,fish
        case daemon
            set options --help --json
            set places =run,start,status,stop,install,uninstall,alarm
        case help
            set options --help
            set places =start,status,list,watch,serve,hosts,stop,attach,checkin,logs,why,report,diff,merge,rebase,undo,delete,archive,spawn,order,questions,answer,notify,memory,observe,workflow,skill,templates,setup-agents,mcp,config,doctor,completion,daemon,help,json,schemas,exit-codes
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
