-- The events of each pattern in each period, so that patterns over long ranges are counted without reading events (server/src/reading/plan/count-scopes.ts).
-- Parts from before get their counts when they are merged.
alter table {{local pattern_events_s}} {{on cluster}} add projection if not exists pattern_counts {{pattern counts}};
alter table {{local pattern_events_m}} {{on cluster}} add projection if not exists pattern_counts {{pattern counts}};
alter table {{local pattern_events_l}} {{on cluster}} add projection if not exists pattern_counts {{pattern counts}};
