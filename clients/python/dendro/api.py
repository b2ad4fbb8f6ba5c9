"""The typed API, generated from the OpenAPI document by generate.ts. Do not edit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Literal, Mapping, Optional, TypedDict, Union

from .api_transport import ApiTransport

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AccessMember(TypedDict):
    """Roles granted to a user or group in an organization, in addition to the user's own roles."""
    type: Literal["user", "group"]
    id: str
    roles: List[str]
    status: Literal["active", "invited", "revoked"]
    createdAt: int


class AgentConfig(TypedDict):
    """A configuration of an agent that sends to this deployment."""
    id: str
    agent: Literal["otel-collector", "fluent-bit", "vector", "filebeat", "logstash", "rsyslog", "alloy"]
    format: Literal["yaml", "toml", "conf"]
    config: str
    """The configuration file; it reads the API key from the environment variable DENDRO_API_KEY."""
    explanation: str
    """What was configured and why, one line for each request."""
    warnings: List[str]
    """Requests that the agent cannot satisfy, and points to check."""
    diff: NotRequired[str]
    """The changes to the given file, as a unified diff."""
    metadata: Metadata


class ApiKey(TypedDict):
    id: str
    name: str
    api_key: str
    """Short identifier that tells keys apart; not part of the secret."""
    roles: List[str]
    user_id: NotRequired[str]
    """
    The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other
    keys.
    """
    is_suspended: NotRequired[bool]
    """
    True when the identity provider has refused the user of a personal key: it works again once the user has signed on.
    Absent otherwise.
    """
    tags: Tags
    allowed_in_address: bool
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    expires_at: NotRequired[int]
    """Unix seconds; absent when the key never expires."""
    expires_soon: NotRequired[bool]
    """True when the key expires within 14 days, or has expired; absent otherwise."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Absent when it may be used from anywhere.
    """
    previous_key_expires_at: NotRequired[int]
    """After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not."""
    previous_key_used_at: NotRequired[int]
    """When the previous secret was last used, to the minute; absent when it was not."""
    query_budget: NotRequired[ApiKeyQueryBudget]
    """Limits of the queries of this key; absent when those of its roles apply."""
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """
    Where events of this key go unless the request says otherwise, for senders that can send only a key. Absent when
    there are none.
    """
    last_used_at: NotRequired[int]
    """When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first."""
    last_used_address: NotRequired[str]
    """The network address of that request."""
    metadata: Metadata


class ApiKeyEventDefaults(TypedDict):
    collection: NotRequired[str]
    dataset: NotRequired[str]
    tags: NotRequired[Tags]
    """Tags of the dataset and attributes of the events; those of a request take precedence."""


class ApiKeyQueryBudget(TypedDict):
    seconds: NotRequired[int]
    """Time limit of a query."""
    bytes: NotRequired[int]
    """Uncompressed bytes that a query may read."""
    rows: NotRequired[int]
    """Events that a query may scan."""
    running: NotRequired[int]
    """Queries that may run at once; further queries wait."""
    waiting: NotRequired[int]
    """Queries that may wait; more are refused with 429."""


class AuditRecord(TypedDict):
    """One change or refused attempt: actor, address, action, record, and the record before and after."""
    id: str
    time: int
    actor: NotRequired[Union[Identity, None]]
    """Absent when the caller was not identified, as in a failed login."""
    actor_name: str
    address: str
    user_agent: str
    action: str
    """The name of the endpoint in the contract, such as `datasets.create`."""
    outcome: Literal["done", "refused"]
    entity_type: str
    entity_id: str
    before: NotRequired[Union[Dict[str, Any], None]]
    after: NotRequired[Union[Dict[str, Any], None]]
    correlation_id: str


class Backtest(TypedDict):
    from_ts: int
    to_ts: int
    step_ms: int
    """The time between evaluations."""
    looks: int
    monitor_events: List[BacktestMonitorEventsItem]
    changes: List[BacktestChangesItem]
    notifications: List[BacktestNotificationsItem]
    time_in_status: Dict[str, int]
    """Milliseconds in each status."""
    changes_total: int
    """The total number of changes; at most 1000 changes and notifications are listed."""
    notifications_total: int


class BacktestMonitorEventsItem(TypedDict):
    time: int
    monitor_status: MonitorStatus
    previous_status: MonitorStatus


class BacktestChangesItem(TypedDict):
    group_id: str
    """Empty for a monitor without groups."""
    value: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    """Absent when the window had no event of the group."""
    baseline: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    before: MonitorStatus
    after: MonitorStatus
    change: NotRequired[MonitorTransition]
    verdict: NotRequired[str]
    """Whether a notification was sent for the change, or why not."""
    gone: NotRequired[bool]
    """The group had no events for too long and is dropped."""
    time: int


class BacktestNotificationsItem(TypedDict):
    group_id: str
    transition: MonitorTransition
    monitor_status: MonitorStatus
    delayed: bool
    """A downtime that has ended delayed it."""
    time: int


class Backup(TypedDict):
    name: str
    """The time of its start; the folder in the place of backups."""
    status: Literal["COMPLETE", "UNFINISHED", "UNUSABLE"]
    """UNFINISHED: being made, or interrupted. UNUSABLE: damaged, or made by a newer version."""
    is_own: bool
    """False for backups of other deployments in the same place, which are never removed."""
    detail: NotRequired[str]
    """Why it is UNUSABLE."""
    kind: NotRequired[Literal["FULL", "INCREMENTAL"]]
    base: NotRequired[str]
    """The backup that an incremental one builds upon."""
    version: NotRequired[str]
    """The version of the service that made it."""
    started_at: NotRequired[int]
    made_at: NotRequired[int]
    """The moment of the metadata. The events are those that were stored shortly before."""
    bytes: NotRequired[int]
    """Size of the events, including those of the backups that it builds upon."""
    verified_at: NotRequired[int]
    """When it was last read completely without finding damage."""
    verification_failure: NotRequired[str]
    """What the last verification found."""


class BackupTask(TypedDict):
    id: str
    task: Literal["BACKUP", "VERIFICATION", "RESTORATION"]
    status: Literal["CREATED", "IN_PROGRESS", "COMPLETE", "FAILED"]
    trigger: Literal["REQUEST", "SCHEDULE"]
    backup: NotRequired[str]
    """The backup that is made, verified or restored from."""
    created_at: int
    started_at: NotRequired[int]
    ended_at: NotRequired[int]
    failure_detail: NotRequired[str]
    rows: NotRequired[int]
    """Rows of the event store that a verification has read, or events that a restoration has stored."""
    org_id: NotRequired[str]
    """The organization of the restored dataset."""
    dataset_id: NotRequired[str]
    """The new dataset with the restored events."""


class CallList(TypedDict):
    services: List[CallListServicesItem]
    """
    The services that sent spans, most spans first, at most 200. The numbers are exact, unless an ingest rule has
    sampled whole traces: then each stored span counts for those that it stands for.
    """
    services_total: int
    calls: List[ServiceCalls]
    """Most calls first."""
    calls_total: int
    """The number of pairs of services, those beyond the limit included."""
    spans_total: int
    """The number of stored spans in the range."""
    spans_read: int
    """The number of spans that the calls were counted in: those of whole traces."""
    is_exact: bool
    """False if only a part of the traces was read or stored; the numbers of calls are then estimates."""


class CallListServicesItem(TypedDict):
    service: str
    spans: int
    errors: int
    """Failed spans."""


class Changes(TypedDict):
    range: ChangesRange
    baseline: ChangesBaseline
    summary: str
    """The number of events in both ranges, and the first finding, as sentences."""
    findings: List[Finding]
    """Ordered by groups."""
    groups: List[ChangesGroupsItem]
    """
    Findings with the same cause, or with largely the same events: causes (values of fields) before their effects
    (status, numbers, messages). Every finding is in one group.
    """
    findings_total: int
    """Includes those beyond the limit."""
    compared: List[str]
    """The keys whose values were compared."""
    skipped: List[ChangesSkippedItem]
    """Keys that were found and not compared, at most 200."""
    is_sampled: bool
    """
    True if an ingest rule has stored only a share of the traces of some of these spans. All counts and shares are of
    stored spans, among which failed and slow ones are more frequent than among those that arrived.
    """
    cost: ChangesCost
    """The events and bytes read, and the time."""


class ChangesRange(TypedDict):
    from_ts: int
    to_ts: int
    count: int
    """The matching events in it."""


class ChangesBaseline(TypedDict):
    from_ts: int
    to_ts: int
    count: int
    """The matching events in it."""


class ChangesGroupsItem(TypedDict):
    findings: List[int]
    """Positions in `findings`, which they follow."""
    shared: List[FindingName]
    """What the events of all findings of the group share."""


class ChangesSkippedItem(TypedDict):
    key: str
    reason: Literal["IDENTIFIES_EVENTS", "COUNTER", "LONG_TEXT", "MANY_VALUES", "LESS_PROMISING"]
    """
    Almost every event has another value, numbers rise with time, texts are long, too many values to count, or other
    keys promised more.
    """


class ChangesCost(TypedDict):
    """The events and bytes read, and the time."""
    rows: int
    bytes: int
    ms: float


class ContentPackLeftOut(TypedDict):
    """What a content pack has and this dataset cannot have."""
    kind: Literal["WIDGET", "MONITOR"]
    name: str
    reason: str
    """Such as `no field holds the duration`."""


class ContentPackMonitor(TypedDict):
    id: str
    """The name of the monitor within the pack."""
    name: str
    monitor_id: NotRequired[str]
    """Present when it was created from the pack and still exists."""
    rule: ContentPackRule
    values: List[ContentPackMonitorValuesItem]
    """What the queries give in the time range."""
    failure: NotRequired[str]
    """Why a query failed, such as a budget that was exceeded; `values` is empty then."""


class ContentPackMonitorValuesItem(TypedDict):
    name: str
    """The name of the query or formula."""
    value: Union[float, None]
    events: int
    groups: int
    """The number of groups, at most 100."""


class ContentPackOffer(TypedDict):
    """A dashboard and monitors that suit the events of a dataset."""
    pack: str
    """Such as `access-logs`."""
    name: str
    """The format of the events, for people."""
    dataset_id: str
    collection: str
    dataset: str
    fields: List[ContentPackOfferFieldsItem]
    """The fields by which the format was recognized, and others that fit."""
    widgets: int
    """The number of widgets of the dashboard."""
    dashboard_id: NotRequired[str]
    """Present when it was created from the pack and still exists."""
    monitors: List[ContentPackOfferMonitorsItem]
    left_out: List[ContentPackLeftOut]


class ContentPackOfferFieldsItem(TypedDict):
    parameter: str
    field: str


class ContentPackOfferMonitorsItem(TypedDict):
    id: str
    """The name of the monitor within the pack."""
    name: str
    monitor_id: NotRequired[str]
    """Present when it was created from the pack and still exists."""


class ContentPackParameter(TypedDict):
    type: Literal["FIELD", "NUMBER"]
    name: str
    label: str
    value: Union[str, float, None]
    """Null when no field fits; what needs it is left out."""
    is_default: bool
    """Whether the value was found in the dataset or is that of the pack."""
    unit: NotRequired[str]
    candidates: List[str]
    """The fields of the dataset that fit, the best first."""


class ContentPackPreview(TypedDict):
    pack: str
    """Such as `access-logs`."""
    name: str
    dataset_id: str
    sampled: int
    """How many recent events the fields were checked with."""
    parameters: List[ContentPackParameter]
    dashboard: ContentPackPreviewDashboard
    monitors: List[ContentPackMonitor]
    left_out: List[ContentPackLeftOut]


class ContentPackPreviewDashboard(TypedDict):
    name: str
    description: str
    dashboard_id: NotRequired[str]
    widgets: List[ContentPackWidget]


class ContentPackRule(TypedDict):
    """A monitor as it would be created, without actions; `POST /monitors/backtest` accepts it."""
    name: str
    description: str
    monitor_type: Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    window: str
    queries: List[MetricQuery]
    formulas: NotRequired[List[MetricFormula]]
    no_data_status: MonitorStatus
    aux: NotRequired[Dict[str, Any]]
    evaluation_window: NotRequired[str]


class ContentPackWidget(TypedDict):
    type: Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]
    name: str
    description: NotRequired[str]
    w: int
    h: int
    queries: List[MetricQuery]
    formulas: List[MetricFormula]
    values: List[ContentPackWidgetValuesItem]
    """What the queries give in the time range."""
    failure: NotRequired[str]
    """Why a query failed, such as a budget that was exceeded; `values` is empty then."""


class ContentPackWidgetValuesItem(TypedDict):
    name: str
    """The name of the query or formula."""
    value: Union[float, None]
    events: int
    groups: int
    """The number of groups, at most 100."""


class Customer(TypedDict):
    """The customer who runs the organizations; for information only."""
    customer_id: str
    org_id: str
    customer_name: str
    billing_emails: List[str]
    contract_type: str
    ou_id: NotRequired[str]
    parent: NotRequired[str]
    metadata: Metadata
    organisations: List[CustomerOrganisationsItem]


class CustomerOrganisationsItem(TypedDict):
    org_id: str
    region: str
    name: str


class Dashboard(TypedDict):
    """Widgets under a name, in order."""
    id: str
    name: str
    description: NotRequired[str]
    widgets: List[Widget]
    widget_ids: List[str]
    """The ids of `widgets`, in the same order."""
    layout: DashboardLayout
    tags: Tags
    template: NotRequired[Template]
    metadata: Metadata


class DashboardLayout(TypedDict):
    metric_ids: NotRequired[List[str]]
    widget_layouts: NotRequired[List[WidgetPosition]]


class DashboardTemplate(TypedDict):
    """A dashboard with parameters."""
    id: str
    name: str
    description: NotRequired[str]
    widgets: List[TemplateReference]
    layout: NotRequired[DashboardTemplateLayout]
    this_template_tags: Tags
    tags: Tags
    parameters: TemplateParameters
    metadata: Metadata


class DashboardTemplateLayout(TypedDict):
    metric_ids: NotRequired[List[str]]
    widget_layouts: NotRequired[List[WidgetPosition]]


class Dataset(TypedDict):
    id: str
    collection: str
    dataset: str
    is_system_generated: bool
    tags: Tags
    parser_id: NotRequired[str]
    """The parser assigned to the dataset; absent when there is none."""
    retention: NotRequired[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]]
    """How long events of this dataset are kept; absent when the organization default applies."""
    metadata: Metadata


class DatasetTotals(TypedDict):
    all: int
    """All datasets that the caller may see."""
    found: int
    """Those on all pages."""
    by_flow: Dict[str, int]
    """Those on all pages if `flow` was absent, by flow."""
    received: int
    """Of all, those with events of senders: not only of the service itself."""


class Delta(TypedDict):
    """The comparison with an earlier period, given by `start_time` and `end_time`."""
    start_time: int
    end_time: int
    total_count: int
    total_value: float
    delta_value: float
    """Current minus previous."""
    delta_factor: float
    """The difference divided by the previous value; 0 when that is 0."""
    aggregates: List[DeltaAggregatesItem]
    changes: List[DeltaChangesItem]


class DeltaAggregatesItem(TypedDict):
    function: str
    value: Union[float, None]


class DeltaChangesItem(TypedDict):
    function: str
    value: float
    factor: NotRequired[float]


Downtime = TypedDict(
    "Downtime",
    {
        "id": "str",
        "name": "str",
        "description": "str",
        "from": "List[str]",
        "suppress_recovery_alert": "bool",
        "alert_strategy": "Literal[\"DELAY\", \"DROP\"]",
        "static_time_range": "NotRequired[DowntimeStaticTimeRange]",
        "dynamic_time_range": "NotRequired[DowntimeDynamicTimeRange]",
        "metadata": "Metadata",
    },
)
"""A time range in which monitors send no notifications."""


DowntimeStaticTimeRange = TypedDict(
    "DowntimeStaticTimeRange",
    {
        "from": "int",
        "to": "int",
    },
)


class DowntimeDynamicTimeRange(TypedDict):
    """Local time of the organization; a range that ends before it begins spans midnight."""
    from_minute_of_day: int
    to_minute_of_day: int
    invert: bool
    repeat_days: List[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]]


class EmailTemplate(TypedDict):
    """The body of notification e-mails, with the same placeholders as webhooks."""
    id: str
    name: str
    payload: str
    metadata: Metadata


class EncryptionKey(TypedDict):
    """A key of the customer. The record is stored; the service does not encrypt with it yet."""
    id: str
    org_id: str
    name: str
    provider: Literal["AWS_KMS"]
    status: Literal["KEY_STATUS_UNSPECIFIED", "CREATED", "ACTIVE", "DISABLED"]
    aws_kms: NotRequired[EncryptionKeyAwsKms]


class EncryptionKeyAwsKms(TypedDict):
    alias_arn: str
    region: NotRequired[str]


class EndedSessions(TypedDict):
    ended: int
    """The number of sessions that have ended."""


class Error(TypedDict):
    """The body of every failure; `errors` names the violated rules in machine-readable form."""
    type: str
    code: int
    correlation_id: str
    details: str
    errors: NotRequired[List[ErrorErrorsItem]]


class ErrorErrorsItem(TypedDict):
    field: str
    code: str
    message: str
    position: NotRequired[int]
    length: NotRequired[int]
    hint: NotRequired[str]
    fix: NotRequired[ErrorErrorsItemFix]


class ErrorErrorsItemFix(TypedDict):
    position: int
    length: int
    text: str


Event = TypedDict(
    "Event",
    {
        "@raw": "Union[str, None]",
        "@time": "str",
        "@status": "Literal[\"info\", \"warn\", \"error\"]",
        "message_kvs": "Dict[str, str]",
        "attributes": "Dict[str, str]",
        "metadata": "EventMetadata",
        "links": "List[Link]",
    },
)


class EventMetadata(TypedDict):
    service_id: str
    """The dataset."""
    timestamp: int
    sequence: int
    context: str
    """The URL of the events around this one."""


Explain = TypedDict(
    "Explain",
    {
        "Execution time (millis)": "str",
        "Bytes searched": "NotRequired[str]",
        "Matching events": "NotRequired[str]",
        "Approximate bytes in time range": "NotRequired[str]",
    },
)


class Export(TypedDict):
    export_id: str
    org_id: str
    progress: int
    """In percent; never falls, and is 100 exactly when the status is COMPLETE."""
    status: Literal["CREATED", "IN_PROGRESS", "COMPLETE", "FAILED"]
    bytes: int
    """Size of the file so far."""
    events: int
    """Events in the file so far."""
    location: str
    """Empty until COMPLETE; then a URL to download the file without credentials, valid for an hour."""
    search_details: ExportDetails
    format: Literal["ndjson", "csv", "parquet"]
    compression: Literal["none", "gzip", "zstd"]
    created_at: int
    modified_at: int
    failure_detail: NotRequired[str]


ExportDetails = TypedDict(
    "ExportDetails",
    {
        "from": "str",
        "from_expr": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "time_range": "NotRequired[str]",
        "where": "NotRequired[str]",
    },
)


class Finding(TypedDict):
    change: Literal["NEW", "INCREASED", "DECREASED", "VANISHED"]
    names: List[FindingName]
    """The most telling first. Several names select the same events."""
    where: str
    """The filter of the first name, to be joined with that of the request."""
    count: int
    """The events in the range."""
    baseline_count: int
    share: float
    """Of the matching events in the range, from 0 to 1."""
    baseline_share: float
    lift: Union[float, None]
    """`share` divided by `baseline_share`; null when the latter is 0."""
    significance: float
    """
    How unlikely chance alone is: the negative decimal logarithm of its probability, corrected for the number of
    comparisons. At least 2.
    """
    score: float
    """
    Groups are ordered by the highest of theirs, ten times as much with a cause. It grows with the share and with the
    lift.
    """
    shared: Union[FindingShared, None]
    """
    Values of fields that nearly all events of the finding have together, and few others: in the range, or in the
    baseline when they became fewer. Exact. Null when there are none.
    """
    text: str
    """The finding as a sentence."""


class FindingShared(TypedDict):
    names: List[FindingName]
    """The rarest among the other events first. Joined by AND they are the cause, if there is one."""
    count: int
    """The events of the finding that have all of them."""
    others_share: float
    """The share of the other matching events of the same range that have all of them."""


class FindingName(TypedDict):
    key: str
    """A key of events, or a built-in such as `@pattern`."""
    value: Union[str, None]
    """
    Its value: null for events with or without the key, the id of a pattern, the limit of a number. The filter says what
    is compared with it.
    """
    kind: Literal["VALUE", "PRESENT", "MISSING", "AT_LEAST", "BELOW", "PATTERN"]
    label: str
    """For people: `status = 503`, or the template of a pattern."""
    where: str
    """The filter that selects exactly these events."""


class ForwardConfig(TypedDict):
    """Copies events to a destination as they arrive."""
    name: str
    description: NotRequired[str]
    filter: NotRequired[str]
    """Forwards the events that match, in the syntax of `where`. Default: all."""
    all_logs: bool
    """Forward every dataset that the author may see but the canary, those created later too."""
    log_ids: NotRequired[List[str]]
    """The datasets; required when `all_logs` is false."""
    format: Literal["RAW", "NDJSON", "PARQUET"]
    """
    RAW: one original event per line. NDJSON: one object per line, as in exports, with the original event in `@raw`.
    PARQUET, for buckets only: files with the columns of exports, compressed inside; 1,000 keys have columns, and
    `@more` has the others.
    """
    compression: Literal["ZSTD", "GZIP", "NONE"]
    max_payload_size_bytes: int
    """
    Size of a payload before compression. Larger payloads than 32 MB (16 MB in Parquet, 8 MB to a URL or Kafka) are
    divided.
    """
    max_payload_size_events: int
    max_buffer_time_ms: int
    """How long events wait for a payload to fill."""
    destination: Union[ForwardToS3, ForwardToHttp, ForwardToKafka]
    id: str
    created_at: int
    delivery: ForwardDelivery


class ForwardDelivery(TypedDict):
    status: Literal["OK", "DELAYED"]
    """DELAYED: the destination does not accept payloads, and events wait in the store."""
    delivered_events: int
    delivered_payloads: int
    last_delivered_at: NotRequired[int]
    delayed_since: NotRequired[int]
    last_error: NotRequired[str]
    waiting_events: NotRequired[int]
    """Events of the datasets that wait, as of the last failed attempt."""
    oldest_waiting_at: NotRequired[int]
    """When the oldest of them arrived."""
    lost_events: int
    """Events that retention deleted while they waited."""


class ForwardToHttp(TypedDict):
    destination_type: Literal["HTTP"]
    url: str
    """
    Receives one POST for each payload. To forward to another Dendro, give its URL of ingestion and the format NDJSON:
    events keep their lines, times, attributes and datasets there.
    """
    headers: NotRequired[Dict[str, str]]
    """
    Sent with every request. Values are encrypted, and returned as `***`. In an update, `***` keeps the value for the
    same server.
    """


class ForwardToKafka(TypedDict):
    destination_type: Literal["KAFKA"]
    topic: str
    """{collection} and {dataset} stand for the names of those of an event. Topics must exist."""
    brokers: List[str]
    """Brokers of the cluster as `host:port`; one that answers suffices."""
    tls: bool
    ca: NotRequired[str]
    """The certificate of an authority in PEM, instead of the usual ones."""
    mechanism: NotRequired[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]]
    """The form of the login (SASL). Default: PLAIN."""
    username: NotRequired[str]
    password: NotRequired[str]
    """Encrypted, and returned as `***`. In an update, `***` keeps the password, unless the brokers or the username change."""


class ForwardToKafkaInput(TypedDict):
    destination_type: Literal["KAFKA"]
    topic: str
    """{collection} and {dataset} stand for the names of those of an event. Topics must exist."""
    brokers: List[str]
    """Brokers of the cluster as `host:port`; one that answers suffices."""
    tls: NotRequired[bool]
    ca: NotRequired[str]
    """The certificate of an authority in PEM, instead of the usual ones."""
    mechanism: NotRequired[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]]
    """The form of the login (SASL). Default: PLAIN."""
    username: NotRequired[str]
    password: NotRequired[str]
    """Encrypted, and returned as `***`. In an update, `***` keeps the password, unless the brokers or the username change."""


class ForwardToS3(TypedDict):
    destination_type: Literal["S3"]
    bucket: str
    prefix: NotRequired[str]
    """The folder of all objects."""
    path_template: str
    """
    The folders below it, with the hour of arrival as {yyyy}, {mm}, {dd} and {hh} in UTC, {collection} and {dataset}.
    The name of the object is the dataset, the number of its first event, and the beginning of the id of the
    configuration.
    """
    storage_class: Literal["STANDARD", "STANDARD_IA", "GLACIER_IR"]
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: NotRequired[str]
    """Without it, the bucket must be the one that the operator has configured, and its credentials are used."""
    secret_access_key: NotRequired[str]
    """
    Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint or the access key id
    changes.
    """


class ForwardToS3Input(TypedDict):
    destination_type: Literal["S3"]
    bucket: str
    prefix: NotRequired[str]
    """The folder of all objects."""
    path_template: NotRequired[str]
    """
    The folders below it, with the hour of arrival as {yyyy}, {mm}, {dd} and {hh} in UTC, {collection} and {dataset}.
    The name of the object is the dataset, the number of its first event, and the beginning of the id of the
    configuration.
    """
    storage_class: NotRequired[Literal["STANDARD", "STANDARD_IA", "GLACIER_IR"]]
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: NotRequired[str]
    """Without it, the bucket must be the one that the operator has configured, and its credentials are used."""
    secret_access_key: NotRequired[str]
    """
    Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint or the access key id
    changes.
    """


class GivenTemplateLiteral(TypedDict):
    literal: Union[str, List[Union[str, TemplateLiteralObject]], float, bool, int]


class GroupMember(TypedDict):
    """The membership of a user or group in a group."""
    group_id: str
    member_id: str
    member_type: Literal["USER", "GROUP"]
    modified_at: int


class GroupRow(TypedDict):
    """A group with every aggregate by its text. Deprecated duplicate of the top level of `groups_series`."""
    group: str
    """The values of the group in brackets."""
    count: int
    stat: str
    value: float
    timeseries: List[TimeSlice]


class Identity(TypedDict):
    """Who acted: an API key or a user."""
    type: Literal["API_KEY_ID", "USER_ID"]
    id: str


class Idp(TypedDict):
    """An identity provider. The client secret of OpenID Connect and the private key of SAML are never returned."""
    id: str
    name: str
    provider_type: Literal["SAML", "OIDC"]
    identifiers: List[str]
    """E-mail domains whose users sign on with this provider."""
    issuer_url: NotRequired[str]
    client_id: NotRequired[str]
    meta_cert: NotRequired[str]
    app_client_id: NotRequired[str]
    accept_idp_initiated: bool
    attribute_mappings: List[IdpAttributeMappingsItem]
    scopes: NotRequired[str]
    default_roles: List[str]
    """The roles of a user to whom no mapping gives one."""
    is_required: bool
    """Refuses passwords to users with these e-mail domains, except the local administrator."""
    local_administrator: NotRequired[str]
    session_minutes: NotRequired[int]
    deactivate_refused: bool
    metadata: Metadata


class IdpAttributeMappingsItem(TypedDict):
    provider_attr: str
    user_attr: Literal["first_name", "last_name", "email"]


IngestAction = Union["IngestDrop", "IngestSample", "IngestTailSample", "IngestRedact", "IngestAddFields", "IngestRenameFields", "IngestRemoveFields", "IngestParse", "IngestSetTags", "IngestSetDataset", "IngestLookup", "IngestGeoip", "IngestCount"]


IngestActionInput = Union["IngestDrop", "IngestSample", "IngestTailSampleInput", "IngestRedactInput", "IngestAddFields", "IngestRenameFields", "IngestRemoveFields", "IngestParse", "IngestSetTags", "IngestSetDataset", "IngestLookupInput", "IngestGeoipInput", "IngestCountInput"]


class IngestAddFields(TypedDict):
    """Adds fields to matching events: as members of a JSON line, otherwise beside the line."""
    type: Literal["ADD_FIELDS"]
    fields: List[IngestAddFieldsFieldsItem]
    """Fields that each matching event gets. A field of the same name is replaced."""


class IngestAddFieldsFieldsItem(TypedDict):
    name: str
    value: str


class IngestCount(TypedDict):
    """
    Counts matching events: each post adds an event to the dataset of the metric for every combination of the values of
    `by`, with the number of events in `count`. The events themselves stay as they are.
    """
    type: Literal["COUNT"]
    metric: str
    """The dataset in the collection `metrics` that gets the counts."""
    by: List[str]
    """Fields by whose values events are counted."""


class IngestCountInput(TypedDict):
    """
    Counts matching events: each post adds an event to the dataset of the metric for every combination of the values of
    `by`, with the number of events in `count`. The events themselves stay as they are.
    """
    type: Literal["COUNT"]
    metric: str
    """The dataset in the collection `metrics` that gets the counts."""
    by: NotRequired[List[str]]
    """Fields by whose values events are counted."""


class IngestDrop(TypedDict):
    """Stores no matching event."""
    type: Literal["DROP"]


class IngestGeoip(TypedDict):
    """Adds where a network address is, and whose network it belongs to, from the databases of this deployment."""
    type: Literal["GEOIP"]
    key: str
    """The field with an address, or with a list of them, whose first one counts."""
    prefix: str
    """
    Precedes the names of the fields: `continent`, `country`, `country_name`, `region`, `city`, `latitude`, `longitude`,
    `time_zone`, `asn`, `organization`.
    """


class IngestGeoipInput(TypedDict):
    """Adds where a network address is, and whose network it belongs to, from the databases of this deployment."""
    type: Literal["GEOIP"]
    key: str
    """The field with an address, or with a list of them, whose first one counts."""
    prefix: NotRequired[str]
    """
    Precedes the names of the fields: `continent`, `country`, `country_name`, `region`, `city`, `latitude`, `longitude`,
    `time_zone`, `asn`, `organization`.
    """


class IngestLookup(TypedDict):
    """Adds the values of the row of a lookup table that the value of a field selects."""
    type: Literal["LOOKUP"]
    table: str
    """The name of a lookup table."""
    key: str
    """The field whose value is looked up in the key column of the table. Values are compared exactly."""
    columns: List[str]
    """The columns to add as fields; all but the key column when empty."""
    prefix: NotRequired[str]
    """Precedes the names of the columns in the names of the fields, as in `user.`."""


class IngestLookupInput(TypedDict):
    """Adds the values of the row of a lookup table that the value of a field selects."""
    type: Literal["LOOKUP"]
    table: str
    """The name of a lookup table."""
    key: str
    """The field whose value is looked up in the key column of the table. Values are compared exactly."""
    columns: NotRequired[List[str]]
    """The columns to add as fields; all but the key column when empty."""
    prefix: NotRequired[str]
    """Precedes the names of the columns in the names of the fields, as in `user.`."""


class IngestParse(TypedDict):
    """Adds the fields that a pattern finds. Fields that a JSON line has already stay."""
    type: Literal["PARSE"]
    format: Literal["GROK", "DISSECT"]
    """The language of the pattern, as in parsers."""
    pattern: str
    key: NotRequired[str]
    """The field to parse; without it the message of a JSON line, or the text line."""


class IngestRedact(TypedDict):
    """
    Replaces values in matching events: in text lines, in names and values of JSON lines, and in the attributes that a
    protocol adds.
    """
    type: Literal["REDACT"]
    kinds: List[Literal["CARD_NUMBER", "EMAIL", "TOKEN", "SECRET_KEY"]]
    """
    `CARD_NUMBER`: numbers of payment cards with a valid check digit. `EMAIL`: e-mail addresses. `TOKEN`: bearer tokens
    and JSON Web Tokens. `SECRET_KEY`: keys of clouds and APIs with a known prefix, and private keys in PEM.
    """
    expressions: List[IngestRedactExpressionsItem]
    """Further values to replace. At least one kind or expression is required."""
    replacement: str
    """The text that replaces each value."""


class IngestRedactExpressionsItem(TypedDict):
    pattern: str
    """A regular expression in the syntax of RE2, which is matched in linear time."""
    ignore_case: bool


class IngestRedactInput(TypedDict):
    """
    Replaces values in matching events: in text lines, in names and values of JSON lines, and in the attributes that a
    protocol adds.
    """
    type: Literal["REDACT"]
    kinds: NotRequired[List[Literal["CARD_NUMBER", "EMAIL", "TOKEN", "SECRET_KEY"]]]
    """
    `CARD_NUMBER`: numbers of payment cards with a valid check digit. `EMAIL`: e-mail addresses. `TOKEN`: bearer tokens
    and JSON Web Tokens. `SECRET_KEY`: keys of clouds and APIs with a known prefix, and private keys in PEM.
    """
    expressions: NotRequired[List[IngestRedactInputExpressionsItem]]
    """Further values to replace. At least one kind or expression is required."""
    replacement: NotRequired[str]
    """The text that replaces each value."""


class IngestRedactInputExpressionsItem(TypedDict):
    pattern: str
    """A regular expression in the syntax of RE2, which is matched in linear time."""
    ignore_case: NotRequired[bool]


class IngestRemoveFields(TypedDict):
    """Removes fields of JSON lines, and those that a protocol or a rule adds. Fields that are found in text lines stay."""
    type: Literal["REMOVE_FIELDS"]
    names: List[str]
    """The name of an object removes all that is in it."""


class IngestRenameFields(TypedDict):
    """Renames fields of JSON lines, and those that a protocol or a rule adds. Fields that are found in text lines stay."""
    type: Literal["RENAME_FIELDS"]
    fields: List[IngestRenameFieldsFieldsItem]
    """
    Applied one after the other. A field that has the new name already is replaced; an event without the field stays as
    it is.
    """


IngestRenameFieldsFieldsItem = TypedDict(
    "IngestRenameFieldsFieldsItem",
    {
        "from": "str",
        "to": "str",
    },
)


IngestRule = TypedDict(
    "IngestRule",
    {
        "id": "str",
        "name": "str",
        "description": "NotRequired[str]",
        "enabled": "bool",
        "position": "int",
        "version": "int",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "str",
        "action": "IngestAction",
        "metadata": "Metadata",
    },
)
"""Changes, moves or drops events of some datasets before they are stored."""


class IngestRulePreview(TypedDict):
    events: int
    """The number of events that were read: the newest 1,000 of the last 7 days."""
    is_whole: bool
    """false when the last 7 days have older events than those that were read."""
    start_time: NotRequired[int]
    """The time of the oldest event that was read; absent for none."""
    end_time: NotRequired[int]
    """The time of the newest event that was read; absent for none."""
    matched: int
    """Events that match the filter."""
    dropped: int
    changed: int
    bytes: int
    """The bytes of the lines that were read."""
    bytes_saved: int
    """The bytes that would not be stored; negative when lines become longer."""
    share: float
    """The share of the events that the rule drops or changes."""
    share_saved: float
    """The share of the bytes that would not be stored."""
    samples: List[IngestRulePreviewSamplesItem]
    """Dropped and changed events, newest first. Lines are cut after 4,000 characters."""


class IngestRulePreviewSamplesItem(TypedDict):
    log_id: str
    time: int
    """Epoch milliseconds."""
    before: str
    after: NotRequired[str]
    """The line after the rule; absent for an event that is dropped."""
    added: NotRequired[Dict[str, str]]
    """Fields and tags (`$name`) that the rule sets beside the line, at most 100; absent for none."""
    moved_to: NotRequired[IngestRulePreviewSamplesItemMovedTo]
    """The dataset that the event would be stored in; absent when it stays."""


class IngestRulePreviewSamplesItemMovedTo(TypedDict):
    """The dataset that the event would be stored in; absent when it stays."""
    collection: str
    dataset: str


class IngestSample(TypedDict):
    """Stores a share of the matching events."""
    type: Literal["SAMPLE"]
    keep: float
    """The share of the matching events that is stored, from 0 to 1."""
    key: NotRequired[str]
    """
    Events with the same value of this key are all stored or all dropped, in every dataset and process. Without it, and
    for events without the key, the line decides.
    """


class IngestSetDataset(TypedDict):
    """
    Stores matching events in another dataset, which the first of them creates. Of the rules that follow, those of the
    new dataset apply to them.
    """
    type: Literal["SET_DATASET"]
    collection: NotRequired[str]
    """Absent keeps the collection."""
    dataset: str


class IngestSetTags(TypedDict):
    """Sets tags of matching events."""
    type: Literal["SET_TAGS"]
    tags: Tags
    """Attributes that each matching event gets, as `$name`; at least one. They replace tags of the same name."""


class IngestTailSample(TypedDict):
    """
    Stores whole traces or nothing of them: those with failures, slow ones, and a share of the others. Events without a
    trace id of spans stay as they are.
    """
    type: Literal["TAIL_SAMPLE"]
    keep: float
    """The share of the other traces that is stored, from 0 to 1, chosen by the trace id."""
    keep_errors: bool
    """Stores each trace with a failed span."""
    slower_than_ms: NotRequired[int]
    """Stores each trace with a span that took at least this long."""
    wait_s: int
    """How long the first spans of a trace wait for the others before it is decided. They are not found meanwhile."""


class IngestTailSampleInput(TypedDict):
    """
    Stores whole traces or nothing of them: those with failures, slow ones, and a share of the others. Events without a
    trace id of spans stay as they are.
    """
    type: Literal["TAIL_SAMPLE"]
    keep: float
    """The share of the other traces that is stored, from 0 to 1, chosen by the trace id."""
    keep_errors: NotRequired[bool]
    """Stores each trace with a failed span."""
    slower_than_ms: NotRequired[int]
    """Stores each trace with a span that took at least this long."""
    wait_s: NotRequired[int]
    """How long the first spans of a trace wait for the others before it is decided. They are not found meanwhile."""


class Insight(TypedDict):
    """A finding about ingested data or about a monitor."""
    id: str
    entity_id: str
    """The id of the dataset or monitor."""
    entity_type: Literal["log", "monitor"]
    name: Literal["debug_logs_received", "parser_config_mismatch", "volume_jumped", "errors_jumped", "cost_jumped", "sender_silent", "new_patterns", "patterns_vanished", "fields_exploded", "never_queried", "monitor_never_fires", "monitor_always_fires"]
    category: Literal["verbose_logging", "parsing", "volume", "errors", "cost", "silence", "patterns", "fields", "retention", "monitors"]
    description: str
    """
    Four lines: what was found where; since when, in UTC, and how sure it is (`high` or `medium`); one action; the link
    to the page for it, a path of this service.
    """
    created_at: int
    """When it began."""
    modified_at: int
    """When it last changed."""


