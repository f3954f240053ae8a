r"""The contract suites for extensions: what every plan family, gate and handoff format must do.

A package that brings one subclasses the suite that fits, and has pytest run it::

    from orchestrator.testing.contracts.gates import GateContract

    class TestSources(GateContract):
        gate = SourcesGate()
        good = Report(ReportStatus.COMPLETE, others=(("Sources", "- a\n- b"),))
        bad = Report(ReportStatus.COMPLETE)

What ships is held to the same suites.
"""
