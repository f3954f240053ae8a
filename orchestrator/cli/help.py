"""`task help`: the overview of all verbs, and the documents and exit codes that scripts rely on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from importlib import import_module

from orchestrator.cli.exits import CommandError, Exit
from orchestrator.cli.main import VERBS
from orchestrator.cli.parser import VerbParser, as_called

EXAMPLE = "task help json"

JSON = """\
Each `--json` prints one document on one line. Within version 1 fields may be added, none is renamed or
removed.
Moments are RFC 3339 in UTC (2026-11-27T15:30:00Z), or null if there is none.

task status NAME --json
  version, id, task, project, phase, state, why
               state: running waiting stopped complete partial failed
               partial: it ended, and some of what was asked for is not done
  limited      since refused_at refusals words resets_at next_try
               the usage limit that all its work waits for; null: there is none
  counts       passed set_aside open total criteria met attested   of steps, and of success criteria
               attested: met only by what their judge wrote itself
  outcome      asked outcome work not_done cost next          the result in sentences
               branch_seen: when the branch was read for `work`, or null
  steps[]      id agent title status attempts tries phase subtask needs[] since began why limit said replaced
               commit unchanged check cause
               limit: as limited, of this step; needs: the steps before it
               status: pending working checking passed blocked failed set_aside
               replaced: planned anew, and not counted; check: its check's exit status, or null
               cause: what run lines[]                        why its last run or check failed, or null
               since: of its status; began: when work on it began; said: the last objection to it
               unchanged: why the step changed nothing, if it did not
  agents[]     name run agent step state turn evidence since turn_since host pane pid order
               tokens input output cached cost estimate prices unpriced[] partial context window
               live runs, and the latest run of each agent
               state: starting queued alive gone unreachable unknown
               turn: busy resting waiting limited unknown
  boxes[]      address lost failing[] missing[]           from which files of the task are missing
               lost: why it does not answer; failing[]: what since why; missing[]: instance run ended
  questions[]  id step text options asked_at kind run default deadline holds     the open ones
               kind: stuck loop criteria dialog approval permission account budget pm box termination damage
               holds: the steps that wait for the answer
  criteria[]   text met evidence[] details[] reason attested
               details: what was found for each piece of evidence
  usage        tokens input output cached cost estimate prices unpriced[] partial context window time
               idle defaults[]
               limits: tokens cost time                      null: no such limit
               defaults: those of the limits that the user has not set
               cached: of input; cost: US dollars, as programs reported
               estimate: US dollars for what no program reported the cost of, by prices of the day `prices`
               context: tokens of the last request, of window
               unpriced: models without a price; a limit of cost counts cost and estimate
               partial: more was used than is counted (transcripts on boxes beyond the limits)
               time, idle: seconds until `updated` in which the task ran, and in which no run of it lived
               null: no program reported it
  used_by[]    agent runs time, and as usage: tokens to window
  goal goal_before   of task.md; before its last change since the task began, or empty
  brief_fault  why the last edit of task.md cannot be taken, or empty
  asked_since  what task.md asks for since the task came to rest, or empty
  edited[]     key was now                                edits of Agent Config that the next start applies
  branch base tip code started_at moved_at last_checkin updated notices[] noticed
               code: the folder whose repository has the branch; base: empty where the task has none
               tip: the commit at which the PM left the branch; empty before anything was merged
               notices: the last ones; noticed: how many there were (`task why NAME noticed` shows all)
  report       path written outdated             of `task report`; outdated: the task went on since; or null
  daemon       up as_of room                     as_of: its last heartbeat; room: its disk is not full

task report NAME --json; task report --all --json
  reports[]    task state why outcome criteria[] usage used_by[] id project made_at began ended
               decisions_left_out
               state to used_by: as in `task status`; line: the journal line that an item comes from
    lanes[]      name spans[]                    who worked when; spans[], waits[]: kind since until text line
                 kind: work check limit question box idle stopped
    steps[]      id agent title status why; attempts[]: number began ended outcome why feedback commit line
    questions[]  id step text asked_at line answer answered_at by answer_line
    checks[]     step attempt at exit output[] line
    incidents[]  at text output[] line
    decisions[]  line at sentences[]
    commits[]    commit at subject stat diff cut      null: they could not be read; cut: not all of the diff
    artifacts[]  path steps[] where line
    waits[]      what was waited for longest
    trust[]      on what the result rests; unknown[]: what is not known

