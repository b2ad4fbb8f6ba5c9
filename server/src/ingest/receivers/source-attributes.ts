/** The namespaces of attributes that describe the source of events, as in the semantic conventions of OpenTelemetry and in Elastic's fields. */
const namespaces = [
  'agent',
  String.raw`aws\.(?:ecs|eks|log)`,
  'browser',
  'cloud',
  'container',
  'deployment',
  'device',
  'docker',
  String.raw`gcp\.(?:cloud_run|gce)`,
  'heroku',
  'host',
  'k8s',
  'kubernetes',
  'orchestrator',
  'os',
  'service',
  'telemetry',
  'webengine',
]
const NAMESPACE = new RegExp(`^\\$(?:${namespaces.join('|')})[._]`)
const names: ReadonlySet<string> = new Set([
  '$app',
  '$cluster',
  '$env',
  '$environment',
  '$faas.name',
  '$faas.version',
  '$host',
  '$job',
  '$namespace',
  '$region',
  '$service',
  '$source',
  '$tls.client',
  '$zone',
])

/**
 * Whether the name of an attribute says that it describes the source of events. Receivers use it for attributes that senders put on each event and
 * name themselves, such as the fields of the HTTP event collector.
 */
export const describesSource = (attribute: string): boolean => names.has(attribute) || NAMESPACE.test(attribute)
