"""The user's settings, as the rest of the program sees them. `formats.settings` reads the file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orchestrator.model.container_settings import ContainerSettings
from orchestrator.model.kubernetes_settings import KubernetesSettings
from orchestrator.model.limits import Limits
from orchestrator.model.notify_settings import NotifySettings
from orchestrator.model.observer_settings import ObserverSettings
from orchestrator.model.permission import Policy
from orchestrator.model.sections import (
    DaemonSettings,
    EnvironmentSettings,
    GitSettings,
    LogSettings,
    TemplateSettings,
    TmuxSettings,
)
from orchestrator.model.slurm_settings import SlurmSettings

if TYPE_CHECKING:  # few settings files define any, and each class costs every command half a millisecond
    from orchestrator.model.pools import Pool
    from orchestrator.model.prices import Price
    from orchestrator.model.programs import Program


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that the user may set; each field is a section of the settings file of the same name.

    Of `runtimes` each table `[runtimes.NAME]` is one, of `hosts` each `[hosts.NAME]`, of `prices` each `[prices.NAME]`.
    """

    limits: Limits = field(default_factory=Limits)
    tmux: TmuxSettings = field(default_factory=TmuxSettings)
    daemon: DaemonSettings = field(default_factory=DaemonSettings)
    logs: LogSettings = field(default_factory=LogSettings)
    observer: ObserverSettings = field(default_factory=ObserverSettings)
    environment: EnvironmentSettings = field(default_factory=EnvironmentSettings)
    templates: TemplateSettings = field(default_factory=TemplateSettings)
    git: GitSettings = field(default_factory=GitSettings)
    containers: ContainerSettings = field(default_factory=ContainerSettings)
    slurm: SlurmSettings = field(default_factory=SlurmSettings)
    kubernetes: KubernetesSettings = field(default_factory=KubernetesSettings)
    notify: NotifySettings = field(default_factory=NotifySettings)
    permissions: Policy = field(default_factory=Policy)
    runtimes: tuple[Program, ...] = ()
    hosts: tuple[Pool, ...] = ()
    prices: tuple[Price, ...] = ()
