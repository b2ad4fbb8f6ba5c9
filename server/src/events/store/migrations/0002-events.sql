-- The events, in three table classes that differ in their number of slots. table.ts defines the columns.
create table if not exists {{local events_s}} {{on cluster}} ({{events s}})
engine = {{engine sharded events_s}}
partition by {{partition key}}
order by {{sort key}}
settings {{settings}};

{{distributed events_s}};

create table if not exists {{local events_m}} {{on cluster}} ({{events m}})
engine = {{engine sharded events_m}}
partition by {{partition key}}
order by {{sort key}}
settings {{settings}};

{{distributed events_m}};

create table if not exists {{local events_l}} {{on cluster}} ({{events l}})
engine = {{engine sharded events_l}}
partition by {{partition key}}
order by {{sort key}}
settings {{settings}};

{{distributed events_l}};
