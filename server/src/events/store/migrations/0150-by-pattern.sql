-- Tables in which events are sorted by pattern within periods of time (server/src/lines/periods.ts). New events are stored here. Those from before stay in the
-- tables that are sorted by time until their retention ends, because a sort key cannot be changed.
create table if not exists {{local pattern_events_s}} {{on cluster}} ({{pattern events s}})
engine = {{engine sharded pattern_events_s}}
partition by {{partition key}}
primary key {{pattern primary key}}
order by {{pattern sort key}}
settings {{settings}}, materialize_projections_on_merge = 1, exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';

{{distributed pattern_events_s}};

create table if not exists {{local pattern_events_m}} {{on cluster}} ({{pattern events m}})
engine = {{engine sharded pattern_events_m}}
partition by {{partition key}}
primary key {{pattern primary key}}
order by {{pattern sort key}}
settings {{settings}}, materialize_projections_on_merge = 1, exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';

{{distributed pattern_events_m}};

create table if not exists {{local pattern_events_l}} {{on cluster}} ({{pattern events l}})
engine = {{engine sharded pattern_events_l}}
partition by {{partition key}}
primary key {{pattern primary key}}
order by {{pattern sort key}}
settings {{settings}}, materialize_projections_on_merge = 1, exclude_materialize_skip_indexes_on_merge = '{{late indexes}}';

{{distributed pattern_events_l}};
