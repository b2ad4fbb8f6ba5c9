import type { ContentPack, PackQuery } from '../pack.ts'

const events: PackQuery = { name: 'events', select: 'count(*)' }
const errors: PackQuery = { name: 'errors', select: 'count(*)', where: "@status = 'error'" }
const signIns: PackQuery = {
  name: 'failures',
  select: 'count(*)',
  where: "'authentication failure' OR 'Failed password' OR 'Invalid user' OR 'FAILED LOGIN'",
}

/** Lines and records of syslog and of the journal of systemd. */
export const syslog: ContentPack = {
  id: 'syslog',
  name: 'Syslog',
  description: 'Events and errors of {dataset} by host and program, and failed sign-ins.',
  recognizedBy: {
    fields: [
      ['host', 'program', 'facility'],
      ['host', 'program', 'process'],
    ],
  },
  parameters: [
    {
      type: 'FIELD',
      name: 'host',
      label: 'Host',
      of: 'the host',
      holds: 'text',
      usualNames: ['syslog.hostname', 'log.syslog.hostname', 'host.hostname', 'host.name', 'hostname', '_HOSTNAME', 'logsource', 'host'],
    },
    {
      type: 'FIELD',
      name: 'program',
      label: 'Program',
      of: 'the program',
      holds: 'text',
      usualNames: [
        'syslog.appname',
        'log.syslog.appname',
        'syslog.identifier',
        'SYSLOG_IDENTIFIER',
        'appname',
        'app_name',
        'programname',
        'program',
        'ident',
        'process.name',
      ],
    },
    {
      type: 'FIELD',
      name: 'process',
      label: 'Process',
      of: 'the process',
      holds: 'text',
      usualNames: ['syslog.procid', 'log.syslog.procid', '_PID', 'procid', 'proc_id', 'process.pid', 'pid'],
    },
    {
      type: 'FIELD',
      name: 'facility',
      label: 'Facility',
      of: 'the facility',
      holds: 'text',
      usualNames: ['log.syslog.facility.name', 'syslog.facility', 'SYSLOG_FACILITY', 'facility', 'facility_label', 'syslog_facility'],
    },
    { type: 'NUMBER', name: 'errors', label: 'Errors of a host in 15 minutes', default: 50 },
    { type: 'NUMBER', name: 'failures', label: 'Failed sign-ins in 15 minutes', default: 20 },
  ],
  widgets: [
    { name: 'Events by host', type: 'area', w: 6, h: 4, queries: [{ ...events, groups: ['{host}'] }] },
    { name: 'Errors by host', type: 'line', w: 6, h: 4, queries: [{ ...errors, groups: ['{host}'] }] },
    { name: 'Programs with the most events', type: 'top-list', w: 4, h: 5, queries: [{ ...events, groups: ['{program}'] }] },
    { name: 'Programs with errors', type: 'top-list', w: 4, h: 5, queries: [{ ...errors, groups: ['{program}'] }] },
    { name: 'Events by facility', type: 'pie', w: 4, h: 5, queries: [{ ...events, groups: ['{facility}'] }] },
    { name: 'Failed sign-ins by host', type: 'bar', w: 6, h: 4, queries: [{ ...signIns, groups: ['{host}'] }] },
    { name: 'Events by severity', type: 'bar', w: 6, h: 4, queries: [{ ...events, groups: ['@status'] }] },
  ],
  monitors: [
    {
      id: 'host-errors',
      name: 'Errors of a host: {dataset}',
      description: 'The errors of each host.',
      comparison_operator: 'ABOVE',
      threshold: 'errors',
      window: 'Last 15 minutes',
      queries: [{ ...errors, groups: ['{host}'] }],
    },
    {
      id: 'failed-sign-ins',
      name: 'Failed sign-ins: {dataset}',
      description: 'Messages about rejected passwords and unknown users.',
      comparison_operator: 'ABOVE',
      threshold: 'failures',
      window: 'Last 15 minutes',
      queries: [signIns],
    },
    {
      id: 'no-events',
      name: 'No events: {dataset}',
      description: 'No event arrived.',
      comparison_operator: 'BELOW',
      threshold: 1,
      window: 'Last 1 hour',
      queries: [events],
      withoutEvents: 'ALERT',
    },
  ],
}
