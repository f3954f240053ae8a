"""Changes: what a decision alters in the state. They are journaled, and replay folds them (law 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from orchestrator.model.agents import Agent
from orchestrator.model.budget import Measure
from orchestrator.model.consulting import Directive, PMAction
from orchestrator.model.handoff import CriterionMark, Order
from orchestrator.model.permission import Rule
from orchestrator.model.plan import Step, StepState, Tally
from orchestrator.model.question import Question
from orchestrator.model.run import Delivery, Ending, Exit, Life, Quiet, Run, Turn
from orchestrator.model.skills import Skill
from orchestrator.model.task import Brief, Phase, TaskState
from orchestrator.model.usage import Usage


@dataclass(frozen=True, slots=True)
class TaskBegun:
    """The task exists. `seen` is its history: handoffs that were there before."""

    id: str
    name: str
    project: str
    brief: Brief
    agents: dict[str, Agent]
    base: str
    at: float
    seen: dict[str, str] = field(default_factory=dict)
    kind: Literal["task_begun"] = "task_begun"


@dataclass(frozen=True, slots=True)
class TaskMoved:
    """The PM does something else with the task now. `at` is 0 in journals that did not tell when."""

    to: TaskState
    why: str
    at: float = 0.0
    kind: Literal["task_moved"] = "task_moved"


@dataclass(frozen=True, slots=True)
class PhaseMoved:
    """The label that the user sees has changed."""

    to: Phase
    kind: Literal["phase_moved"] = "phase_moved"


@dataclass(frozen=True, slots=True)
class BriefTaken:
    """What task.md asks for now, and with whom."""

    brief: Brief
    agents: dict[str, Agent] | None = None
    base: str = ""
    kind: Literal["brief_taken"] = "brief_taken"


@dataclass(frozen=True, slots=True)
class SkillsFound:
    """The skills that there are now."""

    skills: tuple[Skill, ...]
    kind: Literal["skills_found"] = "skills_found"


@dataclass(frozen=True, slots=True)
class StepAdded:
    """The plan has one more step."""

    step: Step
    kind: Literal["step_added"] = "step_added"


@dataclass(frozen=True, slots=True)
class StepRewired:
    """A step waits for other steps than before."""

    step: str
    after: tuple[str, ...]
    kind: Literal["step_rewired"] = "step_rewired"


@dataclass(frozen=True, slots=True)
class StepMoved:
    """A step is in another state. `not_before` and `keep_tree` say how its next run begins."""

    step: str
    to: StepState
    at: float
    why: str = ""
    not_before: float = 0.0
    keep_tree: bool = False
    kind: Literal["step_moved"] = "step_moved"


@dataclass(frozen=True, slots=True)
class StepTallied:
    """One more thing went wrong with a step, or its counts begin anew."""

    step: str
    tally: Tally
    kind: Literal["step_tallied"] = "step_tallied"


@dataclass(frozen=True, slots=True)
class StepFed:
    """What the next order of a step must also say."""

    step: str
    feedback: tuple[str, ...]
    kind: Literal["step_fed"] = "step_fed"


@dataclass(frozen=True, slots=True)
class StepRemembered:
    """What the agents of a step were blocked by, so far."""

    step: str
    blockers: tuple[str, ...]
    kind: Literal["step_remembered"] = "step_remembered"


@dataclass(frozen=True, slots=True)
class StepLacked:
    """What skill or context the agents of a step said was missing, so far."""

    step: str
    gap: str
    kind: Literal["step_lacked"] = "step_lacked"


@dataclass(frozen=True, slots=True)
class StepReopened:
    """A step begins its next attempt. What earlier attempts produced no longer counts."""

    step: str
    attempt: int
    at: float
    why: str
    kind: Literal["step_reopened"] = "step_reopened"


@dataclass(frozen=True, slots=True)
class StepReported:
    """A report of a step was taken."""

    step: str
    report: str
    artifacts: tuple[str, ...]
    kind: Literal["step_reported"] = "step_reported"


@dataclass(frozen=True, slots=True)
class StepChecked:
    """The command that the daemon ran for a step ended with `exit`."""

    step: str
    exit: int
    kind: Literal["step_checked"] = "step_checked"


@dataclass(frozen=True, slots=True)
class StepApproved:
    """The user approves of a step's work."""

    step: str
    kind: Literal["step_approved"] = "step_approved"


