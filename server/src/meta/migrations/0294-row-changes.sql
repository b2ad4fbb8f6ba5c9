-- Processes drop cached data row by row. Each change is notified on the channel dendro_rows as `<organization> <table> <id>`, where `*` stands for all.
-- The transaction itself reads the same lines from the setting dendro.changed before it commits. The channel dendro_changes, which names only the
-- organization, is for processes of the previous version, which may still be running.

create function note_change(org text, watched text, id text) returns void language plpgsql as $$
declare
  noted text := coalesce(nullif(current_setting('dendro.changed', true), ''), E'\n');
  line text;
begin
  -- Many changes in one transaction are notified as one.
  line := case
    when octet_length(noted) > 8000 then '* * *'
    when octet_length(noted) > 4000 then org || ' * *'
    when octet_length(id) > 200 or strpos(id, E'\n') > 0 then org || ' ' || watched || ' *'
    else org || ' ' || watched || ' ' || id
  end;
  if strpos(noted, E'\n' || line || E'\n') > 0 then
    return;
  end if;
  perform set_config('dendro.changed', noted || line || E'\n', true);
  perform pg_notify('dendro_rows', line);
  perform pg_notify('dendro_changes', split_part(line, ' ', 1));
end
$$;

-- tell_change takes the column of the organization (empty: the row affects all) and the column of the id (absent: the row has none).
create or replace function tell_change() returns trigger language plpgsql as $$
declare
  org text;
  id text;
begin
  if tg_op = 'TRUNCATE' then
    perform note_change('*', tg_table_name, '*');
    return null;
  end if;
  if tg_op = 'UPDATE' then
    if old *= new then
      return null;
    end if;
  end if;
  if tg_op in ('INSERT', 'UPDATE') then
    if tg_argv[0] <> '' then
      execute format('select ($1).%I::text', tg_argv[0]) into org using new;
    end if;
    if tg_nargs > 1 then
      execute format('select ($1).%I::text', tg_argv[1]) into id using new;
    end if;
    perform note_change(coalesce(org, '*'), tg_table_name, coalesce(id, '*'));
  end if;
  if tg_op in ('UPDATE', 'DELETE') then
    if tg_argv[0] <> '' then
      execute format('select ($1).%I::text', tg_argv[0]) into org using old;
    end if;
    if tg_nargs > 1 then
      execute format('select ($1).%I::text', tg_argv[1]) into id using old;
    end if;
    perform note_change(coalesce(org, '*'), tg_table_name, coalesce(id, '*'));
  end if;
  return null;
end
$$;

drop function watch_changes(regclass, name);
create function watch_changes(watched regclass, org_column name default 'org_id', id_column name default 'id') returns void language plpgsql as $$
declare
  has_id boolean := exists (select from pg_attribute where attrelid = watched and attname = id_column and not attisdropped);
  arguments text := quote_literal(org_column) || case when has_id then ', ' || quote_literal(id_column) else '' end;
begin
  execute format('drop trigger if exists tell_change on %s', watched);
  execute format('drop trigger if exists tell_truncate on %s', watched);
  execute format(
    'create trigger tell_change after insert or update or delete on %s for each row execute function tell_change(%s)', watched, arguments);
  execute format(
    'create trigger tell_truncate after truncate on %s for each statement execute function tell_change(%s)', watched, arguments);
end
$$;

do $$
declare
  earlier record;
begin
  for earlier in
    select tgrelid::regclass as watched, split_part(encode(tgargs, 'escape'), '\000', 1) as org_column
    from pg_trigger where tgname = 'tell_change'
  loop
    perform watch_changes(
      earlier.watched, earlier.org_column::name, case when earlier.watched = 'slot_maps'::regclass then 'log_id' else 'id' end::name);
  end loop;
end
$$;

-- A statement on settings that changed no row invalidated every cache.
drop trigger tell_all on settings;
drop function tell_all();
select watch_changes('settings', '', 'name');