task list --json
  tasks[]      id task project phase state limited steps_passed steps_set_aside steps_total agents_live
               criteria criteria_met criteria_attested questions_open branch_moved folder_missing
               last_checkin updated
               state: those above; requested (not begun yet); damaged (cannot be read);
               removing (`task delete` or `task archive` was interrupted)
  daemon       up as_of room

task list --archived --json
  archived[]   id task project state archived_at size file

task hosts --json
  boxes[]      address pool cap state since why advice offered known runs tasks[] pulled_at failing[] missing
               overflowing
               state: untried reachable unreachable refused
               offered, known: fingerprints of the key that it shows and of the one on file, or null
               pulled_at: when everything was last fetched from there
               failing[]: task task_id what since why     what cannot be fetched though it answers
               missing: how many runs ended there whose files are not all here
               overflowing: it reports more file changes than the daemon reads
               pool, cap: the pool of the settings, and most runs at once, or null; runs beyond it wait
  engines[]    host usable why runs tasks[]         containers and clusters, tried now
  daemon       up as_of room

task questions --json
  questions[]  task task_id project, and the fields of `task status`

task why NAME --json
  decisions[]  at sentences[]

task templates --json
  templates[]  name description folder

task config --json
  settings[]   key value source
  in_force     whether the daemon uses this file as it is now; null: it is down

task doctor --json
  can_run                                        whether a task could run; then the exit code is 0, else 1
  clis[]       name path version logins[] held_back[] signals tested install
               logins: files and variables that an agent gets; held_back: variables that no agent gets
               signals: null if this version has no runtime for it
  runtimes[]   name program path signals         those that the settings define
  findings[]   topic severity text fix           severity: ok note warn missing

task doctor HOST --json
  can_run                                        whether agents could work there: exit code 0, else 1
  box          address cwd state since why advice offered known system home disk clock_offset lingering
               tmux rsync git programs commands
               disk: bytes free; clock_offset: seconds that it is ahead; lingering: yes no unneeded
               programs: the version of each agent CLI, null: not installed; commands: whether each is there
               null: it did not answer
  findings[]   topic severity text fix

task notify test --json
  channels[]   name scheme result reason         result: delivered refused unknown

task notify list --json
  notifications[]  id at rule state title text task_id question why
               rule: complete question blocked limited daemon
               state: waiting delivered failed unknown not_sent
               not_sent: no channel was set for it, or it was answered before
               channels[]     name state tries last_try reason
                              state: trying delivered refused unknown given_up
               waiting_for[]  channel until why

task workflow new NAME --json
  name folder files[]

task workflow check NAME --json
  name folder sound
  approval     none valid void (what was approved has changed)
  hash         what an approval would sign, or null
  findings[]   rule weight file line column text correction
               weight: fault (the design must not be run) advice
  refused[]    why `task start` would not carry it out, sound or not: then it exits 1

task workflow approve NAME --json
  name hash by at
  plan status  the files that were written

task workflow design NAME --json
  name persona cli command[]   the command that begins the conversation that comes next

task workflow adapt NAME FILE --json
  name edits message           how many edits, and what they do to whom

task workflow archive NAME --json
  name folder
  sessions[]   agent source target done reason      what became of the session of each agent

task workflow show NAME --json
  workflow approval task_state
  nodes[]      id title kind persona runtime group verifier status
               kind: doer poc architect verifier
  edges[]      source target kind
               kind: needs verifies protects

task skill list --json
  skills[]     name description path fault       fault: why it cannot be used, or empty

task skill show NAME --json
  name description path match[] domain
               domain: technical personal creative professional, or null
  phases[]     id agent instructions reads[]     reads: agents whose memory files it may read

