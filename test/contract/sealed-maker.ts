import type { TestOrganization } from '../support/world.ts'
import { type Maker, makerIn } from './stage.ts'

type Body = Record<string, unknown>

/** Creates records that read datasets hidden from a limited caller; each such record contains the marker. */
export type SealedMaker = Maker & {
  /** The ids of those datasets and of all records that refer to them. */
  sealed: ReadonlySet<string>
}

/**
 * Marks whatever refers to datasets of the collection `sealed`, also indirectly: their events, and the names, texts and filters of records that name
 * them, select them, or name such a record. Records of examples are marked transparently.
 */
export function sealedMakerIn(own: Maker, marker: string): SealedMaker {
  const sealed = new Set<string>()
  const refers = (body: unknown): boolean => {
    const text = JSON.stringify(body) ?? ''
    return /"from_expr":"[^"]/.test(text) || [...sealed].some((id) => text.includes(id))
  }
  const ask: TestOrganization['ask'] = async (method, path, given = {}) => {
    const isEvents = path.startsWith('/ingest')
    const isSealed = given.body !== undefined && refers(given.body) && !path.startsWith('/policies')
    const reply = await own.org.ask<never>(method, path, {
      ...given,
      ...(isSealed ? { body: marked(given.body as Body, marker) } : {}),
      ...(isEvents && typeof given.raw === 'string' ? { raw: markedLines(given.raw, marker) } : {}),
      ...(path === '/v1/traces' && typeof given.raw === 'string' ? { raw: markedSpans(given.raw, marker) } : {}),
    })
    if (isSealed && reply.status < 300) for (const id of idsOf(reply.body)) sealed.add(id)
    return reply
  }
  const org = { ...own.org, ask }
  const maker = makerIn(own.app, org)
  return {
    ...maker,
    sealed,
    dataset: async () => {
      const names = { collection: 'sealed', dataset: own.word('web').replace(' ', '-') }
      const { id } = await own.made('/datasets', { ...names, tags: { owner: marker, environment: 'prod' } })
      sealed.add(id)
      const headers = {
        'x-service-collection': names.collection,
        'x-service-dataset': names.dataset,
        'content-type': 'application/x-ndjson',
      }
      const event = { message: 'order failed', level: 'error', ms: 7, [`${marker}_key`]: marker }
      await ask('POST', '/ingest', { raw: JSON.stringify(event), headers })
      return id
    },
  }
}

const idsOf = (body: unknown): string[] => {
  const { id, export_id, job_id } = (body ?? {}) as Record<'id' | 'export_id' | 'job_id', unknown>
  return [id, export_id, job_id].filter((one) => typeof one === 'string')
}

/** Adds the marker to free text: names and descriptions, patterns, and every filter at any depth. */
function marked(body: Body, marker: string): Body {
  const top = Object.fromEntries(
    Object.entries(body).map(([name, value]) => [
      name,
      typeof value === 'string' && ['name', 'description', 'pattern'].includes(name) ? `${value} ${marker}` : value,
    ]),
  )
  return filtersMarked(top, marker) as Body
}

function filtersMarked(value: unknown, marker: string): unknown {
  if (Array.isArray(value)) return value.map((item) => filtersMarked(item, marker))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name !== 'where' || typeof inner !== 'string') return [name, filtersMarked(inner, marker)]
      return [name, inner.trim() === '' ? `note != '${marker}'` : `${inner} OR note = '${marker}'`]
    }),
  )
}

const markedSpans = (raw: string, marker: string): string =>
  JSON.stringify(JSON.parse(raw, (key, value) => (key === 'name' ? `${value} ${marker}` : value)))

const markedLines = (raw: string, marker: string): string =>
  raw
    .split('\n')
    .map((line) => JSON.stringify({ ...JSON.parse(line), note: marker, message: `${JSON.parse(line).message} ${marker}` }))
    .join('\n')
