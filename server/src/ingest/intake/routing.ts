import { isUtf8 } from 'node:buffer'
import type { EventDefaults, Tags } from '@dendro/api'
import type { RequestHead } from '../../http/raw-handler.ts'
import { badField } from '../../kernel/errors.ts'
import type { Pair } from '../batch.ts'

/** The dataset that a request names; it overrides names in the body. */
export type RoutingRequest = { collection: string | undefined; dataset: string | undefined; tags: Tags }

const PREFIX = 'x-service-'
const NAME_CHARS_MAX = 255
const TAGS_MAX = 100

/** Reads the routing headers, and query parameters for senders that cannot set headers. */
export function readRouting({ headers, query }: Pick<RequestHead, 'headers' | 'query'>, extraPrefixes: readonly string[]): RoutingRequest {
  const routingText = (name: string): string | undefined =>
    [PREFIX, ...extraPrefixes].map((prefix) => headerText(headers[`${prefix}${name}`])).find((value) => value?.trim()) ?? query[name]
  return {
    collection: ownName('collection', routingText('collection') ?? forwarderText(headers, FORWARDED_NAMESPACE)),
    dataset: ownName('dataset', routingText('dataset') ?? forwarderText(headers, FORWARDED_NAME)),
    tags: readTags(routingText('tags') ?? ''),
  }
}

/** The headers by which forwarders of cloud services name a service and its namespace, each with a prefix of its own. */
const FORWARDED_NAME = /^x-.+-service-name$/
const FORWARDED_NAMESPACE = /^x-.+-service-namespace$/

function forwarderText(headers: RequestHead['headers'], name: RegExp): string | undefined {
  for (const header in headers) if (name.test(header) && headers[header]?.trim()) return headerText(headers[header])
  return undefined
}

/** Decodes a header as UTF-8 where it is valid: Node passes each byte as a character. */
function headerText(value: string | undefined): string | undefined {
  if (value === undefined || !/[\x80-\xff]/.test(value)) return value
  const bytes = Buffer.from(value, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : value
}

/** Names with a leading dot belong to the system. A header that names one is refused. */
function ownName(field: string, text: string | undefined): string | undefined {
  const name = cleanName(text)
  if (name?.startsWith('.')) throw badField(field, 'must not begin with a dot: such names belong to the system', 'RESERVED')
  return name
}

/** A valid name: trimmed, without control characters, truncated; undefined when nothing is left. */
export function cleanName(text: string | undefined): string | undefined {
  const name = (text ?? '')
    .toWellFormed()
    .replace(/\p{Cc}/gu, '')
    .trim()
  return name === '' ? undefined : shortened(name)
}

/** A name from a body, without leading dots, which are reserved for the system. */
export const foreignName = (text: string | undefined): string | undefined => cleanName(cleanName(text)?.replace(/^\.+/, ''))

function shortened(name: string): string {
  if (name.length <= NAME_CHARS_MAX) return name
  return name
    .slice(0, NAME_CHARS_MAX)
    .toWellFormed()
    .replace(/\ufffd$/, '')
    .trim()
}

/** Reads `key=value,key2=value2`. Entries without key or value are ignored, since a bad tag must not cost an event. */
export function readTags(text: string): Tags {
  const tags: [string, string][] = []
  for (const part of text.split(',').slice(0, TAGS_MAX)) {
    const mark = part.indexOf('=')
    const name = cleanName(part.slice(0, Math.max(0, mark)))?.replace(/^\$+/, '')
    const value = cleanName(part.slice(mark + 1))
    if (name && value) tags.push([name, value])
  }
  return Object.fromEntries(tags)
}

/** Fills in the defaults of the key. They come before names in the body, and after those of the request and the listener. */
export const withKeyDefaults = (routing: RoutingRequest, defaults: EventDefaults | undefined): RoutingRequest =>
  defaults === undefined
    ? routing
    : {
        collection: routing.collection ?? defaults.collection,
        dataset: routing.dataset ?? defaults.dataset,
        tags: { ...defaults.tags, ...routing.tags },
      }

/** Tags as attributes of events. */
export const attributesOf = (tags: Tags): Pair[] => Object.entries(tags).map(([name, value]) => [`$${name}`, value])
