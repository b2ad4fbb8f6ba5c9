-- Where the lines of a dataset tell their time: the LineTime of the contract, null without a setting.
alter table datasets add column line_time jsonb;
