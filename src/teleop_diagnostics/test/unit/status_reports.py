"""Reports and inventories to play with."""

from teleop_common.enums import Device, DeviceReason, Provider, ProviderType
from teleop_common.records import DeviceReport, ProviderReport
from teleop_diagnostics import declarations
from teleop_diagnostics.declarations import Declaration, DeviceDeclaration
from teleop_diagnostics.status import Inventory

S = 1_000_000_000
NOW = 1000 * S
HOST = "here"
PEDALS = Declaration(
    "plugin/pedals", ProviderType.PLUGIN, "pedals", (DeviceDeclaration("/left", "pedal"), DeviceDeclaration("/right", "pedal"))
)
OPENXR = declarations.of_node("openxr/runtime", ("left",), ())


def device(path, state=Device.CONNECTED, reason=DeviceReason.NONE, error=""):
    return DeviceReport(path, int(state), int(reason), error)


def report(declaration=PEDALS, devices=None, at=NOW, **fields):
    told = tuple(device(d.path) for d in declaration.devices) if devices is None else tuple(devices)
    usual = {"host": HOST, "pid": 7, "provider_id": declaration.id, "state": int(Provider.AVAILABLE)}
    return ProviderReport(report_time_ns=at, devices=told, **{**usual, **fields})


def declare(provider_id):
    return declarations.of_node(provider_id, ("left", "right"), ("pan", "gripper"))


def inventory(*declared, replay=False):
    made = Inventory(HOST, declare, replay)
    for declaration in declared:
        made.declare(declaration)
    return made


def launched(pid=7):
    made = Inventory(HOST, declare)
    made.declare(PEDALS, starting=True)
    made.on_launch(PEDALS.id, pid)
    return made


def provider(made, now=NOW, ident=PEDALS.id):
    return next(p for p in made.snapshot(0, now).providers if p.id == ident)


def devices(made, now=NOW, ident=PEDALS.id):
    return [d for d in made.snapshot(0, now).devices if d.provider_id == ident]
