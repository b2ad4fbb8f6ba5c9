import type { LogView } from '@dendro/api'

/** The usual kinds of logs; the tag `log_type` of a dataset selects one. The last one matches every log. */
export const views: LogView[] = [
  {
    components: [
      { type: 'timeline', config: { group_by: '@status' } },
      {
        type: 'table',
        config: { columns: [{ name: '@time' }, { name: 'level' }, { name: '$service.name' }, { name: 'message' }, { name: 'trace_id' }] },
      },
    ],
    this_template_tags: { log_type: 'json' },
  },
  {
    components: [
      { type: 'timeline', config: { group_by: 'status' } },
      {
        type: 'table',
        config: {
          columns: [
            { name: '@time' },
            { name: 'method' },
            { name: 'path' },
            { name: 'status' },
            { name: 'bytes', format: 'bytes', base_unit: 'B', target_unit: 'kB', precision: 1 },
            { name: 'duration_ms', format: 'duration', base_unit: 'ms', target_unit: 'ms', precision: 0 },
            { name: 'client' },
          ],
        },
      },
    ],
    this_template_tags: { log_type: 'access_log' },
  },
  {
    components: [
      { type: 'timeline', config: { group_by: 'severity' } },
      {
        type: 'table',
        config: {
          columns: [
            { name: '@time' },
            { name: 'hostname' },
            { name: 'appname' },
            { name: 'severity' },
            { name: 'facility' },
            { name: '@raw' },
          ],
        },
      },
    ],
    this_template_tags: { log_type: 'syslog' },
  },
  {
    components: [
      { type: 'timeline', config: { group_by: '$span.status_code' } },
      {
        type: 'table',
        config: {
          columns: [
            { name: '@time' },
            { name: '$service.name' },
            { name: '$span.name' },
            { name: '$span.duration_nano', format: 'duration', base_unit: 'ns', target_unit: 'ms', precision: 2 },
            { name: '$span.status_code' },
          ],
        },
      },
    ],
    this_template_tags: { log_type: 'traces' },
  },
  {
    components: [
      { type: 'timeline', config: { group_by: '@status' } },
      { type: 'table', config: { columns: [{ name: '@time' }, { name: '@raw' }] } },
    ],
  },
]
