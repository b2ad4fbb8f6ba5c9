-- Every table with rows of an organization calls watch_changes('table') in its migration. Listening processes then drop what they have cached of an
-- organization as soon as a change of its rows is committed.

create function tell_change() returns trigger language plpgsql as $$
declare
  org text;
begin
  if tg_op = 'TRUNCATE' then
    perform pg_notify('dendro_changes', '*');
    return null;
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    execute format('select ($1).%I::text', tg_argv[0]) into org using new;
    perform pg_notify('dendro_changes', coalesce(org, '*'));
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    execute format('select ($1).%I::text', tg_argv[0]) into org using old;
    -- PostgreSQL drops repeated notifications of one transaction itself.
    perform pg_notify('dendro_changes', coalesce(org, '*'));
  end if;
  return null;
end
$$;

create function watch_changes(watched regclass, org_column name default 'org_id') returns void language plpgsql as $$
begin
  execute format(
    'create trigger tell_change after insert or update or delete on %s for each row execute function tell_change(%L)', watched, org_column);
  execute format(
    'create trigger tell_truncate after truncate on %s for each statement execute function tell_change(%L)', watched, org_column);
end
$$;

create table organisations (
  id uuid primary key,
  -- number identifies the organization in the event store, in every row. It is never reused.
  number int not null unique generated always as identity,
  name text not null unique,
  description text,
  login_methods jsonb,
  partition_tags jsonb,
  settings jsonb,
  created_at bigint not null,
  created_by jsonb,
  modified_at bigint not null,
  modified_by jsonb
);
select watch_changes('organisations', 'id');

-- settings holds values of the whole deployment. A change affects every organization.
create table settings (
  name text primary key,
  value jsonb not null
);
create function tell_all() returns trigger language plpgsql as $$
begin
  perform pg_notify('dendro_changes', '*');
  return null;
end
$$;
create trigger tell_all after insert or update or delete or truncate on settings for each statement execute function tell_all();

-- rate_windows counts the used part of a limit in a window. granted is what the latest request received.
create table rate_windows (
  subject text not null,
  window_start_ms bigint not null,
  used bigint not null,
  granted bigint not null,
  primary key (subject, window_start_ms)
);
create index rate_windows_by_age on rate_windows (window_start_ms);