class InstalledContentPack(TypedDict):
    """The records of the pack. What existed already is not created again: `is_new` is false."""
    dashboard: NotRequired[InstalledContentPackDashboard]
    monitors: List[InstalledContentPackMonitorsItem]
    left_out: List[ContentPackLeftOut]


class InstalledContentPackDashboard(TypedDict):
    id: str
    name: str
    is_new: bool


class InstalledContentPackMonitorsItem(TypedDict):
    id: str
    monitor_id: str
    name: str
    is_new: bool


class KeySample(TypedDict):
    count: int
    """The matching events, exactly."""
    sampled: int
    """How many of them the sample has."""
    is_exact: bool
    """Whether the sample has every matching event."""
    are_counts_exact: bool
    """Whether every matching event was counted for the counts of keys."""
    is_cut: bool
    """Whether there are more keys than `limit`, or datasets with keys that were not found out."""
    keys: List[SampledKey]
    """The most frequent first."""


class LedgerCounts(TypedDict):
    """The outcome of received events."""
    received: int
    """Received events; a request that was refused before its events were split counts as one."""
    stored: int
    recounted: int
    """
    Stored events that a recount found after a crash; their sender is unknown. They count in `raw_bytes`, not in
    `wire_bytes`.
    """
    duplicate: int
    """Events of repeated requests that were already stored."""
    rejected: int
    reasons: Dict[str, int]
    """The rejected events by reason."""
    dropped: int
    """Events that ingest rules dropped."""
    rules: Dict[str, int]
    """The events that each ingest rule dropped or changed, by the id of the rule."""
    truncated: int
    """Stored events that were cut because they were too long."""
    late: int
    """Stored events that were older than an hour when they arrived."""
    missing: int
    """Stored events that a recount did not find."""
    wire_bytes: int
    """Bytes of the request bodies on the wire."""
    raw_bytes: int
    """Bytes of the stored lines; usage and limits count these."""
    dropped_bytes: int
    """Bytes of the lines of dropped events."""
    balances: bool
    """
    received = stored + duplicate + rejected + dropped, and none is missing. In the totals it is also false while
    `is_recount_pending`.
    """


class LedgerEntry(TypedDict):
    """The counts of one sender, dataset and protocol in one part of the range."""
    received: int
    """Received events; a request that was refused before its events were split counts as one."""
    stored: int
    recounted: int
    """
    Stored events that a recount found after a crash; their sender is unknown. They count in `raw_bytes`, not in
    `wire_bytes`.
    """
    duplicate: int
    """Events of repeated requests that were already stored."""
    rejected: int
    reasons: Dict[str, int]
    """The rejected events by reason."""
    dropped: int
    """Events that ingest rules dropped."""
    rules: Dict[str, int]
    """The events that each ingest rule dropped or changed, by the id of the rule."""
    truncated: int
    """Stored events that were cut because they were too long."""
    late: int
    """Stored events that were older than an hour when they arrived."""
    missing: int
    """Stored events that a recount did not find."""
    wire_bytes: int
    """Bytes of the request bodies on the wire."""
    raw_bytes: int
    """Bytes of the stored lines; usage and limits count these."""
    dropped_bytes: int
    """Bytes of the lines of dropped events."""
    balances: bool
    """
    received = stored + duplicate + rejected + dropped, and none is missing. In the totals it is also false while
    `is_recount_pending`.
    """
    start_time: int
    end_time: int
    log_id: NotRequired[str]
    """Absent if the request was refused before its dataset was known."""
    identity: NotRequired[Identity]
    """Absent for events that a recount found, whose sender is unknown."""
    protocol: str


class Limit(TypedDict):
    """
    A limit on the bytes of lines that an organization or team sends in a calendar month (UTC), or, set by the operator,
    on its monitors.
    """
    type: Literal["SYSTEM", "USER_DEFINED"]
    id: str
    org_id: str
    category: Literal["INGESTION_LIMITS", "SEARCH_LIMITS", "MONITOR_LIMITS", "LBM_LIMITS"]
    description: NotRequired[str]
    value: float
    """The cap."""
    unit: Literal["BYTES", "COUNT", "RATIO"]
    target: Literal["TEAM", "ORGANISATION"]
    scope: LimitScope
    time_window: Literal["PER_MONTH", "NO_WINDOW"]
    metadata: Metadata


class LimitScope(TypedDict):
    organisation: NotRequired[LimitScopeOrganisation]
    tag: NotRequired[LimitScopeTag]
    """A team, as `{team: "x"}` or `{key: "team", value: "x"}`: all datasets whose tag `team` has that value."""


class LimitScopeOrganisation(TypedDict):
    id: str


class LimitScopeTag(TypedDict):
    """A team, as `{team: "x"}` or `{key: "team", value: "x"}`: all datasets whose tag `team` has that value."""
    team: NotRequired[str]
    key: NotRequired[str]
    value: NotRequired[str]


class LimitUsage(TypedDict):
    limit_id: str
    value: float
    used: int
    """Bytes received in this window; for monitors, their number."""
    window_start: NotRequired[int]
    """Absent for a limit without a window."""
    window_end: NotRequired[int]
    crossed_at: NotRequired[int]
    """When a request exceeded the limit. Ingestion is refused until the window ends or the limit changes."""


class LineTime(TypedDict):
    """Where the lines of a dataset tell their time, and in which notation."""
    format: Literal["YYYY-MM-DD hh:mm:ss", "YYYYMMDD hh:mm:ss", "YYMMDD hh:mm:ss", "Www Mon DD hh:mm:ss YYYY", "DD Mon YYYY hh:mm:ss", "Mon DD YYYY hh:mm:ss", "Mon DD hh:mm:ss", "YY/MM/DD hh:mm:ss", "DD/MM/YY hh:mm:ss", "MM/DD/YY hh:mm:ss", "DD/MM/YYYY hh:mm:ss", "MM/DD/YYYY hh:mm:ss", "MM-DD hh:mm:ss", "DD-MM hh:mm:ss", "MMDD hh:mm:ss", "epoch"]
    """
    The order of date and time. Separators, fractions of a second, AM and PM, and a zone after the time are recognized.
    `epoch` counts seconds, milliseconds, microseconds or nanoseconds by size.
    """
    word: int
    """The number of words before the time, separated by blanks."""
    timezone: str
    """The time zone of times that name none; a name of the IANA time zone database."""


class LineTimeCandidate(TypedDict):
    format: Literal["YYYY-MM-DD hh:mm:ss", "YYYYMMDD hh:mm:ss", "YYMMDD hh:mm:ss", "Www Mon DD hh:mm:ss YYYY", "DD Mon YYYY hh:mm:ss", "Mon DD YYYY hh:mm:ss", "Mon DD hh:mm:ss", "YY/MM/DD hh:mm:ss", "DD/MM/YY hh:mm:ss", "MM/DD/YY hh:mm:ss", "DD/MM/YYYY hh:mm:ss", "MM/DD/YYYY hh:mm:ss", "MM-DD hh:mm:ss", "DD-MM hh:mm:ss", "MMDD hh:mm:ss", "epoch"]
    """
    The order of date and time. Separators, fractions of a second, AM and PM, and a zone after the time are recognized.
    `epoch` counts seconds, milliseconds, microseconds or nanoseconds by size.
    """
    word: int
    """The number of words before the time, separated by blanks."""
    matched: int
    """The number of lines that tell an acceptable time in this notation."""
    unchanged: int
    """The number of these lines that are already stored with this time."""
    is_ambiguous: bool
    """True when another candidate reads the same digits as another date, such as 17/06/09."""
    has_year: bool
    """False when the year is chosen: the latest one with a time at most a day after arrival."""
    has_timezone: bool
    """True when every matching line names its zone, so that the setting has no effect."""
    samples: List[LineTimeCandidateSamplesItem]


class LineTimeCandidateSamplesItem(TypedDict):
    line: str
    """The beginning of the line, or of the message of a JSON line."""
    start: int
    """The position of the time in it."""
    end: int
    time: int
    """The time that the line would get."""
    stored_time: int
    """The time that the event has."""


class LineTimeInput(TypedDict):
    """Where the lines of a dataset tell their time, and in which notation."""
    format: Literal["YYYY-MM-DD hh:mm:ss", "YYYYMMDD hh:mm:ss", "YYMMDD hh:mm:ss", "Www Mon DD hh:mm:ss YYYY", "DD Mon YYYY hh:mm:ss", "Mon DD YYYY hh:mm:ss", "Mon DD hh:mm:ss", "YY/MM/DD hh:mm:ss", "DD/MM/YY hh:mm:ss", "MM/DD/YY hh:mm:ss", "DD/MM/YYYY hh:mm:ss", "MM/DD/YYYY hh:mm:ss", "MM-DD hh:mm:ss", "DD-MM hh:mm:ss", "MMDD hh:mm:ss", "epoch"]
    """
    The order of date and time. Separators, fractions of a second, AM and PM, and a zone after the time are recognized.
    `epoch` counts seconds, milliseconds, microseconds or nanoseconds by size.
    """
    word: NotRequired[int]
    """The number of words before the time, separated by blanks."""
    timezone: NotRequired[str]
    """The time zone of times that name none; a name of the IANA time zone database."""


class Link(TypedDict):
    """An absolute URL and what it leads to."""
    rel: Literal["next", "prev", "first", "status", "context"]
    href: str


class Log(TypedDict):
    """A dataset under its older name: the same record with the same id."""
    collection: str
    dataset: str
    is_system_generated: bool
    tags: Tags
    parser_id: NotRequired[str]
    """The parser assigned to the dataset; absent when there is none."""
    retention: NotRequired[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]]
    """How long events of this dataset are kept; absent when the organization default applies."""
    metadata: Metadata
    log_id: str
    logset: str
    """Deprecated duplicate of `collection`."""
    log: str
    """Deprecated duplicate of `dataset`."""


class LogView(TypedDict):
    """A view for the events of a kind of log; components are in display order."""
    components: List[Union[LogViewComponentsItem, LogViewComponentsItem2]]
    this_template_tags: NotRequired[Tags]
    """The dataset tags that the view applies to."""


class LogViewComponentsItem(TypedDict):
    type: Literal["timeline"]
    config: LogViewComponentsItemConfig


class LogViewComponentsItemConfig(TypedDict):
    group_by: NotRequired[str]


class LogViewComponentsItem2(TypedDict):
    type: Literal["table"]
    config: LogViewComponentsItem2Config


class LogViewComponentsItem2Config(TypedDict):
    columns: List[LogViewComponentsItem2ConfigColumnsItem]


class LogViewComponentsItem2ConfigColumnsItem(TypedDict):
    name: str
    """The displayed key, as written in `select`."""
    format: NotRequired[str]
    base_unit: NotRequired[str]
    """The unit of the stored number."""
    target_unit: NotRequired[str]
    """The unit to show it in."""
    precision: NotRequired[int]
    """Decimal places; 2 when absent."""


class Login(TypedDict):
    token: str
    """The bearer token, a JWT."""
    token_type: Literal["Bearer"]
    expires_at: int
    """Unix seconds."""
    user: User


class LookupTable(TypedDict):
    """A table whose values ingest rules add to events."""
    id: str
    name: str
    description: NotRequired[str]
    key: str
    """The column whose values select rows."""
    columns: List[str]
    """The names in the first line of the file."""
    rows: int
    bytes: int
    """The size of the file."""
    sha256: NotRequired[str]
    """The SHA-256 of the file in hexadecimal; absent while the rows are those of an earlier version of Dendro."""
    version: int
    """Counts the replacements of the rows."""
    metadata: Metadata


class Metadata(TypedDict):
    """When and by whom a record was created and changed; times in epoch milliseconds."""
    created_at: NotRequired[int]
    created_by: NotRequired[Identity]
    modified_at: NotRequired[int]
    modified_by: NotRequired[Identity]
    deleted_at: NotRequired[int]
    deleted_by: NotRequired[Identity]
    last_heartbeat_at: NotRequired[int]


class MetricDefinition(TypedDict):
    """Named queries and formulas that widgets and monitors refer to."""
    id: str
    name: NotRequired[str]
    description: NotRequired[str]
    queries: List[MetricQuery]
    formulas: NotRequired[List[MetricFormula]]
    template: NotRequired[Template]
    metadata: Metadata


class MetricDefinitionTemplate(TypedDict):
    """Queries and formulas with parameters."""
    id: str
    name: str
    description: str
    queries: List[MetricTemplateQuery]
    formulas: NotRequired[List[MetricFormula]]
    parameters: TemplateParameters
    metadata: Metadata


class MetricFormula(TypedDict):
    name: str
    expression: str
    """A formula over query names, such as `errors / total * 100`."""
    aggregation: NotRequired[MetricFormulaAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class MetricFormulaAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class MetricItem(TypedDict):
    name: str
    filter: str
    """The part of the usage that is counted."""
    stat: str
    key: str
    """The key that the statistic is computed from."""
    is_exact: bool
    """
    false when slices do not begin on full minutes (for older usage, full hours or days), or when recounted events have
    unknown bytes.
    """
    groups_series: List[Series]
    delta: NotRequired[Delta]
    id: str
    group_keys: List[str]
    logs: List[str]
    from_tags: List[str]
    from_expr: NotRequired[str]
    aux: Dict[str, Any]
    total_count: int
    total_value: float
    total_quantiles: NotRequired[Quantiles]
    aggregates: NotRequired[List[MetricItemAggregatesItem]]
    series: List[UsageSlice]


class MetricItemAggregatesItem(TypedDict):
    function: str
    value: NotRequired[float]


MetricQuery = TypedDict(
    "MetricQuery",
    {
        "id": "NotRequired[str]",
        "name": "str",
        "select": "List[str]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "str",
        "groups": "NotRequired[List[str]]",
        "aggregation": "NotRequired[List[MetricQueryAggregationItem]]",
    },
)


class MetricQueryAggregationItem(TypedDict):
    time: Literal["sum", "avg", "average", "min", "max", "mean", "count", "median", "p75", "p90", "p95", "p99"]
    """Aggregation of a key in each slice."""
    reduce_to: NotRequired[Literal["avg", "sum", "min", "max"]]
    """Aggregation of the slices to one value; for a key, `avg` when absent."""


MetricQueryInput = TypedDict(
    "MetricQueryInput",
    {
        "id": "NotRequired[str]",
        "name": "str",
        "select": "List[str]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
        "groups": "NotRequired[List[str]]",
        "aggregation": "NotRequired[List[MetricQueryInputAggregationItem]]",
    },
)


class MetricQueryInputAggregationItem(TypedDict):
    time: NotRequired[Literal["sum", "avg", "average", "min", "max", "mean", "count", "median", "p75", "p90", "p95", "p99"]]
    """Aggregation of a key in each slice."""
    reduce_to: NotRequired[Literal["avg", "sum", "min", "max"]]
    """Aggregation of the slices to one value; for a key, `avg` when absent."""


MetricTemplateQuery = TypedDict(
    "MetricTemplateQuery",
    {
        "name": "str",
        "select": "List[str]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "str",
        "groups": "NotRequired[List[str]]",
        "aggregation": "NotRequired[List[MetricTemplateQueryAggregationItem]]",
    },
)
"""A query whose texts may hold `{{name}}` for a parameter."""


class MetricTemplateQueryAggregationItem(TypedDict):
    time: NotRequired[str]
    reduce_to: NotRequired[str]


MetricTemplateQueryInput = TypedDict(
    "MetricTemplateQueryInput",
    {
        "name": "str",
        "select": "List[str]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
        "groups": "NotRequired[List[str]]",
        "aggregation": "NotRequired[List[MetricTemplateQueryInputAggregationItem]]",
    },
)
"""A query whose texts may hold `{{name}}` for a parameter."""


class MetricTemplateQueryInputAggregationItem(TypedDict):
    time: NotRequired[str]
    reduce_to: NotRequired[str]


class MetricTimeseries(TypedDict):
    """The result of one query or formula, by time slice and group."""
    name: str
    queries: List[MetricQuery]
    formulas: NotRequired[List[MetricFormula]]
    aggregates: List[MetricTimeseriesAggregatesItem]
    is_exact: bool
    series: List[TimeSlice]
    groups_series: List[Series]
    delta: NotRequired[Delta]
    warnings: NotRequired[List[Warning]]


class MetricTimeseriesAggregatesItem(TypedDict):
    function: str
    value: Union[float, None]


class Monitor(TypedDict):
    """Compares query results with thresholds, and notifies its actions of status changes."""
    type: Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]
    id: str
    name: str
    description: NotRequired[str]
    monitor_type: Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]
    """The same as `type`."""
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    warning_threshold: NotRequired[float]
    window: str
    actions: List[MonitorAction]
    status: MonitorStatus
    monitored_groups: List[MonitorMonitoredGroupsItem]
    no_data_status: MonitorStatus
    notify_once: bool
    group_retention: NotRequired[int]
    """Milliseconds without events after which a group is dropped."""
    muted_until: NotRequired[int]
    """Epoch milliseconds, or -1 without end; absent when the monitor is not muted."""
    last_trigger_ts: NotRequired[int]
    last_evaluated_ts: NotRequired[int]
    """Absent before the first evaluation; until then `status` is OK."""
    aux: NotRequired[Dict[str, Any]]
    compare_to: NotRequired[str]
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    ai_report_enabled: bool
    ai_report_instructions: NotRequired[str]
    metric_id: str
    """The metric definition that holds the queries and formulas."""
    queries: List[MetricQuery]
    formulas: List[MetricFormula]
    template: NotRequired[Template]
    tags: Tags
    created_at: int
    metadata: Metadata


class MonitorMonitoredGroupsItem(TypedDict):
    group_id: str
    groups: Dict[str, str]
    status: MonitorStatus


class MonitorAction(TypedDict):
    """A notification target of a monitor: an e-mail address or an integration."""
    type: Literal["EMAIL", "INTEGRATION"]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class MonitorEvaluation(TypedDict):
    """One evaluation of a monitor: values, verdict, and notifications that were sent or suppressed."""
    time: int
    from_ts: int
    to_ts: int
    status: MonitorStatus
    failure: NotRequired[str]
    """Why the query failed; such an evaluation changes and sends nothing."""
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    warning_threshold: NotRequired[float]
    value: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    baseline: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    muted: bool
    downtime: NotRequired[Literal["DELAY", "DROP"]]
    groups: List[MonitorEvaluationGroupsItem]
    groups_total: int
    patterns: NotRequired[List[str]]
    """The patterns that appeared or vanished."""
    notifications: List[MonitorEvaluationNotificationsItem]
    missed: int
    """Evaluations that were skipped before this one."""


class MonitorEvaluationGroupsItem(TypedDict):
    group_id: str
    """Empty for a monitor without groups."""
    value: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    """Absent when the window had no event of the group."""
    baseline: NotRequired[Union[float, Literal["Infinity"], Literal["-Infinity"]]]
    before: MonitorStatus
    after: MonitorStatus
    change: NotRequired[MonitorTransition]
    verdict: NotRequired[str]
    """Whether a notification was sent for the change, or why not."""
    gone: NotRequired[bool]
    """The group had no events for too long and is dropped."""


class MonitorEvaluationNotificationsItem(TypedDict):
    group_id: str
    transition: MonitorTransition
    monitor_status: MonitorStatus
    delayed: bool
    """A downtime that has ended delayed it."""


class MonitorEvents(TypedDict):
    monitor_events: List[MonitorEventsMonitorEventsItem]
    groups_history: List[MonitorEventsGroupsHistoryItem]


class MonitorEventsMonitorEventsItem(TypedDict):
    monitor_id: str
    time: int
    monitor_status: MonitorStatus
    previous_status: NotRequired[MonitorStatus]
    message: NotRequired[str]
    ai_report: NotRequired[str]


class MonitorEventsGroupsHistoryItem(TypedDict):
    monitor_id: str
    group_id: str
    history: List[MonitorEventsGroupsHistoryItemHistoryItem]


class MonitorEventsGroupsHistoryItemHistoryItem(TypedDict):
    time: int
    status: MonitorStatus


class MonitorGroup(TypedDict):
    name: str
    """The status, the datasets or the tags; empty for monitors of all datasets or without tags."""
    total: int
    """The monitors of the group on all pages."""
    monitor_ids: List[str]
    """Those of this page."""


class MonitorNotification(TypedDict):
    type: Literal["EMAIL", "SLACK", "WEBHOOK"]
    monitor_id: str
    notification_id: str
    time: int
    status: Literal["IN_PROGRESS", "SENT", "FAILED"]
    destination: str
    failure_reason: NotRequired[str]
    monitor_status: MonitorStatus
    test: bool
    tries: List[MonitorNotificationTriesItem]
    """The delivery attempts, oldest first; `status` is the response of the target."""


class MonitorNotificationTriesItem(TypedDict):
    time: int
    status: NotRequired[int]
    failure_reason: NotRequired[str]


MonitorStatus = Literal["OK", "NO_DATA", "ALERT", "WARN"]


class MonitorTemplate(TypedDict):
    """A monitor with parameters; its queries come from the template of a metric definition."""
    type: Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]
    id: str
    name: str
    description: NotRequired[str]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: str
    warning_threshold: NotRequired[str]
    actions: NotRequired[str]
    """The list of actions as JSON text, or a placeholder for it."""
    notify_once: NotRequired[str]
    window: str
    no_data_status: NotRequired[MonitorStatus]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    compare_to: NotRequired[str]
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    monitor_type: Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]
    metric_id: TemplateReference
    parameters: TemplateParameters
    this_template_tags: NotRequired[Dict[str, str]]
    metadata: Metadata


class MonitorTotals(TypedDict):
    all: int
    """All monitors that the caller may see."""
    found: int
    """Those on all pages."""
    by_status: Dict[str, int]
    """Those on all pages if `status` and `muted` were absent, by status."""
    muted: int
    """The muted ones of these."""


MonitorTransition = Literal["ALERT", "WARN", "ALERT_TO_WARN", "ALERT_RECOVERY", "WARN_RECOVERY", "NO_DATA", "NO_DATA_RECOVERY"]


class MultiOrgUser(TypedDict):
    """A user with their organizations and the groups they belong to directly."""
    id: str
    first_name: str
    last_name: str
    email: str
    roles: List[str]
    """`Administrator`, `Standard`, `ReadOnly`, or ids of custom roles."""
    last_logins: Dict[str, int]
    """The last login by each login method, in Unix seconds."""
    login_methods: List[MultiOrgUserLoginMethodsItem]
    tags: Tags
    status: Literal["INVITED", "ACTIVE", "INACTIVE", "DEACTIVATED", "MIGRATED", "REMOVED"]
    invited_at: NotRequired[int]
    """The latest invitation, in Unix seconds."""
    invited_by: NotRequired[str]
    """
    The e-mail address of the latest inviter, or the name of the API key that invited; absent when an identity provider
    created the user.
    """
    metadata: Metadata
    organisations: List[Organization]
    groups: List[UserGroup]


