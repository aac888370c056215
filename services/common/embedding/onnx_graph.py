"""The parts of an ONNX file that `rewrite.py` changes, as protobuf messages; what they do not name passes untouched.

The field numbers are those of `onnx.proto` (onnx 1.23). Declared here, since the package `onnx` (33 MB) would be
installed for nothing else.
"""

from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_Field = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "attest_onnx"


class _F(NamedTuple):
    number: int
    kind: Any
    """A scalar type of protobuf, or the name of a message."""
    repeated: bool = False


_MESSAGES = {
    "ModelProto": {"graph": _F(7, "GraphProto"), "opset_import": _F(8, "OperatorSetIdProto", repeated=True)},
    "OperatorSetIdProto": {"domain": _F(1, _Field.TYPE_STRING), "version": _F(2, _Field.TYPE_INT64)},
    "GraphProto": {
        "node": _F(1, "NodeProto", repeated=True),
        "initializer": _F(5, "TensorProto", repeated=True),
        "output": _F(12, "ValueInfoProto", repeated=True),
    },
    "ValueInfoProto": {"name": _F(1, _Field.TYPE_STRING)},
    "NodeProto": {
        "input": _F(1, _Field.TYPE_STRING, repeated=True),
        "output": _F(2, _Field.TYPE_STRING, repeated=True),
        "name": _F(3, _Field.TYPE_STRING),
        "op_type": _F(4, _Field.TYPE_STRING),
        "attribute": _F(5, "AttributeProto", repeated=True),
        "domain": _F(7, _Field.TYPE_STRING),
    },
    "AttributeProto": {
        "name": _F(1, _Field.TYPE_STRING),
        "i": _F(3, _Field.TYPE_INT64),
        "type": _F(20, _Field.TYPE_INT32),
    },
    "TensorProto": {"dims": _F(1, _Field.TYPE_INT64, repeated=True), "name": _F(8, _Field.TYPE_STRING)},
}
_INT_ATTRIBUTE = 2
"""`AttributeProto.AttributeType.INT`."""


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto2")
    for name, members in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for member, (number, kind, repeated) in members.items():
            field = message.field.add(name=member, number=number)
            field.label = _Field.LABEL_REPEATED if repeated else _Field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type, field.type_name = _Field.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")) for name in _MESSAGES
    }


_CLASSES = _classes()


def parsed(content: bytes) -> Any:
    """Return the ModelProto of a file; raise `google.protobuf.message.DecodeError` when it is none."""
    return _CLASSES["ModelProto"].FromString(content)


def node(kind: str, inputs: list[str], outputs: list[str], domain: str = "", **attributes: int) -> Any:
    """Make a NodeProto named after its first output; attributes are whole numbers."""
    made = _CLASSES["NodeProto"](op_type=kind, input=inputs, output=outputs, domain=domain, name=f"{outputs[0]}/{kind}")
    for name, value in attributes.items():
        made.attribute.add(name=name, i=value, type=_INT_ATTRIBUTE)
    return made
