-- Merges of more parts at once; new tables have the setting from the start (table.ts).
alter table {{local events_s}} {{on cluster}} modify setting merge_selector_base = 8;
alter table {{local events_m}} {{on cluster}} modify setting merge_selector_base = 8;
alter table {{local events_l}} {{on cluster}} modify setting merge_selector_base = 8;
