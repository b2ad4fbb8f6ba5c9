create table monitors (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  name text not null,
  description text,
  type text not null,
  comparison_operator text not null,
  threshold double precision not null,
  warning_threshold double precision,
  -- time_window is the phrase as sent, such as Last 5 minutes.
  time_window text not null,
  actions jsonb not null,
  no_data_status text,
  notify_once boolean not null,
  group_retention bigint,
  aux jsonb,
  compare_to text,
  change_type text,
  evaluation_window text,
  anomaly_algorithm text,
  ai_report_enabled boolean not null,
  ai_report_instructions text,
  -- muted_until is -1 without end, and null when the monitor is not muted.
  muted_until bigint,
  -- metric_id holds the queries and formulas. It is created and deleted with the monitor.
  metric_id uuid not null,
  template jsonb,
  tags jsonb not null,
  -- author is the last user or key that changed the queries. The monitor reads with the author's permissions, whoever mutes or tags it.
  author jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
create index monitors_of on monitors (org_id);
select watch_changes('monitors');

-- The state that changes with every evaluation has its own table, so that evaluations do not invalidate cached definitions.
create table monitor_states (
  org_id uuid not null references organisations (id),
  monitor_id uuid primary key references monitors (id) on delete cascade,
  status text not null,
  state jsonb not null,
  -- alerts has the alert id of each group, or of '' for the whole monitor. The recovery has the same id.
  alerts jsonb not null default '{}',
  last_trigger_ts bigint,
  -- is_new is set when the definition changed since the last evaluation. The next evaluation includes the latest events and drops groups that no longer
  -- occur.
  is_new boolean not null default true,
  due_at bigint not null,
  looked_at bigint,
  -- missed counts evaluations that were skipped because an earlier one took too long or no process was running.
  missed bigint not null default 0,
  -- fence rises with every lease and every change of the definition. An evaluation with an older fence is not written.
  fence bigint not null default 0,
  holder uuid,
  -- lease_until_ms uses the clock of this store.
  lease_until_ms bigint
);
create index monitor_states_due on monitor_states (due_at);
create index monitor_states_of on monitor_states (org_id);

create table monitor_evaluations (
  org_id uuid not null references organisations (id),
  monitor_id uuid not null references monitors (id) on delete cascade,
  time bigint not null,
  from_ts bigint not null,
  to_ts bigint not null,
  status text not null,
  -- is_change is set when a status changed, or a notification was sent or suppressed. Such records are kept longer.
  is_change boolean not null,
  record jsonb not null
);
create index monitor_evaluations_of on monitor_evaluations (monitor_id, time);
create index monitor_evaluations_old on monitor_evaluations (time);

create table monitor_events (
  org_id uuid not null references organisations (id),
  id uuid primary key,
  monitor_id uuid not null references monitors (id) on delete cascade,
  time bigint not null,
  monitor_status text not null,
  previous_status text not null,
  message text,
  ai_report text
);
create index monitor_events_of on monitor_events (monitor_id, time);

create table monitor_group_history (
  org_id uuid not null references organisations (id),
  monitor_id uuid not null references monitors (id) on delete cascade,
  group_id text not null,
  time bigint not null,
  status text not null
);
create index monitor_group_history_of on monitor_group_history (monitor_id, time);

-- Notifications are written together with the status change that they report; the delivery job reads them here.
create table monitor_notifications (
  org_id uuid not null references organisations (id),
  -- id is sent with every attempt, so that a receiver can drop a duplicate.
  id uuid primary key,
  monitor_id uuid not null references monitors (id) on delete cascade,
  -- event_id is the status change of the whole monitor that came with it, if any.
  event_id uuid,
  -- alert_id is the same for an alert and its recovery.
  alert_id uuid not null,
  group_id text not null,
  transition text not null,
  previous_status text not null,
  monitor_status text not null,
  value double precision,
  threshold double precision not null,
  from_ts bigint not null,
  to_ts bigint not null,
  time bigint not null,
  test boolean not null default false,
  -- type, destination and integration_id are one target of an action at that time; occasion has the data of the message.
  type text not null,
  destination text not null,
  integration_id text,
  occasion jsonb not null,
  state text not null default 'IN_PROGRESS',
  failure_reason text,
  attempts int not null default 0,
  -- next_try_at is null once it is sent or failed.
  next_try_at bigint
);
create index monitor_notifications_of on monitor_notifications (monitor_id, time);
create index monitor_notifications_due on monitor_notifications (next_try_at) where state = 'IN_PROGRESS';