@dataclass(frozen=True, slots=True)
class StepCommitted:
    """The work of a step is a commit."""

    step: str
    commit: str
    kind: Literal["step_committed"] = "step_committed"


@dataclass(frozen=True, slots=True)
class StepOrdered:
    """The PM agent wants a step to start, with this in its orders."""

    step: str
    directive: Directive | None = None
    kind: Literal["step_ordered"] = "step_ordered"


@dataclass(frozen=True, slots=True)
class NewsNoted:
    """The PM agent is to be told this."""

    lines: tuple[str, ...]
    kind: Literal["news_noted"] = "news_noted"


@dataclass(frozen=True, slots=True)
class ConsultationOpened:
    """The PM agent is asked, and told what came up."""

    step: str
    at: float
    kind: Literal["consultation_opened"] = "consultation_opened"


@dataclass(frozen=True, slots=True)
class DecisionTaken:
    """The PM agent decided. `refused` says why that could not be carried out; `frees`: the rules may start the rest."""

    step: str
    name: str
    action: PMAction
    target: str = ""
    refused: str = ""
    frees: bool = False
    kind: Literal["decision_taken"] = "decision_taken"


@dataclass(frozen=True, slots=True)
class ConsultationClosed:
    """A consultation is over: with decisions, or set aside. What was not ordered waits until `held_until`."""

    step: str
    held_until: float = 0.0
    failed: int = 0
    given_up: bool = False
    fresh: bool = False
    kind: Literal["consultation_closed"] = "consultation_closed"


@dataclass(frozen=True, slots=True)
class CounselBegun:
    """What was between the rules and the PM agent is over: the task begins anew with it."""

    kind: Literal["counsel_begun"] = "counsel_begun"


@dataclass(frozen=True, slots=True)
class OrderGiven:
    """An order is out; it stays open until a report answers it or its run is gone."""

    order: Order
    kind: Literal["order_given"] = "order_given"


@dataclass(frozen=True, slots=True)
class OrderClosed:
    """Nothing more is expected on an order."""

    order: str
    kind: Literal["order_closed"] = "order_closed"


@dataclass(frozen=True, slots=True)
class RunOpened:
    """A run is to be launched."""

    run: Run
    kind: Literal["run_opened"] = "run_opened"


@dataclass(frozen=True, slots=True)
class RunBelieved:
    """Something else is believed of a run, on this evidence."""

    run: str
    life: Life
    turn: Turn
    evidence: str
    at: float
    pid: int | None = None
    pane: str = ""
    exit: Exit | None = None
    kind: Literal["run_believed"] = "run_believed"


@dataclass(frozen=True, slots=True)
class RunReported:
    """A run has handed in the report that its order wanted."""

    run: str
    at: float
    kind: Literal["run_reported"] = "run_reported"


@dataclass(frozen=True, slots=True)
class RunProgressed:
    """The newest sign of work of a run."""

    run: str
    at: float
    kind: Literal["run_progressed"] = "run_progressed"


@dataclass(frozen=True, slots=True)
class RunWatched:
    """A quiet run is being looked at."""

    run: str
    at: float
    kind: Literal["run_watched"] = "run_watched"


@dataclass(frozen=True, slots=True)
class RunLooked:
    """What a look at a quiet run found."""

    run: str
    quiet: Quiet
    turn: Turn
    evidence: str
    at: float
    cpu: float | None = None
    printed: int = 0
    kind: Literal["run_looked"] = "run_looked"


@dataclass(frozen=True, slots=True)
class RunNudged:
    """One more line is typed to a run."""

    run: str
    kind: Literal["run_nudged"] = "run_nudged"


@dataclass(frozen=True, slots=True)
class RunTold:
    """A run's program told something: what is believed of its turn now, by which event, and how it is resumed."""

    run: str
    name: str
    turn: Turn
    evidence: str
    at: float
    session: str = ""
    transcript: str = ""
    waits: bool = False
    kind: Literal["run_told"] = "run_told"


@dataclass(frozen=True, slots=True)
class RunAnswered:
    """A run no longer waits for an answer."""

    run: str
    kind: Literal["run_answered"] = "run_answered"