class MultiOrgUserLoginMethodsItem(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class NestedTemplateLiteral(TypedDict):
    value: Union[str, List[Union[str, TemplateLiteralObject]], float, bool, int]


class Notebook(TypedDict):
    """An investigation: pinned queries with words, in order. It holds no events."""
    id: str
    name: str
    description: NotRequired[str]
    version: int
    """Counts the changes."""
    metadata: Metadata
    steps: List[NotebookStep]


class NotebookStep(TypedDict):
    """A pinned query with words, or words alone. One of both is required."""
    title: NotRequired[str]
    words: NotRequired[str]
    """What was found, as Markdown."""
    search_details: NotRequired[SearchDetails]
    """The query of the step. Without it the step has words only."""


class NotebookSummary(TypedDict):
    id: str
    name: str
    description: NotRequired[str]
    version: int
    """Counts the changes."""
    metadata: Metadata
    step_count: int


class OperationList(TypedDict):
    operations: List[OperationStats]
    """In the requested order."""
    operations_total: int
    is_exact: bool
    """
    False when percentiles are estimates, because there are too many spans. Numbers of spans and failures are exact,
    unless an ingest rule has sampled whole traces: then each stored span counts for those that it stands for,
    percentiles are those of the stored ones, and this is false.
    """


class OperationStats(TypedDict):
    service: str
    operation: str
    """The name of the spans."""
    spans: int
    per_second: float
    """Spans a second over the whole range."""
    errors: int
    """Failed spans."""
    p50_nano: NotRequired[int]
    """
    Absent where no span has a duration. Exact for up to some 2 million spans, as are the other percentiles, and
    estimated for more.
    """
    p95_nano: NotRequired[int]
    """Nanoseconds."""
    p99_nano: NotRequired[int]
    """Nanoseconds."""
    max_nano: NotRequired[int]
    """Exact."""


class Organization(TypedDict):
    id: str
    name: str
    login_methods: List[OrganizationLoginMethodsItem]
    description: NotRequired[str]
    active: bool
    """Whether the caller acts in this organization."""
    management_resource: NotRequired[str]
    """The organization that manages this one."""
    is_management_org: bool
    contract_type: Literal["PAID", "TRIAL", "FREE"]
    region: Literal["EU", "US"]
    metadata: Metadata
    partition_tags: NotRequired[OrganizationPartitionTags]
    settings: NotRequired[OrganizationSettings]


class OrganizationLoginMethodsItem(TypedDict):
    name: str
    enabled: bool


class OrganizationPartitionTags(TypedDict):
    enabled: bool
    partition_tag_list: NotRequired[List[str]]
    """The tags whose values, in this order, form the collection name of events that name no collection."""


class OrganizationSettings(TypedDict):
    dcr_enabled: NotRequired[bool]
    """Whether tools may register themselves as OAuth clients; stored without effect."""
    out_of_order: NotRequired[bool]
    """Stored without effect: late events are always accepted and searchable."""
    multi_org_group: NotRequired[str]
    """The default group shared by organizations; stored without effect."""
    shared_datasets: NotRequired[bool]
    """Cannot be enabled: organizations never read each other's events."""


class OtherSpend(TypedDict):
    events: NotRequired[int]
    """Absent for estimates."""
    bytes: int
    """The bytes of the stored lines that arrived in the range."""
    gb_days: float
    """Their gigabytes times the days of their retention. Kept without end counts as 365 days."""
    cost: NotRequired[float]
    """In the currency of the price; absent without a price."""
    bytes_over_time: List[int]
    """The bytes of each slice, oldest first."""
    share: float
    """The share of the bytes, from 0 to 1."""


class OtlpStatus(TypedDict):
    """A failure in the format of OTLP (`google.rpc.Status`)."""
    code: int
    """A gRPC status code."""
    message: str


class Parser(TypedDict):
    """A pattern that extracts keys and values from lines."""
    type: Literal["GROK", "DISSECT", "JAVA"]
    """`JAVA` is built-in detection."""
    id: str
    name: str
    pattern: NotRequired[str]
    """Absent on built-in parsers."""
    scope: Literal["SYSTEM", "ORGANISATION"]
    ai_generated: NotRequired[bool]
    enabled: bool
    """A disabled parser is not applied, even where it is assigned."""
    log_lines: NotRequired[List[str]]
    """The lines that the pattern was inferred from."""
    parsed_lines: NotRequired[List[Dict[str, str]]]
    """The keys and values that the pattern extracts from them."""
    description: NotRequired[str]
    metadata: NotRequired[Metadata]


class ParserMetrics(TypedDict):
    """Error lines exceeded the time limit of the pattern."""
    total_lines: int
    matched_lines: int
    error_lines: int
    match_ratio: float


class Pattern(TypedDict):
    id: str
    """16 hex digits. The id of a family of patterns that differ only in values, or of a single pattern. It never changes."""
    template: str
    """The message with `<*>` in place of variable parts."""
    log_id: str
    count: NotRequired[int]


class PatternValues(TypedDict):
    id: str
    family: NotRequired[str]
    """The family of the pattern."""
    template: str
    text: str
    """The template with the kind of each variable part, such as `<ip>`, or its value if there is only one."""
    count: int
    """The matching events."""
    placeholders: List[PatternValuesPlaceholdersItem]
    """The variable parts, in the order of the template."""


class PatternValuesPlaceholdersItem(TypedDict):
    kind: str
    """
    What the values look like: `n`, `ip`, `uuid`, `hex`, `time`, `duration`, `size`, `path`, `url`, `email`, `host`,
    `word` or `text`.
    """
    count: int
    """The events in which it has a value."""
    distinct: int
    values: List[PatternValuesPlaceholdersItemValuesItem]
    """The most frequent first."""


class PatternValuesPlaceholdersItemValuesItem(TypedDict):
    value: str
    count: int
    where: NotRequired[str]
    """A condition that selects exactly these events. Absent if none can be written."""


class PermissionGroup(TypedDict):
    """The permissions of one area of the service."""
    group_name: str
    group_display_name: str
    permissions: List[PermissionGroupPermissionsItem]


class PermissionGroupPermissionsItem(TypedDict):
    type: Literal["read", "write", "delete"]
    name: str
    display_name: str
    description: str


class Policy(TypedDict):
    """
    A rule in addition to roles: LOG_FORBID hides logs from a principal; LOG_PERMIT restricts a principal to the named
    logs. LOG_FORBID wins. ROLE_BASED and CUSTOM show events of a log to a principal: as soon as one does, the principal
    sees only the events of this log that some such policy shows.
    """
    description: NotRequired[str]
    policy_type: Literal["ROLE_BASED", "LOG_FORBID", "LOG_PERMIT", "CUSTOM"]
    resource: PolicyResource
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    actions: List[str]
    """Policies are about reading, so the list must include it: `*`, `read`, `search`, `logs_read` or `search_read`."""
    restricted: bool
    principal: PolicyPrincipal
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    when: NotRequired[PolicyWhen]
    """The policy applies only if all given members match; of a log, only to the events that match."""
    unless: NotRequired[PolicyUnless]
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    id: str
    created_at: int
    modified_at: int
    metadata: Metadata


class PolicyResource(TypedDict):
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    resource_type: str
    resource_id: str


class PolicyPrincipal(TypedDict):
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PolicyWhen(TypedDict):
    """The policy applies only if all given members match; of a log, only to the events that match."""
    resources: NotRequired[List[PolicyWhenResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PolicyWhenPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PolicyWhenContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PolicyWhenResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PolicyWhenPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PolicyWhenContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PolicyUnless(TypedDict):
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    resources: NotRequired[List[PolicyUnlessResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PolicyUnlessPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PolicyUnlessContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PolicyUnlessResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PolicyUnlessPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PolicyUnlessContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PolicyPreview(TypedDict):
    datasets: int
    """The datasets among those of the policy that the caller may see."""
    events: int
    """The events of these datasets in the range that the caller may see."""
    shown: int
    """Those of them that the principal would see with the policy, next to the policies that exist."""


class PreviewMetric(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    queries: List[MetricQuery]
    formulas: NotRequired[List[MetricFormula]]
    template: NotRequired[Template]


class PreviewWidget(TypedDict):
    """A widget as it would be created; its layout names the templates of the widgets inside."""
    type: str
    name: str
    description: NotRequired[str]
    layout: PreviewWidgetLayout
    aux: NotRequired[Dict[str, Any]]
    tags: Tags
    template: Template
    metrics: List[PreviewMetric]
    widgets: List[PreviewWidget]


class PreviewWidgetLayout(TypedDict):
    widget_layouts: List[WidgetPosition]


class ProtocolFailure(TypedDict):
    """An error of JSON-RPC: the message does not meet the Model Context Protocol."""
    jsonrpc: Literal["2.0"]
    id: NotRequired[Union[str, float, None]]
    error: ProtocolFailureError


class ProtocolFailureError(TypedDict):
    code: int
    """Such as -32602 for wrong parameters."""
    message: str
    data: NotRequired[Any]


class Quantiles(TypedDict):
    """Only for percentiles; `{}` for every other statistic."""
    min: NotRequired[float]
    p25: NotRequired[float]
    p50: NotRequired[float]
    p75: NotRequired[float]
    p90: NotRequired[float]
    p95: NotRequired[float]
    p99: NotRequired[float]
    p999: NotRequired[float]
    max: NotRequired[float]


class RehydratedFile(TypedDict):
    """The receipt of one file."""
    number: int
    name: str
    bytes: int
    status: Literal["WAITING", "COMPLETE", "REFUSED"]
    read_bytes: int
    """Bytes that were read, decompressed; of a Parquet file those of its rows as lines."""
    read_events: int
    """Lines or rows that were read."""
    stored_events: int
    """Events that were stored, or dropped by ingest rules."""
    earlier_events: int
    """Events that an earlier rehydration has stored from the same file into the same dataset."""
    unselected_events: int
    """Events outside the time range or the filter."""
    refused_events: int
    """Events that could not be stored; the ledger says why."""
    failure_detail: NotRequired[str]
    """Why the file, or the rest of it, was refused."""


class Rehydration(TypedDict):
    """Reads events from files back into a dataset."""
    id: str
    log_id: str
    """The dataset that the events go to."""
    origin: Union[RehydrationDirectory, RehydrationS3]
    from_ts: NotRequired[int]
    """Only events from this time on. Without it, all events before `to_ts`."""
    to_ts: NotRequired[int]
    """Only events before this time."""
    filter: NotRequired[str]
    """Only events that match this filter. Default: all."""
    status: Literal["CREATED", "IN_PROGRESS", "CANCELLING", "COMPLETE", "CANCELLED", "FAILED"]
    """COMPLETE: every file was read or refused. CANCELLING: the batch that is being stored is the last one."""
    files: int
    """Files or objects that were found; 0 until they are listed."""
    ended_files: int
    refused_files: int
    bytes: int
    """Size of the files as they are."""
    ended_bytes: int
    """Size of the files that have ended."""
    read_events: int
    """Lines or rows that were read."""
    stored_events: int
    """Events that were stored, or dropped by ingest rules."""
    earlier_events: int
    """Events that an earlier rehydration has stored from the same file into the same dataset."""
    unselected_events: int
    """Events outside the time range or the filter."""
    refused_events: int
    """Events that could not be stored; the ledger says why."""
    failure_detail: NotRequired[str]
    """Why it has failed, or why it waits."""
    ended_at: NotRequired[int]
    metadata: Metadata


class RehydrationDirectory(TypedDict):
    kind: Literal["DIRECTORY"]
    directory: str
    """
    A directory on the machine of the service that the operator has opened to the organization
    (DENDRO_SOURCE_DIRECTORIES).
    """
    files: str
    """The files below it: `*` and `?` stand for characters of a name, `**` for any folders."""


class RehydrationDirectoryInput(TypedDict):
    kind: Literal["DIRECTORY"]
    directory: str
    """
    A directory on the machine of the service that the operator has opened to the organization
    (DENDRO_SOURCE_DIRECTORIES).
    """
    files: NotRequired[str]
    """The files below it: `*` and `?` stand for characters of a name, `**` for any folders."""


class RehydrationS3(TypedDict):
    kind: Literal["S3"]
    bucket: str
    prefix: str
    """The beginning of the keys. All of them are listed at each look, so name as few as needed."""
    format: Literal["LINES", "RECORDS"]
    """
    LINES: each line is one event. RECORDS: each object in an array is one, as in `{"Records": [{…}, {…}]}`. Compression
    with gzip or zstd is recognized, and so is Parquet, of which each row is one event.
    """
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: str
    secret_access_key: str
    """Encrypted, returned as `***`, and deleted when the rehydration has ended."""


class RehydrationS3Input(TypedDict):
    kind: Literal["S3"]
    bucket: str
    prefix: NotRequired[str]
    """The beginning of the keys. All of them are listed at each look, so name as few as needed."""
    format: NotRequired[Literal["LINES", "RECORDS"]]
    """
    LINES: each line is one event. RECORDS: each object in an array is one, as in `{"Records": [{…}, {…}]}`. Compression
    with gzip or zstd is recognized, and so is Parquet, of which each row is one event.
    """
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: str
    secret_access_key: str
    """Encrypted, returned as `***`, and deleted when the rehydration has ended."""


class RequestedLimitScope(TypedDict):
    organisation: NotRequired[RequestedLimitScopeOrganisation]
    """The caller's organization; the id is optional."""
    tag: NotRequired[RequestedLimitScopeTag]
    """A team, as `{team: "x"}` or `{key: "team", value: "x"}`: all datasets whose tag `team` has that value."""


class RequestedLimitScopeOrganisation(TypedDict):
    """The caller's organization; the id is optional."""
    id: NotRequired[str]


class RequestedLimitScopeTag(TypedDict):
    """A team, as `{team: "x"}` or `{key: "team", value: "x"}`: all datasets whose tag `team` has that value."""
    team: NotRequired[str]
    key: NotRequired[str]
    value: NotRequired[str]


ResultRow = TypedDict(
    "ResultRow",
    {
        "@time": "NotRequired[str]",
        "@timestamp": "NotRequired[str]",
        "@sequence": "NotRequired[str]",
        "@raw": "NotRequired[str]",
        "@context": "NotRequired[str]",
        "group": "NotRequired[str]",
        "count": "NotRequired[int]",
        "metadata": "NotRequired[ResultRowMetadata]",
        "links": "NotRequired[List[Link]]",
    },
)
"""
The items of `select` by their text, for an event, a slice or a group. Deprecated duplicate of `events` and
`groups_series`.
"""


class ResultRowMetadata(TypedDict):
    logId: str
    timestamp: int
    sequence: int
    origin: str
    context: str
    selectedKeys: Dict[str, str]
    unselectedKeys: Dict[str, str]


class RetentionRule(TypedDict):
    """How long events are kept. The most specific rule applies: log, then collection, then organization."""
    id: str
    """The id of the rule; for the rule of a single log, the id of the log."""
    org_id: str
    entity: Literal["LOG", "LOG_SET", "ORGANISATION"]
    scope: RetentionRuleScope
    category: Literal["DATASET_RETENTION", "DEFAULT_RETENTION"]
    retention: Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]
    created_by: str
    created_at: int
    updated_by: NotRequired[str]
    updated_at: NotRequired[int]


RetentionRuleScope = TypedDict(
    "RetentionRuleScope",
    {
        "from": "NotRequired[str]",
        "name": "NotRequired[str]",
    },
)


class RetentionTotals(TypedDict):
    all: int
    """All datasets that the caller may see."""
    found: int
    """Those on all pages."""


class Role(TypedDict):
    """A named set of permissions for users (USER) or API keys (API)."""
    role_id: str
    """A UUID, or the name of a system role."""
    role_type: Literal["USER", "API"]
    display_name: str
    description: NotRequired[str]
    is_system_role: bool
    metadata: Metadata
    permissions: List[RolePermissionsItem]


class RolePermissionsItem(TypedDict):
    type: Literal["read", "write", "delete"]
    name: str
    display_name: str
    description: str
    group_name: str
    group_display_name: str
    restricted: bool
    """Applies only to the logs that a LOG_PERMIT policy names."""
    sensitive: bool
    """Whether the permission belongs to a sensitive area."""


class SampledKey(TypedDict):
    type: NotRequired[Literal["STRING", "NUMBER", "BOOLEAN"]]
    """Absent when no event of the sample has the key."""
    key: str
    field_type: Literal["ATTRIBUTE", "MESSAGE_KVP"]
    count: int
    """The matching events that have the key: exact if `are_counts_exact`, otherwise estimated from the sample."""
    values: List[SampledKeyValuesItem]
    """The most frequent values in the sample, at most 10, with estimated counts; exact if `is_exact`."""


class SampledKeyValuesItem(TypedDict):
    value: str
    count: int


class SavedSearch(TypedDict):
    id: str
    name: str
    description: NotRequired[str]
    search_details: SearchDetails
    log_ids: NotRequired[List[str]]
    template: NotRequired[Template]
    tags: Tags
    metadata: Metadata


class SavedSearchTemplate(TypedDict):
    """A search with parameters."""
    id: str
    name: str
    description: NotRequired[str]
    search_details: SearchTemplateDetails
    this_template_tags: Tags
    """Tags of the logs that the template is for."""
    parameters: TemplateParameters
    tags: Tags
    metadata: Metadata


SearchDetails = TypedDict(
    "SearchDetails",
    {
        "from": "NotRequired[str]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
        "select": "NotRequired[str]",
        "groups": "NotRequired[str]",
        "display": "NotRequired[Literal[\"list\", \"timeseries\", \"toplist\", \"piechart\", \"treemap\", \"table\", \"geomap\", \"queryvalue\"]]",
    },
)


class SearchResponse(TypedDict):
    explain: Explain
    events: List[Event]
    result: List[ResultRow]
    groups: List[GroupRow]
    groups_series: List[Series]
    metadata: SearchResponseMetadata
    totals: Totals
    pagination: SearchResponsePagination
    links: List[Link]
    is_exact: bool
    warnings: NotRequired[List[Warning]]
    status: NotRequired[Literal["IN_PROGRESS", "COMPLETED", "CANCELLED_BY_USER", "TIMED_OUT", "INTERNAL_SERVER_ERROR"]]
    progress: NotRequired[int]
    start_time: NotRequired[str]


class SearchResponseMetadata(TypedDict):
    select: List[str]
    correlation_id: str


class SearchResponsePagination(TypedDict):
    next_page_url: NotRequired[str]


SearchTemplateDetails = TypedDict(
    "SearchTemplateDetails",
    {
        "from": "NotRequired[str]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
        "select": "NotRequired[str]",
        "groups": "NotRequired[str]",
        "display": "NotRequired[str]",
    },
)
"""Search details whose texts may hold `{{name}}` for a parameter."""


class Series(TypedDict):
    key: NotRequired[str]
    """The key that this level groups by."""
    name: str
    """The value of the group; empty for the total."""
    count: int
    stat: str
    value: float
    no_value: NotRequired[Literal[True]]
    """
    Where no event has a value, as in a slice without events: `value` is 0 then, and says nothing about an average, a
    percentile, a minimum or a maximum.
    """
    quantiles: NotRequired[Quantiles]
    series_resolution_ms: int
    """The length of a slice; rounded where slices do not divide the range, and then differ by a millisecond."""
    timeseries: List[TimeSlice]
    aggregates: NotRequired[List[SeriesAggregatesItem]]
    """All aggregates, if there is more than one."""
    groups_series: NotRequired[List[Series]]
    delta: NotRequired[Delta]


class SeriesAggregatesItem(TypedDict):
    function: str
    value: Union[float, None]


ServiceCalls = TypedDict(
    "ServiceCalls",
    {
        "from": "str",
        "to": "str",
        "kind": "Literal[\"service\", \"database\", \"queue\", \"peer\"]",
        "calls": "int",
        "per_second": "float",
        "errors": "int",
        "p50_nano": "int",
        "p95_nano": "int",
        "max_nano": "int",
    },
)


class Session(TypedDict):
    id: str
    org_id: str
    """The organization in which the session acts."""
    is_current: bool
    """Whether this request belongs to the session."""
    created_at: int
    expires_at: int
    method: NotRequired[str]
    """How the user logged in: `Password`, or the name of an identity provider."""
    address: NotRequired[str]
    """The network address of the login."""
    user_agent: NotRequired[str]
    """The program of the login, as it names itself."""
    last_used_at: NotRequired[int]
    """When the session was last used, to the minute."""
    last_used_address: NotRequired[str]
    """The network address of that request."""


class SlackIntegration(TypedDict):
    """Channels of a chat service for notifications."""
    id: str
    name: str
    channels: List[str]
    workspace_id: str
    metadata: Metadata


class SlackWorkspace(TypedDict):
    """A chat service for notifications."""
    id: str
    name: str
    posts_by: Literal["TOKEN", "WEBHOOK_URL"]
    """How messages are posted; the token or URL is never returned."""
    api_url: NotRequired[str]
    """Base URL of the chat service, if not the default."""
    metadata: Metadata


class Source(TypedDict):
    """Fetches events from where they are, instead of waiting for a sender."""
    name: str
    description: NotRequired[str]
    log_id: str
    """The dataset that the events go to."""
    paused: bool
    """A paused source reads nothing and keeps its position."""
    origin: Union[SourceDirectory, SourceKafka, SourceS3]
    id: str
    state: SourceState
    metadata: Metadata


class SourceDirectory(TypedDict):
    kind: Literal["DIRECTORY"]
    directory: str
    """
    A directory on the machine of the service that the operator has opened to the organization
    (DENDRO_SOURCE_DIRECTORIES).
    """
    files: str
    """
    The files below it: `*` and `?` stand for characters of a name, `**` for any folders. It should match rotated files
    too, as `app.log*` does. Files that end in .gz or .zst are decompressed, and Parquet files are recognized.
    """
    start: Literal["BEGINNING", "END"]
    """Where files are read from that are there when the source begins. Later ones are read from their beginning."""


class SourceDirectoryInput(TypedDict):
    kind: Literal["DIRECTORY"]
    directory: str
    """
    A directory on the machine of the service that the operator has opened to the organization
    (DENDRO_SOURCE_DIRECTORIES).
    """
    files: NotRequired[str]
    """
    The files below it: `*` and `?` stand for characters of a name, `**` for any folders. It should match rotated files
    too, as `app.log*` does. Files that end in .gz or .zst are decompressed, and Parquet files are recognized.
    """
    start: NotRequired[Literal["BEGINNING", "END"]]
    """Where files are read from that are there when the source begins. Later ones are read from their beginning."""


class SourceKafka(TypedDict):
    kind: Literal["KAFKA"]
    topic: str
    group: NotRequired[str]
    """The consumer group. Default: one of the source alone."""
    format: Literal["TEXT", "JSON", "OTLP"]
    """
    TEXT: each message is one event, a JSON object or a text. JSON: each object in a message is one. OTLP: each message
    is an export of logs of OpenTelemetry, in protobuf or JSON.
    """
    start: Literal["BEGINNING", "END"]
    """Where partitions are read from that neither the source nor its consumer group has read."""
    brokers: List[str]
    """Brokers of the cluster as `host:port`; one that answers suffices."""
    tls: bool
    ca: NotRequired[str]
    """The certificate of an authority in PEM, instead of the usual ones."""
    mechanism: NotRequired[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]]
    """The form of the login (SASL). Default: PLAIN."""
    username: NotRequired[str]
    password: NotRequired[str]
    """Encrypted, and returned as `***`. In an update, `***` keeps the password, unless the brokers or the username change."""


class SourceKafkaInput(TypedDict):
    kind: Literal["KAFKA"]
    topic: str
    group: NotRequired[str]
    """The consumer group. Default: one of the source alone."""
    format: NotRequired[Literal["TEXT", "JSON", "OTLP"]]
    """
    TEXT: each message is one event, a JSON object or a text. JSON: each object in a message is one. OTLP: each message
    is an export of logs of OpenTelemetry, in protobuf or JSON.
    """
    start: NotRequired[Literal["BEGINNING", "END"]]
    """Where partitions are read from that neither the source nor its consumer group has read."""
    brokers: List[str]
    """Brokers of the cluster as `host:port`; one that answers suffices."""
    tls: NotRequired[bool]
    ca: NotRequired[str]
    """The certificate of an authority in PEM, instead of the usual ones."""
    mechanism: NotRequired[Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]]
    """The form of the login (SASL). Default: PLAIN."""
    username: NotRequired[str]
    password: NotRequired[str]
    """Encrypted, and returned as `***`. In an update, `***` keeps the password, unless the brokers or the username change."""


class SourceS3(TypedDict):
    kind: Literal["S3"]
    bucket: str
    prefix: str
    """The beginning of the keys. All of them are listed at each look, so name as few as needed."""
    format: Literal["LINES", "RECORDS"]
    """
    LINES: each line is one event. RECORDS: each object in an array is one, as in `{"Records": [{…}, {…}]}`. Compression
    with gzip or zstd is recognized, and so is Parquet, of which each row is one event.
    """
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: str
    queue_url: NotRequired[str]
    """
    URL of a queue (SQS) that is notified of new objects, for this source alone; the access key must be allowed to use
    it. The bucket is then listed once an hour only, for objects of which no notification came.
    """
    start: Literal["BEGINNING", "END"]
    """END leaves out the objects that are there when the source begins."""
    secret_access_key: str
    """
    Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint, the queue or the access
    key id changes.
    """


class SourceS3Input(TypedDict):
    kind: Literal["S3"]
    bucket: str
    prefix: NotRequired[str]
    """The beginning of the keys. All of them are listed at each look, so name as few as needed."""
    format: NotRequired[Literal["LINES", "RECORDS"]]
    """
    LINES: each line is one event. RECORDS: each object in an array is one, as in `{"Records": [{…}, {…}]}`. Compression
    with gzip or zstd is recognized, and so is Parquet, of which each row is one event.
    """
    endpoint: NotRequired[str]
    """Base URL of an S3-compatible server. Default: the public endpoint of the region."""
    region: NotRequired[str]
    access_key_id: str
    queue_url: NotRequired[str]
    """
    URL of a queue (SQS) that is notified of new objects, for this source alone; the access key must be allowed to use
    it. The bucket is then listed once an hour only, for objects of which no notification came.
    """
    start: NotRequired[Literal["BEGINNING", "END"]]
    """END leaves out the objects that are there when the source begins."""
    secret_access_key: str
    """
    Encrypted, and returned as `***`. In an update, `***` keeps the key, unless the endpoint, the queue or the access
    key id changes.
    """


class SourceState(TypedDict):
    status: Literal["RUNNING", "DELAYED", "WAITING", "PAUSED"]
    """DELAYED: the last attempt failed, and more follow. WAITING: no process reads the source now."""
    received_events: int
    """Events that were stored, or dropped by ingest rules."""
    received_bytes: int
    """Bytes that were read, decompressed; of Parquet those of its rows as lines."""
    refused_events: int
    """Events that could not be stored; the ledger says why."""
    last_received_at: NotRequired[int]
    waiting_bytes: NotRequired[int]
    """Bytes of files or objects that are not stored yet, as of the last look; compressed ones count as they are."""
    waiting_messages: NotRequired[int]
    """Messages of the topic that are not stored yet."""
    failing_since: NotRequired[int]
    last_error: NotRequired[str]


class Span(TypedDict):
    span_id: str
    parent_span_id: NotRequired[str]
    """Absent on a root."""
    parent: Literal["none", "present", "missing", "cyclic"]
    """
    `missing`: the parent has not arrived, or was not read. `cyclic`: the span is an ancestor of its parent; the tree
    begins at it.
    """
    depth: int
    """0 for a span without a parent in the trace."""
    descendants: int
    """The number of spans that follow it in the list and lie below it."""
    name: str
    kind: str
    """Such as `SPAN_KIND_SERVER`."""
    service: str
    status: Literal["unset", "ok", "error"]
    status_message: NotRequired[str]
    start_nano: int
    """Nanoseconds after the start of the trace, with the skew of the clock corrected."""
    duration_nano: int
    """Nanoseconds."""
    self_nano: int
    """The time in which none of its child spans ran."""
    critical_nano: int
    """The time that it has on the critical path."""
    skew_nano: NotRequired[int]
    """What was added to its start, because its clock disagrees with that of its parent. Absent for 0."""
    start_time_unix_nano: str
    """The start as the sender wrote it."""
    events: List[SpanEventsItem]
    links: List[SpanLinksItem]
    attributes: Dict[str, str]
    """The attributes of the span and of its resource; names begin with `$`."""
    log_id: str
    """The dataset of the span."""
    timestamp: int
    sequence: int


class SpanEventsItem(TypedDict):
    name: str
    start_nano: NotRequired[int]
    """Nanoseconds after the start of the trace."""
    attributes: Dict[str, str]


class SpanLinksItem(TypedDict):
    trace_id: str
    span_id: str
    attributes: Dict[str, str]


class SpanSummary(TypedDict):
    span_id: str
    service: str
    name: str
    status: Literal["unset", "ok", "error"]
    start_time_unix_nano: str
    duration_nano: int
    """Nanoseconds."""


class SpendBudget(TypedDict):
    """What may arrive, or be spent, in a calendar month in UTC."""
    amount: float
    unit: Literal["GB", "MONEY"]
    """`MONEY` is in the currency of the price."""


class SpendDay(TypedDict):
    start_time: int
    bytes: int
    """What has arrived."""
    cost: NotRequired[float]
    """In the currency of the price; absent without a price."""
    forecast_bytes: NotRequired[float]
    """What is expected to arrive besides; absent for past days."""


class SpendGroup(TypedDict):
    events: NotRequired[int]
    """Absent for estimates."""
    bytes: int
    """The bytes of the stored lines that arrived in the range."""
    gb_days: float
    """Their gigabytes times the days of their retention. Kept without end counts as 365 days."""
    cost: NotRequired[float]
    """In the currency of the price; absent without a price."""
    bytes_over_time: List[int]
    """The bytes of each slice, oldest first."""
    name: str
    """
    The full name of the dataset, the id of the key or user, the protocol, the id of the pattern, the path of the field,
    or the program and address of the sender.
    """
    share: float
    """The share of the bytes, from 0 to 1."""
    log_id: NotRequired[str]
    """The dataset, or that of the pattern or field."""
    identity: NotRequired[Identity]
    """Absent for events without a known sender."""
    protocol: NotRequired[str]
    pattern: NotRequired[str]
    field: NotRequired[str]
    """`@text`: lines that are no JSON objects. `@long`: lines beyond 16 KiB, whose fields are not measured."""
    sender: NotRequired[str]


class SpendMonth(TypedDict):
    start_time: int
    end_time: int
    bytes: int
    """What has arrived in this month."""
    cost: NotRequired[float]
    """In the currency of the price; absent without a price."""
    forecast: NotRequired[SpendMonthForecast]
    """Absent with fewer than three full days of history."""
    budget: NotRequired[SpendMonthBudget]
    price: NotRequired[SpendPrice]
    is_whole: bool
    """false when policies hide datasets from the caller: their bytes are not counted here."""
    is_exact: bool
    """false while events of a process that crashed are recounted."""
    days: List[SpendDay]
    """The days of the month in UTC."""


class SpendMonthForecast(TypedDict):
    """Absent with fewer than three full days of history."""
    bytes: SpendMonthForecastBytes
    """Of the whole month. In four of five months it lies between low and high."""
    cost: NotRequired[SpendMonthForecastCost]
    """Of the whole month, in the currency of the price. In four of five months it lies between low and high."""
    history_days: int
    """The number of full days that it is based on, at most 56."""


class SpendMonthForecastBytes(TypedDict):
    """Of the whole month. In four of five months it lies between low and high."""
    low: float
    expected: float
    high: float


class SpendMonthForecastCost(TypedDict):
    """Of the whole month, in the currency of the price. In four of five months it lies between low and high."""
    low: float
    expected: float
    high: float


class SpendMonthBudget(TypedDict):
    amount: float
    unit: Literal["GB", "MONEY"]
    """`MONEY` is in the currency of the price."""
    used: float
    """What is used, in the unit of the budget."""
    state: Literal["WITHIN", "AT_RISK", "LIKELY_EXCEEDED", "EXCEEDED"]
    """`AT_RISK`: the upper end of the forecast is above the budget. `LIKELY_EXCEEDED`: the expected value is."""


class SpendPrice(TypedDict):
    """What stored lines cost. A gigabyte is 10^9 bytes of lines."""
    currency: str
    per_gb: float
    """The price of each gigabyte that arrives."""
    per_gb_day: float
    """The price of keeping a gigabyte for a day, for each day of the retention."""


class SpendPriceInput(TypedDict):
    """What stored lines cost. A gigabyte is 10^9 bytes of lines."""
    currency: str
    per_gb: NotRequired[float]
    """The price of each gigabyte that arrives."""
    per_gb_day: NotRequired[float]
    """The price of keeping a gigabyte for a day, for each day of the retention."""


class SpendSaving(TypedDict):
    """A way to save. Two of one dataset may save the same bytes."""
    kind: Literal["SAMPLE_PATTERN", "REMOVE_FIELD", "DROP_DEBUG", "SHORTEN_RETENTION"]
    log_id: str
    dataset: str
    """The full name of the dataset."""
    reason: str
    bytes_saved: int
    """What would not have been stored in the range; 0 for a shorter retention."""
    gb_days_saved: float
    """The gigabytes times the days for which they would not have been kept."""
    cost_saved: NotRequired[float]
    """In the currency of the price; absent without a price."""
    pattern: NotRequired[str]
    """The id of the pattern of which one of ten lines would be kept."""
    field: NotRequired[str]
    rule: NotRequired[SpendSavingRule]
    """An ingest rule for `POST /ingest-rules`; absent for retentions."""
    retention: NotRequired[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]]
    """A retention for `POST /retention-rules`."""
    link: str
    """The page where it is done, a path of this service."""


SpendSavingRule = TypedDict(
    "SpendSavingRule",
    {
        "name": "str",
        "from": "List[str]",
        "where": "str",
        "action": "IngestAction",
    },
)
"""An ingest rule for `POST /ingest-rules`; absent for retentions."""


class SpendSettings(TypedDict):
    """The price and the budget of the organization."""
    price: NotRequired[SpendPrice]
    budget: NotRequired[SpendBudget]
    metadata: Metadata


class SpendSum(TypedDict):
    events: NotRequired[int]
    """Absent for estimates."""
    bytes: int
    """The bytes of the stored lines that arrived in the range."""
    gb_days: float
    """Their gigabytes times the days of their retention. Kept without end counts as 365 days."""
    cost: NotRequired[float]
    """In the currency of the price; absent without a price."""
    bytes_over_time: List[int]
    """The bytes of each slice, oldest first."""


class SsoMapping(TypedDict):
    id: str
    provider_key: str
    """The claim of the provider, such as `groups`."""
    provider_value: str
    """The value of the claim, or one value of a list."""
    assign_attr: str
    """A role, or `group:` and the id of a group."""
    idp: NotRequired[str]
    """The name of the provider; without it, the mapping holds for all."""


class Statement(TypedDict):
    """A logging statement in source code; its text is the template of events."""
    id: str
    message: str
    file: str
    line: int
    """-1 when unknown."""


class StatementReference(TypedDict):
    """A record that refers to a statement: `name` is that of the record, the other members are those of the statement."""
    entity_type: Literal["dashboard", "monitor", "savedSearch"]
    name: str
    id: str
    message: str
    file: str
    line: int


class StorageTier(TypedDict):
    """The parts of the events in one kind of storage, and their compressed bytes."""
    parts: int
    bytes: int


class Tag(TypedDict):
    """One key/value pair on one record; names are unique per record."""
    name: str
    value: str
    entity: TagEntity


class TagEntity(TypedDict):
    type: Literal["log", "dashboard", "user", "api_key", "widget", "saved_search", "monitor"]
    id: str


Tags = Dict[str, str]


class Taken(TypedDict):
    """The number of accepted and rejected events of a request."""
    accepted: int
    """Durably stored events."""
    rejected: int
    """Rejected events."""
    duplicates: NotRequired[int]
    """Accepted events of an earlier request with the same idempotency key, which are not stored again."""


class Template(TypedDict):
    """The template that a record is created from, with its arguments."""
    id: str
    arguments: NotRequired[Dict[str, TemplateArgument]]


class TemplateArgument2(TypedDict):
    literal: Union[str, List[Union[str, TemplateLiteralObject]]]


TemplateArgument = Union["TemplateArgument2", "TemplateBinding"]


class TemplateArgumentInput3(TypedDict):
    """A binding, or the literal itself, within `value`."""
    value: Union[GivenTemplateLiteral, TemplateBinding, NestedTemplateLiteral, Union[str, List[Union[str, TemplateLiteralObject]], float, bool, int]]


TemplateArgumentInput = Union["GivenTemplateLiteral", "TemplateBinding", "TemplateArgumentInput3"]


class TemplateBinding(TypedDict):
    input: str
    """A parameter of the enclosing template."""


class TemplateInput(TypedDict):
    """The template that a record is created from, with its arguments."""
    id: str
    arguments: NotRequired[Dict[str, TemplateArgumentInput]]


TemplateLiteralObject = Dict[str, Any]


class TemplateParameter(TypedDict):
    type: Literal["STRING", "STRING_LIST", "DOUBLE", "BOOLEAN", "OBJECT_LIST"]
    description: NotRequired[str]


TemplateParameters = Dict[str, "TemplateParameter"]


class TemplateReference(TypedDict):
    """A template within another one; an argument `input` takes the value of a parameter of the outer one."""
    id: str
    arguments: NotRequired[Dict[str, TemplateArgument]]


class TemplateReferenceInput(TypedDict):
    """A template within another one; an argument `input` takes the value of a parameter of the outer one."""
    id: str
    arguments: NotRequired[Dict[str, TemplateArgumentInput]]


TimeSlice = TypedDict(
    "TimeSlice",
    {
        "@timestamp": "str",
        "count": "int",
        "value": "float",
        "no_value": "NotRequired[Literal[True]]",
        "quantiles": "Quantiles",
        "@time": "NotRequired[str]",
    },
)


class TopKey(TypedDict):
    type: Literal["STRING", "NUMBER", "BOOLEAN"]
    field_type: Literal["ATTRIBUTE", "MESSAGE_KVP"]
    rank: int
    """Occurrences in the sample."""
    values: Dict[str, TopKeyValuesValue]
    """The most frequent values, at most 10."""


class TopKeyValuesValue(TypedDict):
    value: str
    rank: int


class Totals(TypedDict):
    """Over the whole range: the matching events, and every aggregate by its text."""
    count: int
    """Matching events."""
    timeseries: NotRequired[List[TimeSlice]]
    total_groups: NotRequired[int]
    retrieved_groups: NotRequired[int]


class Trace(TypedDict):
    trace_id: str
    """32 hex digits in lower case."""
    start_time: int
    start_time_unix_nano: str
    """The start of the earliest span, or the time of the first event when there are no spans."""
    duration_nano: int
    """Nanoseconds."""
    root: NotRequired[int]
    """The position of the root span in `spans`: the longest one without a parent. Absent without spans."""
    spans: List[Span]
    """Each parent before its children, siblings by their start."""
    spans_total: int
    logs: List[TraceLogsItem]
    """The events with this trace id that are not spans, oldest first."""
    logs_total: int
    services: List[TraceServicesItem]
    """By the time that their spans took themselves, longest first."""
    critical_path: List[TraceCriticalPathItem]
    """The stretches of time that determined how long the root span took, in their order."""
    errors: List[TraceErrorsItem]
    """Failed spans, at most 100; origins first."""
    errors_total: int
    missing_spans: List[str]
    """Ids of parents that have not arrived."""
    duplicates: int
    """Copies of spans, which are left out."""
    is_exact: bool
    """False if there are more spans or events than were read."""


class TraceLogsItem(TypedDict):
    span_id: NotRequired[str]
    """The span that it names. Absent if it names none."""
    start_nano: int
    """Nanoseconds after the start of the trace."""
    event: Event


class TraceServicesItem(TypedDict):
    service: str
    spans: int
    errors: int
    self_nano: int
    """Nanoseconds."""


class TraceCriticalPathItem(TypedDict):
    span: int
    """The position in `spans`."""
    start_nano: int
    """Nanoseconds after the start of the trace."""
    duration_nano: int
    """Nanoseconds."""


class TraceErrorsItem(TypedDict):
    span: int
    """The position in `spans`."""
    message: str
    is_origin: bool
    """No span below it failed."""


class TraceDifferences(TypedDict):
    traces: int
    """How many traces with a span that meets all conditions were compared."""
    spans: int
    """The number of their spans."""
    other_traces: int
    """How many of the others they were compared with."""
    other_spans: int
    summary: str
    """Both numbers of spans, and the first finding, as sentences."""
    findings: List[Finding]
    """
    The most telling first. `count` and `share` are of the spans of the traces, `baseline_count` and `baseline_share` of
    those of the others.
    """
    findings_total: int
    is_sampled: bool
    """True if an ingest rule has stored only a share of some of these traces. All numbers are of stored traces and spans."""
    is_exact: bool
    """False if there are more traces than were compared: then they are the newest ones of each quarter of the range."""


class TraceList(TypedDict):
    traces: List[TraceSummary]
    has_more: bool
    """More traces match. Narrow the range or the filter, or raise the limit."""
    durations: NotRequired[List[TraceListDurationsItem]]
    """The number of matching spans by duration, whatever min_duration and max_duration are. Present with `durations`."""
    is_sampled: bool
    """
    True if an ingest rule has stored only a share of the traces of matching spans. Numbers in `durations` are then
    estimates: each stored span counts for those that it stands for.
    """
    is_exact: bool
    """False if spans crowd out traces that would come earlier, or if traces have more spans than were counted."""


class TraceListDurationsItem(TypedDict):
    from_nano: int
    """Nanoseconds."""
    to_nano: NotRequired[int]
    """Exclusive. Absent for the last one, which has no end."""
    spans: int
    errors: int
    """Failed spans."""


class TraceSummary(TypedDict):
    trace_id: str
    """32 hex digits in lower case."""
    start_time: int
    start_time_unix_nano: str
    """The start of the earliest span, as the senders wrote it."""
    duration_nano: int
    """From the start of the earliest span to the end of the latest. Clocks are not corrected here."""
    spans: int
    errors: int
    """Failed spans."""
    services: List[TraceSummaryServicesItem]
    """Most spans first, at most 20."""
    services_total: int
    root: NotRequired[SpanSummary]
    """The longest span without a parent. Absent if none has arrived."""
    found: SpanSummary
    """The first of the matching spans in the requested order."""
    weight: NotRequired[float]
    """How many traces it stands for, as an ingest rule stores a share of them. Absent for 1."""


class TraceSummaryServicesItem(TypedDict):
    service: str
    spans: int
    errors: int


class UsageSeries(TypedDict):
    name: str
    filter: str
    """The part of the usage that is counted."""
    stat: str
    key: str
    """The key that the statistic is computed from."""
    is_exact: bool
    """
    false when slices do not begin on full minutes (for older usage, full hours or days), or when recounted events have
    unknown bytes.
    """
    groups_series: List[Series]
    delta: NotRequired[Delta]


UsageSlice = TypedDict(
    "UsageSlice",
    {
        "@timestamp": "str",
        "@time": "str",
        "count": "str",
        "value": "str",
        "quantiles": "Quantiles",
    },
)
"""A slice with its numbers as text."""


class User(TypedDict):
    id: str
    first_name: str
    last_name: str
    email: str
    roles: List[str]
    """`Administrator`, `Standard`, `ReadOnly`, or ids of custom roles."""
    last_logins: Dict[str, int]
    """The last login by each login method, in Unix seconds."""
    login_methods: List[UserLoginMethodsItem]
    tags: Tags
    status: Literal["INVITED", "ACTIVE", "INACTIVE", "DEACTIVATED", "MIGRATED", "REMOVED"]
    invited_at: NotRequired[int]
    """The latest invitation, in Unix seconds."""
    invited_by: NotRequired[str]
    """
    The e-mail address of the latest inviter, or the name of the API key that invited; absent when an identity provider
    created the user.
    """
    metadata: Metadata


class UserLoginMethodsItem(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class UserGroup(TypedDict):
    """Users and groups that are granted roles together."""
    group_id: str
    id: str
    """The same value as `group_id`."""
    name: str
    description: NotRequired[str]
    created_at: int
    modified_at: int
    metadata: Metadata


class UserPreference(TypedDict):
    preferences: UserPreferencePreferences


class UserPreferencePreferences(TypedDict):
    favourites: NotRequired[UserPreferencePreferencesFavourites]
    defaults: NotRequired[UserPreferencePreferencesDefaults]
    features: NotRequired[Dict[str, bool]]
    theme: NotRequired[Literal["light", "dark", "system"]]
    preferred_org: NotRequired[str]
    timezone: NotRequired[str]
    """A name of the IANA time zone database."""
    filter_null_groups: NotRequired[Literal["true", "false"]]


class UserPreferencePreferencesFavourites(TypedDict):
    monitors: NotRequired[List[str]]
    dashboards: NotRequired[List[str]]
    saved_searches: NotRequired[List[str]]


class UserPreferencePreferencesDefaults(TypedDict):
    monitor: NotRequired[str]
    dashboard: NotRequired[str]


class Warning(TypedDict):
    """A valid part of the query that probably does not do what the caller meant."""
    field: str
    code: str
    message: str
    position: NotRequired[int]
    length: NotRequired[int]
    hint: NotRequired[str]
    fix: NotRequired[WarningFix]


class WarningFix(TypedDict):
    position: int
    length: int
    text: str


class WebhookIntegration(TypedDict):
    """A URL that notifications are posted to."""
    id: str
    name: str
    url: str
    custom_headers: Dict[str, str]
    """Headers sent to the target; values are never returned, each reads `***`."""
    payload: NotRequired[str]
    is_signed: bool
    """Whether requests are signed."""
    metadata: Metadata


class Widget(TypedDict):
    """A visualization of metrics, or a container of other widgets."""
    type: Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]
    id: str
    name: str
    description: NotRequired[str]
    metric_ids: List[str]
    """The visualization."""
    widget_ids: List[str]
    """The widgets inside it; a widget has either these or metrics."""
    layout: WidgetLayout
    aux: NotRequired[Dict[str, Any]]
    tags: Tags
    template: NotRequired[Template]
    metadata: Metadata


class WidgetLayout(TypedDict):
    widget_layouts: List[WidgetPosition]


class WidgetPosition(TypedDict):
    """Position and size of a widget; fractions are allowed."""
    id: str
    x: float
    y: float
    w: float
    h: float


class WidgetTemplate(TypedDict):
    """A widget with parameters."""
    type: Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]
    id: str
    name: str
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    metrics: List[TemplateReference]
    widgets: List[TemplateReference]
    layout: NotRequired[WidgetTemplateLayout]
    tags: Tags
    parameters: TemplateParameters
    metadata: Metadata


class WidgetTemplateLayout(TypedDict):
    widget_layouts: List[WidgetPosition]


class AccessListReply(TypedDict):
    items: List[AccessListReplyItemsItem]


class AccessListReplyItemsItem(TypedDict):
    members: List[AccessMember]


class AccessListOwnReply(TypedDict):
    items: List[AccessListOwnReplyItemsItem]


class AccessListOwnReplyItemsItem(TypedDict):
    members: List[AccessMember]


class AccessGrantBody(TypedDict):
    roles: List[str]
    status: Literal["active", "invited"]


class AccessCheckReply(TypedDict):
    is_authorised: bool
    roles: str
    """Role ids joined by commas; empty when none."""


class AccessCheckOwnReply(TypedDict):
    is_authorised: bool
    roles: str
    """Role ids joined by commas; empty when none."""


class AccessSwitchReply(TypedDict):
    token: NotRequired[str]
    token_type: NotRequired[Literal["Bearer"]]
    expires_at: NotRequired[int]


class AccessSwitchOwnBody(TypedDict):
    org_id: NotRequired[str]
    user_id: NotRequired[str]


class AccessSwitchOwnReply(TypedDict):
    token: NotRequired[str]
    token_type: NotRequired[Literal["Bearer"]]
    expires_at: NotRequired[int]


class AgentInterfaceSendBody(TypedDict):
    jsonrpc: Literal["2.0"]
    id: NotRequired[Union[Union[str, float, int], None]]
    """Absent for a notification, which is answered with 202 and no body. The protocol forbids null, so it is refused."""
    method: str
    """Such as `initialize`, `tools/list` or `tools/call`."""
    params: NotRequired[Dict[str, Any]]


class AgentInterfaceSendReply(TypedDict):
    jsonrpc: Literal["2.0"]


class ApiKeysListReply(TypedDict):
    api_keys: List[ApiKey]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class ApiKeysCreateBody(TypedDict):
    name: str
    roles: List[str]
    ttl: NotRequired[int]
    """Lifetime in seconds; absent or 0 means that the key never expires."""
    expires_at: NotRequired[int]
    tags: NotRequired[Tags]
    allowed_in_address: NotRequired[bool]
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    query_budget: NotRequired[ApiKeyQueryBudget]
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """Where events of this key go unless the request says otherwise, for senders that can send only a key."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Without any, it may be used from anywhere.
    """


class ApiKeysCreateReply(TypedDict):
    id: str
    name: str
    api_key: str
    """Short identifier that tells keys apart; not part of the secret."""
    roles: List[str]
    user_id: NotRequired[str]
    """
    The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other
    keys.
    """
    is_suspended: NotRequired[bool]
    """
    True when the identity provider has refused the user of a personal key: it works again once the user has signed on.
    Absent otherwise.
    """
    tags: Tags
    allowed_in_address: bool
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    expires_at: NotRequired[int]
    """Unix seconds; absent when the key never expires."""
    expires_soon: NotRequired[bool]
    """True when the key expires within 14 days, or has expired; absent otherwise."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Absent when it may be used from anywhere.
    """
    previous_key_expires_at: NotRequired[int]
    """After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not."""
    previous_key_used_at: NotRequired[int]
    """When the previous secret was last used, to the minute; absent when it was not."""
    query_budget: NotRequired[ApiKeyQueryBudget]
    """Limits of the queries of this key; absent when those of its roles apply."""
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """
    Where events of this key go unless the request says otherwise, for senders that can send only a key. Absent when
    there are none.
    """
    last_used_at: NotRequired[int]
    """When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first."""
    last_used_address: NotRequired[str]
    """The network address of that request."""
    metadata: Metadata
    key: str


class ApiKeysUpdateBody(TypedDict):
    name: NotRequired[str]
    roles: NotRequired[List[str]]
    tags: NotRequired[Tags]
    """Replaces all tags."""
    expires_at: NotRequired[Union[int, None]]
    """Unix seconds; null removes the expiry."""
    allowed_in_address: NotRequired[bool]
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    query_budget: NotRequired[Union[ApiKeyQueryBudget, None]]
    """Replaces all limits; null removes them."""
    event_defaults: NotRequired[Union[ApiKeyEventDefaults, None]]
    """Replaces all defaults; null removes them."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Replaces all; an empty list allows all addresses.
    """


class ApiKeysRotateBody(TypedDict):
    overlap: NotRequired[int]
    """Seconds for which the previous secret keeps working; with 0 it ends at once."""
    end_previous: NotRequired[bool]
    """End the secret before the previous rotation at once, if it still works."""


class ApiKeysRotateReply(TypedDict):
    id: str
    name: str
    api_key: str
    """Short identifier that tells keys apart; not part of the secret."""
    roles: List[str]
    user_id: NotRequired[str]
    """
    The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other
    keys.
    """
    is_suspended: NotRequired[bool]
    """
    True when the identity provider has refused the user of a personal key: it works again once the user has signed on.
    Absent otherwise.
    """
    tags: Tags
    allowed_in_address: bool
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    expires_at: NotRequired[int]
    """Unix seconds; absent when the key never expires."""
    expires_soon: NotRequired[bool]
    """True when the key expires within 14 days, or has expired; absent otherwise."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Absent when it may be used from anywhere.
    """
    previous_key_expires_at: NotRequired[int]
    """After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not."""
    previous_key_used_at: NotRequired[int]
    """When the previous secret was last used, to the minute; absent when it was not."""
    query_budget: NotRequired[ApiKeyQueryBudget]
    """Limits of the queries of this key; absent when those of its roles apply."""
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """
    Where events of this key go unless the request says otherwise, for senders that can send only a key. Absent when
    there are none.
    """
    last_used_at: NotRequired[int]
    """When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first."""
    last_used_address: NotRequired[str]
    """The network address of that request."""
    metadata: Metadata
    key: str


class AuditListReply(TypedDict):
    audit: List[AuditRecord]


class AuthLoginBody(TypedDict):
    email: str
    password: str
    code: NotRequired[str]
    """The code of the second factor, or a recovery code; only users with a second factor need it."""


class AuthAcceptInviteBody(TypedDict):
    token: str
    password: str
    code: NotRequired[str]
    """The code of the second factor, or a recovery code; only users with a second factor need it."""


class AuthChangePasswordBody(TypedDict):
    current_password: str
    new_password: str


class AuthMeReply(TypedDict):
    type: Literal["API_KEY_ID", "USER_ID"]
    id: str
    org_id: str
    roles: List[str]
    permissions: List[str]
    user: NotRequired[User]
    api_key: NotRequired[ApiKey]
    provider: NotRequired[str]
    """The name of the identity provider with which the session of this request was signed on."""
    can_send_mail: bool
    """Whether the service has a mail relay. Without one, invitations and notifications by e-mail are not sent."""


class BackupsListReply(TypedDict):
    backups: List[Backup]
    tasks: List[BackupTask]


class BackupsRestoreBody(TypedDict):
    dataset: str
    """The name of the new dataset."""
    collection: NotRequired[str]
    """Its collection. Default: that of the dataset in the backup."""


ChangesFindBody = TypedDict(
    "ChangesFindBody",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "baseline": "NotRequired[ChangesFindBodyBaseline]",
        "where": "NotRequired[str]",
        "limit": "NotRequired[int]",
    },
)


class ChangesFindBodyBaseline(TypedDict):
    """
    The range to compare with, in epoch milliseconds; by default as long as the range and right before it. It may
    contain the range, which is then left out of it.
    """
    from_ts: int
    to_ts: int


