"""Actions."""

from launch.action import Action
from launch.actions.basic import (
    DeclareLaunchArgument,
    EmitEvent,
    LogInfo,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    SetLaunchConfiguration,
    Shutdown,
    UnsetEnvironmentVariable,
)
from launch.actions.execute_process import ExecuteProcess
from launch.actions.grouping import GroupAction, IncludeLaunchDescription
from launch.actions.timer_action import TimerAction
from launch.subset import absent

__all__ = [
    "Action",
    "DeclareLaunchArgument",
    "EmitEvent",
    "ExecuteProcess",
    "GroupAction",
    "IncludeLaunchDescription",
    "LogInfo",
    "OpaqueFunction",
    "RegisterEventHandler",
    "SetEnvironmentVariable",
    "SetLaunchConfiguration",
    "Shutdown",
    "TimerAction",
    "UnsetEnvironmentVariable",
]

__getattr__ = absent("launch", __name__)
