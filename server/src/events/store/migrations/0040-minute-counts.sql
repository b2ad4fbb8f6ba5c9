-- The counts of events by minute and the values of the most repetitive columns, so that counts, histograms and groups over long ranges read them
-- instead of events (server/src/reading/minute-counts.ts). The setting adds them to older parts when these are merged.
alter table {{local events_s}} {{on cluster}}
  add projection if not exists minute_counts (select org_id, log_id, {{minute}}, {{counted columns}}, count() group by org_id, log_id, {{minute}}, {{counted columns}}),
  modify setting materialize_projections_on_merge = 1;
alter table {{local events_m}} {{on cluster}}
  add projection if not exists minute_counts (select org_id, log_id, {{minute}}, {{counted columns}}, count() group by org_id, log_id, {{minute}}, {{counted columns}}),
  modify setting materialize_projections_on_merge = 1;
alter table {{local events_l}} {{on cluster}}
  add projection if not exists minute_counts (select org_id, log_id, {{minute}}, {{counted columns}}, count() group by org_id, log_id, {{minute}}, {{counted columns}}),
  modify setting materialize_projections_on_merge = 1;