class CollectionsListReply(TypedDict):
    collections: List[Dict[str, List[CollectionsListReplyCollectionsItemValueItem]]]


class CollectionsListReplyCollectionsItemValueItem(TypedDict):
    dataset: str
    id: str


class ConfigAssistantAgentsReply(TypedDict):
    agents: List[ConfigAssistantAgentsReplyAgentsItem]


class ConfigAssistantAgentsReplyAgentsItem(TypedDict):
    agent: Literal["otel-collector", "fluent-bit", "vector", "filebeat", "logstash", "rsyslog", "alloy"]
    display_name: str
    formats: List[str]
    sources: List[Literal["file", "journald", "syslog", "docker", "kubernetes", "otlp"]]


class ConfigAssistantCreateBody(TypedDict):
    agent: Literal["otel-collector", "fluent-bit", "vector", "filebeat", "logstash", "rsyslog", "alloy"]
    version: NotRequired[str]
    """Version of the agent; old versions lead to a warning."""
    platform: NotRequired[Literal["linux", "kubernetes", "docker", "windows"]]
    collection: NotRequired[str]
    dataset: NotRequired[str]
    """Target dataset; when absent, the OTLP service name or `default`."""
    tags: NotRequired[Tags]
    options: NotRequired[ConfigAssistantCreateBodyOptions]
    sources: List[ConfigAssistantCreateBodySourcesItem]
    """May be empty when `prompt` names sources."""
    prompt: NotRequired[str]
    """A request in plain words. A configured model interprets it; without a model, common words are understood."""


class ConfigAssistantCreateBodyOptions(TypedDict):
    compression: NotRequired[Literal["gzip", "zstd", "none"]]
    batch_size: NotRequired[int]
    """Events sent at once."""
    batch_seconds: NotRequired[int]
    """How long to wait for a batch to fill."""
    multiline: NotRequired[str]
    """Regular expression for the first line of an event; lines that do not match continue the previous event."""
    include_traces: NotRequired[bool]
    """Forwards traces received over OTLP."""
    parse: NotRequired[Literal["json", "logfmt"]]
    """Makes the agent parse keys and values from lines."""
    redact: NotRequired[List[str]]
    """Values to replace with *** before sending: `email`, `card`, `ip`, `token`, or a regular expression."""
    drop: NotRequired[List[str]]
    """Regular expressions; lines that match one are not sent."""
    sample_percent: NotRequired[int]
    """Percentage of events to send, chosen at random."""
    retry_seconds: NotRequired[int]
    """How long to retry a batch; 0 retries until it succeeds."""
    tls: NotRequired[ConfigAssistantCreateBodyOptionsTls]
    routes: NotRequired[List[ConfigAssistantCreateBodyOptionsRoutesItem]]
    """Sends matching lines to another dataset; the first matching route wins."""


class ConfigAssistantCreateBodyOptionsTls(TypedDict):
    ca_file: NotRequired[str]
    cert_file: NotRequired[str]
    key_file: NotRequired[str]
    verify: NotRequired[bool]
    """false accepts any certificate of the service."""


class ConfigAssistantCreateBodyOptionsRoutesItem(TypedDict):
    match: str
    collection: NotRequired[str]
    dataset: str


class ConfigAssistantCreateBodySourcesItem(TypedDict):
    kind: Literal["file", "journald", "syslog", "docker", "kubernetes", "otlp"]
    options: NotRequired[ConfigAssistantCreateBodySourcesItemOptions]
    """Options of another kind of source lead to warnings."""


class ConfigAssistantCreateBodySourcesItemOptions(TypedDict):
    """Options of another kind of source lead to warnings."""
    paths: NotRequired[List[str]]
    """Files to read, with wildcards; only for `file`."""
    units: NotRequired[List[str]]
    """Only these units; only for `journald`."""
    port: NotRequired[int]
    """Of `syslog` (5514 when absent), and of OTLP over HTTP (4318)."""
    grpc_port: NotRequired[int]
    """Of OTLP over gRPC; 4317 when absent."""
    protocol: NotRequired[Literal["tcp", "udp"]]
    """Of `syslog`; `tcp` when absent."""


class ConfigAssistantModifyBody(TypedDict):
    agent: Literal["otel-collector", "fluent-bit", "vector", "filebeat", "logstash", "rsyslog", "alloy"]
    config: str
    """The file as it is."""
    changes: NotRequired[ConfigAssistantModifyBodyChanges]
    prompt: NotRequired[str]
    """A request in plain words. A configured model interprets it; without a model, common words are understood."""


class ConfigAssistantModifyBodyChanges(TypedDict):
    version: NotRequired[str]
    """Version of the agent; old versions lead to a warning."""
    platform: NotRequired[Literal["linux", "kubernetes", "docker", "windows"]]
    collection: NotRequired[str]
    dataset: NotRequired[str]
    """Target dataset; when absent, the OTLP service name or `default`."""
    tags: NotRequired[Tags]
    options: NotRequired[ConfigAssistantModifyBodyChangesOptions]
    sources: NotRequired[List[ConfigAssistantModifyBodyChangesSourcesItem]]


class ConfigAssistantModifyBodyChangesOptions(TypedDict):
    compression: NotRequired[Literal["gzip", "zstd", "none"]]
    batch_size: NotRequired[int]
    """Events sent at once."""
    batch_seconds: NotRequired[int]
    """How long to wait for a batch to fill."""
    multiline: NotRequired[str]
    """Regular expression for the first line of an event; lines that do not match continue the previous event."""
    include_traces: NotRequired[bool]
    """Forwards traces received over OTLP."""
    parse: NotRequired[Literal["json", "logfmt"]]
    """Makes the agent parse keys and values from lines."""
    redact: NotRequired[List[str]]
    """Values to replace with *** before sending: `email`, `card`, `ip`, `token`, or a regular expression."""
    drop: NotRequired[List[str]]
    """Regular expressions; lines that match one are not sent."""
    sample_percent: NotRequired[int]
    """Percentage of events to send, chosen at random."""
    retry_seconds: NotRequired[int]
    """How long to retry a batch; 0 retries until it succeeds."""
    tls: NotRequired[ConfigAssistantModifyBodyChangesOptionsTls]
    routes: NotRequired[List[ConfigAssistantModifyBodyChangesOptionsRoutesItem]]
    """Sends matching lines to another dataset; the first matching route wins."""


class ConfigAssistantModifyBodyChangesOptionsTls(TypedDict):
    ca_file: NotRequired[str]
    cert_file: NotRequired[str]
    key_file: NotRequired[str]
    verify: NotRequired[bool]
    """false accepts any certificate of the service."""


class ConfigAssistantModifyBodyChangesOptionsRoutesItem(TypedDict):
    match: str
    collection: NotRequired[str]
    dataset: str


class ConfigAssistantModifyBodyChangesSourcesItem(TypedDict):
    kind: Literal["file", "journald", "syslog", "docker", "kubernetes", "otlp"]
    options: NotRequired[ConfigAssistantModifyBodyChangesSourcesItemOptions]
    """Options of another kind of source lead to warnings."""


class ConfigAssistantModifyBodyChangesSourcesItemOptions(TypedDict):
    """Options of another kind of source lead to warnings."""
    paths: NotRequired[List[str]]
    """Files to read, with wildcards; only for `file`."""
    units: NotRequired[List[str]]
    """Only these units; only for `journald`."""
    port: NotRequired[int]
    """Of `syslog` (5514 when absent), and of OTLP over HTTP (4318)."""
    grpc_port: NotRequired[int]
    """Of OTLP over gRPC; 4317 when absent."""
    protocol: NotRequired[Literal["tcp", "udp"]]
    """Of `syslog`; `tcp` when absent."""


class ConfigAssistantValidateBody(TypedDict):
    agent: Literal["otel-collector", "fluent-bit", "vector", "filebeat", "logstash", "rsyslog", "alloy"]
    config: str
    """The file as it is."""


class ConfigAssistantValidateReply(TypedDict):
    valid: bool
    problems: List[ConfigAssistantValidateReplyProblemsItem]


class ConfigAssistantValidateReplyProblemsItem(TypedDict):
    line: NotRequired[int]
    message: str


class ContentPacksListReply(TypedDict):
    offers: List[ContentPackOffer]
    is_cut: bool
    """Whether datasets were left out, because there are more than are considered or than `limit`."""


class ContentPacksPreviewBody(TypedDict):
    dataset_id: str
    parameters: NotRequired[Dict[str, Union[str, float]]]
    """
    Fields and thresholds by parameter; an empty field leaves out what needs it. Absent ones have the values of the
    preview.
    """
    time_range: NotRequired[str]
    """Of the values."""


class ContentPacksInstallBody(TypedDict):
    dataset_id: str
    parameters: NotRequired[Dict[str, Union[str, float]]]
    """
    Fields and thresholds by parameter; an empty field leaves out what needs it. Absent ones have the values of the
    preview.
    """
    dashboard: NotRequired[bool]
    """Whether the dashboard is created."""
    monitors: NotRequired[List[str]]
    """The monitors to create, by their name within the pack."""
    actions: NotRequired[List[ContentPacksInstallBodyActionsItem]]
    """The notification targets of the monitors; required with `monitors`."""


class ContentPacksInstallBodyActionsItem(TypedDict):
    type: NotRequired[Literal["EMAIL", "INTEGRATION"]]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class ContextGetReply(TypedDict):
    explain: Explain
    events: List[Event]
    result: List[ResultRow]
    links: List[Link]


class CustomerUpdateBody(TypedDict):
    customer_name: str
    billing_emails: List[str]


class DashboardsListReply(TypedDict):
    dashboards: List[Dashboard]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class DashboardsCreateBody(TypedDict):
    name: NotRequired[str]
    """Required unless a template provides it."""
    description: NotRequired[str]
    layout: NotRequired[DashboardsCreateBodyLayout]
    tags: NotRequired[Tags]
    widget_ids: NotRequired[List[str]]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here; its widgets and their metrics are created."""


class DashboardsCreateBodyLayout(TypedDict):
    metric_ids: NotRequired[List[str]]
    """Metrics that belong to the dashboard."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class DashboardsPreviewBody(TypedDict):
    template: NotRequired[TemplateInput]
    template_id: NotRequired[str]
    arguments: NotRequired[Dict[str, TemplateArgumentInput]]


class DashboardsPreviewReply(TypedDict):
    name: str
    description: NotRequired[str]
    layout: DashboardsPreviewReplyLayout
    tags: Tags
    template: Template
    widgets: List[PreviewWidget]


class DashboardsPreviewReplyLayout(TypedDict):
    metric_ids: NotRequired[List[str]]
    widget_layouts: NotRequired[List[WidgetPosition]]


class DashboardsChangeBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    layout: NotRequired[DashboardsChangeBodyLayout]
    """Replaces the given members and keeps the others."""
    widget_ids: NotRequired[List[str]]
    """The whole list."""
    append_widget_ids: NotRequired[List[str]]
    """Widgets that are already on the dashboard keep their position."""
    remove_widget_ids: NotRequired[List[str]]
    tags: NotRequired[Tags]
    """Replaces all tags."""


class DashboardsChangeBodyLayout(TypedDict):
    """Replaces the given members and keeps the others."""
    metric_ids: NotRequired[List[str]]
    """Metrics that belong to the dashboard."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class DashboardsAddWidgetsBody(TypedDict):
    widget_ids: List[str]


class DashboardTemplatesListReply(TypedDict):
    templates: List[DashboardTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class DashboardTemplatesCreateBody(TypedDict):
    name: str
    description: NotRequired[str]
    widgets: NotRequired[List[TemplateReferenceInput]]
    """Templates of widgets."""
    layout: NotRequired[DashboardTemplatesCreateBodyLayout]
    """Its ids are those of the templates under `widgets`."""
    this_template_tags: Tags
    """Tags of the logs that the template is for, such as their `log_type`."""
    tags: NotRequired[Tags]
    parameters: NotRequired[TemplateParameters]


class DashboardTemplatesCreateBodyLayout(TypedDict):
    """Its ids are those of the templates under `widgets`."""
    metric_ids: NotRequired[List[str]]
    """Metrics that belong to the dashboard."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class DashboardTemplatesUpdateBody(TypedDict):
    name: str
    description: NotRequired[str]
    widgets: NotRequired[List[TemplateReferenceInput]]
    """Templates of widgets."""
    layout: NotRequired[DashboardTemplatesUpdateBodyLayout]
    """Its ids are those of the templates under `widgets`."""
    this_template_tags: Tags
    """Tags of the logs that the template is for, such as their `log_type`."""
    tags: NotRequired[Tags]
    parameters: NotRequired[TemplateParameters]


class DashboardTemplatesUpdateBodyLayout(TypedDict):
    """Its ids are those of the templates under `widgets`."""
    metric_ids: NotRequired[List[str]]
    """Metrics that belong to the dashboard."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class DatasetKeysResolveBody(TypedDict):
    keys: NotRequired[List[str]]
    """At least one, unless from_expr is given."""
    from_expr: NotRequired[str]
    """Restricts the search to the datasets of this selector."""
    time_range: NotRequired[str]
    """A relative range such as `Last 20 minutes`; excludes from_ts and to_ts."""
    from_ts: NotRequired[int]
    """Epoch milliseconds, inclusive; together with to_ts."""
    to_ts: NotRequired[int]
    """Epoch milliseconds, exclusive; together with from_ts."""
    match_type: NotRequired[Literal["EXACT", "IEXACT", "SUBSTRING", "ISUBSTRING"]]
    """The I forms ignore case."""
    expand_type: NotRequired[Literal["DISABLED", "SYNONYM"]]
    """SYNONYM requires EXACT or IEXACT."""


class DatasetKeysResolveReply(TypedDict):
    datasets: List[DatasetKeysResolveReplyDatasetsItem]


class DatasetKeysResolveReplyDatasetsItem(TypedDict):
    type: Literal["LOG"]
    id: str


class DatasetsListReply(TypedDict):
    datasets: List[Dataset]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""
    totals: NotRequired[DatasetTotals]


class DatasetsCreateBody(TypedDict):
    collection: str
    dataset: str
    tags: NotRequired[Tags]
    retention: NotRequired[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]]


class DatasetsUpdateBody(TypedDict):
    collection: str
    dataset: NotRequired[str]
    """Absent keeps the name."""
    tags: NotRequired[Tags]
    """All tags of the dataset; absent keeps them. Changing them needs `tag_write` too."""
    retention: NotRequired[Union[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"], None]]
    """Absent keeps it; null returns to the organization default."""


class DowntimesListReply(TypedDict):
    downtimes: List[Downtime]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


DowntimesCreateBody = TypedDict(
    "DowntimesCreateBody",
    {
        "name": "str",
        "description": "NotRequired[str]",
        "from": "List[str]",
        "suppress_recovery_alert": "NotRequired[bool]",
        "alert_strategy": "NotRequired[Literal[\"DELAY\", \"DROP\"]]",
        "static_time_range": "NotRequired[DowntimesCreateBodyStaticTimeRange]",
        "dynamic_time_range": "NotRequired[DowntimesCreateBodyDynamicTimeRange]",
    },
)


DowntimesCreateBodyStaticTimeRange = TypedDict(
    "DowntimesCreateBodyStaticTimeRange",
    {
        "from": "int",
        "to": "int",
    },
)


class DowntimesCreateBodyDynamicTimeRange(TypedDict):
    from_minute_of_day: int
    to_minute_of_day: int
    invert: NotRequired[bool]
    repeat_days: NotRequired[List[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]]]


DowntimesUpdateBody = TypedDict(
    "DowntimesUpdateBody",
    {
        "name": "str",
        "description": "NotRequired[str]",
        "from": "List[str]",
        "suppress_recovery_alert": "NotRequired[bool]",
        "alert_strategy": "NotRequired[Literal[\"DELAY\", \"DROP\"]]",
        "static_time_range": "NotRequired[DowntimesUpdateBodyStaticTimeRange]",
        "dynamic_time_range": "NotRequired[DowntimesUpdateBodyDynamicTimeRange]",
    },
)


DowntimesUpdateBodyStaticTimeRange = TypedDict(
    "DowntimesUpdateBodyStaticTimeRange",
    {
        "from": "int",
        "to": "int",
    },
)


class DowntimesUpdateBodyDynamicTimeRange(TypedDict):
    from_minute_of_day: int
    to_minute_of_day: int
    invert: NotRequired[bool]
    repeat_days: NotRequired[List[Literal["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]]]


class EncryptionKeysListReply(TypedDict):
    keys: List[EncryptionKey]


class EncryptionKeysCreateBody(TypedDict):
    id: NotRequired[str]
    name: str
    provider: Literal["AWS_KMS"]
    aws_kms: EncryptionKeysCreateBodyAwsKms


class EncryptionKeysCreateBodyAwsKms(TypedDict):
    alias_arn: str
    region: NotRequired[str]


class EncryptionKeysUpdateBody(TypedDict):
    name: NotRequired[str]
    status: NotRequired[Literal["KEY_STATUS_UNSPECIFIED", "CREATED", "ACTIVE", "DISABLED"]]


class ExportsListReply(TypedDict):
    exports: List[Export]


class ExportsCreateBody(TypedDict):
    search_details: ExportsCreateBodySearchDetails
    format: NotRequired[Literal["ndjson", "csv", "parquet"]]
    compression: NotRequired[Literal["none", "gzip", "zstd"]]
    """The download is a compressed file; Parquet is compressed inside the file."""


ExportsCreateBodySearchDetails = TypedDict(
    "ExportsCreateBodySearchDetails",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
    },
)


ForwardConfigsListReply = TypedDict(
    "ForwardConfigsListReply",
    {
        "forward-configs": "List[ForwardConfig]",
    },
)


class ForwardConfigsCreateBody(TypedDict):
    name: str
    description: NotRequired[str]
    filter: NotRequired[str]
    """Forwards the events that match, in the syntax of `where`. Default: all."""
    all_logs: bool
    """Forward every dataset that the author may see but the canary, those created later too."""
    log_ids: NotRequired[List[str]]
    """The datasets; required when `all_logs` is false."""
    format: NotRequired[Literal["RAW", "NDJSON", "PARQUET"]]
    """
    RAW: one original event per line. NDJSON: one object per line, as in exports, with the original event in `@raw`.
    PARQUET, for buckets only: files with the columns of exports, compressed inside; 1,000 keys have columns, and
    `@more` has the others.
    """
    compression: Literal["ZSTD", "GZIP", "NONE"]
    max_payload_size_bytes: NotRequired[int]
    """
    Size of a payload before compression. Larger payloads than 32 MB (16 MB in Parquet, 8 MB to a URL or Kafka) are
    divided.
    """
    max_payload_size_events: NotRequired[int]
    max_buffer_time_ms: NotRequired[int]
    """How long events wait for a payload to fill."""
    destination: Union[ForwardToS3Input, ForwardToHttp, ForwardToKafkaInput]


class ForwardConfigsTestReply(TypedDict):
    result: bool
    failure_reason: NotRequired[str]


class ForwardConfigsUpdateBody(TypedDict):
    name: str
    description: NotRequired[str]
    filter: NotRequired[str]
    """Forwards the events that match, in the syntax of `where`. Default: all."""
    all_logs: bool
    """Forward every dataset that the author may see but the canary, those created later too."""
    log_ids: NotRequired[List[str]]
    """The datasets; required when `all_logs` is false."""
    format: NotRequired[Literal["RAW", "NDJSON", "PARQUET"]]
    """
    RAW: one original event per line. NDJSON: one object per line, as in exports, with the original event in `@raw`.
    PARQUET, for buckets only: files with the columns of exports, compressed inside; 1,000 keys have columns, and
    `@more` has the others.
    """
    compression: Literal["ZSTD", "GZIP", "NONE"]
    max_payload_size_bytes: NotRequired[int]
    """
    Size of a payload before compression. Larger payloads than 32 MB (16 MB in Parquet, 8 MB to a URL or Kafka) are
    divided.
    """
    max_payload_size_events: NotRequired[int]
    max_buffer_time_ms: NotRequired[int]
    """How long events wait for a payload to fill."""
    destination: Union[ForwardToS3Input, ForwardToHttp, ForwardToKafkaInput]


class GroupsListReply(TypedDict):
    groups: List[UserGroup]


class GroupsCreateBody(TypedDict):
    name: str
    description: NotRequired[str]


class GroupsUpdateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]


class GroupsMembersReply(TypedDict):
    members: List[GroupMember]


class GroupsAddMembersBody(TypedDict):
    members: List[GroupsAddMembersBodyMembersItem]


class GroupsAddMembersBodyMembersItem(TypedDict):
    member_id: str
    member_type: Literal["USER", "GROUP"]


class GroupsRemoveMembersBody(TypedDict):
    members: List[GroupsRemoveMembersBodyMembersItem]


class GroupsRemoveMembersBodyMembersItem(TypedDict):
    member_id: str
    member_type: Literal["USER", "GROUP"]


class HealthGetReply(TypedDict):
    status: Literal["ok", "degraded"]
    """
    `degraded` when both stores respond but the clock is wrong, evaluations are overdue, backups are late or damaged,
    cold storage does not answer, or an event was stored that no search finds.
    """
    problems: List[str]
    """The reasons for `degraded`, one sentence each; empty otherwise."""
    version: str
    region: str
    stores: HealthGetReplyStores
    disk: Literal["ok", "tight", "full"]
    """Disk of the event store: `tight` from 85 %; `full` from 95 % or below 512 MiB, when events are refused with 503."""
    backups: NotRequired[HealthGetReplyBackups]
    """Present where backups are configured."""
    canary: NotRequired[HealthGetReplyCanary]
    """The last event that was written and searched, as each minute unless DENDRO_CANARY is off."""
    cold_storage: NotRequired[HealthGetReplyColdStorage]
    """Where the events lie; present where cold storage is configured. In a cluster every copy counts."""


class HealthGetReplyStores(TypedDict):
    events: Literal["ok"]
    meta: Literal["ok"]


class HealthGetReplyBackups(TypedDict):
    """Present where backups are configured."""
    age_s: NotRequired[int]
    """Age of the last complete backup in seconds; absent before the first."""
    verified_age_s: NotRequired[int]
    """Age of the last backup that passed its verification."""


class HealthGetReplyCanary(TypedDict):
    """The last event that was written and searched, as each minute unless DENDRO_CANARY is off."""
    found_after_ms: int
    """Time from writing it until a search found it."""
    age_s: int
    """Time since it was written, in seconds."""


class HealthGetReplyColdStorage(TypedDict):
    """Where the events lie; present where cold storage is configured. In a cluster every copy counts."""
    status: Literal["ok", "down"]
    """`down` while the bucket does not answer; the reason is in `problems`."""
    hot: StorageTier
    """On the disk."""
    cold: StorageTier
    """In the bucket, or in the volume `cold` of a server."""


class HealthLiveReply(TypedDict):
    status: Literal["live"]


class HealthReadyReply(TypedDict):
    status: Literal["ready"]


class IngestionOtlpLogsReply(TypedDict):
    partialSuccess: NotRequired[IngestionOtlpLogsReplyPartialSuccess]


class IngestionOtlpLogsReplyPartialSuccess(TypedDict):
    errorMessage: NotRequired[str]
    rejectedLogRecords: NotRequired[str]


class IngestionOtlpTracesReply(TypedDict):
    partialSuccess: NotRequired[IngestionOtlpTracesReplyPartialSuccess]


class IngestionOtlpTracesReplyPartialSuccess(TypedDict):
    errorMessage: NotRequired[str]
    rejectedSpans: NotRequired[str]


class IngestionOtlpMetricsReply(TypedDict):
    partialSuccess: NotRequired[IngestionOtlpMetricsReplyPartialSuccess]


class IngestionOtlpMetricsReplyPartialSuccess(TypedDict):
    errorMessage: NotRequired[str]
    rejectedDataPoints: NotRequired[str]


class IngestRulesListReply(TypedDict):
    ingest_rules: List[IngestRule]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


IngestRulesCreateBody = TypedDict(
    "IngestRulesCreateBody",
    {
        "name": "str",
        "description": "NotRequired[str]",
        "enabled": "NotRequired[bool]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
        "action": "IngestActionInput",
    },
)


class IngestRulesReorderBody(TypedDict):
    rule_ids: List[str]
    """Every rule that the caller may see, in the new order."""


class IngestRulesReorderReply(TypedDict):
    ingest_rules: List[IngestRule]


IngestRulesPreviewBody = TypedDict(
    "IngestRulesPreviewBody",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
        "action": "IngestActionInput",
        "limit": "NotRequired[int]",
    },
)


IngestRulesUpdateBody = TypedDict(
    "IngestRulesUpdateBody",
    {
        "name": "NotRequired[str]",
        "description": "NotRequired[str]",
        "enabled": "NotRequired[bool]",
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
        "action": "NotRequired[IngestActionInput]",
        "version": "NotRequired[int]",
    },
)


class IngestRulesVersionsReply(TypedDict):
    versions: List[IngestRule]


class LookupTablesListReply(TypedDict):
    lookup_tables: List[LookupTable]


class LookupTablesCreateBody(TypedDict):
    name: str
    """Rules name the table by it. It must be unique in the organization."""
    description: NotRequired[str]
    key: str
    """The column whose values select rows. The last row with a value counts."""
    csv: str
    """A file in the format CSV (RFC 4180) in UTF-8 with commas, whose first line names the columns."""


class LookupTablesUpdateBody(TypedDict):
    description: str


class InsightsListReply(TypedDict):
    insights: List[Insight]


class IntegrationsWebhooksReply(TypedDict):
    integrations: List[WebhookIntegration]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class IntegrationsCreateWebhookBody(TypedDict):
    name: str
    url: str
    custom_headers: NotRequired[Dict[str, str]]
    """
    Sent with every request. In an update, `***` keeps the current value of the header, unless the scheme, host or port
    of `url` changes.
    """
    payload: NotRequired[str]
    """
    A JSON text with placeholders such as `$title`, `$description` and `$alert_id`; without it, a default object is
    sent.
    """
    signing_secret: NotRequired[Union[str, Literal["", "***"]]]
    """
    Secret that signs every request body; never returned. In an update, `***` keeps it, unless the scheme, host or port
    of `url` changes; omit it to stop signing.
    """


class IntegrationsUpdateWebhookBody(TypedDict):
    name: str
    url: str
    custom_headers: NotRequired[Dict[str, str]]
    """
    Sent with every request. In an update, `***` keeps the current value of the header, unless the scheme, host or port
    of `url` changes.
    """
    payload: NotRequired[str]
    """
    A JSON text with placeholders such as `$title`, `$description` and `$alert_id`; without it, a default object is
    sent.
    """
    signing_secret: NotRequired[Union[str, Literal["", "***"]]]
    """
    Secret that signs every request body; never returned. In an update, `***` keeps it, unless the scheme, host or port
    of `url` changes; omit it to stop signing.
    """


class IntegrationsTestWebhookReply(TypedDict):
    delivered: bool
    status: NotRequired[int]
    """The response status of the target."""
    failure_reason: NotRequired[str]


class IntegrationsSlackReply(TypedDict):
    integrations: List[SlackIntegration]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class IntegrationsCreateSlackBody(TypedDict):
    name: str
    channels: List[str]
    workspace_id: str


class IntegrationsUpdateSlackBody(TypedDict):
    name: str
    channels: List[str]
    workspace_id: str


class IntegrationsSlackWorkspacesReply(TypedDict):
    slack_workspaces: List[SlackWorkspace]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class IntegrationsCreateSlackWorkspaceBody(TypedDict):
    name: str
    token: NotRequired[str]
    """The token of a bot; never returned."""
    webhook_url: NotRequired[str]
    """The URL of an incoming webhook; never returned."""
    api_url: NotRequired[str]
    """Base URL of the chat service, if not the default."""


class IntegrationsEmailTemplatesReply(TypedDict):
    integrations: List[EmailTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class IntegrationsCreateEmailTemplateBody(TypedDict):
    name: str
    payload: str
    """Text with placeholders such as `$title`. A payload that begins with `<` is HTML, and values in it are escaped."""


class IntegrationsUpdateEmailTemplateBody(TypedDict):
    name: str
    payload: str
    """Text with placeholders such as `$title`. A payload that begins with `<` is HTML, and values in it are escaped."""


class LedgerGetReply(TypedDict):
    start_time: int
    end_time: int
    slice_ms: int
    totals: LedgerCounts
    is_recount_pending: bool
    """
    true while events of a process that ended without counting them may be missing: for a few seconds after a start, and
    within 20 s of a crash where other processes go on, until a recount of that minute.
    """
    is_complete: bool
    """false when there are more entries than `limit`."""
    entries: List[LedgerEntry]


class LimitsListReply(TypedDict):
    limits: List[Limit]


class LimitsCreateBody(TypedDict):
    category: Literal["INGESTION_LIMITS"]
    value: float
    unit: Literal["BYTES"]
    target: Literal["TEAM", "ORGANISATION"]
    scope: RequestedLimitScope
    time_window: Literal["PER_MONTH"]
    description: NotRequired[str]


class LimitsUpdateBody(TypedDict):
    category: NotRequired[Literal["INGESTION_LIMITS"]]
    value: NotRequired[float]
    unit: NotRequired[Literal["BYTES"]]
    target: NotRequired[Literal["TEAM", "ORGANISATION"]]
    scope: NotRequired[RequestedLimitScope]
    time_window: NotRequired[Literal["PER_MONTH"]]
    description: NotRequired[str]


class LineTimesGetReply(TypedDict):
    line_time: Union[LineTime, None]
    """Null without a setting: only known formats are read."""


class LineTimesPreviewReply(TypedDict):
    lines: int
    """The number of recent lines that were read, at most 200."""
    candidates: List[LineTimeCandidate]
    """The best first; none when the lines tell no time."""


LiveTailStartBody = TypedDict(
    "LiveTailStartBody",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "where": "NotRequired[str]",
    },
)


class LiveTailStartReply(TypedDict):
    job_id: str


class LiveTailPollReply(TypedDict):
    logs: List[LiveTailPollReplyLogsItem]


class LiveTailPollReplyLogsItem(TypedDict):
    events: List[Event]


class LogsListReply(TypedDict):
    logs: List[Log]


class LogsCreateBody(TypedDict):
    collection: NotRequired[str]
    dataset: NotRequired[str]
    logset: NotRequired[str]
    """Deprecated duplicate of `collection`."""
    log: NotRequired[str]
    """Deprecated duplicate of `dataset`."""
    tags: NotRequired[Tags]
    retention: NotRequired[Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]]


class LogsViewsReply(TypedDict):
    views: List[LogView]


class LogsUpdateBody(TypedDict):
    collection: NotRequired[str]
    dataset: NotRequired[str]
    logset: NotRequired[str]
    """Deprecated duplicate of `collection`."""
    log: NotRequired[str]
    """Deprecated duplicate of `dataset`."""


class MetricDefinitionsListReply(TypedDict):
    metric_definitions: List[MetricDefinition]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class MetricDefinitionsCreateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    queries: NotRequired[List[MetricQueryInput]]
    """Required unless a template provides them."""
    formulas: NotRequired[List[MetricFormula]]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here."""


class MetricDefinitionsUpdateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    queries: NotRequired[List[MetricQueryInput]]
    """Required unless a template provides them."""
    formulas: NotRequired[List[MetricFormula]]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here."""


class MetricDefinitionTemplatesListReply(TypedDict):
    templates: List[MetricDefinitionTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class MetricDefinitionTemplatesCreateBody(TypedDict):
    name: str
    description: str
    queries: List[MetricTemplateQueryInput]
    formulas: NotRequired[List[MetricFormula]]
    parameters: NotRequired[TemplateParameters]


class MetricDefinitionTemplatesUpdateBody(TypedDict):
    name: str
    description: str
    queries: List[MetricTemplateQueryInput]
    formulas: NotRequired[List[MetricFormula]]
    parameters: NotRequired[TemplateParameters]


class MonitorsListReply(TypedDict):
    monitors: List[Monitor]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""
    groups: NotRequired[List[MonitorGroup]]
    totals: NotRequired[MonitorTotals]


class MonitorsCreateBody(TypedDict):
    type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    """The same as `monitor_type`; one of them is enough, and PATTERN when neither is given."""
    name: NotRequired[str]
    description: NotRequired[str]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    comparison_operator: NotRequired[Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]]
    threshold: NotRequired[float]
    warning_threshold: NotRequired[float]
    window: NotRequired[str]
    """`Last N minutes`, `hours` or `days`, from 5 minutes to 1 day."""
    actions: NotRequired[List[MonitorsCreateBodyActionsItem]]
    queries: NotRequired[List[MetricQueryInput]]
    formulas: NotRequired[List[MonitorsCreateBodyFormulasItem]]
    """With a formula, its value is compared; otherwise the value of the first query."""
    no_data_status: NotRequired[MonitorStatus]
    notify_once: NotRequired[bool]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    """
    `{"pattern_change": "NEW", "baseline": "1 day"}` makes a PATTERN monitor count message patterns that appear in the
    window but not in the baseline before it; `"VANISHED"` counts patterns of the baseline that are missing in the
    window.
    """
    compare_to: NotRequired[str]
    """`N units ago`, from 5 minutes to 1 month; for CHANGE_DETECTION."""
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    """10 to 1000 windows, at most 30 days; for ANOMALY_DETECTION."""
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    ai_report_enabled: NotRequired[bool]
    ai_report_instructions: NotRequired[str]
    mute_until: NotRequired[int]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here; without it, the same members are required as for an update."""
    tags: NotRequired[Tags]


