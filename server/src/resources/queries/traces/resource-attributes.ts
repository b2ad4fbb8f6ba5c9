import type { TraceSpan } from './trace-spans.ts'

/**
 * The namespaces of attributes that describe what sends spans, by the conventions of OpenTelemetry. Attributes of a span and of its resource are stored
 * alike; a mark in the stored name of one of them would make this list unnecessary.
 */
const NAMESPACES = [
  'service',
  'host',
  'process',
  'container',
  'k8s',
  'cloud',
  'deployment',
  'telemetry',
  'os',
  'faas',
  'device',
  'aws',
  'gcp',
  'azure',
]
const prefixes: readonly string[] = NAMESPACES.map((name) => `${name}.`)

/** Whether an attribute describes what sends spans. */
export const isOfResource = (name: string): boolean => prefixes.some((prefix) => name.startsWith(prefix))

type Attributes = Readonly<Record<string, string>>

/** Divides the attributes of a span, without the mark of their stored names. What the service found out itself, such as a level, has no mark. */
export function resourceAttributes({ attributes }: Pick<TraceSpan, 'attributes'>): {
  readonly ofResource: Attributes
  readonly ofSpan: Attributes
} {
  const ofResource: Record<string, string> = Object.create(null)
  const ofSpan: Record<string, string> = Object.create(null)
  for (const [path, value] of Object.entries(attributes)) {
    if (!path.startsWith('$')) continue
    const name = path.slice(1)
    const owner = isOfResource(name) ? ofResource : ofSpan
    owner[name] = value
  }
  return { ofResource, ofSpan }
}
