"""The Go code that is checked in is that of proto/: it carries the descriptors that it was made from."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto

from arena.bots.manifest import sample_bots_folder
from arena.sixtysix.v1 import bot_pb2, rules_pb2, types_pb2

CODE = sample_bots_folder() / "greedy-go" / "arena" / "sixtysix" / "v1"


def carried(code: Path) -> FileDescriptorProto:
    """The descriptor in a generated file: a text of Go, which Python reads as bytes."""
    lines = re.search(r'rawDesc = "" \+\n((?:\t".*"(?: \+)?\n)+)', code.read_text(encoding="ascii"))
    assert lines, f"{code} carries no descriptor"
    data = b"".join(ast.literal_eval(f"b{line.strip(' +')}") for line in lines[1].replace("\t", "").splitlines())
    file = FileDescriptorProto.FromString(data)
    for message in file.message_type:
        for field in message.field:
            field.ClearField("json_name")  # which only plugins of protoc are told
    return file


@pytest.mark.parametrize("module", [bot_pb2, rules_pb2, types_pb2], ids=lambda module: module.__name__.split(".")[-1])
def test_the_go_code_is_fresh(module: ModuleType) -> None:
    made_from = FileDescriptorProto.FromString(module.DESCRIPTOR.serialized_pb)
    name = Path(made_from.name).stem
    stale = f"make {name}.pb.go anew, as sample_bots/greedy-go/README.md says"
    assert carried(CODE / f"{name}.pb.go") == made_from, stale


def test_the_go_service_has_the_methods_of_the_proto() -> None:
    service = bot_pb2.DESCRIPTOR.services_by_name["BotService"]
    code = (CODE / "bot_grpc.pb.go").read_text(encoding="ascii")
    assert set(re.findall(r'BotService_(\w+)_FullMethodName += "/arena.sixtysix.v1.BotService/\1"', code)) == {
        method.name for method in service.methods
    }
