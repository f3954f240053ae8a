"""Ways to break the family, its files, and the real adapters. `test_it_finds_workflows` says which law finds each."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.daemon.core import hand_ins, shared_status
from orchestrator.daemon.ingest import turn_ends
from orchestrator.model.workflow import AgentKind
from orchestrator.model.workflow_records import AgentStatus
from orchestrator.pm.plan.families import workflow
from orchestrator.pm.plan.families.rules import Caps
from orchestrator.pm.policies import escalations
from orchestrator.pm.policies import turn_ends as policy
from orchestrator.pm.policies.gates import resolution
from orchestrator.testing.fake_sync import FakeSync


def drops_the_last_need(patch):
    """Of several needs the last one is forgotten."""
    pair = workflow._pair

    def hasty(brief, agent):
        work, looks = pair(brief, agent)
        return replace(work, needs=work.needs[:-1]), looks

    patch.setattr(workflow, "_pair", hasty)


def needs_work_and_no_verdict(patch):
    """What others need counts as soon as it is handed in."""
    pair = workflow._pair

    def hasty(brief, agent):
        work, looks = pair(brief, agent)
        return replace(work, needs=tuple(workflow.do(each) for each in agent.needs)), looks

    patch.setattr(workflow, "_pair", hasty)


def lets_any_verifier_judge(patch):
    """The first verifier of the plan judges everybody."""
    pair = workflow._pair

    def careless(brief, agent):
        work, looks = pair(brief, agent)
        first = next(each for each in brief.workflow.agents if each.kind is AgentKind.VERIFIER)
        return work, replace(looks, agent=first.id)

    patch.setattr(workflow, "_pair", careless)


def forgets_the_groups(patch):
    """The caps of groups are not asked."""
    patch.setattr(workflow, "caps", lambda brief: Caps(brief.workflow.max_parallel, ()))


def allows_one_more_at_once(patch):
    """The cap of the whole plan is one too high."""
    patch.setattr(
        workflow, "caps", lambda brief: Caps(brief.workflow.max_parallel + 1, brief.workflow.groups)
    )


def claims_no_files(patch):
    """Agents that change the same files are not kept apart."""
    patch.setattr(workflow, "claims_in_tree", lambda brief, agent: ())


def passes_beside_a_results_file(patch):
    """`verified` counts even beside a file that says what is missing."""
    subject = turn_ends._subject

    def trusting(folder, agent, faults):
        end = subject(folder, agent, faults)
        return replace(end, missing=()) if end.claim is AgentStatus.VERIFIED else end

    patch.setattr(turn_ends, "_subject", trusting)


def takes_silence_for_a_pass(patch):
    """A verifier that says nothing passes."""
    subject = turn_ends._subject

    def trusting(folder, agent, faults):
        end = subject(folder, agent, faults)
        return replace(end, claim=AgentStatus.VERIFIED) if not end.missing else end

    patch.setattr(turn_ends, "_subject", trusting)


def ignores_whose_results_they_are(patch):
    """A results file about another task is not noticed."""
    subject = turn_ends._subject
    patch.setattr(turn_ends, "_subject", lambda *given: replace(subject(*given), fault=""))


def lets_a_verifier_change_what_it_judges(patch):
    """Outputs that were changed after they were handed in count as those that were judged."""
    doubt = policy.doubt

    def lenient(state, subject):
        known = state.records.get(subject.agent)
        return doubt(state, replace(subject, version=known.version if known else subject.version))

    patch.setattr(policy, "doubt", lenient)


def misses_no_evidence(patch):
    """Only outputs are looked for; evidence is not."""
    patch.setattr(turn_ends, "wanted", lambda agent: agent.outputs)


def lets_authors_settle_everything(patch):
    """Whatever an agent writes into its notes is taken."""
    patch.setattr(policy, "accepted_notes", lambda base, now, writer: (now, ()))


def takes_decisions_before_they_are_verified(patch):
    """What an architect hands in is an answer, whatever its verifier will say."""
    patch.setattr(escalations, "verify", workflow.do)


def keeps_answers_to_itself(patch):
    """An agent goes on, and never hears what was answered."""
    patch.setattr(escalations, "_pass_on", lambda draft, case: None)


def takes_any_resolution(patch):
    """Whatever a resolver writes about a note is its answer."""
    patch.setattr(resolution, "_faults", lambda plan, case, said: [])


def shows_claims_as_truth(patch):
    """What stands in the shared status is left there, whoever wrote it."""
    patch.setattr(
        shared_status, "spoken_for_in", lambda state: {each.id for each in state.brief.workflow.agents}
    )


def brings_hand_ins_once(patch):
    """A file that was brought from a box is not brought again, whatever becomes of it there."""
    bring = FakeSync._bring_workflow

    def once(self):
        if self._files.entry(self._tree / "orchestration" / "shared_status.json") is None:
            bring(self)

    patch.setattr(FakeSync, "_bring_workflow", once)


def forgets_what_was_handed_in_on_a_box(patch):
    """Outputs that were made on a box stay there."""
    patch.setattr(hand_ins, "_write_output", lambda here, path, data: None)
