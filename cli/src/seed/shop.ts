import { shopLines } from '@dendro/api/demo'
import type { CliClient } from '../connection.ts'

type Say = (line: string) => void

const datasets = [
  { collection: 'shop', dataset: 'web', tags: { env: 'prod', team: 'storefront', format: 'access' }, retention: 'DAYS_30' },
  { collection: 'shop', dataset: 'checkout', tags: { env: 'prod', team: 'payments', format: 'json' }, retention: 'DAYS_90' },
  { collection: 'shop', dataset: 'payments', tags: { env: 'prod', team: 'payments', format: 'json' }, retention: 'DAYS_365' },
  { collection: 'shop', dataset: 'search', tags: { env: 'prod', team: 'storefront', format: 'json' } },
  { collection: 'shop-staging', dataset: 'web', tags: { env: 'staging', team: 'storefront', format: 'access' }, retention: 'DAYS_30' },
  { collection: 'shop-staging', dataset: 'checkout', tags: { env: 'staging', team: 'payments', format: 'json' }, retention: 'DAYS_30' },
  { collection: 'warehouse', dataset: 'stock', tags: { env: 'prod', team: 'logistics', format: 'json' } },
  { collection: 'warehouse', dataset: 'robots', tags: { env: 'prod', team: 'logistics', format: 'logfmt' }, retention: 'DAYS_90' },
  { collection: 'platform', dataset: 'ingress', tags: { env: 'prod', team: 'platform', format: 'access' }, retention: 'DAYS_30' },
  { collection: 'platform', dataset: 'kernel', tags: { env: 'prod', team: 'platform', format: 'syslog' } },
  { collection: 'platform', dataset: 'deploys', tags: { team: 'platform', format: 'json' }, retention: 'DAYS_730' },
] as const

const keys = [
  { name: 'Shippers', roles: ['IngestionApi'], tags: { team: 'platform' } },
  { name: 'Wall screens', roles: ['SearchApi'], tags: { team: 'platform' } },
  { name: 'Deployment', roles: ['SearchApi', 'IngestionApi'], tags: { team: 'platform' } },
] as const

const people = [
  { first_name: 'Ada', last_name: 'Lovelace', email: 'ada@shop.example', roles: ['Administrator'], groups: ['On call', 'Payments'] },
  { first_name: 'Grace', last_name: 'Hopper', email: 'grace@shop.example', roles: ['Standard'], groups: ['Platform', 'On call'] },
  { first_name: 'Katherine', last_name: 'Johnson', email: 'katherine@shop.example', roles: ['Standard'], groups: ['Payments'] },
  { first_name: 'Edsger', last_name: 'Dijkstra', email: 'edsger@shop.example', roles: ['Standard'], groups: ['Storefront'] },
  { first_name: 'Barbara', last_name: 'Liskov', email: 'barbara@shop.example', roles: ['ReadOnly'], groups: ['Storefront'] },
  { first_name: 'Donald', last_name: 'Knuth', email: 'donald@shop.example', roles: ['ReadOnly'], groups: [] },
] as const

const groups = [
  { name: 'Engineering', description: 'All developers', members: ['Payments', 'Storefront', 'Platform'] },
  { name: 'Payments', description: 'Checkout and payments', members: [] },
  { name: 'Storefront', description: 'Storefront', members: [] },
  { name: 'Platform', description: 'Infrastructure', members: [] },
  { name: 'On call', description: 'On-call engineers', members: [] },
] as const

/** The records of a web shop: collections, datasets, keys, users, groups, and the last hour of events. */
export const shop = {
  summary: 'a web shop: four collections, eleven datasets with tags and retention, three keys, six people, five groups, an hour of events',
  run: async (client: CliClient, say: Say): Promise<void> => {
    await makeDatasets(client, say)
    await makeKeys(client, say)
    const userIds = await makePeople(client, say)
    const groupIds = await makeGroups(client, say)
    await fillGroups(client, userIds, groupIds)
    await sendEvents(client, say)
    say('shop: nothing is missing')
  },
}

async function makeDatasets(client: CliClient, say: Say): Promise<void> {
  const known = (await client.datasets.list()).datasets
  for (const wanted of datasets) {
    if (known.some((there) => there.collection === wanted.collection && there.dataset === wanted.dataset)) continue
    await client.datasets.create({ body: { ...wanted, tags: { ...wanted.tags } } })
    say(`dataset ${wanted.collection}/${wanted.dataset}`)
  }
}

async function makeKeys(client: CliClient, say: Say): Promise<void> {
  const known = (await client.apiKeys.list()).api_keys
  for (const wanted of keys) {
    if (known.some((there) => there.name === wanted.name)) continue
    const made = await client.apiKeys.create({ body: { ...wanted, roles: [...wanted.roles], tags: { ...wanted.tags } } })
    say(`key ${wanted.name} (${wanted.roles.join(', ')}), shown this once: ${made.key}`)
  }
}

async function makePeople(client: CliClient, say: Say): Promise<Map<string, string>> {
  const known = (await client.users.list()).users
  const ids = new Map(known.map((there) => [there.email.toLowerCase(), there.id]))
  for (const { groups: _, ...wanted } of people) {
    if (ids.has(wanted.email)) continue
    const made = await client.users.create({ body: { ...wanted, roles: [...wanted.roles] } })
    ids.set(wanted.email, made.id)
    const link = made.invitation_url === undefined ? 'the invitation was sent by mail' : `invitation: ${made.invitation_url}`
    say(`user ${wanted.email} (${wanted.roles.join(', ')}), ${link}`)
  }
  return ids
}

async function makeGroups(client: CliClient, say: Say): Promise<Map<string, string>> {
  const known = (await client.groups.list()).groups
  const ids = new Map(known.map((there) => [there.name, there.id]))
  for (const { name, description } of groups) {
    if (ids.has(name)) continue
    ids.set(name, (await client.groups.create({ body: { name, description } })).id)
    say(`group ${name}`)
  }
  return ids
}

/** Adds members; existing members stay. */
async function fillGroups(client: CliClient, userIds: Map<string, string>, groupIds: Map<string, string>): Promise<void> {
  for (const { name, members } of groups) {
    const users = people
      .filter((person) => (person.groups as readonly string[]).includes(name))
      .flatMap(({ email }) => userIds.get(email) ?? [])
    const inner = members.flatMap((member) => groupIds.get(member) ?? [])
    const groupId = groupIds.get(name)
    const all = [
      ...users.map((id) => ({ member_id: id, member_type: 'USER' as const })),
      ...inner.map((id) => ({ member_id: id, member_type: 'GROUP' as const })),
    ]
    if (groupId !== undefined && all.length > 0) await client.groups.addMembers({ params: { groupId }, body: { members: all } })
  }
}

/** Sends the last hour of events unless the shop already has any. */
async function sendEvents(client: CliClient, say: Say): Promise<void> {
  const body = { from_expr: "collection = 'shop'", time_range: '', select: ['count(*)'], num_of_slices: 1 }
  if (Number((await client.search.run({ body })).totals.count) > 0) return
  for (const { collection, dataset, lines } of shopLines(Date.now())) {
    const headers = { 'x-service-collection': collection, 'x-service-dataset': dataset, 'content-type': 'application/x-ndjson' }
    await client.ingestion.send({ body: lines.join('\n'), headers })
    say(`${lines.length} events to ${collection}/${dataset}`)
  }
}