class MonitorsCreateBodyActionsItem(TypedDict):
    type: NotRequired[Literal["EMAIL", "INTEGRATION"]]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class MonitorsCreateBodyFormulasItem(TypedDict):
    name: str
    expression: str
    aggregation: NotRequired[MonitorsCreateBodyFormulasItemAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class MonitorsCreateBodyFormulasItemAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class MonitorsBacktestBody(TypedDict):
    type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    """The same as `monitor_type`; one of them is enough, and PATTERN when neither is given."""
    name: NotRequired[str]
    description: NotRequired[str]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    warning_threshold: NotRequired[float]
    window: str
    """`Last N minutes`, `hours` or `days`, from 5 minutes to 1 day."""
    actions: NotRequired[List[MonitorsBacktestBodyActionsItem]]
    """Accepted so that a monitor can be sent unchanged; a backtest never notifies."""
    queries: List[MetricQueryInput]
    formulas: NotRequired[List[MonitorsBacktestBodyFormulasItem]]
    """With a formula, its value is compared; otherwise the value of the first query."""
    no_data_status: NotRequired[MonitorStatus]
    notify_once: NotRequired[bool]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    """
    `{"pattern_change": "NEW", "baseline": "1 day"}` makes a PATTERN monitor count message patterns that appear in the
    window but not in the baseline before it; `"VANISHED"` counts patterns of the baseline that are missing in the
    window.
    """
    compare_to: NotRequired[str]
    """`N units ago`, from 5 minutes to 1 month; for CHANGE_DETECTION."""
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    """10 to 1000 windows, at most 30 days; for ANOMALY_DETECTION."""
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    ai_report_enabled: NotRequired[bool]
    ai_report_instructions: NotRequired[str]
    days: NotRequired[int]
    """How far back it goes."""


class MonitorsBacktestBodyActionsItem(TypedDict):
    type: NotRequired[Literal["EMAIL", "INTEGRATION"]]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class MonitorsBacktestBodyFormulasItem(TypedDict):
    name: str
    expression: str
    aggregation: NotRequired[MonitorsBacktestBodyFormulasItemAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class MonitorsBacktestBodyFormulasItemAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class MonitorsUpdateBody(TypedDict):
    type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    """The same as `monitor_type`; one of them is enough, and PATTERN when neither is given."""
    name: str
    description: NotRequired[str]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    warning_threshold: NotRequired[float]
    window: str
    """`Last N minutes`, `hours` or `days`, from 5 minutes to 1 day."""
    actions: List[MonitorsUpdateBodyActionsItem]
    queries: List[MetricQueryInput]
    formulas: NotRequired[List[MonitorsUpdateBodyFormulasItem]]
    """With a formula, its value is compared; otherwise the value of the first query."""
    no_data_status: NotRequired[MonitorStatus]
    notify_once: NotRequired[bool]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    """
    `{"pattern_change": "NEW", "baseline": "1 day"}` makes a PATTERN monitor count message patterns that appear in the
    window but not in the baseline before it; `"VANISHED"` counts patterns of the baseline that are missing in the
    window.
    """
    compare_to: NotRequired[str]
    """`N units ago`, from 5 minutes to 1 month; for CHANGE_DETECTION."""
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    """10 to 1000 windows, at most 30 days; for ANOMALY_DETECTION."""
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    ai_report_enabled: NotRequired[bool]
    ai_report_instructions: NotRequired[str]


class MonitorsUpdateBodyActionsItem(TypedDict):
    type: NotRequired[Literal["EMAIL", "INTEGRATION"]]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class MonitorsUpdateBodyFormulasItem(TypedDict):
    name: str
    expression: str
    aggregation: NotRequired[MonitorsUpdateBodyFormulasItemAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class MonitorsUpdateBodyFormulasItemAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class MonitorsStatusBody(TypedDict):
    mute_until: int
    """-1 mutes without end, 0 unmutes, other values are future epoch milliseconds."""


class MonitorsMuteBody(TypedDict):
    mute_until: NotRequired[int]
    """-1 mutes without end, 0 unmutes, other values are future epoch milliseconds."""


class MonitorsNotificationsReply(TypedDict):
    monitor_notifications: List[MonitorNotification]


class MonitorsEvaluationsReply(TypedDict):
    evaluations: List[MonitorEvaluation]


class MonitorTemplatesListReply(TypedDict):
    templates: List[MonitorTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class MonitorTemplatesCreateBody(TypedDict):
    type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    """The same as `monitor_type`."""
    name: str
    description: NotRequired[str]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: str
    """A number, or a text with `{{name}}` for a parameter."""
    warning_threshold: NotRequired[str]
    actions: NotRequired[str]
    """The list of actions as JSON text, or a placeholder for it."""
    notify_once: NotRequired[str]
    window: str
    no_data_status: NotRequired[MonitorStatus]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    compare_to: NotRequired[str]
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    metric: NotRequired[TemplateReferenceInput]
    """The template of the metric definition with its arguments; required here or as `metric_id`."""
    metric_id: NotRequired[TemplateReferenceInput]
    """The same as `metric`."""
    parameters: NotRequired[TemplateParameters]
    this_template_tags: Dict[str, str]


class MonitorTemplatesUpdateBody(TypedDict):
    type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    """The same as `monitor_type`."""
    name: str
    description: NotRequired[str]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: str
    """A number, or a text with `{{name}}` for a parameter."""
    warning_threshold: NotRequired[str]
    actions: NotRequired[str]
    """The list of actions as JSON text, or a placeholder for it."""
    notify_once: NotRequired[str]
    window: str
    no_data_status: NotRequired[MonitorStatus]
    group_retention: NotRequired[int]
    aux: NotRequired[Dict[str, Any]]
    compare_to: NotRequired[str]
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]
    anomaly_algorithm: NotRequired[Literal["MEDIAN_MAD"]]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    metric: NotRequired[TemplateReferenceInput]
    """The template of the metric definition with its arguments; required here or as `metric_id`."""
    metric_id: NotRequired[TemplateReferenceInput]
    """The same as `metric`."""
    parameters: NotRequired[TemplateParameters]
    this_template_tags: NotRequired[Dict[str, str]]


class NotebooksListReply(TypedDict):
    notebooks: List[NotebookSummary]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class NotebooksCreateBody(TypedDict):
    name: str
    description: NotRequired[str]
    steps: NotRequired[List[NotebookStep]]


class NotebooksUpdateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    steps: NotRequired[List[NotebookStep]]
    """All steps, in order."""
    version: NotRequired[int]
    """409 if the notebook has another version by now."""


class NotificationsSendTestBody(TypedDict):
    monitor_id: NotRequired[str]
    """The monitor whose notifications list the test; without it, no record is stored."""
    name: str
    description: NotRequired[str]
    monitor_type: NotRequired[Literal["PATTERN", "USAGE", "CHANGE_DETECTION", "ANOMALY_DETECTION"]]
    comparison_operator: Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]
    threshold: float
    warning_threshold: NotRequired[float]
    window: str
    actions: List[NotificationsSendTestBodyActionsItem]
    queries: List[MetricQueryInput]
    formulas: NotRequired[List[NotificationsSendTestBodyFormulasItem]]
    state_transitions: List[MonitorTransition]
    """The status changes to send, in this order."""
    group: NotRequired[str]
    """The group in the test, such as `host:web1,region:eu`."""
    compare_to: NotRequired[str]
    change_type: NotRequired[Literal["DIFFERENCE", "PERCENTAGE"]]
    evaluation_window: NotRequired[str]


class NotificationsSendTestBodyActionsItem(TypedDict):
    type: NotRequired[Literal["EMAIL", "INTEGRATION"]]
    email: NotRequired[str]
    integration_id: NotRequired[str]


class NotificationsSendTestBodyFormulasItem(TypedDict):
    name: str
    expression: str
    aggregation: NotRequired[NotificationsSendTestBodyFormulasItemAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class NotificationsSendTestBodyFormulasItemAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class NotificationsSuggestBody(TypedDict):
    number_of_suggestions: NotRequired[int]
    suggestion_fields: NotRequired[List[Literal["NAME", "DESCRIPTION"]]]
    """Both when absent."""
    monitor_context: NotRequired[NotificationsSuggestBodyMonitorContext]


class NotificationsSuggestBodyMonitorContext(TypedDict):
    threshold: NotRequired[float]
    comparison_operator: NotRequired[Literal["BELOW", "BELOW_OR_EQUAL", "ABOVE", "ABOVE_OR_EQUAL", "EQUAL", "NOT_EQUAL", "OUTSIDE"]]
    formulas: NotRequired[List[NotificationsSuggestBodyMonitorContextFormulasItem]]
    queries: NotRequired[List[MetricQueryInput]]


class NotificationsSuggestBodyMonitorContextFormulasItem(TypedDict):
    name: str
    expression: str
    aggregation: NotRequired[NotificationsSuggestBodyMonitorContextFormulasItemAggregation]
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""


class NotificationsSuggestBodyMonitorContextFormulasItemAggregation(TypedDict):
    """Aggregation of the slices to one value; when absent, the formula over the whole range."""
    reduce_to: Literal["avg", "sum", "min", "max"]


class NotificationsSuggestReply(TypedDict):
    suggestions: List[NotificationsSuggestReplySuggestionsItem]


class NotificationsSuggestReplySuggestionsItem(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]


class OrganizationsListReply(TypedDict):
    organisations: List[Organization]


class OrganizationsCreateBody(TypedDict):
    name: str
    region: NotRequired[Literal["EU", "US"]]


class OrganizationsCreateReply(TypedDict):
    id: str
    name: str
    login_methods: List[OrganizationsCreateReplyLoginMethodsItem]
    description: NotRequired[str]
    active: bool
    """Whether the caller acts in this organization."""
    management_resource: NotRequired[str]
    """The organization that manages this one."""
    is_management_org: bool
    contract_type: Literal["PAID", "TRIAL", "FREE"]
    region: Literal["EU", "US"]
    metadata: Metadata
    partition_tags: NotRequired[OrganizationsCreateReplyPartitionTags]
    settings: NotRequired[OrganizationsCreateReplySettings]
    first_key: str


class OrganizationsCreateReplyLoginMethodsItem(TypedDict):
    name: str
    enabled: bool


class OrganizationsCreateReplyPartitionTags(TypedDict):
    enabled: bool
    partition_tag_list: NotRequired[List[str]]
    """The tags whose values, in this order, form the collection name of events that name no collection."""


class OrganizationsCreateReplySettings(TypedDict):
    dcr_enabled: NotRequired[bool]
    """Whether tools may register themselves as OAuth clients; stored without effect."""
    out_of_order: NotRequired[bool]
    """Stored without effect: late events are always accepted and searchable."""
    multi_org_group: NotRequired[str]
    """The default group shared by organizations; stored without effect."""
    shared_datasets: NotRequired[bool]
    """Cannot be enabled: organizations never read each other's events."""


class OrganizationsUpdateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    login_methods: NotRequired[List[OrganizationsUpdateBodyLoginMethodsItem]]
    partition_tags: NotRequired[OrganizationsUpdateBodyPartitionTags]
    settings: NotRequired[OrganizationsUpdateBodySettings]
    """Changes the given members and keeps the others."""


class OrganizationsUpdateBodyLoginMethodsItem(TypedDict):
    name: str
    enabled: bool


class OrganizationsUpdateBodyPartitionTags(TypedDict):
    enabled: bool
    partition_tag_list: NotRequired[List[str]]
    """The tags whose values, in this order, form the collection name of events that name no collection."""


class OrganizationsUpdateBodySettings(TypedDict):
    """Changes the given members and keeps the others."""
    dcr_enabled: NotRequired[bool]
    """Whether tools may register themselves as OAuth clients; stored without effect."""
    out_of_order: NotRequired[bool]
    """Stored without effect: late events are always accepted and searchable."""
    multi_org_group: NotRequired[str]
    """The default group shared by organizations; stored without effect."""
    shared_datasets: NotRequired[bool]
    """Cannot be enabled: organizations never read each other's events."""


class ParsersListReply(TypedDict):
    parsers: List[Parser]


class ParsersCreateBody(TypedDict):
    type: NotRequired[Literal["GROK", "DISSECT"]]
    """Detected from the pattern when absent."""
    log_id: str
    """The dataset that the parser is for."""
    name: NotRequired[str]
    description: NotRequired[str]
    pattern: NotRequired[str]


class ParsersUpdateBody(TypedDict):
    type: NotRequired[Literal["GROK", "DISSECT"]]
    log_id: NotRequired[str]
    name: NotRequired[str]
    description: NotRequired[str]
    pattern: NotRequired[str]
    enabled: NotRequired[bool]


class ParsersAssignedReply(TypedDict):
    parser_id: str
    parser_name: str


class ParsersAssignBody(TypedDict):
    parser_id: str


class ParsersTestBody(TypedDict):
    type: NotRequired[Literal["GROK", "DISSECT"]]
    pattern: str
    lines: List[str]


class ParsersTestReply(TypedDict):
    metrics: ParserMetrics
    results: List[ParsersTestReplyResultsItem]


class ParsersTestReplyResultsItem(TypedDict):
    raw: str
    matched: bool
    key_values: Dict[str, str]


class ParsersDetectBody(TypedDict):
    lines: NotRequired[List[str]]
    log_id: NotRequired[str]


class ParsersDetectReply(TypedDict):
    recommended_parser_id: str
    """Empty when none fits."""
    candidates: List[ParsersDetectReplyCandidatesItem]


class ParsersDetectReplyCandidatesItem(TypedDict):
    parser_id: str
    coverage: float
    metrics: ParserMetrics


class ParsersUsageReply(TypedDict):
    log_id: str
    """The busiest or the requested log; empty when there is none."""
    match_ratio: List[Series]
    """One series per log: the share of its lines that matched."""
    latency_ns: List[Series]
    """One series per log: nanoseconds per line."""


class ParsersRatioReply(TypedDict):
    log_id: str
    """The busiest or the requested log; empty when there is none."""
    match_ratio: List[Series]
    """One series per log: the share of its lines that matched."""
    latency_ns: List[Series]
    """One series per log: nanoseconds per line."""


class PatternsFindBody(TypedDict):
    search_details: PatternsFindBodySearchDetails
    """Covers the last day unless a range is given."""


PatternsFindBodySearchDetails = TypedDict(
    "PatternsFindBodySearchDetails",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
    },
)
"""Covers the last day unless a range is given."""


class PatternsFindReply(TypedDict):
    patterns: List[Pattern]


class PatternsValuesBody(TypedDict):
    id: str
    """A pattern or a family, as `/patterns` and `@pattern` return it."""
    search_details: PatternsValuesBodySearchDetails
    """Covers the last day unless a range is given."""
    limit: NotRequired[int]
    """The number of values of each variable part, by default 10."""


PatternsValuesBodySearchDetails = TypedDict(
    "PatternsValuesBodySearchDetails",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
    },
)
"""Covers the last day unless a range is given."""


class PermissionsListReply(TypedDict):
    resources: List[PermissionGroup]


class PersonalKeysListReply(TypedDict):
    api_keys: List[ApiKey]


class PersonalKeysCreateBody(TypedDict):
    name: str
    roles: List[str]
    """Roles of API keys. They limit the key and add nothing: with AdminApi it may do all that you may."""
    ttl: NotRequired[int]
    """Lifetime in seconds; absent or 0 means that the key never expires."""
    expires_at: NotRequired[int]
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Without any, it may be used from anywhere.
    """


class PersonalKeysCreateReply(TypedDict):
    id: str
    name: str
    api_key: str
    """Short identifier that tells keys apart; not part of the secret."""
    roles: List[str]
    user_id: NotRequired[str]
    """
    The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other
    keys.
    """
    is_suspended: NotRequired[bool]
    """
    True when the identity provider has refused the user of a personal key: it works again once the user has signed on.
    Absent otherwise.
    """
    tags: Tags
    allowed_in_address: bool
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    expires_at: NotRequired[int]
    """Unix seconds; absent when the key never expires."""
    expires_soon: NotRequired[bool]
    """True when the key expires within 14 days, or has expired; absent otherwise."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Absent when it may be used from anywhere.
    """
    previous_key_expires_at: NotRequired[int]
    """After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not."""
    previous_key_used_at: NotRequired[int]
    """When the previous secret was last used, to the minute; absent when it was not."""
    query_budget: NotRequired[ApiKeyQueryBudget]
    """Limits of the queries of this key; absent when those of its roles apply."""
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """
    Where events of this key go unless the request says otherwise, for senders that can send only a key. Absent when
    there are none.
    """
    last_used_at: NotRequired[int]
    """When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first."""
    last_used_address: NotRequired[str]
    """The network address of that request."""
    metadata: Metadata
    key: str


class PersonalKeysRotateBody(TypedDict):
    overlap: NotRequired[int]
    """Seconds for which the previous secret keeps working; with 0 it ends at once."""
    end_previous: NotRequired[bool]
    """End the secret before the previous rotation at once, if it still works."""


class PersonalKeysRotateReply(TypedDict):
    id: str
    name: str
    api_key: str
    """Short identifier that tells keys apart; not part of the secret."""
    roles: List[str]
    user_id: NotRequired[str]
    """
    The user as whom a personal key acts, with the permissions that both the user and the roles have; absent for other
    keys.
    """
    is_suspended: NotRequired[bool]
    """
    True when the identity provider has refused the user of a personal key: it works again once the user has signed on.
    Absent otherwise.
    """
    tags: Tags
    allowed_in_address: bool
    """
    Whether senders that can set no header may send events with the key as parameter `token` or `api_key` of the
    address.
    Addresses end up in the logs of proxies and senders.
    """
    expires_at: NotRequired[int]
    """Unix seconds; absent when the key never expires."""
    expires_soon: NotRequired[bool]
    """True when the key expires within 14 days, or has expired; absent otherwise."""
    allowed_addresses: NotRequired[List[str]]
    """
    Addresses and networks such as 10.0.0.0/8 or 2001:db8::/32 from which the key may be used; requests from others get
    403. Absent when it may be used from anywhere.
    """
    previous_key_expires_at: NotRequired[int]
    """After a rotation, the time in Unix seconds until which the previous secret works too; absent when it does not."""
    previous_key_used_at: NotRequired[int]
    """When the previous secret was last used, to the minute; absent when it was not."""
    query_budget: NotRequired[ApiKeyQueryBudget]
    """Limits of the queries of this key; absent when those of its roles apply."""
    event_defaults: NotRequired[ApiKeyEventDefaults]
    """
    Where events of this key go unless the request says otherwise, for senders that can send only a key. Absent when
    there are none.
    """
    last_used_at: NotRequired[int]
    """When the key last authenticated a request, to the minute: sending, searching or any other; absent before the first."""
    last_used_address: NotRequired[str]
    """The network address of that request."""
    metadata: Metadata
    key: str


class PoliciesListReply(TypedDict):
    policies: List[Policy]


class PoliciesCreateBody(TypedDict):
    description: NotRequired[str]
    policy_type: Literal["ROLE_BASED", "LOG_FORBID", "LOG_PERMIT", "CUSTOM"]
    resource: PoliciesCreateBodyResource
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    actions: List[str]
    """Policies are about reading, so the list must include it: `*`, `read`, `search`, `logs_read` or `search_read`."""
    restricted: NotRequired[bool]
    """Stored without effect; a LOG_PERMIT policy always restricts."""
    principal: PoliciesCreateBodyPrincipal
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    when: NotRequired[PoliciesCreateBodyWhen]
    """The policy applies only if all given members match; of a log, only to the events that match."""
    unless: NotRequired[PoliciesCreateBodyUnless]
    """The policy does not apply if all given members match; of a log, not to the events that match."""


class PoliciesCreateBodyResource(TypedDict):
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    resource_type: str
    resource_id: str


class PoliciesCreateBodyPrincipal(TypedDict):
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesCreateBodyWhen(TypedDict):
    """The policy applies only if all given members match; of a log, only to the events that match."""
    resources: NotRequired[List[PoliciesCreateBodyWhenResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesCreateBodyWhenPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesCreateBodyWhenContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesCreateBodyWhenResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesCreateBodyWhenPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesCreateBodyWhenContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesCreateBodyUnless(TypedDict):
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    resources: NotRequired[List[PoliciesCreateBodyUnlessResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesCreateBodyUnlessPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesCreateBodyUnlessContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesCreateBodyUnlessResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesCreateBodyUnlessPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesCreateBodyUnlessContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesPreviewBody(TypedDict):
    description: NotRequired[str]
    policy_type: Literal["ROLE_BASED", "LOG_FORBID", "LOG_PERMIT", "CUSTOM"]
    resource: PoliciesPreviewBodyResource
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    actions: List[str]
    """Policies are about reading, so the list must include it: `*`, `read`, `search`, `logs_read` or `search_read`."""
    restricted: NotRequired[bool]
    """Stored without effect; a LOG_PERMIT policy always restricts."""
    principal: PoliciesPreviewBodyPrincipal
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    when: NotRequired[PoliciesPreviewBodyWhen]
    """The policy applies only if all given members match; of a log, only to the events that match."""
    unless: NotRequired[PoliciesPreviewBodyUnless]
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    time_range: NotRequired[str]
    """A relative range such as `Last 20 minutes`; excludes from_ts and to_ts."""
    from_ts: NotRequired[int]
    """Epoch milliseconds, inclusive; together with to_ts."""
    to_ts: NotRequired[int]
    """Epoch milliseconds, exclusive; together with from_ts."""
    policy_id: NotRequired[str]
    """The policy that this one would replace."""


class PoliciesPreviewBodyResource(TypedDict):
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    resource_type: str
    resource_id: str


class PoliciesPreviewBodyPrincipal(TypedDict):
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesPreviewBodyWhen(TypedDict):
    """The policy applies only if all given members match; of a log, only to the events that match."""
    resources: NotRequired[List[PoliciesPreviewBodyWhenResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesPreviewBodyWhenPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesPreviewBodyWhenContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesPreviewBodyWhenResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesPreviewBodyWhenPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesPreviewBodyWhenContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesPreviewBodyUnless(TypedDict):
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    resources: NotRequired[List[PoliciesPreviewBodyUnlessResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesPreviewBodyUnlessPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesPreviewBodyUnlessContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesPreviewBodyUnlessResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesPreviewBodyUnlessPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesPreviewBodyUnlessContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesUpdateBody(TypedDict):
    description: NotRequired[str]
    policy_type: Literal["ROLE_BASED", "LOG_FORBID", "LOG_PERMIT", "CUSTOM"]
    resource: PoliciesUpdateBodyResource
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    actions: List[str]
    """Policies are about reading, so the list must include it: `*`, `read`, `search`, `logs_read` or `search_read`."""
    restricted: NotRequired[bool]
    """Stored without effect; a LOG_PERMIT policy always restricts."""
    principal: PoliciesUpdateBodyPrincipal
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    when: NotRequired[PoliciesUpdateBodyWhen]
    """The policy applies only if all given members match; of a log, only to the events that match."""
    unless: NotRequired[PoliciesUpdateBodyUnless]
    """The policy does not apply if all given members match; of a log, not to the events that match."""


class PoliciesUpdateBodyResource(TypedDict):
    """A log (`LOG`, `DATASET`) by its id, or a collection (`LOG_SET`, `LOGSET`, `COLLECTION`) by its name."""
    resource_type: str
    resource_id: str


class PoliciesUpdateBodyPrincipal(TypedDict):
    """A role by its name or id, a user or an API key by its id. ROLE_BASED policies name a role."""
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesUpdateBodyWhen(TypedDict):
    """The policy applies only if all given members match; of a log, only to the events that match."""
    resources: NotRequired[List[PoliciesUpdateBodyWhenResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesUpdateBodyWhenPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesUpdateBodyWhenContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesUpdateBodyWhenResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesUpdateBodyWhenPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesUpdateBodyWhenContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesUpdateBodyUnless(TypedDict):
    """The policy does not apply if all given members match; of a log, not to the events that match."""
    resources: NotRequired[List[PoliciesUpdateBodyUnlessResourcesItem]]
    """True if the log is one of these."""
    principals: NotRequired[List[PoliciesUpdateBodyUnlessPrincipalsItem]]
    """True if the caller is one of these, or has one of these roles."""
    context: NotRequired[List[PoliciesUpdateBodyUnlessContextItem]]
    """
    For ROLE_BASED and CUSTOM: conditions on fields of an event, all of which must match. A value of digits is a number;
    `in` and `not in` take a list separated by commas, `like` a pattern with `%` and `_`.
    """
    where: NotRequired[str]
    """
    For ROLE_BASED and CUSTOM: a filter in the query language on the fields of an event, `@status` and `@origin`,
    without free text. It must match in addition to `context`.
    """


class PoliciesUpdateBodyUnlessResourcesItem(TypedDict):
    resource_type: str
    resource_id: str


class PoliciesUpdateBodyUnlessPrincipalsItem(TypedDict):
    principal_type: Literal["ROLE", "USER", "APIKEY"]
    principal_id: str


class PoliciesUpdateBodyUnlessContextItem(TypedDict):
    key: str
    operator: Literal["==", "!=", "<", "<=", ">", ">=", "in", "not in", "like"]
    value: Union[str, bool]


class PoliciesOfResourceReply(TypedDict):
    policies: List[Policy]


class PoliciesOfPrincipalReply(TypedDict):
    policies: List[Policy]


class ReferenceOpenapiReply(TypedDict):
    openapi: Literal["3.1.0"]


class RetentionOverviewReply(TypedDict):
    clock: RetentionOverviewReplyClock
    datasets: List[RetentionOverviewReplyDatasetsItem]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""
    totals: NotRequired[RetentionTotals]
    deleted: List[RetentionOverviewReplyDeletedItem]
    orphans: List[RetentionOverviewReplyOrphansItem]
    """Events of unknown datasets, as of the last daily check."""


class RetentionOverviewReplyClock(TypedDict):
    is_trusted: bool
    """While false, retention deletes nothing."""
    steady_since: Union[int, None]
    checked_at: Union[int, None]


class RetentionOverviewReplyDatasetsItem(TypedDict):
    log_id: str
    collection: str
    dataset: str
    retention_days: Union[int, None]
    """null when events are never deleted."""
    rule: Literal["LOG", "LOG_SET", "ORGANISATION", "DEPLOYMENT"]
    """The rule that applies."""
    cutoff: Union[int, None]
    """Events before this time exceed their retention; they are deleted by whole days."""
    removed: Union[RetentionOverviewReplyDatasetsItemRemoved, None]
    """The events deleted by retention in total, and with the last deletion: those with times before `before`."""


class RetentionOverviewReplyDatasetsItemRemoved(TypedDict):
    events: int
    last_events: int
    last_at: int
    before: int


class RetentionOverviewReplyDeletedItem(TypedDict):
    log_id: str
    collection: str
    dataset: str
    deleted_at: int


class RetentionOverviewReplyOrphansItem(TypedDict):
    log_id: str
    events: int


class RetentionOfDatasetReply(TypedDict):
    log_id: str
    collection: str
    dataset: str
    retention_days: Union[int, None]
    """null when events are never deleted."""
    rule: Literal["LOG", "LOG_SET", "ORGANISATION", "DEPLOYMENT"]
    """The rule that applies."""
    cutoff: Union[int, None]
    """Events before this time exceed their retention; they are deleted by whole days."""
    removed: Union[RetentionOfDatasetReplyRemoved, None]
    """The events deleted by retention in total, and with the last deletion: those with times before `before`."""
    oldest_event_at: Union[int, None]
    """Epoch milliseconds; null when there is no event."""
    next: Union[RetentionOfDatasetReplyNext, None]
    """
    The next deletion, by whole UTC days: events with times before `before`, not before `at`. null when events are never
    deleted.
    """
    tiers: NotRequired[RetentionOfDatasetReplyTiers]
    """
    The stored events on the disk and in cold storage, also those that exceed their retention; present where cold
    storage is configured.
    """


class RetentionOfDatasetReplyRemoved(TypedDict):
    events: int
    last_events: int
    last_at: int
    before: int


class RetentionOfDatasetReplyNext(TypedDict):
    at: int
    before: int
    events: int


class RetentionOfDatasetReplyTiers(TypedDict):
    """
    The stored events on the disk and in cold storage, also those that exceed their retention; present where cold
    storage is configured.
    """
    hot: int
    cold: int


class RetentionRulesListReply(TypedDict):
    retention_rules: List[RetentionRule]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class RetentionRulesCreateBody(TypedDict):
    entity: Literal["LOG", "LOG_SET", "ORGANISATION"]
    category: Literal["DATASET_RETENTION", "DEFAULT_RETENTION"]
    retention: Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]
    scope: NotRequired[RetentionRulesCreateBodyScope]
    """The log or collection; required unless `category` is DEFAULT_RETENTION."""


RetentionRulesCreateBodyScope = TypedDict(
    "RetentionRulesCreateBodyScope",
    {
        "from": "NotRequired[str]",
        "name": "NotRequired[str]",
    },
)
"""The log or collection; required unless `category` is DEFAULT_RETENTION."""


class RetentionRulesUpdateBody(TypedDict):
    entity: Literal["LOG", "LOG_SET", "ORGANISATION"]
    category: Literal["DATASET_RETENTION", "DEFAULT_RETENTION"]
    retention: Literal["DAYS_30", "DAYS_90", "DAYS_180", "DAYS_365", "DAYS_548", "DAYS_730"]
    scope: NotRequired[RetentionRulesUpdateBodyScope]
    """The log or collection; required unless `category` is DEFAULT_RETENTION."""


RetentionRulesUpdateBodyScope = TypedDict(
    "RetentionRulesUpdateBodyScope",
    {
        "from": "NotRequired[str]",
        "name": "NotRequired[str]",
    },
)
"""The log or collection; required unless `category` is DEFAULT_RETENTION."""


class RolesListReply(TypedDict):
    roles: List[Role]


class RolesCreateBody(TypedDict):
    role_type: Literal["USER", "API"]
    display_name: str
    description: NotRequired[str]
    permissions: List[Union[str, RolesCreateBodyPermissionsItem2]]


class RolesCreateBodyPermissionsItem2(TypedDict):
    """As in a response; its `name` counts."""
    name: str


class RolesUpdateBody(TypedDict):
    role_type: Literal["USER", "API"]
    display_name: str
    description: NotRequired[str]
    permissions: List[Union[str, RolesUpdateBodyPermissionsItem2]]


class RolesUpdateBodyPermissionsItem2(TypedDict):
    """As in a response; its `name` counts."""
    name: str


class SavedSearchesListReply(TypedDict):
    saved_searches: List[SavedSearch]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class SavedSearchesCreateBody(TypedDict):
    name: NotRequired[str]
    """Required unless a template provides it."""
    description: NotRequired[str]
    search_details: NotRequired[SearchDetails]
    """Required unless a template provides them."""
    log_ids: NotRequired[List[str]]
    """Deprecated."""
    tags: NotRequired[Tags]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here."""


class SavedSearchesUpdateBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str]
    search_details: NotRequired[SearchDetails]
    log_ids: NotRequired[List[str]]
    """Deprecated."""


class SavedSearchTemplatesListReply(TypedDict):
    templates: List[SavedSearchTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class SavedSearchTemplatesCreateBody(TypedDict):
    name: str
    description: NotRequired[str]
    search_details: SearchTemplateDetails
    this_template_tags: Tags
    """Tags of the logs that the template is for."""
    parameters: NotRequired[TemplateParameters]
    tags: NotRequired[Tags]


class SavedSearchTemplatesUpdateBody(TypedDict):
    name: str
    description: NotRequired[str]
    search_details: SearchTemplateDetails
    this_template_tags: Tags
    """Tags of the logs that the template is for."""
    parameters: NotRequired[TemplateParameters]
    tags: NotRequired[Tags]


SearchRunBody = TypedDict(
    "SearchRunBody",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "from_tags": "NotRequired[List[str]]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
        "select": "NotRequired[List[str]]",
        "groups": "NotRequired[List[str]]",
        "limit": "NotRequired[int]",
        "num_of_slices": "NotRequired[int]",
        "from_sequence": "NotRequired[int]",
        "most_recent_first": "NotRequired[bool]",
        "order_by": "NotRequired[str]",
        "explain_only": "NotRequired[bool]",
        "async_enabled": "NotRequired[bool]",
        "pagination_token": "NotRequired[str]",
        "per_page": "NotRequired[int]",
    },
)


class SecondFactorGetReply(TypedDict):
    enabled: bool
    recovery_codes_left: NotRequired[int]
    """How many recovery codes you have not used; absent while it is off."""


class SecondFactorBeginBody(TypedDict):
    password: str


class SecondFactorBeginReply(TypedDict):
    secret: str
    """The secret in base 32, to be typed."""
    address: str
    """The same as an `otpauth:` address, for a QR code."""


class SecondFactorConfirmBody(TypedDict):
    code: str


class SecondFactorConfirmReply(TypedDict):
    recovery_codes: List[str]
    """Each replaces a code once."""


class SecondFactorRemoveBody(TypedDict):
    password: str
    code: str


class SessionsListReply(TypedDict):
    sessions: List[Session]


class SignOnProvidersBody(TypedDict):
    email: str


class SignOnProvidersReply(TypedDict):
    providers: List[SignOnProvidersReplyProvidersItem]


class SignOnProvidersReplyProvidersItem(TypedDict):
    id: str
    name: str


class SignOnStartBody(TypedDict):
    provider: str


class SignOnStartReply(TypedDict):
    url: str


class SignOnFinishBody(TypedDict):
    answer: str
    """The query string of the address to which the provider redirected."""


class SignOnLogoutReply(TypedDict):
    url: NotRequired[str]
    """Absent if the session is not by an identity provider, or if the provider has no such address."""


class SpendGetReply(TypedDict):
    start_time: int
    end_time: int
    slice_ms: int
    """The length of a slice, rounded where slices do not divide the range."""
    by: Literal["dataset", "key", "protocol", "pattern", "field", "sender"]
    price: NotRequired[SpendPrice]
    total: SpendSum
    is_exact: bool
    """false when slices do not begin on full minutes, or recounted events have unknown bytes."""
    other: NotRequired[OtherSpend]
    """The sum of all groups that are not listed; absent when there are none."""
    is_estimate: bool
    """true for patterns, fields and senders: one line of 64 KiB is sampled, in proportion to its length."""
    groups: List[SpendGroup]
    """The largest first. With `other` they add up to the total."""


class SpendSavingsReply(TypedDict):
    start_time: int
    end_time: int
    price: NotRequired[SpendPrice]
    savings: List[SpendSaving]
    """Those that save most first, at most three of a dataset."""


class SpendSetBody(TypedDict):
    price: NotRequired[SpendPriceInput]
    budget: NotRequired[SpendBudget]


class SourcesListReply(TypedDict):
    sources: List[Source]


class SourcesCreateBody(TypedDict):
    name: str
    description: NotRequired[str]
    log_id: str
    """The dataset that the events go to."""
    paused: NotRequired[bool]
    """A paused source reads nothing and keeps its position."""
    origin: Union[SourceDirectoryInput, SourceKafkaInput, SourceS3Input]


class SourcesTestBody(TypedDict):
    origin: Union[SourceDirectoryInput, SourceKafkaInput, SourceS3Input]


class SourcesTestReply(TypedDict):
    result: bool
    failure_reason: NotRequired[str]


class SourcesUpdateBody(TypedDict):
    name: str
    description: NotRequired[str]
    log_id: str
    """The dataset that the events go to."""
    paused: NotRequired[bool]
    """A paused source reads nothing and keeps its position."""
    origin: Union[SourceDirectoryInput, SourceKafkaInput, SourceS3Input]


class RehydrationsListReply(TypedDict):
    rehydrations: List[Rehydration]


class RehydrationsCreateBody(TypedDict):
    log_id: str
    """The dataset that the events go to."""
    origin: Union[RehydrationDirectoryInput, RehydrationS3Input]
    from_ts: NotRequired[int]
    """Only events from this time on. Without it, all events before `to_ts`."""
    to_ts: NotRequired[int]
    """Only events before this time."""
    filter: NotRequired[str]
    """Only events that match this filter. Default: all."""


class RehydrationsFilesReply(TypedDict):
    files: List[RehydratedFile]


class SsoIdpsReply(TypedDict):
    idps: List[Idp]


class SsoCreateIdpBody(TypedDict):
    identifiers: NotRequired[List[str]]
    issuer_url: NotRequired[str]
    """The issuer, under which the provider publishes `.well-known/openid-configuration`."""
    client_id: NotRequired[str]
    client_secret: NotRequired[str]
    meta_cert: NotRequired[str]
    """The SAML 2.0 metadata of the provider, an XML document. Required for SAML."""
    app_client_id: NotRequired[str]
    """The entity id by which a SAML provider knows Dendro; `urn:uuid:` and the id of the provider if absent."""
    accept_idp_initiated: NotRequired[bool]
    """
    Accepts answers that nobody asked for, from the page of a SAML provider. Then somebody else may sign a user on as
    themselves.
    """
    attribute_mappings: NotRequired[List[SsoCreateIdpBodyAttributeMappingsItem]]
    scopes: NotRequired[str]
    """Of OpenID Connect, separated by blanks; `openid` and `email` are always requested."""
    default_roles: NotRequired[List[str]]
    is_required: NotRequired[bool]
    local_administrator: NotRequired[str]
    session_minutes: NotRequired[Union[int, None]]
    """
    How long a session lasts at most about which the provider cannot be asked again: of SAML, or without a refresh
    token. null: as long as the access token, or an hour.
    """
    deactivate_refused: NotRequired[bool]
    """
    Deactivates a user whom a provider of OpenID Connect refuses when it is asked again. The user comes back by signing
    on. Some providers also refuse when a session has been idle.
    """
    name: str
    provider_type: Literal["SAML", "OIDC"]


class SsoCreateIdpBodyAttributeMappingsItem(TypedDict):
    provider_attr: str
    user_attr: Literal["first_name", "last_name", "email"]


class SsoUpdateIdpBody(TypedDict):
    identifiers: NotRequired[List[str]]
    issuer_url: NotRequired[str]
    """The issuer, under which the provider publishes `.well-known/openid-configuration`."""
    client_id: NotRequired[str]
    client_secret: NotRequired[str]
    meta_cert: NotRequired[str]
    """The SAML 2.0 metadata of the provider, an XML document. Required for SAML."""
    app_client_id: NotRequired[str]
    """The entity id by which a SAML provider knows Dendro; `urn:uuid:` and the id of the provider if absent."""
    accept_idp_initiated: NotRequired[bool]
    """
    Accepts answers that nobody asked for, from the page of a SAML provider. Then somebody else may sign a user on as
    themselves.
    """
    attribute_mappings: NotRequired[List[SsoUpdateIdpBodyAttributeMappingsItem]]
    scopes: NotRequired[str]
    """Of OpenID Connect, separated by blanks; `openid` and `email` are always requested."""
    default_roles: NotRequired[List[str]]
    is_required: NotRequired[bool]
    local_administrator: NotRequired[str]
    session_minutes: NotRequired[Union[int, None]]
    """
    How long a session lasts at most about which the provider cannot be asked again: of SAML, or without a refresh
    token. null: as long as the access token, or an hour.
    """
    deactivate_refused: NotRequired[bool]
    """
    Deactivates a user whom a provider of OpenID Connect refuses when it is asked again. The user comes back by signing
    on. Some providers also refuse when a session has been idle.
    """


class SsoUpdateIdpBodyAttributeMappingsItem(TypedDict):
    provider_attr: str
    user_attr: Literal["first_name", "last_name", "email"]


class SsoMappingsReply(TypedDict):
    mappings: List[SsoMapping]


class SsoCreateMappingBody(TypedDict):
    provider_key: str
    """The claim of the provider, such as `groups`."""
    provider_value: str
    """The value of the claim, or one value of a list."""
    assign_attr: str
    """A role, or `group:` and the id of a group."""
    idp: NotRequired[str]
    """The name of the provider; without it, the mapping holds for all."""


class SsoPreviewBody(TypedDict):
    idp: str
    claims: Dict[str, Union[Union[str, float, bool, List[str]], Dict[str, Union[Union[str, float, bool, List[str]], Dict[str, Union[str, float, bool, List[str]]]]]]]


class SsoPreviewReply(TypedDict):
    roles: List[str]
    groups: List[str]


class StatementsReplaceBody(TypedDict):
    project_id: str
    repo_url: str
    version: str
    statements: List[Statement]


class StatementsReplaceReply(TypedDict):
    count: int


class StatementsListReply(TypedDict):
    statements: List[Statement]


class StatementsGetReply(TypedDict):
    id: str
    message: str
    file: str
    line: int
    """-1 when unknown."""
    project_id: str
    repo_url: str
    version: str
    references: List[StatementReference]


class TagsSearchReply(TypedDict):
    tags: List[TagsSearchReplyTagsItem]


class TagsSearchReplyTagsItem(TypedDict):
    name: str
    values: List[TagsSearchReplyTagsItemValuesItem]


class TagsSearchReplyTagsItemValuesItem(TypedDict):
    value: str
    types: List[TagsSearchReplyTagsItemValuesItemTypesItem]


class TagsSearchReplyTagsItemValuesItemTypesItem(TypedDict):
    type: Literal["log", "dashboard", "user", "api_key", "widget", "saved_search", "monitor"]
    value: NotRequired[str]
    entities: List[TagsSearchReplyTagsItemValuesItemTypesItemEntitiesItem]


class TagsSearchReplyTagsItemValuesItemTypesItemEntitiesItem(TypedDict):
    id: str


class TagsRemoveBody(TypedDict):
    name: str
    entity: TagsRemoveBodyEntity


class TagsRemoveBodyEntity(TypedDict):
    type: Literal["log", "dashboard", "user", "api_key", "widget", "saved_search", "monitor"]
    id: str


class TimeseriesSearchBody(TypedDict):
    queries: List[MetricQueryInput]
    formulas: NotRequired[List[MetricFormula]]
    time_range: TimeseriesSearchBodyTimeRange
    """Either `natural`, or `from_ts` and `to_ts`."""
    limit: NotRequired[int]
    """Groups; 100 when absent."""
    num_of_slices: NotRequired[int]
    """100 when absent."""
    delta: NotRequired[TimeseriesSearchBodyDelta]
    """Compares with an earlier period: `natural`, or `from_ts` and `to_ts`, or by default the one just before."""


class TimeseriesSearchBodyTimeRange(TypedDict):
    """Either `natural`, or `from_ts` and `to_ts`."""
    natural: NotRequired[str]
    """Such as `Last 1 hour`."""
    from_ts: NotRequired[int]
    to_ts: NotRequired[int]


class TimeseriesSearchBodyDelta(TypedDict):
    """Compares with an earlier period: `natural`, or `from_ts` and `to_ts`, or by default the one just before."""
    enabled: bool
    natural: NotRequired[str]
    from_ts: NotRequired[int]
    to_ts: NotRequired[int]


TopKeysSampleBody = TypedDict(
    "TopKeysSampleBody",
    {
        "from": "NotRequired[List[str]]",
        "from_expr": "NotRequired[str]",
        "time_range": "NotRequired[str]",
        "from_ts": "NotRequired[int]",
        "to_ts": "NotRequired[int]",
        "where": "NotRequired[str]",
        "limit": "NotRequired[int]",
        "estimate": "NotRequired[bool]",
        "exact": "NotRequired[bool]",
    },
)


class UsersListReply(TypedDict):
    users: List[User]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class UsersCreateBody(TypedDict):
    first_name: str
    last_name: str
    email: str
    roles: List[str]
    tags: NotRequired[Tags]
    login_methods: NotRequired[List[UsersCreateBodyLoginMethodsItem]]