@dataclass(frozen=True, slots=True)
class RunDelivered:
    """What became of a run's order."""

    run: str
    delivery: Delivery
    kind: Literal["run_delivered"] = "run_delivered"


@dataclass(frozen=True, slots=True)
class RunSpent:
    """A run's conversation is not to be gone on with."""

    run: str
    kind: Literal["run_spent"] = "run_spent"


@dataclass(frozen=True, slots=True)
class RunMetered:
    """What a run has used so far."""

    run: str
    usage: Usage
    kind: Literal["run_metered"] = "run_metered"


@dataclass(frozen=True, slots=True)
class BudgetWarned:
    """A task comes near to one of its limits; `text` is what the user is told."""

    measure: Measure
    text: str
    kind: Literal["budget_warned"] = "budget_warned"


@dataclass(frozen=True, slots=True)
class BudgetRaised:
    """The user lets a task use more: up to `most`, or as much as it takes."""

    measure: Measure
    most: float | None = None
    kind: Literal["budget_raised"] = "budget_raised"


@dataclass(frozen=True, slots=True)
class RuleGiven:
    """A person gave leave for more than one wish."""

    rule: Rule
    kind: Literal["rule_given"] = "rule_given"


@dataclass(frozen=True, slots=True)
class RunEnding:
    """The PM is ending a run."""

    run: str
    ending: Ending
    kind: Literal["run_ending"] = "run_ending"


@dataclass(frozen=True, slots=True)
class QuestionAsked:
    """A person is asked."""

    question: Question
    kind: Literal["question_asked"] = "question_asked"


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A question is closed. An answer of `(withdrawn)` means that it no longer matters."""

    question: str
    text: str
    at: float
    by: str = ""
    kind: Literal["question_answered"] = "question_answered"


@dataclass(frozen=True, slots=True)
class CriteriaMarked:
    """Which success criteria are met, and by what evidence."""

    marks: tuple[CriterionMark, ...]
    kind: Literal["criteria_marked"] = "criteria_marked"


@dataclass(frozen=True, slots=True)
class HandoffSeen:
    """A file in `handoffs/` was dealt with, in this content."""

    name: str
    sha256: str
    kind: Literal["handoff_seen"] = "handoff_seen"


@dataclass(frozen=True, slots=True)
class RequestHeard:
    """A request of the user was dealt with; hearing it again does nothing."""

    request: str
    kind: Literal["request_heard"] = "request_heard"


@dataclass(frozen=True, slots=True)
class Noticed:
    """Something that the user should be able to read about."""

    text: str
    kind: Literal["noticed"] = "noticed"


@dataclass(frozen=True, slots=True)
class TimesShifted:
    """What runs and pausing steps are timed by lies `by` seconds later than it was, and deadlines of people `put`."""

    by: float
    put: float
    kind: Literal["times_shifted"] = "times_shifted"


@dataclass(frozen=True, slots=True)
class ActionClosed:
    """The outcome of an action is known."""

    action: str
    kind: Literal["action_closed"] = "action_closed"


Change: TypeAlias = (
    TaskBegun
    | TaskMoved
    | PhaseMoved
    | BriefTaken
    | SkillsFound
    | StepAdded
    | StepRewired
    | StepMoved
    | StepTallied
    | StepFed
    | StepRemembered
    | StepLacked
    | StepReopened
    | StepReported
    | StepChecked
    | StepApproved
    | StepCommitted
    | StepOrdered
    | NewsNoted
    | ConsultationOpened
    | DecisionTaken
    | ConsultationClosed
    | CounselBegun
    | OrderGiven
    | OrderClosed
    | RunOpened
    | RunBelieved
    | RunReported
    | RunProgressed
    | RunWatched
    | RunLooked
    | RunNudged
    | RunTold
    | RunAnswered
    | RunDelivered
    | RunSpent
    | RunMetered
    | BudgetWarned
    | BudgetRaised
    | RuleGiven
    | RunEnding
    | QuestionAsked
    | QuestionAnswered
    | CriteriaMarked
    | HandoffSeen
    | RequestHeard
    | Noticed
    | TimesShifted
    | ActionClosed
)
