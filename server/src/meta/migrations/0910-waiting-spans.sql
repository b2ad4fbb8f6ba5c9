-- Spans that wait until it is decided which traces are stored (resources/data/waiting-spans/): a row for each post, dataset and rule. They were accepted,
-- so that they must survive everything that events in the event store survive.
create table waiting_spans (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  log_id uuid not null,
  -- Who sent the post, and how.
  sender jsonb not null,
  -- The rule as it was when they arrived.
  rule_id uuid not null,
  rule_position int not null,
  sampling jsonb not null,
  -- Recognizes a repeated post; null for one that cannot be recognized.
  post_key text,
  arrived_at bigint not null,
  due_at bigint not null,
  events int not null,
  -- The records as compressed JSON, null once they are stored or dropped, and the facts of their traces (ingest-rules/trace-facts.ts).
  body bytea,
  body_bytes bigint not null,
  traces bytea not null,
  -- Since when the kept ones may be stored.
  planned_at bigint,
  ended_at bigint
);
alter table waiting_spans alter column body set storage external;
create unique index waiting_spans_by_post on waiting_spans (org_id, post_key) where post_key is not null;
create index waiting_spans_open on waiting_spans (org_id, due_at, id) where ended_at is null;
create index waiting_spans_ended on waiting_spans (ended_at) where ended_at is not null;

-- What was decided about traces: how many a stored one stands for, 0 for one that is not stored. Late spans of a trace follow it.
create table trace_decisions (
  org_id uuid not null references organisations (id),
  trace_id bytea not null,
  weight double precision not null,
  decided_at bigint not null,
  primary key (org_id, trace_id)
);
create index trace_decisions_old on trace_decisions (decided_at);
