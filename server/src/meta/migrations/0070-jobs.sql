-- Work that survives a restart. A job is held by lease: whoever holds it writes under its fence, which rises with every lease, so that a holder
-- that paused and came back can tell that the job is another's by now. Nothing of this table is cached, so nobody is told of its changes.
create table jobs (
  id uuid primary key,
  -- org_id is null for work of the whole deployment.
  org_id uuid references organisations (id),
  kind text not null,
  -- key names what the job is about: of one kind and key there is one job.
  key text not null,
  payload jsonb not null,
  created_at bigint not null,
  due_at bigint not null,
  -- attempts are those since the last success; an attempt that was cut short by a stop of the service does not count.
  attempts int not null default 0,
  last_failure text,
  failed_at bigint,
  done_at bigint,
  -- given_up_at says that the bound of attempts is reached and nothing more happens by itself.
  given_up_at bigint,
  fence bigint not null default 0,
  holder uuid,
  -- lease_until_ms is told by the clock of this store alone, which all holders share.
  lease_until_ms bigint,
  unique (kind, key)
);
create index jobs_by_due on jobs (due_at) where given_up_at is null;
