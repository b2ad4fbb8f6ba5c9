-- The counts of events by minute and the values of one column, so that counts, histograms and groups over long ranges read them instead of events
-- (server/src/reading/minute-counts.ts). Inserts do not compute them: fresh parts are small and are read event by event.
alter table {{local events_s}} {{on cluster}}
  add projection if not exists counts_sev (select org_id, log_id, {{minute}}, sev, count() group by org_id, log_id, {{minute}}, sev),
  add projection if not exists counts_c0 (select org_id, log_id, {{minute}}, c0, count() group by org_id, log_id, {{minute}}, c0),
  add projection if not exists counts_c1 (select org_id, log_id, {{minute}}, c1, count() group by org_id, log_id, {{minute}}, c1),
  add projection if not exists counts_c2 (select org_id, log_id, {{minute}}, c2, count() group by org_id, log_id, {{minute}}, c2),
  add projection if not exists counts_c3 (select org_id, log_id, {{minute}}, c3, count() group by org_id, log_id, {{minute}}, c3),
  modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
alter table {{local events_m}} {{on cluster}}
  add projection if not exists counts_sev (select org_id, log_id, {{minute}}, sev, count() group by org_id, log_id, {{minute}}, sev),
  add projection if not exists counts_c0 (select org_id, log_id, {{minute}}, c0, count() group by org_id, log_id, {{minute}}, c0),
  add projection if not exists counts_c1 (select org_id, log_id, {{minute}}, c1, count() group by org_id, log_id, {{minute}}, c1),
  add projection if not exists counts_c2 (select org_id, log_id, {{minute}}, c2, count() group by org_id, log_id, {{minute}}, c2),
  add projection if not exists counts_c3 (select org_id, log_id, {{minute}}, c3, count() group by org_id, log_id, {{minute}}, c3),
  modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
alter table {{local events_l}} {{on cluster}}
  add projection if not exists counts_sev (select org_id, log_id, {{minute}}, sev, count() group by org_id, log_id, {{minute}}, sev),
  add projection if not exists counts_c0 (select org_id, log_id, {{minute}}, c0, count() group by org_id, log_id, {{minute}}, c0),
  add projection if not exists counts_c1 (select org_id, log_id, {{minute}}, c1, count() group by org_id, log_id, {{minute}}, c1),
  add projection if not exists counts_c2 (select org_id, log_id, {{minute}}, c2, count() group by org_id, log_id, {{minute}}, c2),
  add projection if not exists counts_c3 (select org_id, log_id, {{minute}}, c3, count() group by org_id, log_id, {{minute}}, c3),
  modify setting materialize_projections_on_insert = 0, materialize_projections_on_merge = 1;
