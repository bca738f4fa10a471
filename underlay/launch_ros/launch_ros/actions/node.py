"""A process that is a ROS node."""

import atexit
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import yaml
from launch import LaunchContext, SomeSubstitutionsType, Substitution
from launch.actions import ExecuteProcess
from launch.utilities import text_of
from launch_ros.actions.scope import NAMESPACE, PARAMETERS, join_namespaces
from launch_ros.parameter_descriptions import ParameterFile, evaluate_parameters
from launch_ros.substitutions import ExecutableInPackage


class _Quoting(yaml.SafeDumper):
    """Quotes every text: rcl reads some as numbers that PyYAML leaves bare, `035850` among them."""


_Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


class Node(ExecuteProcess):
    """Runs an executable of a package with name, namespace, parameters and remappings given by ``--ros-args``."""

    def __init__(
        self,
        *,
        executable: SomeSubstitutionsType,
        package: SomeSubstitutionsType | None = None,
        name: SomeSubstitutionsType | None = None,
        namespace: SomeSubstitutionsType | None = None,
        exec_name: SomeSubstitutionsType | None = None,
        parameters: Iterable[Any] | None = None,
        remappings: Iterable[tuple[SomeSubstitutionsType, SomeSubstitutionsType]] | None = None,
        ros_arguments: Iterable[SomeSubstitutionsType] | None = None,
        arguments: Iterable[SomeSubstitutionsType] | None = None,
        **kwargs: Any,
    ) -> None:
        """Keep what to run.

        Args:
            executable: name in the package, or a path where no package is given.
            package: package of the executable.
            name: name of the node; without it the node keeps its own.
            namespace: inside the pushed namespace, unless it is absolute.
            exec_name: label of the process; default the base name of the executable.
            parameters: dictionaries, paths of YAML files, ParameterFile; later ones win.
            remappings: pairs (from, to).
            ros_arguments: further arguments after ``--ros-args``.
            arguments: arguments before ``--ros-args``.
            **kwargs: see :class:`launch.actions.ExecuteProcess`.

        Raises:
            TypeError: ``parameters`` is not a list.
        """
        if isinstance(parameters, str | Mapping | Substitution):
            raise TypeError(
                f"parameters of node '{name or executable}': got {parameters!r}, allowed a list of dictionaries and files"
            )
        program = executable if package is None else ExecutableInPackage(package=package, executable=executable)
        super().__init__(cmd=[program, *(arguments or ())], name=exec_name, **kwargs)
        self._node_name, self._namespace = name, namespace
        self._parameters, self._remappings = list(parameters or ()), list(remappings or ())
        self._ros_arguments = list(ros_arguments or ())
        self._full_name = ""

    @property
    def node_name(self) -> str:
        """Full name of the node; before the start, or for a node that keeps its own name, a text that says so."""
        return self._full_name or "<node_name_unspecified>"

    def execute(self, context: LaunchContext) -> None:
        """Add the ROS arguments and start the process."""
        self._cmd += self._ros_args(context)
        super().execute(context)

    def _ros_args(self, context: LaunchContext) -> list[str]:
        configurations = context.launch_configurations
        rules: list[str] = []
        namespace = configurations.get(NAMESPACE, "")
        if self._namespace is not None:
            namespace = join_namespaces(namespace, text_of(context, self._namespace))
        if self._node_name is not None:
            name = text_of(context, self._node_name)
            self._full_name = join_namespaces(namespace, name)
            rules += ["-r", f"__node:={name}"]
        if namespace:
            rules += ["-r", f"__ns:={namespace}"]
        for parameters in [configurations.get(PARAMETERS, {}), *self._parameters]:
            if isinstance(parameters, Mapping):
                values = evaluate_parameters(context, parameters)
                if values:
                    rules += ["--params-file", self._write_parameters(values)]
            else:
                source = parameters if isinstance(parameters, ParameterFile) else ParameterFile(parameters)
                rules += ["--params-file", source.evaluate(context)]
        for source, target in self._remappings:
            rules += ["-r", f"{text_of(context, source)}:={text_of(context, target)}"]
        rules = [text_of(context, argument) for argument in self._ros_arguments] + rules
        return ["--ros-args", *rules] if rules else []

    def _write_parameters(self, values: Mapping[str, Any]) -> str:
        """Write a parameter file that lives as long as the launch, since a respawn reads it again, and return its path."""
        content = {self._full_name or "/**": {"ros__parameters": dict(values)}}
        with tempfile.NamedTemporaryFile("w", prefix="launch_params_", suffix=".yaml", delete=False) as file:
            yaml.dump(content, file, Dumper=_Quoting, default_flow_style=False)
        atexit.register(_remove, file.name)
        return file.name


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
