from orchestrator.daemon.process.schedule import heard
from orchestrator.model.sections import DaemonSettings
from orchestrator.model.settings import Settings


def test_heartbeat_follows_the_watchdog_and_the_setting():
    assert heard(Settings(), None) == Settings()
    assert heard(Settings(), 120.0) == Settings()
    assert heard(Settings(), 6.0).daemon.heartbeat_interval == 2.0
    slow = Settings(daemon=DaemonSettings(heartbeat_interval=60.0, rescan=7.0))
    assert heard(slow, 120.0).daemon == DaemonSettings(heartbeat_interval=40.0, rescan=7.0)
