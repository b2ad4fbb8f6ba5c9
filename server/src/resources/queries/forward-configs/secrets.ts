import type { ForwardDestination } from '@dendro/api'
import { checkKafkaAccess, isSameAccount } from '../../../kafka/access.ts'
import { badField } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import type { Db } from '../../../meta/meta.ts'
import { refusedHeader } from '../../../outgoing/outgoing.ts'
import type { World } from '../../../world.ts'
import { keptSecret, MASK, openSecret, type SecretPlace, sealSecret } from '../../access/secrets/secrets.ts'
import type { DestinationSecrets } from './destinations.ts'
import { PLACEHOLDERS } from './payload.ts'
import type { ForwardConfigRow } from './rows.ts'
import { TOPIC_PLACEHOLDERS } from './topics.ts'

type SplitDestination = { readonly destination: ForwardDestination; readonly secrets: DestinationSecrets }

const placeOf = ({ org_id, id }: Pick<ForwardConfigRow, 'org_id' | 'id'>): SecretPlace => ({
  orgId: org_id,
  table: 'forward_configs',
  row: id,
  column: 'secrets',
})

export const sealSecrets = (
  world: Pick<World, 'vault'>,
  tx: Db,
  row: Pick<ForwardConfigRow, 'org_id' | 'id'>,
  secrets: DestinationSecrets,
): Promise<Buffer> => sealSecret(world, tx, placeOf(row), new Secret(JSON.stringify(secrets)))

export async function openSecrets(
  world: Pick<World, 'vault'>,
  db: Db,
  row: Pick<ForwardConfigRow, 'org_id' | 'id' | 'secrets'>,
): Promise<DestinationSecrets> {
  return JSON.parse((await openSecret(world, db, placeOf(row), row.secrets)).reveal()) as DestinationSecrets
}

/** Checks a destination and separates its secrets, which read `***` in what is left. Masked ones are kept from before, for the same server only. */
export function splitDestination(
  { outgoing }: Pick<World, 'outgoing'>,
  given: ForwardDestination,
  before: SplitDestination | undefined,
  field = 'destination.',
): SplitDestination {
  if (given.destination_type === 'S3') {
    checkPlaceholders(given.path_template, PLACEHOLDERS, `${field}path_template`)
    return splitBucket(outgoing, given, before, field)
  }
  if (given.destination_type === 'KAFKA') return splitTopic(outgoing, given, before, field)
  outgoing.check(given.url, `${field}url`)
  const names = new Set<string>()
  const known = before?.secrets.headers ?? {}
  const isSame = before?.destination.destination_type === 'HTTP' && new URL(before.destination.url).origin === new URL(given.url).origin
  const headers = Object.entries(given.headers ?? {}).map(([name, value]): [string, string] => {
    const problem = refusedHeader(name, value) ?? (names.has(name.toLowerCase()) ? 'is given twice' : undefined)
    if (problem !== undefined) throw badField(`${field}headers.${name}`, problem)
    names.add(name.toLowerCase())
    return [name, keptSecret(value, known[name], isSame, `${field}headers.${name}`)]
  })
  const destination = { ...given, headers: Object.fromEntries(headers.map(([name]) => [name, MASK])) }
  return { destination, secrets: { headers: Object.fromEntries(headers) } }
}

type KafkaDestination = Extract<ForwardDestination, { destination_type: 'KAFKA' }>

/** Refuses unknown placeholders, and braces that are not closed or never opened: each of them is a typing error. */
function checkPlaceholders(template: string, known: ReadonlySet<string>, field: string): void {
  for (const [part, name = ''] of template.matchAll(/\{([^{}]*)\}|[{}]/g))
    if (part.length === 1 || !known.has(name)) throw badField(field, `has an unknown placeholder; it knows ${[...known].join(', ')}`)
}

function splitTopic(
  outgoing: World['outgoing'],
  given: KafkaDestination,
  before: SplitDestination | undefined,
  field: string,
): SplitDestination {
  const { password, topic } = given
  checkKafkaAccess(outgoing, given, field)
  checkPlaceholders(topic, TOPIC_PLACEHOLDERS, `${field}topic`)
  if (password === undefined) return { destination: given, secrets: {} }
  const old = before?.destination
  const isSame = old?.destination_type === 'KAFKA' && isSameAccount(old, given)
  return {
    destination: { ...given, password: MASK },
    secrets: { password: keptSecret(password, before?.secrets.password, isSame, `${field}password`) },
  }
}

type S3Destination = Extract<ForwardDestination, { destination_type: 'S3' }>

function splitBucket(
  outgoing: World['outgoing'],
  given: S3Destination,
  before: SplitDestination | undefined,
  field: string,
): SplitDestination {
  const { access_key_id, secret_access_key, endpoint, region } = given
  if ((access_key_id === undefined) !== (secret_access_key === undefined)) {
    throw badField(`${field}secret_access_key`, 'and access_key_id belong together')
  }
  if (access_key_id === undefined || secret_access_key === undefined) {
    if (endpoint !== undefined) throw badField(`${field}access_key_id`, 'is required with an endpoint')
    if (region !== undefined) throw badField(`${field}access_key_id`, 'is required with a region')
    return { destination: given, secrets: {} }
  }
  if (endpoint !== undefined) {
    outgoing.check(endpoint, `${field}endpoint`)
    const { pathname, search, hash } = new URL(endpoint)
    if (pathname !== '/' || search !== '' || hash !== '') throw badField(`${field}endpoint`, 'must be a server, without a path')
  }
  const old = before?.destination
  const isSame = old?.destination_type === 'S3' && old.endpoint === endpoint && old.access_key_id === access_key_id
  const secret = keptSecret(secret_access_key, before?.secrets.secret_access_key, isSame, `${field}secret_access_key`)
  return { destination: { ...given, secret_access_key: MASK }, secrets: { secret_access_key: secret } }
}
