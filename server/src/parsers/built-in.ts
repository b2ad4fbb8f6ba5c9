/** A line format that is detected automatically, without a parser. */
export type LineFormat = 'json' | 'syslog' | 'cef' | 'access-log' | 'logfmt' | 'key-value'

export type BuiltInParser = { id: string; form: LineFormat; name: string; description: string }

/** The formats that are detected in every line, as listed among the parsers. Their ids are the same in every deployment. */
export const builtIns: readonly BuiltInParser[] = [
  {
    id: 'd3dd0000-0000-4000-8000-000000000001',
    form: 'json',
    name: 'JSON',
    description: 'A JSON object; keys of nested objects are joined with dots.',
  },
  {
    id: 'd3dd0000-0000-4000-8000-000000000002',
    form: 'syslog',
    name: 'Syslog',
    description: 'RFC 5424 with structured data, and the older BSD format with or without its priority.',
  },
  {
    id: 'd3dd0000-0000-4000-8000-000000000003',
    form: 'cef',
    name: 'CEF',
    description: 'The Common Event Format: a header of seven fields, followed by pairs.',
  },
  {
    id: 'd3dd0000-0000-4000-8000-000000000004',
    form: 'access-log',
    name: 'Access log',
    description: 'The common and the combined access log format of web servers.',
  },
  {
    id: 'd3dd0000-0000-4000-8000-000000000005',
    form: 'logfmt',
    name: 'logfmt',
    description: 'Only key=value pairs.',
  },
  {
    id: 'd3dd0000-0000-4000-8000-000000000006',
    form: 'key-value',
    name: 'Key=value text',
    description: 'Text with at least two key=value pairs.',
  },
]