class UsersCreateBodyLoginMethodsItem(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class UsersCreateReply(TypedDict):
    id: str
    first_name: str
    last_name: str
    email: str
    roles: List[str]
    """`Administrator`, `Standard`, `ReadOnly`, or ids of custom roles."""
    last_logins: Dict[str, int]
    """The last login by each login method, in Unix seconds."""
    login_methods: List[UsersCreateReplyLoginMethodsItem]
    tags: Tags
    status: Literal["INVITED", "ACTIVE", "INACTIVE", "DEACTIVATED", "MIGRATED", "REMOVED"]
    invited_at: NotRequired[int]
    """The latest invitation, in Unix seconds."""
    invited_by: NotRequired[str]
    """
    The e-mail address of the latest inviter, or the name of the API key that invited; absent when an identity provider
    created the user.
    """
    metadata: Metadata
    invitation_url: NotRequired[str]
    """The one-time link, if it could not be sent by mail. It is shown only once; give it to the user."""


class UsersCreateReplyLoginMethodsItem(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class UsersAllReply(TypedDict):
    users: List[MultiOrgUser]


class UsersUpdateBody(TypedDict):
    """Any subset. Users without the permission can change only their own names; other members are refused."""
    first_name: NotRequired[str]
    last_name: NotRequired[str]
    roles: NotRequired[List[str]]
    login_methods: NotRequired[Union[List[UsersUpdateBodyLoginMethodsItem], UsersUpdateBodyLoginMethods2, Dict[str, bool]]]
    """Merged by name with the existing methods; at least one must stay enabled."""


class UsersUpdateBodyLoginMethodsItem(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class UsersUpdateBodyLoginMethods2(TypedDict):
    name: str
    """`Password`, or the name of an identity provider."""
    enabled: bool


class UsersResendInviteReply(TypedDict):
    success: bool
    message: str
    invitation_url: NotRequired[str]
    """The one-time link, if it could not be sent by mail. It is shown only once; give it to the user."""


class UsersResetPasswordReply(TypedDict):
    success: bool
    message: str
    invitation_url: NotRequired[str]
    """The one-time link, if it could not be sent by mail. It is shown only once; give it to the user."""


class UsersUpdatePreferencesBody(TypedDict):
    """
    Exactly one member. In `favourites`, `defaults` and `features` the given members replace existing ones and the
    others stay; null clears a default.
    """
    favourites: NotRequired[UsersUpdatePreferencesBodyFavourites]
    defaults: NotRequired[UsersUpdatePreferencesBodyDefaults]
    features: NotRequired[Dict[str, bool]]
    theme: NotRequired[Literal["light", "dark", "system"]]
    preferred_org: NotRequired[str]
    timezone: NotRequired[str]
    """A name of the IANA time zone database."""
    filter_null_groups: NotRequired[Literal["true", "false"]]


class UsersUpdatePreferencesBodyFavourites(TypedDict):
    monitors: NotRequired[List[str]]
    dashboards: NotRequired[List[str]]
    saved_searches: NotRequired[List[str]]


class UsersUpdatePreferencesBodyDefaults(TypedDict):
    monitor: NotRequired[Union[str, None]]
    dashboard: NotRequired[Union[str, None]]


class UsersAccessReply(TypedDict):
    organisations: List[Organization]


class UsersGroupsReply(TypedDict):
    groups: List[UserGroup]


class WidgetsListReply(TypedDict):
    widgets: List[Widget]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class WidgetsCreateBody(TypedDict):
    type: NotRequired[Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]]
    """`line` when absent."""
    name: NotRequired[str]
    """Required unless a template provides it."""
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    """Such as the color; stored unchanged."""
    metric_ids: NotRequired[List[str]]
    """Metric definitions."""
    widget_ids: NotRequired[List[str]]
    """Widgets inside this one; not together with metrics."""
    layout: NotRequired[WidgetsCreateBodyLayout]
    tags: NotRequired[Tags]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here; its metrics and widgets are created."""


class WidgetsCreateBodyLayout(TypedDict):
    widget_layouts: NotRequired[List[WidgetPosition]]


class WidgetsUpdateBody(TypedDict):
    type: NotRequired[Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]]
    """`line` when absent."""
    name: NotRequired[str]
    """Required unless a template provides it."""
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    """Such as the color; stored unchanged."""
    metric_ids: NotRequired[List[str]]
    """Metric definitions."""
    widget_ids: NotRequired[List[str]]
    """Widgets inside this one; not together with metrics."""
    layout: NotRequired[WidgetsUpdateBodyLayout]
    tags: NotRequired[Tags]
    template: NotRequired[TemplateInput]
    """Provides every member that is absent here; its metrics and widgets are created."""


class WidgetsUpdateBodyLayout(TypedDict):
    widget_layouts: NotRequired[List[WidgetPosition]]


class WidgetsChangeBody(TypedDict):
    type: NotRequired[Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]]
    """`line` when absent."""
    name: NotRequired[str]
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    """Such as the color; stored unchanged."""
    layout: NotRequired[WidgetsChangeBodyLayout]
    metric_ids: NotRequired[List[str]]
    """Metric definitions."""


class WidgetsChangeBodyLayout(TypedDict):
    widget_layouts: NotRequired[List[WidgetPosition]]


class WidgetsAddWidgetsBody(TypedDict):
    widget_ids: List[str]


class WidgetsDataBody(TypedDict):
    time_range: NotRequired[str]
    """`Last 20 minutes` when no range is given."""
    from_ts: NotRequired[int]
    to_ts: NotRequired[int]
    limit: NotRequired[int]
    """Groups; 100 when absent."""
    num_of_slices: NotRequired[int]
    """10 when absent."""
    where: NotRequired[str]
    """An additional filter on the events of every query."""
    delta: NotRequired[bool]
    delta_time_range: NotRequired[str]
    delta_from_ts: NotRequired[int]
    delta_to_ts: NotRequired[int]


class WidgetsDataReply(TypedDict):
    metrics: List[WidgetsDataReplyMetricsItem]


class WidgetsDataReplyMetricsItem(TypedDict):
    widget_id: str
    metric_id: str
    timeseries: Dict[str, MetricTimeseries]


class WidgetTemplatesListReply(TypedDict):
    templates: List[WidgetTemplate]
    next_cursor: NotRequired[str]
    """The `cursor` of the next page. Absent on the last page, and without `limit`."""


class WidgetTemplatesCreateBody(TypedDict):
    type: NotRequired[Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]]
    name: str
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    """Such as the color; stored unchanged."""
    metrics: NotRequired[List[TemplateReferenceInput]]
    """Templates of metric definitions."""
    widgets: NotRequired[List[TemplateReferenceInput]]
    """Templates of the widgets inside; not together with metrics."""
    layout: NotRequired[WidgetTemplatesCreateBodyLayout]
    """Its ids are those of the templates under `widgets`."""
    tags: NotRequired[Tags]
    parameters: NotRequired[TemplateParameters]


class WidgetTemplatesCreateBodyLayout(TypedDict):
    """Its ids are those of the templates under `widgets`."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class WidgetTemplatesUpdateBody(TypedDict):
    type: NotRequired[Literal["line", "bar", "area", "score", "pie", "treemap", "top-list"]]
    name: str
    description: NotRequired[str]
    aux: NotRequired[Dict[str, Any]]
    """Such as the color; stored unchanged."""
    metrics: NotRequired[List[TemplateReferenceInput]]
    """Templates of metric definitions."""
    widgets: NotRequired[List[TemplateReferenceInput]]
    """Templates of the widgets inside; not together with metrics."""
    layout: NotRequired[WidgetTemplatesUpdateBodyLayout]
    """Its ids are those of the templates under `widgets`."""
    tags: NotRequired[Tags]
    parameters: NotRequired[TemplateParameters]


class WidgetTemplatesUpdateBodyLayout(TypedDict):
    """Its ids are those of the templates under `widgets`."""
    widget_layouts: NotRequired[List[WidgetPosition]]


class AccessApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        org_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessListReply:
        """List the roles granted to users and groups in an organization."""
        reply: AccessListReply = self._transport.call(
            "GET",
            f"/organizations/{self._transport.part(org_id)}/access",
            "json",
            headers=headers,
        )
        return reply

    def list_own(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessListOwnReply:
        """List the roles granted to users and groups in the caller's organization."""
        reply: AccessListOwnReply = self._transport.call(
            "GET",
            "/access",
            "json",
            headers=headers,
        )
        return reply

    def grant(
        self,
        org_id: str,
        entity_type: str,
        entity_id: str,
        body: AccessGrantBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """
        Set the granted roles of a user or group.

        Roles apply while `status` is `active`. Callers can grant only permissions that they hold.
        """
        self._transport.call(
            "POST",
            f"/organizations/{self._transport.part(org_id)}/access/{self._transport.part(entity_type)}/{self._transport.part(entity_id)}",
            "none",
            body=body,
            headers=headers,
        )

    def revoke(
        self,
        org_id: str,
        entity_type: str,
        entity_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Revoke the granted roles of a user or group, if any."""
        self._transport.call(
            "DELETE",
            f"/organizations/{self._transport.part(org_id)}/access/{self._transport.part(entity_type)}/{self._transport.part(entity_id)}",
            "none",
            headers=headers,
        )

    def check(
        self,
        org_id: str,
        entity_type: str,
        entity_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessCheckReply:
        """Check the access and roles of a user or group in an organization."""
        reply: AccessCheckReply = self._transport.call(
            "GET",
            f"/organizations/{self._transport.part(org_id)}/access/{self._transport.part(entity_type)}/{self._transport.part(entity_id)}/check",
            "json",
            headers=headers,
        )
        return reply

    def check_own(
        self,
        *,
        user_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessCheckOwnReply:
        """
        Check the access and roles of a user in the caller's organization.

        Without `user_id`, it checks the calling user; other users require `access_read`.
        """
        reply: AccessCheckOwnReply = self._transport.call(
            "GET",
            "/access/check",
            "json",
            query={"user_id": user_id},
            headers=headers,
        )
        return reply

    def switch(
        self,
        org_id: str,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessSwitchReply:
        """
        Switch the organization of a user.

        Users who switch themselves receive a token for that organization; later logins use it too.
        """
        reply: AccessSwitchReply = self._transport.call(
            "POST",
            f"/organizations/{self._transport.part(org_id)}/access/user/{self._transport.part(user_id)}/switch",
            "json",
            headers=headers,
        )
        return reply

    def switch_own(
        self,
        body: Optional[AccessSwitchOwnBody] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AccessSwitchOwnReply:
        """
        Switch the caller's organization.

        Without `org_id`, the organization of the request. Another user in `user_id` requires `access_write`.
        """
        reply: AccessSwitchOwnReply = self._transport.call(
            "POST",
            "/access/switch",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class AgentInterfaceApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def send(
        self,
        body: AgentInterfaceSendBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AgentInterfaceSendReply:
        """
        Send a message of the Model Context Protocol (streamable HTTP, without sessions).

        The interface for agents. Its tools call the endpoints of this API as the caller, so the same permissions,
        policies, rate limits and query budgets apply. Every tool call is recorded in the audit trail. Errors of the
        protocol are JSON-RPC errors; a tool that fails answers with `isError`.
        """
        reply: AgentInterfaceSendReply = self._transport.call(
            "POST",
            "/mcp",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class AnalyticsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def errors(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricItem:
        """
        Count errors and warnings over time, by dataset and status.

        Counts the levels that were detected on arrival; it reads no lines and does not count as search usage.
        `time_range` takes precedence over `from_ts` and `to_ts`.

        limit: Maximum number of datasets, those with the most first.
        """
        reply: MetricItem = self._transport.call(
            "GET",
            "/analytics/errors",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "limit": limit, "num_of_slices": num_of_slices},
            headers=headers,
        )
        return reply


class ApiKeysApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        api_key_ids: Optional[List[str]] = None,
        role: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ApiKeysListReply:
        """
        List the API keys of the organization, including expired ones.

        api_key_ids: Only these keys.
        role: Only keys that have this role.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: ApiKeysListReply = self._transport.call(
            "GET",
            "/api-keys",
            "json",
            query={"api_key_ids": api_key_ids, "role": role, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: ApiKeysCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ApiKeysCreateReply:
        """Create an API key; the response shows its secret `key` this once only."""
        reply: ApiKeysCreateReply = self._transport.call(
            "POST",
            "/api-keys",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        api_key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ApiKey:
        """One API key."""
        reply: ApiKey = self._transport.call(
            "GET",
            f"/api-keys/{self._transport.part(api_key_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        api_key_id: str,
        body: ApiKeysUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ApiKey:
        """
        Change the name, roles, tags, expiry, query budget, event defaults or allowed addresses of an API key, or allow
        it as a parameter of the address, effective at once; the last AdminApi key keeps its role.
        """
        reply: ApiKey = self._transport.call(
            "PATCH",
            f"/api-keys/{self._transport.part(api_key_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        api_key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an API key, effective at once; the last AdminApi key cannot be deleted."""
        self._transport.call(
            "DELETE",
            f"/api-keys/{self._transport.part(api_key_id)}",
            "none",
            headers=headers,
        )

    def rotate(
        self,
        api_key_id: str,
        body: ApiKeysRotateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ApiKeysRotateReply:
        """
        Give an API key another secret, while the previous one works for a limited time.

        The response shows the new secret `key` this once only. The key keeps its id, roles and settings. A key whose
        previous secret still works is rotated again only with `end_previous`: senders may still use that secret.
        """
        reply: ApiKeysRotateReply = self._transport.call(
            "POST",
            f"/api-keys/{self._transport.part(api_key_id)}/rotate",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def end_previous(
        self,
        api_key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """End the secret that an API key had before its last rotation."""
        self._transport.call(
            "DELETE",
            f"/api-keys/{self._transport.part(api_key_id)}/previous-secret",
            "none",
            headers=headers,
        )


class AssistantsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def explain_error(
        self,
        *,
        timestamp: int,
        sequence: int,
        logId: str,
        zone_offset: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Iterator[str]:
        """
        Explain an event as a stream, from stored data; a configured model puts the explanation in words.

        zone_offset: Time zone for the times in the text; UTC when absent.
        """
        reply: Iterator[str] = self._transport.call(
            "GET",
            "/explain-error",
            "lines",
            query={"timestamp": timestamp, "sequence": sequence, "logId": logId, "zone_offset": zone_offset},
            headers=headers,
        )
        return reply

    def propose_widget(
        self,
        *,
        userRequest: str,
        session_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Iterator[str]:
        """
        Propose a widget for a request in plain words, with a preview, as a stream.

        session_id: Continues an earlier proposal; the new request changes only what it mentions.
        """
        reply: Iterator[str] = self._transport.call(
            "GET",
            "/widget-creation-assistant",
            "lines",
            query={"userRequest": userRequest, "session_id": session_id},
            headers=headers,
        )
        return reply


class AuditApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        action: Optional[str] = None,
        entity_id: Optional[str] = None,
        actor_id: Optional[str] = None,
        before_id: Optional[str] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AuditListReply:
        """List the audit trail, newest first."""
        reply: AuditListReply = self._transport.call(
            "GET",
            "/audit",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts, "action": action, "entity_id": entity_id, "actor_id": actor_id, "before_id": before_id, "limit": limit},
            headers=headers,
        )
        return reply


class AuthApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def login(
        self,
        body: AuthLoginBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Login:
        """
        Log in with e-mail and password to get a bearer token.

        Every failure has the same response, except that a right password without the code of a second factor has an
        error with the code SECOND_FACTOR_REQUIRED. Repeated failures slow responses down; too many from one network
        address get 429.
        """
        reply: Login = self._transport.call(
            "POST",
            "/auth/login",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def accept_invite(
        self,
        body: AuthAcceptInviteBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Login:
        """
        Set a password with a one-time link from an invitation or reset, and log in.

        The password has 12 to 128 characters and must not be a common one; there are no other rules.
        """
        reply: Login = self._transport.call(
            "POST",
            "/auth/accept-invite",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def logout(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """End the bearer token of this request."""
        self._transport.call(
            "POST",
            "/auth/logout",
            "none",
            headers=headers,
        )

    def change_password(
        self,
        body: AuthChangePasswordBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Login:
        """Change your own password; all your tokens end, and the response has a new one."""
        reply: Login = self._transport.call(
            "POST",
            "/auth/password",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def me(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AuthMeReply:
        """Get the caller's identity, roles and permissions."""
        reply: AuthMeReply = self._transport.call(
            "GET",
            "/auth/me",
            "json",
            headers=headers,
        )
        return reply


class BackupsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> BackupsListReply:
        """List the backups of the deployment and the latest work on them, newest first; for the management organization."""
        reply: BackupsListReply = self._transport.call(
            "GET",
            "/backups",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> BackupTask:
        """
        Back up both stores; for the management organization.

        The service goes on meanwhile. The backup has every event and every change that was acknowledged before its
        start. Poll the task until it is COMPLETE. To restore a whole backup, run `restore-backup` on the host.
        """
        reply: BackupTask = self._transport.call(
            "POST",
            "/backups",
            "json",
            headers=headers,
        )
        return reply

    def task(
        self,
        task_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> BackupTask:
        """Get the state of work on backups; for the management organization."""
        reply: BackupTask = self._transport.call(
            "GET",
            f"/backups/tasks/{self._transport.part(task_id)}",
            "json",
            headers=headers,
        )
        return reply

    def verify(
        self,
        backup_name: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> BackupTask:
        """Read every part of a backup and of those that it builds upon; for the management organization."""
        reply: BackupTask = self._transport.call(
            "POST",
            f"/backups/{self._transport.part(backup_name)}/verifications",
            "json",
            headers=headers,
        )
        return reply

    def restore(
        self,
        backup_name: str,
        dataset_id: str,
        body: BackupsRestoreBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> BackupTask:
        """
        Restore the events of one dataset into a new dataset of the same organization; for the management organization.

        The dataset may have been deleted since. Everything else stays as it is. The events have their times and
        original lines.
        """
        reply: BackupTask = self._transport.call(
            "POST",
            f"/backups/{self._transport.part(backup_name)}/datasets/{self._transport.part(dataset_id)}/restorations",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class ChangesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def find(
        self,
        body: ChangesFindBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Changes:
        """
        Find what changed: the values and message patterns whose share and rate differ most from an earlier range.

        Compares the matching events of a range with those of a baseline. Counts are exact. A value counts as a change
        only if its share and its rate changed in the same direction, so a value whose share drops because others grow
        is not listed. Values of the same events are one finding with several names. Findings whose events share a value
        that few other events have are a group.
        """
        reply: Changes = self._transport.call(
            "POST",
            "/changes",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class CollectionsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> CollectionsListReply:
        """List collections with their datasets, sorted by name; only datasets that the caller may see."""
        reply: CollectionsListReply = self._transport.call(
            "GET",
            "/collections",
            "json",
            headers=headers,
        )
        return reply


class ConfigAssistantApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def agents(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ConfigAssistantAgentsReply:
        """List the agents that configurations can be generated for."""
        reply: ConfigAssistantAgentsReply = self._transport.call(
            "GET",
            "/config-assistant/agents",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: ConfigAssistantCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AgentConfig:
        """Generate a configuration that sends to this deployment."""
        reply: AgentConfig = self._transport.call(
            "POST",
            "/config-assistant/configs",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def modify(
        self,
        body: ConfigAssistantModifyBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AgentConfig:
        """Modify a configuration and keep the rest; without a request, it only adds sending to this deployment."""
        reply: AgentConfig = self._transport.call(
            "POST",
            "/config-assistant/configs/modify",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def validate(
        self,
        body: ConfigAssistantValidateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ConfigAssistantValidateReply:
        """Validate the structure of a configuration."""
        reply: ConfigAssistantValidateReply = self._transport.call(
            "POST",
            "/config-assistant/configs/validate",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        config_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> AgentConfig:
        """Get a recently generated or modified configuration."""
        reply: AgentConfig = self._transport.call(
            "GET",
            f"/config-assistant/configs/{self._transport.part(config_id)}",
            "json",
            headers=headers,
        )
        return reply


class ContentPacksApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        dataset_id: Optional[str] = None,
        system: Optional[bool] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ContentPacksListReply:
        """
        List ready-made dashboards and monitors that suit the events of the datasets.

        A format is recognized by the names of the known fields of a dataset and by their values in a few recent events.
        Without `dataset_id`, the datasets that received events last are considered.

        dataset_id: Only the offers for this dataset.
        system: Whether offers for system datasets are listed too.
        limit: 20 when absent.
        """
        reply: ContentPacksListReply = self._transport.call(
            "GET",
            "/content-packs",
            "json",
            query={"dataset_id": dataset_id, "system": system, "limit": limit},
            headers=headers,
        )
        return reply

    def preview(
        self,
        pack_id: str,
        body: ContentPacksPreviewBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ContentPackPreview:
        """Preview the dashboard and the monitors of a content pack, with what their queries give now."""
        reply: ContentPackPreview = self._transport.call(
            "POST",
            f"/content-packs/{self._transport.part(pack_id)}/preview",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def install(
        self,
        pack_id: str,
        body: ContentPacksInstallBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> InstalledContentPack:
        """
        Create the dashboard and the chosen monitors of a content pack for a dataset, all or nothing.

        Monitors also need the permission `monitors_write`. What was created before and still exists is not created
        again.
        """
        reply: InstalledContentPack = self._transport.call(
            "POST",
            f"/content-packs/{self._transport.part(pack_id)}/install",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class ContextApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        timestamp: int,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        from_tags: Optional[List[str]] = None,
        sequence: Optional[int] = None,
        from_sequence: Optional[int] = None,
        where: Optional[str] = None,
        direction: Optional[Literal["before", "after", "both"]] = None,
        limit: Optional[int] = None,
        explain_only: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ContextGetReply:
        """
        List the events around an event, oldest first, with all their data.

        The place is a time and a sequence number; no event needs to be there. Without a number it is the first event of
        that millisecond. A context ends where no event came for 60 seconds; one with `where` reaches a minute for each
        event of its limit.

        from_tags: Deprecated: `key:value` items.
        from_sequence: Another name of `sequence`.
        where: Returns only the events that match, beside the given one: those of its service, host or trace.
        direction: `both` when absent.
        limit: Total number of events, including the given one; 100 when absent.
        explain_only: Only estimates the cost of the query. The response always has `explain`.
        """
        reply: ContextGetReply = self._transport.call(
            "GET",
            "/context",
            "json",
            query={"from": from_, "from_expr": from_expr, "from_tags": from_tags, "timestamp": timestamp, "sequence": sequence, "from_sequence": from_sequence, "where": where, "direction": direction, "limit": limit, "explain_only": explain_only},
            headers=headers,
        )
        return reply


class CustomerApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Customer:
        """The customer record."""
        reply: Customer = self._transport.call(
            "GET",
            "/customer",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        body: CustomerUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Customer:
        """Change the name and the addresses of the customer record."""
        reply: Customer = self._transport.call(
            "PATCH",
            "/customer",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class DashboardTemplatesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardTemplatesListReply:
        """
        List the templates of dashboards, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only templates whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: DashboardTemplatesListReply = self._transport.call(
            "GET",
            "/dashboards/templates",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: DashboardTemplatesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardTemplate:
        """Keep a template of dashboards."""
        reply: DashboardTemplate = self._transport.call(
            "POST",
            "/dashboards/templates",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardTemplate:
        """One template of dashboards."""
        reply: DashboardTemplate = self._transport.call(
            "GET",
            f"/dashboards/templates/{self._transport.part(template_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        template_id: str,
        body: DashboardTemplatesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardTemplate:
        """Replace a template of dashboards; records created from it do not change."""
        reply: DashboardTemplate = self._transport.call(
            "PUT",
            f"/dashboards/templates/{self._transport.part(template_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a template of dashboards; records created from it stay."""
        self._transport.call(
            "DELETE",
            f"/dashboards/templates/{self._transport.part(template_id)}",
            "none",
            headers=headers,
        )


class DashboardsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        log_id: Optional[str] = None,
        widget_id: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardsListReply:
        """
        List dashboards, newest first.

        log_id: Only those with a widget whose queries read this log.
        widget_id: Only those that have this widget themselves, not in a frame.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: DashboardsListReply = self._transport.call(
            "GET",
            "/dashboards",
            "json",
            query={"log_id": log_id, "widget_id": widget_id, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: DashboardsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dashboard:
        """Create a dashboard: empty, from widgets, or from a template."""
        reply: Dashboard = self._transport.call(
            "POST",
            "/dashboards",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def preview(
        self,
        body: DashboardsPreviewBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DashboardsPreviewReply:
        """Preview a template without storing anything."""
        reply: DashboardsPreviewReply = self._transport.call(
            "POST",
            "/dashboards/preview",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        dashboard_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dashboard:
        """One dashboard."""
        reply: Dashboard = self._transport.call(
            "GET",
            f"/dashboards/{self._transport.part(dashboard_id)}",
            "json",
            headers=headers,
        )
        return reply

    def change(
        self,
        dashboard_id: str,
        body: DashboardsChangeBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dashboard:
        """Update a dashboard: name, layout or widgets."""
        reply: Dashboard = self._transport.call(
            "PATCH",
            f"/dashboards/{self._transport.part(dashboard_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        dashboard_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a dashboard and its widgets that no other dashboard uses."""
        self._transport.call(
            "DELETE",
            f"/dashboards/{self._transport.part(dashboard_id)}",
            "none",
            headers=headers,
        )

    def add_widgets(
        self,
        dashboard_id: str,
        body: DashboardsAddWidgetsBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Add widgets to a dashboard."""
        self._transport.call(
            "POST",
            f"/dashboards/{self._transport.part(dashboard_id)}/widgets",
            "none",
            body=body,
            headers=headers,
        )

    def remove_widget(
        self,
        dashboard_id: str,
        widget_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove a widget from a dashboard without deleting it."""
        self._transport.call(
            "DELETE",
            f"/dashboards/{self._transport.part(dashboard_id)}/widgets/{self._transport.part(widget_id)}",
            "none",
            headers=headers,
        )

    def detach(
        self,
        dashboard_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dashboard:
        """Detach a dashboard, its widgets and metrics from their template."""
        reply: Dashboard = self._transport.call(
            "POST",
            f"/dashboards/{self._transport.part(dashboard_id)}/detach-from-template",
            "json",
            headers=headers,
        )
        return reply


class DatasetKeysApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def resolve(
        self,
        body: DatasetKeysResolveBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DatasetKeysResolveReply:
        """Find the datasets in which all given keys occur in a time range."""
        reply: DatasetKeysResolveReply = self._transport.call(
            "POST",
            "/datasets/resolve",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class DatasetsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name", "last_event", "volume_today", "volume_week"]] = None,
        collection: Optional[str] = None,
        is_system_generated: Optional[bool] = None,
        flow: Optional[Literal["receiving", "quiet", "silent", "waiting"]] = None,
        totals: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DatasetsListReply:
        """
        List the datasets that the caller may see, or those that `from` or `from_expr` selects.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. `last_event`: the latest first. `volume_today` and
        `volume_week`: the most ingested bytes of this UTC day, or of seven days with it, first, as of the last minute;
        they need the permission `usage_read`. Datasets that receive events meanwhile may be on two pages or on none.
        collection: Only datasets of this collection.
        is_system_generated: Only datasets of the service itself, or only others.
        flow: Only datasets whose newest event arrived within five minutes (`receiving`), within a day (`quiet`), before
        (`silent`), or that have none yet (`waiting`).
        totals: Also counts the datasets.
        """
        reply: DatasetsListReply = self._transport.call(
            "GET",
            "/datasets",
            "json",
            query={"from": from_, "from_expr": from_expr, "limit": limit, "cursor": cursor, "search": search, "sort": sort, "collection": collection, "is_system_generated": is_system_generated, "flow": flow, "totals": totals},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: DatasetsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dataset:
        """Create a dataset, and its collection if needed."""
        reply: Dataset = self._transport.call(
            "POST",
            "/datasets",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dataset:
        """One dataset."""
        reply: Dataset = self._transport.call(
            "GET",
            f"/datasets/{self._transport.part(dataset_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        dataset_id: str,
        body: DatasetsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dataset:
        """Update a dataset: name, collection, tags or retention."""
        reply: Dataset = self._transport.call(
            "PUT",
            f"/datasets/{self._transport.part(dataset_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a dataset with its events and tags."""
        self._transport.call(
            "DELETE",
            f"/datasets/{self._transport.part(dataset_id)}",
            "none",
            headers=headers,
        )


class DowntimesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name", "phase"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> DowntimesListReply:
        """
        List the downtimes of the organization.

        from_ts: Only downtimes that end after this time, and recurring ones.
        to_ts: Only downtimes that begin before this time, and recurring ones.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only downtimes whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. `phase` has those in progress first, then planned, recurring
        and past ones, each by name.
        """
        reply: DowntimesListReply = self._transport.call(
            "GET",
            "/monitors/downtimes",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: DowntimesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Downtime:
        """Plan a downtime."""
        reply: Downtime = self._transport.call(
            "POST",
            "/monitors/downtimes",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        downtime_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Downtime:
        """One downtime."""
        reply: Downtime = self._transport.call(
            "GET",
            f"/monitors/downtimes/{self._transport.part(downtime_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        downtime_id: str,
        body: DowntimesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Downtime:
        """Replace a downtime."""
        reply: Downtime = self._transport.call(
            "PUT",
            f"/monitors/downtimes/{self._transport.part(downtime_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        downtime_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a downtime; held-back notifications are sent as if it had ended."""
        self._transport.call(
            "DELETE",
            f"/monitors/downtimes/{self._transport.part(downtime_id)}",
            "none",
            headers=headers,
        )


class EncryptionKeysApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        provider: Optional[Literal["AWS_KMS"]] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EncryptionKeysListReply:
        """List the encryption keys of the organization, newest first."""
        reply: EncryptionKeysListReply = self._transport.call(
            "GET",
            "/encryption-keys",
            "json",
            query={"provider": provider, "limit": limit},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: EncryptionKeysCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EncryptionKey:
        """Register an encryption key; the service does not encrypt with it yet."""
        reply: EncryptionKey = self._transport.call(
            "POST",
            "/encryption-keys",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EncryptionKey:
        """One encryption key."""
        reply: EncryptionKey = self._transport.call(
            "GET",
            f"/encryption-keys/{self._transport.part(key_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        key_id: str,
        body: EncryptionKeysUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EncryptionKey:
        """Rename an encryption key, or activate a CREATED one."""
        reply: EncryptionKey = self._transport.call(
            "PATCH",
            f"/encryption-keys/{self._transport.part(key_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an encryption key that was never ACTIVE."""
        self._transport.call(
            "DELETE",
            f"/encryption-keys/{self._transport.part(key_id)}",
            "none",
            headers=headers,
        )


class ExportsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ExportsListReply:
        """List exports, newest first."""
        reply: ExportsListReply = self._transport.call(
            "GET",
            "/exports",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: ExportsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Export:
        """
        Create an export: a file of all matching events.

        Select datasets with `from` or `from_expr`, and a time range with `time_range` or `from_ts` and `to_ts`. The
        file has the events that were stored when the export was created. Poll the export until it is COMPLETE, then
        download it from its `location`.
        """
        reply: Export = self._transport.call(
            "POST",
            "/exports",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        export_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Export:
        """Get an export with its progress and download location."""
        reply: Export = self._transport.call(
            "GET",
            f"/exports/{self._transport.part(export_id)}",
            "json",
            headers=headers,
        )
        return reply

    def remove(
        self,
        export_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Cancel an export and delete its file."""
        self._transport.call(
            "DELETE",
            f"/exports/{self._transport.part(export_id)}",
            "none",
            headers=headers,
        )

    def download(
        self,
        export_id: str,
        *,
        expires: Optional[str] = None,
        by: Optional[str] = None,
        signature: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Iterator[str]:
        """
        Download the file of an export with a signed link.

        `location` points here. The signed link expires after an hour; every read of the export returns a new one. It is
        403 once its recipient may no longer read the export. Range requests let an interrupted download continue.
        """
        reply: Iterator[str] = self._transport.call(
            "GET",
            f"/exports/{self._transport.part(export_id)}/download",
            "lines",
            query={"expires": expires, "by": by, "signature": signature},
            headers=headers,
        )
        return reply


class ForwardConfigsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ForwardConfigsListReply:
        """List forward configurations with the state of their delivery, newest first."""
        reply: ForwardConfigsListReply = self._transport.call(
            "GET",
            "/forward-configs",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: ForwardConfigsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ForwardConfig:
        """
        Forward events that arrive from now on.

        Object storage has each event exactly once. A URL gets each at least once, and repeats have the same
        `Idempotency-Key`. Kafka gets a message for each event, confirmed by all replicas, at least once, with the
        header `dendro-event-id`, and as the key the dataset. While the destination is unreachable, events wait in the
        store until their retention ends.
        """
        reply: ForwardConfig = self._transport.call(
            "POST",
            "/forward-configs",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def test(
        self,
        body: Union[ForwardToS3Input, ForwardToHttp, ForwardToKafkaInput],
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ForwardConfigsTestReply:
        """
        Test whether a destination accepts payloads.

        Writes and removes an object, posts an empty payload to the URL, or looks for the topic.
        """
        reply: ForwardConfigsTestReply = self._transport.call(
            "POST",
            "/forward-configs/test-destination",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update(
        self,
        forward_id: str,
        body: ForwardConfigsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ForwardConfig:
        """Replace a forward configuration; events that wait go to the new destination."""
        reply: ForwardConfig = self._transport.call(
            "PUT",
            f"/forward-configs/{self._transport.part(forward_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        forward_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a forward configuration; events that arrived before are still delivered."""
        self._transport.call(
            "DELETE",
            f"/forward-configs/{self._transport.part(forward_id)}",
            "none",
            headers=headers,
        )


class GroupsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> GroupsListReply:
        """List the groups of the organization."""
        reply: GroupsListReply = self._transport.call(
            "GET",
            "/groups",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: GroupsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UserGroup:
        """Create a group; names are unique regardless of case."""
        reply: UserGroup = self._transport.call(
            "POST",
            "/groups",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        group_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UserGroup:
        """One group."""
        reply: UserGroup = self._transport.call(
            "GET",
            f"/groups/{self._transport.part(group_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        group_id: str,
        body: GroupsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UserGroup:
        """Update the name or description of a group."""
        reply: UserGroup = self._transport.call(
            "PATCH",
            f"/groups/{self._transport.part(group_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        group_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a group with its memberships and granted roles."""
        self._transport.call(
            "DELETE",
            f"/groups/{self._transport.part(group_id)}",
            "none",
            headers=headers,
        )

    def members(
        self,
        group_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> GroupsMembersReply:
        """List the direct members of a group."""
        reply: GroupsMembersReply = self._transport.call(
            "GET",
            f"/groups/{self._transport.part(group_id)}/members",
            "json",
            headers=headers,
        )
        return reply

    def add_members(
        self,
        group_id: str,
        body: GroupsAddMembersBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """
        Add users and groups to a group; existing members stay.

        Members receive the roles of the group, so the caller must hold the permissions of these roles. A cycle of
        groups is 400.
        """
        self._transport.call(
            "POST",
            f"/groups/{self._transport.part(group_id)}/members",
            "none",
            body=body,
            headers=headers,
        )

    def remove_members(
        self,
        group_id: str,
        body: GroupsRemoveMembersBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove users and groups from a group; non-members are ignored."""
        self._transport.call(
            "DELETE",
            f"/groups/{self._transport.part(group_id)}/members",
            "none",
            body=body,
            headers=headers,
        )


class HealthApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HealthGetReply:
        """Get the health of the service and its stores."""
        reply: HealthGetReply = self._transport.call(
            "GET",
            "/health",
            "json",
            headers=headers,
        )
        return reply

    def live(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HealthLiveReply:
        """
        Check that the process answers.

        For probes that restart a process which hangs. It does not depend on the stores.
        """
        reply: HealthLiveReply = self._transport.call(
            "GET",
            "/live",
            "json",
            headers=headers,
        )
        return reply

    def ready(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> HealthReadyReply:
        """
        Check that the process takes requests.

        For proxies. It is 503 while a store does not answer, and from the moment the process is asked to stop.
        """
        reply: HealthReadyReply = self._transport.call(
            "GET",
            "/ready",
            "json",
            headers=headers,
        )
        return reply


class IngestRulesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["position", "newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRulesListReply:
        """
        List the ingest rules of the organization in the order in which they apply.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only rules whose names, descriptions and filters contain each of these words.
        sort: The order of the list; `position`, in which the rules apply, when absent.
        """
        reply: IngestRulesListReply = self._transport.call(
            "GET",
            "/ingest-rules",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: IngestRulesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRule:
        """
        Create an ingest rule, which applies after all others.

        The rule applies within 2 seconds, to events that arrive from then on. Events that it drops are not stored, and
        the ledger counts them. System datasets have no rules.
        """
        reply: IngestRule = self._transport.call(
            "POST",
            "/ingest-rules",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def reorder(
        self,
        body: IngestRulesReorderBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRulesReorderReply:
        """Set the order in which the ingest rules apply."""
        reply: IngestRulesReorderReply = self._transport.call(
            "PUT",
            "/ingest-rules/order",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def preview(
        self,
        body: IngestRulesPreviewBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRulePreview:
        """
        Apply a rule to recent events without changing them: before, after, and the share and bytes saved.

        Reads at most 1,000 of the newest events of the last 7 days that the caller may see, and stops early when the
        rule takes long. `events` is the number of events that were tried.
        """
        reply: IngestRulePreview = self._transport.call(
            "POST",
            "/ingest-rules/preview",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        rule_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRule:
        """Get an ingest rule."""
        reply: IngestRule = self._transport.call(
            "GET",
            f"/ingest-rules/{self._transport.part(rule_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        rule_id: str,
        body: IngestRulesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRule:
        """Update an ingest rule; absent fields stay."""
        reply: IngestRule = self._transport.call(
            "PATCH",
            f"/ingest-rules/{self._transport.part(rule_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        rule_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an ingest rule; stored events stay as they are."""
        self._transport.call(
            "DELETE",
            f"/ingest-rules/{self._transport.part(rule_id)}",
            "none",
            headers=headers,
        )

    def versions(
        self,
        rule_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestRulesVersionsReply:
        """List the last 100 versions of an ingest rule, newest first."""
        reply: IngestRulesVersionsReply = self._transport.call(
            "GET",
            f"/ingest-rules/{self._transport.part(rule_id)}/versions",
            "json",
            headers=headers,
        )
        return reply


class IngestionApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def send(
        self,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        collection: Optional[str] = None,
        dataset: Optional[str] = None,
        tags: Optional[str] = None,
        content_type: str = "application/x-ndjson",
        headers: Optional[Mapping[str, str]] = None,
    ) -> Taken:
        """
        Send events: JSON lines, a JSON array, or lines of text; 200 means durably stored.

        The headers `x-service-collection` and `x-service-dataset` (both `default` when absent) choose the dataset,
        which its first event creates. `x-service-tags: key=value,key2=value2` adds tags to the dataset and attributes
        `$key` to the events. The body may be compressed (`Content-Encoding` `gzip`, `deflate` or `zstd`). An
        `Idempotency-Key` header makes a repeated post harmless for at least an hour. Any path in front of `/ingest` is
        ignored.

        collection: Alternative to the header `x-service-collection`, for senders that cannot set headers.
        dataset: Alternative to the header `x-service-dataset`.
        tags: Alternative to the header `x-service-tags`.
        """
        reply: Taken = self._transport.call(
            "POST",
            "/",
            "json",
            query={"collection": collection, "dataset": dataset, "tags": tags},
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply

    def send_to(
        self,
        collection: str,
        dataset: str,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        tags: Optional[str] = None,
        content_type: str = "application/x-ndjson",
        headers: Optional[Mapping[str, str]] = None,
    ) -> Taken:
        """
        Send events to the dataset in the path.

        tags: Alternative to the header `x-service-tags`.
        """
        reply: Taken = self._transport.call(
            "POST",
            f"/ingest/{self._transport.part(collection)}/{self._transport.part(dataset)}",
            "json",
            query={"tags": tags},
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply

    def otlp_logs(
        self,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        content_type: str = "application/json",
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestionOtlpLogsReply:
        """
        Send logs by OTLP/HTTP, as JSON or protobuf.

        The dataset is the resource's `service.name`, the collection its `service.namespace`. The headers
        `x-service-collection` and `x-service-dataset` (both `default` when absent) choose the dataset, which its first
        event creates. `x-service-tags: key=value,key2=value2` adds tags to the dataset and attributes `$key` to the
        events. The body may be compressed (`Content-Encoding` `gzip`, `deflate` or `zstd`).
        """
        reply: IngestionOtlpLogsReply = self._transport.call(
            "POST",
            "/v1/logs",
            "json",
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply

    def otlp_traces(
        self,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        content_type: str = "application/json",
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestionOtlpTracesReply:
        """Send spans by OTLP/HTTP; each becomes an event in the system collection `.traces`."""
        reply: IngestionOtlpTracesReply = self._transport.call(
            "POST",
            "/v1/traces",
            "json",
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply

    def otlp_metrics(
        self,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        content_type: str = "application/json",
        headers: Optional[Mapping[str, str]] = None,
    ) -> IngestionOtlpMetricsReply:
        """Count OTLP metrics as rejected, for exporters that send all signals to one address."""
        reply: IngestionOtlpMetricsReply = self._transport.call(
            "POST",
            "/v1/metrics",
            "json",
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply


class InsightsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> InsightsListReply:
        """
        List insights about ingested data.

        Counts of every dataset are compared with those of the weeks before, once an hour. A jump and a new pattern stay
        in the list for a day after they are over.
        """
        reply: InsightsListReply = self._transport.call(
            "GET",
            "/insights",
            "json",
            headers=headers,
        )
        return reply

    def get(
        self,
        insight_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Insight:
        """One insight."""
        reply: Insight = self._transport.call(
            "GET",
            f"/insights/{self._transport.part(insight_id)}",
            "json",
            headers=headers,
        )
        return reply


class IntegrationsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def webhooks(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IntegrationsWebhooksReply:
        """
        List the webhooks of the organization.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only webhooks whose names and URLs contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: IntegrationsWebhooksReply = self._transport.call(
            "GET",
            "/integrations/webhooks",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create_webhook(
        self,
        body: IntegrationsCreateWebhookBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WebhookIntegration:
        """Create a webhook."""
        reply: WebhookIntegration = self._transport.call(
            "POST",
            "/integrations/webhooks",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update_webhook(
        self,
        webhook_id: str,
        body: IntegrationsUpdateWebhookBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WebhookIntegration:
        """Replace a webhook."""
        reply: WebhookIntegration = self._transport.call(
            "PUT",
            f"/integrations/webhooks/{self._transport.part(webhook_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_webhook(
        self,
        webhook_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a webhook that no monitor uses."""
        self._transport.call(
            "DELETE",
            f"/integrations/webhooks/{self._transport.part(webhook_id)}",
            "none",
            headers=headers,
        )

    def test_webhook(
        self,
        webhook_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IntegrationsTestWebhookReply:
        """Send a sample notification to a webhook and return the result."""
        reply: IntegrationsTestWebhookReply = self._transport.call(
            "POST",
            f"/integrations/webhooks/{self._transport.part(webhook_id)}/test",
            "json",
            headers=headers,
        )
        return reply

    def slack(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IntegrationsSlackReply:
        """
        List the chat integrations of the organization.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only chat integrations whose names and channels contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: IntegrationsSlackReply = self._transport.call(
            "GET",
            "/integrations/slack",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create_slack(
        self,
        body: IntegrationsCreateSlackBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SlackIntegration:
        """Create a chat integration: channels of a workspace."""
        reply: SlackIntegration = self._transport.call(
            "POST",
            "/integrations/slack",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update_slack(
        self,
        slack_id: str,
        body: IntegrationsUpdateSlackBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SlackIntegration:
        """Replace a chat integration."""
        reply: SlackIntegration = self._transport.call(
            "PUT",
            f"/integrations/slack/{self._transport.part(slack_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_slack(
        self,
        slack_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a chat integration that no monitor uses."""
        self._transport.call(
            "DELETE",
            f"/integrations/slack/{self._transport.part(slack_id)}",
            "none",
            headers=headers,
        )

    def slack_workspaces(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IntegrationsSlackWorkspacesReply:
        """
        List the chat workspaces of the organization.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only workspaces whose names contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: IntegrationsSlackWorkspacesReply = self._transport.call(
            "GET",
            "/integrations/slack/workspaces",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create_slack_workspace(
        self,
        body: IntegrationsCreateSlackWorkspaceBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SlackWorkspace:
        """Add a chat workspace by a token or an incoming webhook."""
        reply: SlackWorkspace = self._transport.call(
            "POST",
            "/integrations/slack/workspaces",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_slack_workspace(
        self,
        workspace_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a chat workspace that no chat integration uses; the chat service itself is not changed."""
        self._transport.call(
            "DELETE",
            f"/integrations/slack/workspaces/{self._transport.part(workspace_id)}",
            "none",
            headers=headers,
        )

    def email_templates(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> IntegrationsEmailTemplatesReply:
        """
        List the e-mail templates of the organization.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only e-mail templates whose names contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: IntegrationsEmailTemplatesReply = self._transport.call(
            "GET",
            "/integrations/email",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create_email_template(
        self,
        body: IntegrationsCreateEmailTemplateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EmailTemplate:
        """Create an e-mail template."""
        reply: EmailTemplate = self._transport.call(
            "POST",
            "/integrations/email",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update_email_template(
        self,
        email_id: str,
        body: IntegrationsUpdateEmailTemplateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EmailTemplate:
        """Replace an e-mail template."""
        reply: EmailTemplate = self._transport.call(
            "PUT",
            f"/integrations/email/{self._transport.part(email_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_email_template(
        self,
        email_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete an e-mail template that no monitor uses."""
        self._transport.call(
            "DELETE",
            f"/integrations/email/{self._transport.part(email_id)}",
            "none",
            headers=headers,
        )


class LedgerApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        from_: Optional[List[str]] = None,
        unassigned: Optional[bool] = None,
        identity_id: Optional[str] = None,
        num_of_slices: Optional[int] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LedgerGetReply:
        """
        Account for every received event, by dataset, sender and protocol.

        Counts are by time of arrival. The range is widened to full units, which the response returns: minutes for the
        last days, hours before that, and UTC days after about 90 days.

        from_ts: Epoch milliseconds; an hour before to_ts when absent.
        to_ts: Epoch milliseconds; now when absent.
        from_: Dataset ids; every dataset the caller may see when absent.
        unassigned: Only events that were rejected before their dataset was known.
        num_of_slices: Number of parts of the range; each consists of full minutes, or of hours or days for older data.
        limit: Maximum number of entries; the totals count all.
        """
        reply: LedgerGetReply = self._transport.call(
            "GET",
            "/ledger",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts, "from": from_, "unassigned": unassigned, "identity_id": identity_id, "num_of_slices": num_of_slices, "limit": limit},
            headers=headers,
        )
        return reply


class LimitsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LimitsListReply:
        """List the limits of the organization."""
        reply: LimitsListReply = self._transport.call(
            "GET",
            "/limits",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: LimitsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Limit:
        """
        Create a monthly ingestion limit for the organization or a team.

        A request that would exceed the limit is refused as a whole with 429, and so are later ones until the month ends
        or the limit changes.
        """
        reply: Limit = self._transport.call(
            "POST",
            "/limits",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        limit_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Limit:
        """One limit."""
        reply: Limit = self._transport.call(
            "GET",
            f"/limits/{self._transport.part(limit_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        limit_id: str,
        body: LimitsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Limit:
        """Update a limit; absent members stay, and an exceeded limit opens again."""
        reply: Limit = self._transport.call(
            "PATCH",
            f"/limits/{self._transport.part(limit_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        limit_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a limit."""
        self._transport.call(
            "DELETE",
            f"/limits/{self._transport.part(limit_id)}",
            "none",
            headers=headers,
        )

    def usage(
        self,
        limit_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LimitUsage:
        """Get the use of a limit in this month."""
        reply: LimitUsage = self._transport.call(
            "GET",
            f"/limits/{self._transport.part(limit_id)}/usage",
            "json",
            headers=headers,
        )
        return reply


class LineTimesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LineTimesGetReply:
        """Get where the lines of a dataset tell their time."""
        reply: LineTimesGetReply = self._transport.call(
            "GET",
            f"/datasets/{self._transport.part(dataset_id)}/line-time",
            "json",
            headers=headers,
        )
        return reply

    def set(
        self,
        dataset_id: str,
        body: LineTimeInput,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """
        Set where the lines of a dataset tell their time, for events received from then on.

        The setting applies to text lines and to the message of JSON lines, and takes precedence over every other time
        of the event. A line without such a time gets its time as without the setting. A time more than 24 hours ahead
        or before 2000 is not used; `$ingest.original_time` keeps it.
        """
        self._transport.call(
            "PUT",
            f"/datasets/{self._transport.part(dataset_id)}/line-time",
            "none",
            body=body,
            headers=headers,
        )

    def remove(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove the setting; stored events keep their time."""
        self._transport.call(
            "DELETE",
            f"/datasets/{self._transport.part(dataset_id)}/line-time",
            "none",
            headers=headers,
        )

    def preview(
        self,
        dataset_id: str,
        *,
        timezone: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LineTimesPreviewReply:
        """
        Find the times in recent lines of a dataset, and show what the time of each line would be.

        timezone: The time zone of times that name none.
        """
        reply: LineTimesPreviewReply = self._transport.call(
            "GET",
            f"/datasets/{self._transport.part(dataset_id)}/line-time/preview",
            "json",
            query={"timezone": timezone},
            headers=headers,
        )
        return reply


class LiveTailApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def start(
        self,
        body: LiveTailStartBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LiveTailStartReply:
        """Start a live tail; it ends when it is not polled for a minute."""
        reply: LiveTailStartReply = self._transport.call(
            "POST",
            "/live-tail",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def poll(
        self,
        *,
        job_id: str,
        limit: Optional[int] = None,
        most_recent_first: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LiveTailPollReply:
        """
        Poll a live tail for the events since the last poll.

        job_id: The id that starting the tail returned.
        limit: 100 when absent; further events come with the next poll.
        most_recent_first: true when absent.
        """
        reply: LiveTailPollReply = self._transport.call(
            "GET",
            "/live-tail",
            "json",
            query={"job_id": job_id, "limit": limit, "most_recent_first": most_recent_first},
            headers=headers,
        )
        return reply

    def stream(
        self,
        *,
        job_id: str,
        seconds: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Iterator[str]:
        """
        Stream a live tail as server-sent events, one log event each, oldest first.

        Each event has an `id`. A client that reconnects sends the last one as `Last-Event-ID` and gets every later
        event, from any process. The stream ends within seconds after the caller loses the permission, and with a
        comment when the service stops.

        job_id: The id that starting the tail returned.
        seconds: Duration of the stream; an hour when absent.
        """
        reply: Iterator[str] = self._transport.call(
            "GET",
            "/live-tail/stream",
            "lines",
            query={"job_id": job_id, "seconds": seconds},
            headers=headers,
        )
        return reply


class LogsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LogsListReply:
        """List the logs that the caller may see; the older form of `GET /datasets`."""
        reply: LogsListReply = self._transport.call(
            "GET",
            "/logs",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: LogsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Log:
        """Create a log, named by `collection` and `dataset` or by `logset` and `log`."""
        reply: Log = self._transport.call(
            "POST",
            "/logs",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def views(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LogsViewsReply:
        """List the built-in views for common kinds of logs."""
        reply: LogsViewsReply = self._transport.call(
            "GET",
            "/logs/views",
            "json",
            headers=headers,
        )
        return reply

    def get(
        self,
        log_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Log:
        """One log."""
        reply: Log = self._transport.call(
            "GET",
            f"/logs/{self._transport.part(log_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        log_id: str,
        body: LogsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Log:
        """Rename or move a log; `dataset` or `log` alone renames it within its collection."""
        reply: Log = self._transport.call(
            "PUT",
            f"/logs/{self._transport.part(log_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        log_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a log with its events and tags."""
        self._transport.call(
            "DELETE",
            f"/logs/{self._transport.part(log_id)}",
            "none",
            headers=headers,
        )

    def monitors(
        self,
        log_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> List[Monitor]:
        """List the monitors whose queries read this log, as a bare array."""
        reply: List[Monitor] = self._transport.call(
            "GET",
            f"/logs/{self._transport.part(log_id)}/monitors",
            "json",
            headers=headers,
        )
        return reply

    def dashboards(
        self,
        log_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> List[Dashboard]:
        """List the dashboards with a widget whose queries read this log, as a bare array."""
        reply: List[Dashboard] = self._transport.call(
            "GET",
            f"/logs/{self._transport.part(log_id)}/dashboards",
            "json",
            headers=headers,
        )
        return reply


class LookupTablesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LookupTablesListReply:
        """List the lookup tables of the organization."""
        reply: LookupTablesListReply = self._transport.call(
            "GET",
            "/lookup-tables",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: LookupTablesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LookupTable:
        """
        Create a lookup table.

        A table for more than 3,000,000 characters is created with its first line only; `PUT
        /lookup-tables/{tableId}/rows` replaces it.
        """
        reply: LookupTable = self._transport.call(
            "POST",
            "/lookup-tables",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        table_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LookupTable:
        """Get a lookup table, without its rows."""
        reply: LookupTable = self._transport.call(
            "GET",
            f"/lookup-tables/{self._transport.part(table_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        table_id: str,
        body: LookupTablesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> LookupTable:
        """Change the description of a lookup table."""
        reply: LookupTable = self._transport.call(
            "PATCH",
            f"/lookup-tables/{self._transport.part(table_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        table_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a lookup table that no rule uses."""
        self._transport.call(
            "DELETE",
            f"/lookup-tables/{self._transport.part(table_id)}",
            "none",
            headers=headers,
        )

    def rows(
        self,
        table_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> str:
        """
        Download the file of a lookup table, as it was uploaded.

        An organization downloads one table at a time.
        """
        reply: str = self._transport.call(
            "GET",
            f"/lookup-tables/{self._transport.part(table_id)}/rows",
            "text",
            headers=headers,
        )
        return reply

    def replace_rows(
        self,
        table_id: str,
        body: Union[str, bytes, List[Any], Dict[str, Any]],
        *,
        content_type: str = "text/csv",
        headers: Optional[Mapping[str, str]] = None,
    ) -> LookupTable:
        """
        Replace all rows of a lookup table at once.

        A file in the format CSV (RFC 4180) in UTF-8 with commas, whose first line names the columns. At most 1,000,000
        rows, 50 columns and 64 MiB. It must have the key column, and the columns that rules use. Events that arrive
        within 2 seconds may still see the previous rows.
        """
        reply: LookupTable = self._transport.call(
            "PUT",
            f"/lookup-tables/{self._transport.part(table_id)}/rows",
            "json",
            body=body,
            content_type=content_type,
            headers=headers,
        )
        return reply


class MetricDefinitionTemplatesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinitionTemplatesListReply:
        """
        List the templates of metric definitions, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only templates whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: MetricDefinitionTemplatesListReply = self._transport.call(
            "GET",
            "/metrics/definitions/templates",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: MetricDefinitionTemplatesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinitionTemplate:
        """Keep a template of metric definitions."""
        reply: MetricDefinitionTemplate = self._transport.call(
            "POST",
            "/metrics/definitions/templates",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinitionTemplate:
        """One template of metric definitions."""
        reply: MetricDefinitionTemplate = self._transport.call(
            "GET",
            f"/metrics/definitions/templates/{self._transport.part(template_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        template_id: str,
        body: MetricDefinitionTemplatesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinitionTemplate:
        """Replace a template of metric definitions; records created from it do not change."""
        reply: MetricDefinitionTemplate = self._transport.call(
            "PUT",
            f"/metrics/definitions/templates/{self._transport.part(template_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a template of metric definitions; records created from it stay."""
        self._transport.call(
            "DELETE",
            f"/metrics/definitions/templates/{self._transport.part(template_id)}",
            "none",
            headers=headers,
        )


class MetricDefinitionsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        metric_ids: Optional[List[str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinitionsListReply:
        """
        List metric definitions, newest first.

        metric_ids: Only these metric definitions.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only metric definitions whose name, description and conditions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: MetricDefinitionsListReply = self._transport.call(
            "GET",
            "/metrics/definitions",
            "json",
            query={"metric_ids": metric_ids, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: MetricDefinitionsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinition:
        """Create a metric definition from queries and formulas."""
        reply: MetricDefinition = self._transport.call(
            "POST",
            "/metrics/definitions",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def print(
        self,
        *,
        seconds: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> str:
        """
        Values of all named metric definitions in the Prometheus text format.

        One gauge for each query and formula, named `dendro_<definition>_<query>`, with a label for each group and the
        id in `definition`. `dendro_metric_definition_up` is 0 for a definition that cannot be computed. The caller also
        needs `dashboards_read`.

        seconds: The length of the range that ends now; 300 when absent.
        """
        reply: str = self._transport.call(
            "GET",
            "/metrics/definitions/prometheus",
            "text",
            query={"seconds": seconds},
            headers=headers,
        )
        return reply

    def get(
        self,
        metric_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinition:
        """One metric definition."""
        reply: MetricDefinition = self._transport.call(
            "GET",
            f"/metrics/definitions/{self._transport.part(metric_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        metric_id: str,
        body: MetricDefinitionsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricDefinition:
        """Replace a metric definition."""
        reply: MetricDefinition = self._transport.call(
            "PUT",
            f"/metrics/definitions/{self._transport.part(metric_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        metric_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a metric definition that no widget and no monitor uses."""
        self._transport.call(
            "DELETE",
            f"/metrics/definitions/{self._transport.part(metric_id)}",
            "none",
            headers=headers,
        )


class MetricsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> str:
        """The service's own figures in the Prometheus text format, for keys of the management organization."""
        reply: str = self._transport.call(
            "GET",
            "/metrics",
            "text",
            headers=headers,
        )
        return reply


class MonitorTemplatesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorTemplatesListReply:
        """
        List the templates of monitors, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only templates whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: MonitorTemplatesListReply = self._transport.call(
            "GET",
            "/monitors/templates",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: MonitorTemplatesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorTemplate:
        """Keep a template of monitors."""
        reply: MonitorTemplate = self._transport.call(
            "POST",
            "/monitors/templates",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorTemplate:
        """One template of monitors."""
        reply: MonitorTemplate = self._transport.call(
            "GET",
            f"/monitors/templates/{self._transport.part(template_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        template_id: str,
        body: MonitorTemplatesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorTemplate:
        """Replace a template of monitors; records created from it do not change."""
        reply: MonitorTemplate = self._transport.call(
            "PUT",
            f"/monitors/templates/{self._transport.part(template_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a template of monitors; records created from it stay."""
        self._transport.call(
            "DELETE",
            f"/monitors/templates/{self._transport.part(template_id)}",
            "none",
            headers=headers,
        )


class MonitorsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        log_id: Optional[str] = None,
        log_ids: Optional[List[str]] = None,
        monitor_ids: Optional[List[str]] = None,
        metric_ids: Optional[List[str]] = None,
        per_metric: Optional[int] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name", "severity", "last_trigger"]] = None,
        group: Optional[Literal["status", "dataset", "tags"]] = None,
        status: Optional[Literal["ALERT", "WARN", "NO_DATA", "OK", "WAITING"]] = None,
        muted: Optional[bool] = None,
        triggered: Optional[bool] = None,
        totals: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorsListReply:
        """
        List monitors, newest first or in another order.

        log_id: Only monitors that read this log.
        log_ids: Only monitors that read any of these logs.
        monitor_ids: Only these monitors.
        metric_ids: Only those that use any of these metric definitions.
        per_metric: Of those that use one of `metric_ids`, only this many, the newest. Needs `metric_ids`.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only monitors whose name, description, conditions and tags contain each of these words.
        sort: The order of the list; `newest` when absent. `severity`: the worst status first, muted monitors last;
        `last_trigger`: the latest first. Monitors whose status changes meanwhile may be on two pages or on none.
        group: Lists the monitors by group, in each as sorted: by status, by the datasets that they read, or by all of
        their tags. The group with the worst status comes first.
        status: Only monitors with this status. WAITING: those that were not evaluated yet, which have no other.
        muted: Only muted monitors, or only others.
        triggered: Only monitors that have ever triggered or whose status is not OK, or only others.
        totals: Also counts the monitors.
        """
        reply: MonitorsListReply = self._transport.call(
            "GET",
            "/monitors",
            "json",
            query={"log_id": log_id, "log_ids": log_ids, "monitor_ids": monitor_ids, "metric_ids": metric_ids, "per_metric": per_metric, "limit": limit, "cursor": cursor, "search": search, "sort": sort, "group": group, "status": status, "muted": muted, "triggered": triggered, "totals": totals},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: MonitorsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Monitor:
        """Create a monitor, and the metric definition with its queries."""
        reply: Monitor = self._transport.call(
            "POST",
            "/monitors",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def backtest(
        self,
        body: MonitorsBacktestBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Backtest:
        """Backtest a monitor on up to 30 past days: its status changes and notifications."""
        reply: Backtest = self._transport.call(
            "POST",
            "/monitors/backtest",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        monitor_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Monitor:
        """One monitor."""
        reply: Monitor = self._transport.call(
            "GET",
            f"/monitors/{self._transport.part(monitor_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        monitor_id: str,
        body: MonitorsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Monitor:
        """Replace the definition of a monitor; it is evaluated at once."""
        reply: Monitor = self._transport.call(
            "PUT",
            f"/monitors/{self._transport.part(monitor_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        monitor_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a monitor with its history."""
        self._transport.call(
            "DELETE",
            f"/monitors/{self._transport.part(monitor_id)}",
            "none",
            headers=headers,
        )

    def status(
        self,
        monitor_id: str,
        body: MonitorsStatusBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Monitor:
        """Mute or unmute a monitor."""
        reply: Monitor = self._transport.call(
            "POST",
            f"/monitors/{self._transport.part(monitor_id)}/status",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def mute(
        self,
        monitor_id: str,
        body: Optional[MonitorsMuteBody] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Monitor:
        """Mute a monitor; without a body, without end."""
        reply: Monitor = self._transport.call(
            "POST",
            f"/monitors/{self._transport.part(monitor_id)}/mute",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def events(
        self,
        monitor_id: str,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorEvents:
        """List the status changes of a monitor and its groups."""
        reply: MonitorEvents = self._transport.call(
            "GET",
            f"/monitors/{self._transport.part(monitor_id)}/events",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts},
            headers=headers,
        )
        return reply

    def notifications(
        self,
        monitor_id: str,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorsNotificationsReply:
        """List the notifications of a monitor with their delivery state."""
        reply: MonitorsNotificationsReply = self._transport.call(
            "GET",
            f"/monitors/{self._transport.part(monitor_id)}/notifications",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts},
            headers=headers,
        )
        return reply

    def evaluations(
        self,
        monitor_id: str,
        *,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MonitorsEvaluationsReply:
        """List the evaluations of a monitor, newest first."""
        reply: MonitorsEvaluationsReply = self._transport.call(
            "GET",
            f"/monitors/{self._transport.part(monitor_id)}/evaluations",
            "json",
            query={"from_ts": from_ts, "to_ts": to_ts, "limit": limit},
            headers=headers,
        )
        return reply


class NotebooksApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["changed", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> NotebooksListReply:
        """
        List notebooks without their steps, the last changed first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only notebooks whose names and descriptions contain each of these words.
        sort: The order of the list; `changed`, the latest first, when absent.
        """
        reply: NotebooksListReply = self._transport.call(
            "GET",
            "/notebooks",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: NotebooksCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Notebook:
        """Create a notebook."""
        reply: Notebook = self._transport.call(
            "POST",
            "/notebooks",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        notebook_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Notebook:
        """One notebook."""
        reply: Notebook = self._transport.call(
            "GET",
            f"/notebooks/{self._transport.part(notebook_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        notebook_id: str,
        body: NotebooksUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Notebook:
        """Update a notebook."""
        reply: Notebook = self._transport.call(
            "PATCH",
            f"/notebooks/{self._transport.part(notebook_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        notebook_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a notebook."""
        self._transport.call(
            "DELETE",
            f"/notebooks/{self._transport.part(notebook_id)}",
            "none",
            headers=headers,
        )


class NotificationsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def send_test(
        self,
        body: NotificationsSendTestBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Send test notifications of a monitor, even if it is muted."""
        self._transport.call(
            "POST",
            "/monitors/send-test-notifications",
            "none",
            body=body,
            headers=headers,
        )

    def suggest(
        self,
        body: NotificationsSuggestBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> NotificationsSuggestReply:
        """Propose names and descriptions for a monitor, by a configured model or from its queries."""
        reply: NotificationsSuggestReply = self._transport.call(
            "POST",
            "/monitors/suggestions",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class OrganizationsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> OrganizationsListReply:
        """List the organizations that the caller belongs to or manages; `active` marks that of the request."""
        reply: OrganizationsListReply = self._transport.call(
            "GET",
            "/organizations",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: OrganizationsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> OrganizationsCreateReply:
        """
        Create an organization; for administrators of the management organization.

        The response has `first_key`, an AdminApi key of the new organization, shown this once only. A user who creates
        an organization is granted Admin in it and may switch to it.
        """
        reply: OrganizationsCreateReply = self._transport.call(
            "POST",
            "/organizations",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        org_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Organization:
        """One organization."""
        reply: Organization = self._transport.call(
            "GET",
            f"/organizations/{self._transport.part(org_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        org_id: str,
        body: OrganizationsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Organization:
        """Update an organization: name, description or settings."""
        reply: Organization = self._transport.call(
            "PATCH",
            f"/organizations/{self._transport.part(org_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class ParsersApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersListReply:
        """List parsers, built-in parsers first."""
        reply: ParsersListReply = self._transport.call(
            "GET",
            "/parsers",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: ParsersCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Parser:
        """
        Create a parser from a pattern, or infer one from recent lines of a log.

        The pattern is GROK, `%{IP:client}`, or DISSECT, `%{client}`; the type is detected. The parser must be enabled
        and assigned to take effect.
        """
        reply: Parser = self._transport.call(
            "POST",
            "/parsers",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update(
        self,
        parser_id: str,
        body: ParsersUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Parser:
        """Update a parser; an absent `enabled` disables it."""
        reply: Parser = self._transport.call(
            "PATCH",
            f"/parsers/{self._transport.part(parser_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        parser_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a parser and unassign it from its datasets."""
        self._transport.call(
            "DELETE",
            f"/parsers/{self._transport.part(parser_id)}",
            "none",
            headers=headers,
        )

    def assigned(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersAssignedReply:
        """Get the parser of a dataset; 404 when it has none."""
        reply: ParsersAssignedReply = self._transport.call(
            "GET",
            f"/datasets/{self._transport.part(dataset_id)}/parser",
            "json",
            headers=headers,
        )
        return reply

    def assign(
        self,
        dataset_id: str,
        body: ParsersAssignBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Assign a parser to a dataset, for events received from then on."""
        self._transport.call(
            "PUT",
            f"/datasets/{self._transport.part(dataset_id)}/parser",
            "none",
            body=body,
            headers=headers,
        )

    def unassign(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Unassign the parser of a dataset."""
        self._transport.call(
            "DELETE",
            f"/datasets/{self._transport.part(dataset_id)}/parser",
            "none",
            headers=headers,
        )

    def test(
        self,
        body: ParsersTestBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersTestReply:
        """Try a pattern on lines without storing anything."""
        reply: ParsersTestReply = self._transport.call(
            "POST",
            "/parsers/test",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def detect(
        self,
        body: ParsersDetectBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersDetectReply:
        """Suggest parsers for lines, or for recent lines of a log."""
        reply: ParsersDetectReply = self._transport.call(
            "POST",
            "/parsers/detect",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def usage(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        log_id: Optional[str] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersUsageReply:
        """
        Get the parse time and number of lines by log.

        log_id: Only this log.
        limit: Number of logs, the busiest first; 50 when absent.
        delta: Compares with an earlier period; by default the one just before.
        """
        reply: ParsersUsageReply = self._transport.call(
            "GET",
            "/parsers/metrics/usage",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "log_id": log_id, "limit": limit, "num_of_slices": num_of_slices, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply

    def ratio(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        log_id: Optional[str] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ParsersRatioReply:
        """
        Get the share of lines that parsers matched, by log.

        log_id: Only this log.
        limit: Number of logs, the busiest first; 50 when absent.
        delta: Compares with an earlier period; by default the one just before.
        """
        reply: ParsersRatioReply = self._transport.call(
            "GET",
            "/parsers/metrics/ratio",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "log_id": log_id, "limit": limit, "num_of_slices": num_of_slices, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply


class PatternsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def find(
        self,
        body: PatternsFindBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PatternsFindReply:
        """List the message patterns of matching events, most frequent first, at most 1,000."""
        reply: PatternsFindReply = self._transport.call(
            "POST",
            "/patterns",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def values(
        self,
        body: PatternsValuesBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PatternValues:
        """Count the values in place of the variable parts of a pattern."""
        reply: PatternValues = self._transport.call(
            "POST",
            "/patterns/values",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class PermissionsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PermissionsListReply:
        """List all permissions by area."""
        reply: PermissionsListReply = self._transport.call(
            "GET",
            "/permissions",
            "json",
            headers=headers,
        )
        return reply


class PersonalKeysApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PersonalKeysListReply:
        """List your personal API keys."""
        reply: PersonalKeysListReply = self._transport.call(
            "GET",
            "/auth/api-keys",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: PersonalKeysCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PersonalKeysCreateReply:
        """
        Create a personal API key; the response shows its secret `key` this once only.

        A personal key acts as you. It has the permissions that both you and its roles have at the time of each request,
        sees the datasets that you see, and works only while you may log in. Managing personal keys, passwords and
        sessions needs a bearer token.
        """
        reply: PersonalKeysCreateReply = self._transport.call(
            "POST",
            "/auth/api-keys",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def rotate(
        self,
        api_key_id: str,
        body: PersonalKeysRotateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PersonalKeysRotateReply:
        """Give a personal API key another secret, while the previous one works for a limited time."""
        reply: PersonalKeysRotateReply = self._transport.call(
            "POST",
            f"/auth/api-keys/{self._transport.part(api_key_id)}/rotate",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def end_previous(
        self,
        api_key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """End the secret that a personal API key had before its last rotation."""
        self._transport.call(
            "DELETE",
            f"/auth/api-keys/{self._transport.part(api_key_id)}/previous-secret",
            "none",
            headers=headers,
        )

    def remove(
        self,
        api_key_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a personal API key, effective at once."""
        self._transport.call(
            "DELETE",
            f"/auth/api-keys/{self._transport.part(api_key_id)}",
            "none",
            headers=headers,
        )


class PoliciesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        resource_type: Optional[str] = None,
        resource_id: Optional[str] = None,
        principal_type: Optional[str] = None,
        principal_id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PoliciesListReply:
        """List the policies of the organization, newest first."""
        reply: PoliciesListReply = self._transport.call(
            "GET",
            "/policies",
            "json",
            query={"resource_type": resource_type, "resource_id": resource_id, "principal_type": principal_type, "principal_id": principal_id},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: PoliciesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Policy:
        """
        Create a policy; it takes effect with the next request.

        LOG_FORBID and LOG_PERMIT decide about whole logs; ROLE_BASED and CUSTOM decide about single events by their
        fields, in every read.
        """
        reply: Policy = self._transport.call(
            "POST",
            "/policies",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def preview(
        self,
        body: PoliciesPreviewBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PolicyPreview:
        """
        Count what a principal would see with a policy, without creating it.

        Counts by searches of the caller, so the permission `search_read` is needed too. The default range is `Last 1
        day`.
        """
        reply: PolicyPreview = self._transport.call(
            "POST",
            "/policies/preview",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        policy_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Policy:
        """One policy."""
        reply: Policy = self._transport.call(
            "GET",
            f"/policies/{self._transport.part(policy_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        policy_id: str,
        body: PoliciesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Policy:
        """Replace a policy."""
        reply: Policy = self._transport.call(
            "PUT",
            f"/policies/{self._transport.part(policy_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        policy_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, Any]:
        """Delete a policy."""
        reply: Dict[str, Any] = self._transport.call(
            "DELETE",
            f"/policies/{self._transport.part(policy_id)}",
            "json",
            headers=headers,
        )
        return reply

    def of_resource(
        self,
        resource_type: str,
        resource_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PoliciesOfResourceReply:
        """List the policies that name a resource, directly or in a condition."""
        reply: PoliciesOfResourceReply = self._transport.call(
            "GET",
            f"/policies/resources/{self._transport.part(resource_type)}/{self._transport.part(resource_id)}",
            "json",
            headers=headers,
        )
        return reply

    def of_principal(
        self,
        principal_type: str,
        principal_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> PoliciesOfPrincipalReply:
        """List the policies that name a principal."""
        reply: PoliciesOfPrincipalReply = self._transport.call(
            "GET",
            f"/policies/principals/{self._transport.part(principal_type)}/{self._transport.part(principal_id)}",
            "json",
            headers=headers,
        )
        return reply


class ReferenceApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def openapi(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> ReferenceOpenapiReply:
        """Get this API as an OpenAPI 3.1 document."""
        reply: ReferenceOpenapiReply = self._transport.call(
            "GET",
            "/openapi.json",
            "json",
            headers=headers,
        )
        return reply


class RehydrationsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RehydrationsListReply:
        """List the latest rehydrations with their progress, newest first."""
        reply: RehydrationsListReply = self._transport.call(
            "GET",
            "/rehydrations",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: RehydrationsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Rehydration:
        """
        Read events from files back into a dataset.

        Reads files of lines, also compressed with gzip or zstd, and Parquet files, from a directory or a bucket: those
        that forwarding and exports have written, and any others. A repetition stores nothing again: what an earlier
        rehydration has stored from a file is left out. Poll it until `ended_at` is set.
        """
        reply: Rehydration = self._transport.call(
            "POST",
            "/rehydrations",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        rehydration_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Rehydration:
        """Get a rehydration with its progress."""
        reply: Rehydration = self._transport.call(
            "GET",
            f"/rehydrations/{self._transport.part(rehydration_id)}",
            "json",
            headers=headers,
        )
        return reply

    def files(
        self,
        rehydration_id: str,
        *,
        after: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RehydrationsFilesReply:
        """
        Get the receipts of the files of a rehydration, 1,000 at a time.

        after: The number of the last file that is known.
        """
        reply: RehydrationsFilesReply = self._transport.call(
            "GET",
            f"/rehydrations/{self._transport.part(rehydration_id)}/files",
            "json",
            query={"after": after},
            headers=headers,
        )
        return reply

    def cancel(
        self,
        rehydration_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Rehydration:
        """Cancel a rehydration; what it has stored stays."""
        reply: Rehydration = self._transport.call(
            "POST",
            f"/rehydrations/{self._transport.part(rehydration_id)}/cancel",
            "json",
            headers=headers,
        )
        return reply


class RetentionApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def overview(
        self,
        *,
        from_: Optional[List[str]] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        totals: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RetentionOverviewReply:
        """
        Get the retention of each dataset, deleted events, and deleted datasets that still use disk space.

        from_: Ids of the datasets in `datasets`; every dataset the caller may see when absent.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only datasets whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        totals: Also counts the datasets.
        """
        reply: RetentionOverviewReply = self._transport.call(
            "GET",
            "/retention",
            "json",
            query={"from": from_, "limit": limit, "cursor": cursor, "search": search, "sort": sort, "totals": totals},
            headers=headers,
        )
        return reply

    def of_dataset(
        self,
        dataset_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RetentionOfDatasetReply:
        """Get the oldest event of a dataset and the next deletion."""
        reply: RetentionOfDatasetReply = self._transport.call(
            "GET",
            f"/retention/{self._transport.part(dataset_id)}",
            "json",
            headers=headers,
        )
        return reply


class RetentionRulesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RetentionRulesListReply:
        """
        List the retention rules of the organization, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only rules of logs and collections whose names contain each of these words.
        sort: The order of the list; `newest` when absent. `name`: the rule of the organization first, then those of
        collections, then those of logs.
        """
        reply: RetentionRulesListReply = self._transport.call(
            "GET",
            "/retention-rules",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: RetentionRulesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RetentionRule:
        """Create a retention rule; it applies to existing events within an hour."""
        reply: RetentionRule = self._transport.call(
            "POST",
            "/retention-rules",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update(
        self,
        rule_id: str,
        body: RetentionRulesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RetentionRule:
        """Update the retention of a rule; its scope stays."""
        reply: RetentionRule = self._transport.call(
            "PUT",
            f"/retention-rules/{self._transport.part(rule_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        rule_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a retention rule, so that the more general one applies."""
        self._transport.call(
            "DELETE",
            f"/retention-rules/{self._transport.part(rule_id)}",
            "none",
            headers=headers,
        )


class RolesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        role_type: Optional[Literal["USER", "API"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> RolesListReply:
        """List system roles, then the roles of the organization."""
        reply: RolesListReply = self._transport.call(
            "GET",
            "/roles",
            "json",
            query={"role_type": role_type},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: RolesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Role:
        """Create a role with permissions that the caller holds."""
        reply: Role = self._transport.call(
            "POST",
            "/roles",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        role_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Role:
        """One role."""
        reply: Role = self._transport.call(
            "GET",
            f"/roles/{self._transport.part(role_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        role_id: str,
        body: RolesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Role:
        """
        Replace a role; effective with the next request of its holders.

        `role_type` cannot change, and system roles cannot be replaced.
        """
        reply: Role = self._transport.call(
            "PUT",
            f"/roles/{self._transport.part(role_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        role_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a role that no user, group or API key holds."""
        self._transport.call(
            "DELETE",
            f"/roles/{self._transport.part(role_id)}",
            "none",
            headers=headers,
        )


class SavedSearchTemplatesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearchTemplatesListReply:
        """
        List the templates of saved searches, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only templates whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: SavedSearchTemplatesListReply = self._transport.call(
            "GET",
            "/saved-searches/templates",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: SavedSearchTemplatesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearchTemplate:
        """Keep a template of saved searches."""
        reply: SavedSearchTemplate = self._transport.call(
            "POST",
            "/saved-searches/templates",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearchTemplate:
        """One template of saved searches."""
        reply: SavedSearchTemplate = self._transport.call(
            "GET",
            f"/saved-searches/templates/{self._transport.part(template_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        template_id: str,
        body: SavedSearchTemplatesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearchTemplate:
        """Replace a template of saved searches; records created from it do not change."""
        reply: SavedSearchTemplate = self._transport.call(
            "PUT",
            f"/saved-searches/templates/{self._transport.part(template_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a template of saved searches; records created from it stay."""
        self._transport.call(
            "DELETE",
            f"/saved-searches/templates/{self._transport.part(template_id)}",
            "none",
            headers=headers,
        )


class SavedSearchesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearchesListReply:
        """
        List saved searches, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: SavedSearchesListReply = self._transport.call(
            "GET",
            "/saved-searches",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: SavedSearchesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearch:
        """Create a saved search."""
        reply: SavedSearch = self._transport.call(
            "POST",
            "/saved-searches",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        saved_search_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearch:
        """One saved search."""
        reply: SavedSearch = self._transport.call(
            "GET",
            f"/saved-searches/{self._transport.part(saved_search_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        saved_search_id: str,
        body: SavedSearchesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SavedSearch:
        """Update a saved search."""
        reply: SavedSearch = self._transport.call(
            "PATCH",
            f"/saved-searches/{self._transport.part(saved_search_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        saved_search_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a saved search."""
        self._transport.call(
            "DELETE",
            f"/saved-searches/{self._transport.part(saved_search_id)}",
            "none",
            headers=headers,
        )


class SearchApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        from_tags: Optional[List[str]] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        where: Optional[str] = None,
        select: Optional[List[str]] = None,
        groups: Optional[List[str]] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        from_sequence: Optional[int] = None,
        most_recent_first: Optional[bool] = None,
        order_by: Optional[str] = None,
        explain_only: Optional[bool] = None,
        async_enabled: Optional[bool] = None,
        pagination_token: Optional[str] = None,
        per_page: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SearchResponse:
        """
        Search or aggregate events by URL; page links lead here.

        Without aggregates and groups the answer has events; with aggregates it has their values over the range and in
        each slice; with groups the same for each group. `from_expr` or `from` selects datasets, `time_range` or
        `from_ts` and `to_ts` the time range (default: the last 20 minutes).

        from_tags: Deprecated: `key:value` items.
        pagination_token: From a link of a response; all other parameters except per_page are ignored. Valid only for
        the same caller.
        """
        reply: SearchResponse = self._transport.call(
            "GET",
            "/search",
            "json",
            query={"from": from_, "from_expr": from_expr, "from_tags": from_tags, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "where": where, "select": select, "groups": groups, "limit": limit, "num_of_slices": num_of_slices, "from_sequence": from_sequence, "most_recent_first": most_recent_first, "order_by": order_by, "explain_only": explain_only, "async_enabled": async_enabled, "pagination_token": pagination_token, "per_page": per_page},
            headers=headers,
        )
        return reply

    def run(
        self,
        body: SearchRunBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SearchResponse:
        """
        Search or aggregate events.

        Without aggregates and groups the answer has events; with aggregates it has their values over the range and in
        each slice; with groups the same for each group. `from_expr` or `from` selects datasets, `time_range` or
        `from_ts` and `to_ts` the time range (default: the last 20 minutes).
        """
        reply: SearchResponse = self._transport.call(
            "POST",
            "/search",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def status(
        self,
        status_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SearchResponse:
        """Get the status and result of an asynchronous search: 202 while it runs, 201 when it has ended."""
        reply: SearchResponse = self._transport.call(
            "GET",
            f"/search/status/{self._transport.part(status_id)}",
            "json",
            headers=headers,
        )
        return reply

    def cancel(
        self,
        status_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Cancel an asynchronous search; no effect if it has ended."""
        self._transport.call(
            "DELETE",
            f"/search/status/{self._transport.part(status_id)}",
            "none",
            headers=headers,
        )


class SecondFactorApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SecondFactorGetReply:
        """Whether your logins with a password need a code."""
        reply: SecondFactorGetReply = self._transport.call(
            "GET",
            "/auth/second-factor",
            "json",
            headers=headers,
        )
        return reply

    def begin(
        self,
        body: SecondFactorBeginBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SecondFactorBeginReply:
        """
        Begin to set up a second factor: get a secret for an authenticator app.

        It is off until a first code is confirmed. Calling this again replaces the secret. Users without a password have
        none: their provider asks for it.
        """
        reply: SecondFactorBeginReply = self._transport.call(
            "POST",
            "/auth/second-factor",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def confirm(
        self,
        body: SecondFactorConfirmBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SecondFactorConfirmReply:
        """Switch the second factor on with a first code; the response shows recovery codes this once only."""
        reply: SecondFactorConfirmReply = self._transport.call(
            "POST",
            "/auth/second-factor/confirm",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        body: SecondFactorRemoveBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Switch the second factor off."""
        self._transport.call(
            "POST",
            "/auth/second-factor/remove",
            "none",
            body=body,
            headers=headers,
        )


class SessionsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SessionsListReply:
        """
        List your sessions, newest first, in all organizations.

        A session begins with a login and ends with a logout or after 12 hours. At most the newest 200 are listed. This
        needs a bearer token.
        """
        reply: SessionsListReply = self._transport.call(
            "GET",
            "/auth/sessions",
            "json",
            headers=headers,
        )
        return reply

    def remove(
        self,
        session_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """End one of your sessions, effective at once."""
        self._transport.call(
            "DELETE",
            f"/auth/sessions/{self._transport.part(session_id)}",
            "none",
            headers=headers,
        )

    def end_others(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EndedSessions:
        """End all your sessions but that of this request, effective at once."""
        reply: EndedSessions = self._transport.call(
            "POST",
            "/auth/sessions/end-others",
            "json",
            headers=headers,
        )
        return reply


class SignOnApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def providers(
        self,
        body: SignOnProvidersBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SignOnProvidersReply:
        """List the identity providers for the domain of an e-mail address."""
        reply: SignOnProvidersReply = self._transport.call(
            "POST",
            "/auth/sso/providers",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def start(
        self,
        body: SignOnStartBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SignOnStartReply:
        """Begin single sign-on: get the address of the identity provider, and a cookie for this browser."""
        reply: SignOnStartReply = self._transport.call(
            "POST",
            "/auth/sso/start",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def finish(
        self,
        body: SignOnFinishBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Login:
        """
        Complete single sign-on with the answer of the identity provider to get a bearer token.

        Needs the cookie of the start. An answer counts once, within 10 minutes.
        """
        reply: Login = self._transport.call(
            "POST",
            "/auth/sso/finish",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def logout(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SignOnLogoutReply:
        """
        End the bearer token of this request and the others of its sign-on, and get the address where the browser ends
        the session at the identity provider.
        """
        reply: SignOnLogoutReply = self._transport.call(
            "POST",
            "/auth/sso/logout",
            "json",
            headers=headers,
        )
        return reply


class SourcesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SourcesListReply:
        """List sources with their state, newest first."""
        reply: SourcesListReply = self._transport.call(
            "GET",
            "/sources",
            "json",
            headers=headers,
        )
        return reply

    def create(
        self,
        body: SourcesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Source:
        """
        Fetch events from an origin.

        Each event is stored once, also when processes are killed. While events cannot be stored, or a limit of the
        organization is crossed, the source waits and loses nothing that the origin keeps.
        """
        reply: Source = self._transport.call(
            "POST",
            "/sources",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def test(
        self,
        body: SourcesTestBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SourcesTestReply:
        """Test whether an origin can be read."""
        reply: SourcesTestReply = self._transport.call(
            "POST",
            "/sources/test",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        source_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Source:
        """Get a source with its state."""
        reply: Source = self._transport.call(
            "GET",
            f"/sources/{self._transport.part(source_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        source_id: str,
        body: SourcesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Source:
        """Replace a source; what it has read already stays read."""
        reply: Source = self._transport.call(
            "PUT",
            f"/sources/{self._transport.part(source_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        source_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a source; its events stay."""
        self._transport.call(
            "DELETE",
            f"/sources/{self._transport.part(source_id)}",
            "none",
            headers=headers,
        )

    def pause(
        self,
        source_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Source:
        """Pause a source."""
        reply: Source = self._transport.call(
            "POST",
            f"/sources/{self._transport.part(source_id)}/pause",
            "json",
            headers=headers,
        )
        return reply

    def resume(
        self,
        source_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Source:
        """Resume a source from where it was paused."""
        reply: Source = self._transport.call(
            "POST",
            f"/sources/{self._transport.part(source_id)}/resume",
            "json",
            headers=headers,
        )
        return reply


class SpendApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        by: Optional[Literal["dataset", "key", "protocol", "pattern", "field", "sender"]] = None,
        from_: Optional[List[str]] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SpendGetReply:
        """
        Get what arrived and what it costs, by dataset, key, protocol, pattern, field or sender, over time.

        Answered from counts, without reading events. Groups add up to the total. Patterns, fields and senders are
        estimates from samples of arriving lines, by full days in UTC. By time of arrival, rounded to full minutes; the
        default range is `Last 30 days`.

        from_: Dataset ids; every dataset that the caller may see when absent.
        limit: Groups at most, besides the rest.
        num_of_slices: By default minutes, hours, days or months, whichever are few.
        """
        reply: SpendGetReply = self._transport.call(
            "GET",
            "/spend",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "by": by, "from": from_, "limit": limit, "num_of_slices": num_of_slices},
            headers=headers,
        )
        return reply

    def budget(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SpendMonth:
        """
        Get what this month has used of the budget, and what it is expected to use.

        The forecast follows the trend and the days of the week of the last 56 days. Its range shows how far days were
        from that; it cannot know of changes to come.
        """
        reply: SpendMonth = self._transport.call(
            "GET",
            "/spend/budget",
            "json",
            headers=headers,
        )
        return reply

    def savings(
        self,
        *,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SpendSavingsReply:
        """
        List the ways to save most, each with a rule or a retention.

        Looks at what arrived in the last 30 days, by estimates for patterns and fields, and at what searches, exports
        and monitors read.
        """
        reply: SpendSavingsReply = self._transport.call(
            "GET",
            "/spend/savings",
            "json",
            query={"limit": limit},
            headers=headers,
        )
        return reply

    def settings(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SpendSettings:
        """Get the price and the budget of the organization."""
        reply: SpendSettings = self._transport.call(
            "GET",
            "/spend/settings",
            "json",
            headers=headers,
        )
        return reply

    def set(
        self,
        body: SpendSetBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SpendSettings:
        """
        Set the price and the budget of the organization; what is absent is removed.

        Nothing is refused when a budget is exceeded; that is what limits are for.
        """
        reply: SpendSettings = self._transport.call(
            "PUT",
            "/spend/settings",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class SsoApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def idps(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SsoIdpsReply:
        """List the identity providers."""
        reply: SsoIdpsReply = self._transport.call(
            "GET",
            "/sso/idps",
            "json",
            headers=headers,
        )
        return reply

    def create_idp(
        self,
        body: SsoCreateIdpBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Idp:
        """
        Add an identity provider (OpenID Connect or SAML 2.0).

        The caller must hold all permissions of an Administrator, because the provider says who a user is. OpenID
        Connect needs `issuer_url`, `client_id` and `client_secret`; SAML needs `meta_cert`. The metadata of Dendro for
        a SAML provider are at `/auth/saml/{id}/metadata`.
        """
        reply: Idp = self._transport.call(
            "POST",
            "/sso/idps",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def idp(
        self,
        name: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Idp:
        """One identity provider."""
        reply: Idp = self._transport.call(
            "GET",
            f"/sso/idps/{self._transport.part(name)}",
            "json",
            headers=headers,
        )
        return reply

    def update_idp(
        self,
        name: str,
        body: SsoUpdateIdpBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Idp:
        """Change an identity provider."""
        reply: Idp = self._transport.call(
            "PATCH",
            f"/sso/idps/{self._transport.part(name)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_idp(
        self,
        name: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove an identity provider with its mappings."""
        self._transport.call(
            "DELETE",
            f"/sso/idps/{self._transport.part(name)}",
            "none",
            headers=headers,
        )

    def mappings(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SsoMappingsReply:
        """List the mappings from claims to roles and groups."""
        reply: SsoMappingsReply = self._transport.call(
            "GET",
            "/sso/mappings",
            "json",
            headers=headers,
        )
        return reply

    def create_mapping(
        self,
        body: SsoCreateMappingBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SsoMapping:
        """
        Add a mapping; it applies at the next sign-on.

        Callers map only to roles and groups whose permissions they hold.
        """
        reply: SsoMapping = self._transport.call(
            "POST",
            "/sso/mappings",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update_mapping(
        self,
        body: SsoMapping,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SsoMapping:
        """Replace the mapping with this id."""
        reply: SsoMapping = self._transport.call(
            "PUT",
            "/sso/mappings",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove_mapping(
        self,
        *,
        id: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove the mapping with this id."""
        self._transport.call(
            "DELETE",
            "/sso/mappings",
            "none",
            query={"id": id},
            headers=headers,
        )

    def preview(
        self,
        body: SsoPreviewBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> SsoPreviewReply:
        """Show which roles and groups a sign-on with these claims would get."""
        reply: SsoPreviewReply = self._transport.call(
            "POST",
            "/sso/preview",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class StatementsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def replace(
        self,
        body: StatementsReplaceBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> StatementsReplaceReply:
        """Replace the statements of a project version; 201 the first time, 200 afterwards."""
        reply: StatementsReplaceReply = self._transport.call(
            "POST",
            "/statements",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def list(
        self,
        *,
        project_id: str,
        version: Optional[str] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> StatementsListReply:
        """List the statements of a project, by default of its newest version."""
        reply: StatementsListReply = self._transport.call(
            "GET",
            "/statements",
            "json",
            query={"project_id": project_id, "version": version},
            headers=headers,
        )
        return reply

    def get(
        self,
        statement_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> StatementsGetReply:
        """Get a statement of the newest version, and the records that refer to it."""
        reply: StatementsGetReply = self._transport.call(
            "GET",
            f"/statements/{self._transport.part(statement_id)}",
            "json",
            headers=headers,
        )
        return reply


class TagsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def search(
        self,
        *,
        name: Optional[str] = None,
        value: Optional[str] = None,
        entity_type: Optional[Literal["log", "dashboard", "user", "api_key", "widget", "saved_search", "monitor"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> TagsSearchReply:
        """List tags with their records, sorted by name and value; at most 100 values per name."""
        reply: TagsSearchReply = self._transport.call(
            "GET",
            "/tags/search",
            "json",
            query={"name": name, "value": value, "entity_type": entity_type},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: Tag,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Tag:
        """Add a tag to a record; an existing name is a conflict."""
        reply: Tag = self._transport.call(
            "POST",
            "/tags",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def update(
        self,
        body: Tag,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Tag:
        """Change the value of a tag."""
        reply: Tag = self._transport.call(
            "PUT",
            "/tags",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        body: TagsRemoveBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove a tag from a record."""
        self._transport.call(
            "DELETE",
            "/tags",
            "none",
            body=body,
            headers=headers,
        )


class TimeseriesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        metric_definition_id: str,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        where: Optional[str] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, MetricTimeseries]:
        """
        Get the time series of a metric definition, by query and formula name.

        where: An additional filter on the events of every query.
        """
        reply: Dict[str, MetricTimeseries] = self._transport.call(
            "GET",
            f"/timeseries/{self._transport.part(metric_definition_id)}",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "limit": limit, "num_of_slices": num_of_slices, "where": where, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply

    def search(
        self,
        body: TimeseriesSearchBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, MetricTimeseries]:
        """Compute time series without a stored definition."""
        reply: Dict[str, MetricTimeseries] = self._transport.call(
            "POST",
            "/timeseries/search",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class TopKeysApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def get(
        self,
        *,
        log_id: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Dict[str, Dict[str, TopKey]]:
        """
        Get the most frequent keys of logs from a sample of their newest events.

        log_id: All logs the caller may see when absent.
        from_expr: A dataset selector; takes precedence over `log_id`.
        limit: Maximum number of keys per log; 100 when absent.
        """
        reply: Dict[str, Dict[str, TopKey]] = self._transport.call(
            "GET",
            "/top-keys",
            "json",
            query={"log_id": log_id, "from_expr": from_expr, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "limit": limit},
            headers=headers,
        )
        return reply

    def sample(
        self,
        body: TopKeysSampleBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> KeySample:
        """List the most frequent keys of matching events, with values from an even sample of the time range."""
        reply: KeySample = self._transport.call(
            "POST",
            "/top-keys",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class TracesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def find(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        where: Optional[str] = None,
        service: Optional[str] = None,
        operation: Optional[str] = None,
        status: Optional[Literal["unset", "ok", "error"]] = None,
        min_duration: Optional[str] = None,
        max_duration: Optional[str] = None,
        spans: Optional[Literal["any", "root"]] = None,
        order: Optional[Literal["newest", "slowest"]] = None,
        limit: Optional[int] = None,
        durations: Optional[bool] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> TraceList:
        """
        Find traces by their spans: newest or slowest first.

        A trace is found if one of its spans meets all conditions together. Its row describes the whole trace, so far as
        the caller may see it: the spans within an hour of those that match. Without `from` and `from_expr` all datasets
        of the collection `.traces` are searched; without a time the last hour.

        where: A filter on one span, such as `$http.route = '/cart'`.
        operation: The name of the span.
        min_duration: The shortest duration of the span, inclusive.
        max_duration: The longest duration of the span, inclusive.
        spans: Which spans may meet the conditions; `root` for those without a parent. `any` when absent.
        order: By the newest or the longest span that matches; `newest` when absent.
        limit: The maximum number of traces; 20 when absent.
        durations: Also counts the matching spans by duration.
        """
        reply: TraceList = self._transport.call(
            "GET",
            "/traces",
            "json",
            query={"from": from_, "from_expr": from_expr, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "where": where, "service": service, "operation": operation, "status": status, "min_duration": min_duration, "max_duration": max_duration, "spans": spans, "order": order, "limit": limit, "durations": durations},
            headers=headers,
        )
        return reply

    def differences(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        where: Optional[str] = None,
        service: Optional[str] = None,
        operation: Optional[str] = None,
        status: Optional[Literal["unset", "ok", "error"]] = None,
        min_duration: Optional[str] = None,
        max_duration: Optional[str] = None,
        spans: Optional[Literal["any", "root"]] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> TraceDifferences:
        """
        Find what slow or failed traces have that others have not.

        Compares the spans of traces with a span that meets all conditions with those of traces in which a span meets
        all of them but `status`, `min_duration` and `max_duration`, of which there must be one. Attributes of any span
        count, such as the customer of the root and the version of a service below it. Without `from` and `from_expr`
        all datasets of the collection `.traces` are searched; without a time the last hour.

        where: A filter on one span, such as `$http.route = '/cart'`.
        operation: The name of the span.
        min_duration: The shortest duration of the span, inclusive.
        max_duration: The longest duration of the span, inclusive.
        spans: Which spans may meet the conditions; `root` for those without a parent. `any` when absent.
        limit: The maximum number of findings; 20 when absent.
        """
        reply: TraceDifferences = self._transport.call(
            "GET",
            "/traces/differences",
            "json",
            query={"from": from_, "from_expr": from_expr, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "where": where, "service": service, "operation": operation, "status": status, "min_duration": min_duration, "max_duration": max_duration, "spans": spans, "limit": limit},
            headers=headers,
        )
        return reply

    def operations(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        where: Optional[str] = None,
        service: Optional[str] = None,
        spans: Optional[Literal["any", "root"]] = None,
        order: Optional[Literal["busiest", "slowest", "failing"]] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> OperationList:
        """
        List services and their operations: how often, how slow, how many failures.

        Counts spans by service and name. Without `from` and `from_expr` all datasets of the collection `.traces` are
        searched; without a time the last hour.

        where: A filter on spans, such as `$span.kind = 'SPAN_KIND_SERVER'`.
        spans: Which spans are counted; `root` for those without a parent. `any` when absent.
        order: By the number of spans, the 95th percentile or the number of failures; `busiest` when absent.
        limit: The maximum number of operations; 100 when absent.
        """
        reply: OperationList = self._transport.call(
            "GET",
            "/traces/operations",
            "json",
            query={"from": from_, "from_expr": from_expr, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "where": where, "service": service, "spans": spans, "order": order, "limit": limit},
            headers=headers,
        )
        return reply

    def calls(
        self,
        *,
        from_: Optional[List[str]] = None,
        from_expr: Optional[str] = None,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        service: Optional[str] = None,
        limit: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> CallList:
        """
        List which services call which: how often, how slow, how many failures.

        A call is a span whose parent is a span of another service, or a span of a client or a producer that names a
        peer without spans of its own. If the range has many spans, a part of its traces is read, chosen by the ends of
        their ids, and the numbers of calls are estimated from it. Without `from` and `from_expr` all datasets of the
        collection `.traces` are searched; without a time the last hour.

        service: Only calls from or to this service.
        limit: The maximum number of pairs of services; 200 when absent.
        """
        reply: CallList = self._transport.call(
            "GET",
            "/traces/calls",
            "json",
            query={"from": from_, "from_expr": from_expr, "time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "service": service, "limit": limit},
            headers=headers,
        )
        return reply

    def get(
        self,
        trace_id: str,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        timestamp: Optional[int] = None,
        logs: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Trace:
        """
        Get a trace: its spans as a tree, their logs, services, errors and the critical path.

        Reads all datasets that the caller may see. Without a time the newest day is searched first, then everything
        that is kept. The skew of clocks is corrected where a span would begin before its parent, or a server would
        answer after its client had the response; `skew_nano` marks it.

        timestamp: A rough time in epoch milliseconds: an hour to each side is searched first. Excludes a range.
        logs: The maximum number of events that are not spans; 1,000 when absent.
        """
        reply: Trace = self._transport.call(
            "GET",
            f"/traces/{self._transport.part(trace_id)}",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "timestamp": timestamp, "logs": logs},
            headers=headers,
        )
        return reply


class UsageApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def organization(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        usage_type: Optional[Literal["ingestion", "search", "export"]] = None,
        num_of_slices: Optional[int] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> MetricItem:
        """
        Get the usage of the organization over time.

        Usage is counted by minute of arrival; the range is rounded to full minutes. The default range is `Last 1 day`.

        delta: Compares with an earlier period; by default the one just before.
        delta_time_range: The period to compare with, such as `Previous month`; takes precedence over the timestamps.
        """
        reply: MetricItem = self._transport.call(
            "GET",
            "/usage",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "usage_type": usage_type, "num_of_slices": num_of_slices, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply

    def logs(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        usage_type: Optional[Literal["ingestion", "search", "export"]] = None,
        from_: Optional[List[str]] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsageSeries:
        """
        Get the usage by dataset, largest first.

        Usage is counted by minute of arrival; the range is rounded to full minutes. The default range is `Last 1 day`.

        from_: Dataset ids; every dataset the caller may see when absent.
        limit: Datasets at most.
        delta: Compares with an earlier period; by default the one just before.
        delta_time_range: The period to compare with, such as `Previous month`; takes precedence over the timestamps.
        """
        reply: UsageSeries = self._transport.call(
            "GET",
            "/usage/organizations/logs",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "usage_type": usage_type, "from": from_, "limit": limit, "num_of_slices": num_of_slices, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply

    def users(
        self,
        *,
        time_range: Optional[str] = None,
        from_ts: Optional[int] = None,
        to_ts: Optional[int] = None,
        usage_type: Optional[Literal["search"]] = None,
        limit: Optional[int] = None,
        num_of_slices: Optional[int] = None,
        metric: Optional[Literal["volume", "latency", "data"]] = None,
        delta: Optional[bool] = None,
        delta_time_range: Optional[str] = None,
        delta_from_ts: Optional[int] = None,
        delta_to_ts: Optional[int] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsageSeries:
        """
        Get the search usage of the caller by dataset; administrators and API keys get that of all users.

        Usage is counted by minute of arrival; the range is rounded to full minutes. The default range is `Last 1 day`.

        limit: Datasets at most.
        metric: `data` is a deprecated name of `volume`.
        delta: Compares with an earlier period; by default the one just before.
        delta_time_range: The period to compare with, such as `Previous month`; takes precedence over the timestamps.
        """
        reply: UsageSeries = self._transport.call(
            "GET",
            "/usage/users",
            "json",
            query={"time_range": time_range, "from_ts": from_ts, "to_ts": to_ts, "usage_type": usage_type, "limit": limit, "num_of_slices": num_of_slices, "metric": metric, "delta": delta, "delta_time_range": delta_time_range, "delta_from_ts": delta_from_ts, "delta_to_ts": delta_to_ts},
            headers=headers,
        )
        return reply


class UsersApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        user_ids: Optional[List[str]] = None,
        status: Optional[Literal["INVITED", "ACTIVE", "INACTIVE", "DEACTIVATED", "MIGRATED", "REMOVED"]] = None,
        role: Optional[str] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersListReply:
        """
        List the users of the organization, in every state.

        user_ids: Only these users.
        status: Only users of this status.
        role: Only users that have this role themselves.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: UsersListReply = self._transport.call(
            "GET",
            "/users",
            "json",
            query={"user_ids": user_ids, "status": status, "role": role, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: UsersCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersCreateReply:
        """Invite a user with a one-time link, valid for 7 days, by mail or in the response."""
        reply: UsersCreateReply = self._transport.call(
            "POST",
            "/users",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def all(
        self,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersAllReply:
        """List the users of all organizations that the caller's organization manages, and its own."""
        reply: UsersAllReply = self._transport.call(
            "GET",
            "/users/all",
            "json",
            headers=headers,
        )
        return reply

    def get(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> User:
        """One user."""
        reply: User = self._transport.call(
            "GET",
            f"/users/{self._transport.part(user_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        user_id: str,
        body: UsersUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> User:
        """Update the names, roles or login methods of a user; roles take effect with the next request."""
        reply: User = self._transport.call(
            "PATCH",
            f"/users/{self._transport.part(user_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a user with access, memberships, preferences and tokens; their records stay."""
        self._transport.call(
            "DELETE",
            f"/users/{self._transport.part(user_id)}",
            "none",
            headers=headers,
        )

    def deactivate(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> User:
        """Deactivate a user: all tokens end at once, and logging in is refused."""
        reply: User = self._transport.call(
            "POST",
            f"/users/{self._transport.part(user_id)}/deactivate",
            "json",
            headers=headers,
        )
        return reply

    def reactivate(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> User:
        """Reactivate a user; users who never accepted their invitation become INVITED and need a new one."""
        reply: User = self._transport.call(
            "POST",
            f"/users/{self._transport.part(user_id)}/reactivate",
            "json",
            headers=headers,
        )
        return reply

    def resend_invite(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersResendInviteReply:
        """Send a new invitation; the earlier link becomes invalid."""
        reply: UsersResendInviteReply = self._transport.call(
            "POST",
            f"/users/{self._transport.part(user_id)}/resend-invite",
            "json",
            headers=headers,
        )
        return reply

    def end_sessions(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> EndedSessions:
        """End all sessions of a user, in all organizations, effective at once; the user may log in again."""
        reply: EndedSessions = self._transport.call(
            "DELETE",
            f"/users/{self._transport.part(user_id)}/sessions",
            "json",
            headers=headers,
        )
        return reply

    def remove_second_factor(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove the second factor of a user who has lost it; the password alone is enough until they set up another."""
        self._transport.call(
            "DELETE",
            f"/users/{self._transport.part(user_id)}/second-factor",
            "none",
            headers=headers,
        )

    def reset_password(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersResetPasswordReply:
        """Send a user a one-time link to reset the password."""
        reply: UsersResetPasswordReply = self._transport.call(
            "POST",
            f"/users/{self._transport.part(user_id)}/reset-password",
            "json",
            headers=headers,
        )
        return reply

    def preferences(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UserPreference:
        """Get the preferences of a user; empty when none are stored."""
        reply: UserPreference = self._transport.call(
            "GET",
            f"/users/{self._transport.part(user_id)}/preferences",
            "json",
            headers=headers,
        )
        return reply

    def update_preferences(
        self,
        user_id: str,
        body: UsersUpdatePreferencesBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UserPreference:
        """Update one of the preferences of a user."""
        reply: UserPreference = self._transport.call(
            "PATCH",
            f"/users/{self._transport.part(user_id)}/preferences",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def access(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersAccessReply:
        """List the organizations of a user."""
        reply: UsersAccessReply = self._transport.call(
            "GET",
            f"/users/{self._transport.part(user_id)}/access",
            "json",
            headers=headers,
        )
        return reply

    def groups(
        self,
        user_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> UsersGroupsReply:
        """List the groups that a user belongs to directly."""
        reply: UsersGroupsReply = self._transport.call(
            "GET",
            f"/users/{self._transport.part(user_id)}/groups",
            "json",
            headers=headers,
        )
        return reply


class WidgetTemplatesApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetTemplatesListReply:
        """
        List the templates of widgets, newest first.

        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only templates whose names and descriptions contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: WidgetTemplatesListReply = self._transport.call(
            "GET",
            "/widgets/templates",
            "json",
            query={"limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: WidgetTemplatesCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetTemplate:
        """Keep a template of widgets."""
        reply: WidgetTemplate = self._transport.call(
            "POST",
            "/widgets/templates",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetTemplate:
        """One template of widgets."""
        reply: WidgetTemplate = self._transport.call(
            "GET",
            f"/widgets/templates/{self._transport.part(template_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        template_id: str,
        body: WidgetTemplatesUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetTemplate:
        """Replace a template of widgets; records created from it do not change."""
        reply: WidgetTemplate = self._transport.call(
            "PUT",
            f"/widgets/templates/{self._transport.part(template_id)}",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def remove(
        self,
        template_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a template of widgets; records created from it stay."""
        self._transport.call(
            "DELETE",
            f"/widgets/templates/{self._transport.part(template_id)}",
            "none",
            headers=headers,
        )


class WidgetsApi:
    def __init__(self, transport: ApiTransport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        widget_ids: Optional[List[str]] = None,
        metric_ids: Optional[List[str]] = None,
        per_metric: Optional[int] = None,
        is_frame: Optional[bool] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
        search: Optional[str] = None,
        sort: Optional[Literal["newest", "name"]] = None,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetsListReply:
        """
        List widgets, newest first.

        widget_ids: Only these widgets.
        metric_ids: Only those that use any of these metric definitions.
        per_metric: Of those that use one of `metric_ids`, only this many, the newest. Needs `metric_ids`.
        is_frame: Only widgets that contain others, or only those that do not.
        limit: The number of records of a page. Without it, the list is returned whole.
        cursor: The `next_cursor` of the page before. Needs `limit`, and the same sort and filters.
        search: Only records whose names and tags contain each of these words.
        sort: The order of the list; `newest` when absent. Records that change meanwhile what they are sorted by may be
        on two pages or on none.
        """
        reply: WidgetsListReply = self._transport.call(
            "GET",
            "/widgets",
            "json",
            query={"widget_ids": widget_ids, "metric_ids": metric_ids, "per_metric": per_metric, "is_frame": is_frame, "limit": limit, "cursor": cursor, "search": search, "sort": sort},
            headers=headers,
        )
        return reply

    def create(
        self,
        body: WidgetsCreateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Widget:
        """Create a widget from metrics or other widgets."""
        reply: Widget = self._transport.call(
            "POST",
            "/widgets",
            "json",
            body=body,
            headers=headers,
        )
        return reply

    def get(
        self,
        widget_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> Widget:
        """One widget."""
        reply: Widget = self._transport.call(
            "GET",
            f"/widgets/{self._transport.part(widget_id)}",
            "json",
            headers=headers,
        )
        return reply

    def update(
        self,
        widget_id: str,
        body: WidgetsUpdateBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Replace a widget."""
        self._transport.call(
            "PUT",
            f"/widgets/{self._transport.part(widget_id)}",
            "none",
            body=body,
            headers=headers,
        )

    def change(
        self,
        widget_id: str,
        body: WidgetsChangeBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Update a widget."""
        self._transport.call(
            "PATCH",
            f"/widgets/{self._transport.part(widget_id)}",
            "none",
            body=body,
            headers=headers,
        )

    def remove(
        self,
        widget_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Delete a widget and remove it from every dashboard and widget."""
        self._transport.call(
            "DELETE",
            f"/widgets/{self._transport.part(widget_id)}",
            "none",
            headers=headers,
        )

    def add_widgets(
        self,
        widget_id: str,
        body: WidgetsAddWidgetsBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Add widgets to a widget."""
        self._transport.call(
            "POST",
            f"/widgets/{self._transport.part(widget_id)}/widgets",
            "none",
            body=body,
            headers=headers,
        )

    def remove_widget(
        self,
        widget_id: str,
        child_id: str,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Remove a widget from a widget without deleting it."""
        self._transport.call(
            "DELETE",
            f"/widgets/{self._transport.part(widget_id)}/widgets/{self._transport.part(child_id)}",
            "none",
            headers=headers,
        )

    def data(
        self,
        widget_id: str,
        body: WidgetsDataBody,
        *,
        headers: Optional[Mapping[str, str]] = None,
    ) -> WidgetsDataReply:
        """Get the time series of all metrics of a widget and of the widgets inside it."""
        reply: WidgetsDataReply = self._transport.call(
            "POST",
            f"/widgets/{self._transport.part(widget_id)}/data",
            "json",
            body=body,
            headers=headers,
        )
        return reply


class DendroClient(ApiTransport):
    """Every endpoint of the service: ``client.datasets.list()``. Failures raise ``ApiFailure``, a missing answer ``NoAnswer``."""

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        token: Optional[str] = None,
        timeout_s: float = 120,
        attempts_max: int = 4,
    ) -> None:
        super().__init__(url, key, token=token, timeout_s=timeout_s, attempts_max=attempts_max)
        self.access = AccessApi(self)
        self.agent_interface = AgentInterfaceApi(self)
        self.analytics = AnalyticsApi(self)
        self.api_keys = ApiKeysApi(self)
        self.assistants = AssistantsApi(self)
        self.audit = AuditApi(self)
        self.auth = AuthApi(self)
        self.backups = BackupsApi(self)
        self.changes = ChangesApi(self)
        self.collections = CollectionsApi(self)
        self.config_assistant = ConfigAssistantApi(self)
        self.content_packs = ContentPacksApi(self)
        self.context = ContextApi(self)
        self.customer = CustomerApi(self)
        self.dashboard_templates = DashboardTemplatesApi(self)
        self.dashboards = DashboardsApi(self)
        self.dataset_keys = DatasetKeysApi(self)
        self.datasets = DatasetsApi(self)
        self.downtimes = DowntimesApi(self)
        self.encryption_keys = EncryptionKeysApi(self)
        self.exports = ExportsApi(self)
        self.forward_configs = ForwardConfigsApi(self)
        self.groups = GroupsApi(self)
        self.health = HealthApi(self)
        self.ingest_rules = IngestRulesApi(self)
        self.ingestion = IngestionApi(self)
        self.insights = InsightsApi(self)
        self.integrations = IntegrationsApi(self)
        self.ledger = LedgerApi(self)
        self.limits = LimitsApi(self)
        self.line_times = LineTimesApi(self)
        self.live_tail = LiveTailApi(self)
        self.logs = LogsApi(self)
        self.lookup_tables = LookupTablesApi(self)
        self.metric_definition_templates = MetricDefinitionTemplatesApi(self)
        self.metric_definitions = MetricDefinitionsApi(self)
        self.metrics = MetricsApi(self)
        self.monitor_templates = MonitorTemplatesApi(self)
        self.monitors = MonitorsApi(self)
        self.notebooks = NotebooksApi(self)
        self.notifications = NotificationsApi(self)
        self.organizations = OrganizationsApi(self)
        self.parsers = ParsersApi(self)
        self.patterns = PatternsApi(self)
        self.permissions = PermissionsApi(self)
        self.personal_keys = PersonalKeysApi(self)
        self.policies = PoliciesApi(self)
        self.reference = ReferenceApi(self)
        self.rehydrations = RehydrationsApi(self)
        self.retention = RetentionApi(self)
        self.retention_rules = RetentionRulesApi(self)
        self.roles = RolesApi(self)
        self.saved_search_templates = SavedSearchTemplatesApi(self)
        self.saved_searches = SavedSearchesApi(self)
        self.search = SearchApi(self)
        self.second_factor = SecondFactorApi(self)
        self.sessions = SessionsApi(self)
        self.sign_on = SignOnApi(self)
        self.sources = SourcesApi(self)
        self.spend = SpendApi(self)
        self.sso = SsoApi(self)
        self.statements = StatementsApi(self)
        self.tags = TagsApi(self)
        self.timeseries = TimeseriesApi(self)
        self.top_keys = TopKeysApi(self)
        self.traces = TracesApi(self)
        self.usage = UsageApi(self)
        self.users = UsersApi(self)
        self.widget_templates = WidgetTemplatesApi(self)
        self.widgets = WidgetsApi(self)
