-- Background jobs, which survive a restart. A job is held by lease. Its holder writes with its fence, which rises with every lease, so that a holder
-- that was paused notices that the job belongs to another. This table is not cached, so changes are not notified.
create table jobs (
  id uuid primary key,
  -- org_id is null for jobs of the whole deployment.
  org_id uuid references organisations (id),
  kind text not null,
  -- key names the subject of the job. There is one job per kind and key.
  key text not null,
  payload jsonb not null,
  created_at bigint not null,
  due_at bigint not null,
  -- attempts counts those since the last success. An attempt that a stop of the service interrupted does not count.
  attempts int not null default 0,
  last_failure text,
  failed_at bigint,
  done_at bigint,
  -- given_up_at is set when the maximum number of attempts is reached; the job then waits for an operator.
  given_up_at bigint,
  fence bigint not null default 0,
  holder uuid,
  -- lease_until_ms uses the clock of this store, which all holders share.
  lease_until_ms bigint,
  unique (kind, key)
);
create index jobs_by_due on jobs (due_at) where given_up_at is null;