task memory search WORD --json
  found        how many match
  memories[]   id content type importance tags[] created misled project relevance score
               type: episodic procedural semantic; misled: when it was marked as misleading, or null
               relevance: from 0 to 1; score: what the order goes by
  refused[]    path reason                       files among the memories that are none

task memory export --json
  memories[] refused[]   as in a search

task memory show ID --json
  memory       id to misled as in a search; forgotten created_by[] referenced_by[]   ids of handoffs

task memory add CONTENT --tag TAG --json
  id path masked               masked: something in it looked like a secret

task memory forget ID --json
  id path forgotten            path: where it lies now

task memory mark ID misled --json
  id misled

task observe --json
  since until made_at read_since handoffs completed_chains active critical_open dead_time time_at_work
               times are seconds; read_since: the earliest day of the archive that was read
  success      decided good                      good: not rejected, not planned again, passed
  rework       handoffs reworked replanned
  durations    count mean median p90 longest
  transitions[]  source target count durations decided good bottleneck
  stuck[]      task id source at waited          what waits for more than 24 hours
  severities[]  day critical high medium low; severities_before: of as long a time before
  questions    answered open longest_open        answered: as durations
  usage[]      role runs time tokens cost estimate
  recommendations[]  text figures                figures: those that it comes from, by name
  read[]       kind path handoffs tasks left_out     kind: project daemon tasks archived
  unread[]     path reason

task daemon status --json
  up pid started_at beat_at version tasks
  unit         the service manager's file, if one looks after the daemon, or null
  daily_report  at file fault: the observer's reports (observer.daily); null: none, or daemon down
  telemetry    traces metrics at fault: where these go, and when that went well; null: off, or daemon down"""

MEANINGS = {
    Exit.DONE: "done; of a task: complete",
    Exit.FAILED: "it failed, or `task doctor` found something missing; of a task: failed",
    Exit.USAGE: "wrong usage: arguments, a name, task.md, or a changing verb inside a run",
    Exit.WAITING: "the task waits for an answer",
    Exit.RUNNING: "the task is still running",
    Exit.STOPPED: "the task is stopped",
    Exit.DOWN: "the daemon is down or silent; it will get the request when it is back",
    Exit.PARTIAL: "of a task: partly complete: something was set aside, not met, failing or never written",
}
"""The meaning of each exit code; `docs/reference` and the manual pages repeat it."""

WHICH_EXIT = (
    "`task start --follow` and `task status --exit-code` exit by the state of the task;\n"
    f"every other verb with {Exit.DONE}, {Exit.FAILED}, {Exit.USAGE} or {Exit.DOWN}."
)

EXIT_CODES = "\n".join([*(f"{code}  {meaning}" for code, meaning in MEANINGS.items()), "", WHICH_EXIT])


def arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `task help`."""
    parser.add_argument(
        "topic", metavar="TOPIC", nargs="?", help="a verb, `json`, `schemas` (their folder) or `exit-codes`"
    )


def run(options: Namespace) -> int:
    """Print the overview, or explain one topic."""
    match options.topic:
        case None:
            print(as_called(_overview()))
        case "json":
            print(as_called(JSON))
        case "schemas":
            from orchestrator.shipped import shipped

            print(shipped("schemas"))
        case "exit-codes":
            print(as_called(EXIT_CODES))
        case verb if verb in VERBS:
            module = import_module(f"orchestrator.cli.{verb.replace('-', '_')}")
            parser = VerbParser(verb, VERBS[verb], module.EXAMPLE)
            module.arguments(parser)
            print(parser.format_help(), end="")
        case other:
            raise CommandError(Exit.USAGE, f"there is no help on {other[:40]!a}: see `task help`")
    return Exit.DONE


def _overview() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:{width}}  {summary}" for verb, summary in VERBS.items()]
    return "\n".join(
        [
            "usage: task VERB …",
            "",
            "A PM daemon plans a task, starts coding agents in tmux, and checks their work.",
            "",
            *lines,
            "",
            "`task VERB --help` explains one verb.",
            "",
            "example:",
            "  cd ~/src/shop",
            "  task start tidy --template tidy",
            "  task status tidy",
        ]
    )
