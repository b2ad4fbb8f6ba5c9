import type { AgentConfig, ConfigChanges, ConfigModification, ConfigRequest } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { isLimited } from '../../access/policies/policies.ts'
import { openSecret, sealSecret } from '../../access/secrets/secrets.ts'
import { isSame } from '../../data/datasets/datasets.ts'
import { type Agent, type Problem, Unreadable } from './agent.ts'
import { agentNamed, agents } from './agents.ts'
import { checkExpression } from './expressions.ts'
import { understand } from './prompt.ts'
import { type AgentConfigRow, deleteOldAgentConfigs, insertAgentConfig, selectAgentConfig } from './rows.ts'
import { changeConfig, type Work, writeConfig } from './work.ts'

/** KEPT_MAX is how many configurations of an organisation can be read again. */
const KEPT_MAX = 200

type Writer = Pick<World, 'meta' | 'clock' | 'ids' | 'vault' | 'model' | 'log'>

export const listAgents = () =>
  agents.map(({ agent, displayName, format, sources }) => ({ agent, display_name: displayName, formats: [format], sources: [...sources] }))

/** createConfig writes a file for an agent that has none. */
export async function createConfig(world: Writer, actor: Actor, ask: ConfigRequest, signal: AbortSignal): Promise<AgentConfig> {
  const { agent: name, prompt, ...asked } = ask
  const agent = agentNamed(name)
  const { wish, notes } = await understood(world, { agent, prompt, asked }, signal)
  if (!wish.sources?.length) throw badField('sources', 'must have at least 1 item, unless prompt names sources')
  checkWish(wish)
  const work = writeConfig(agent, wish, { url: actor.facts.baseUrl })
  return keep(world, actor, agent, { ...work, warnings: [...notes, ...work.warnings] })
}

/** modifyConfig changes a file; what nobody asked to change stays as it is. */
export async function modifyConfig(world: Writer, actor: Actor, ask: ConfigModification, signal: AbortSignal): Promise<AgentConfig> {
  const agent = agentNamed(ask.agent)
  const { wish, notes } = await understood(world, { agent, prompt: ask.prompt, asked: ask.changes ?? {} }, signal)
  checkWish(wish)
  try {
    const work = changeConfig(agent, ask.config, wish, { url: actor.facts.baseUrl })
    return await keep(world, actor, agent, { ...work, warnings: [...notes, ...work.warnings] })
  } catch (cause) {
    if (cause instanceof Unreadable) throw badField('config', `cannot be read as a configuration of ${agent.displayName}: ${cause.message}`)
    throw cause
  }
}

export function validateConfig({ agent, config }: Pick<ConfigModification, 'agent' | 'config'>): { valid: boolean; problems: Problem[] } {
  const problems = [...agentNamed(agent).problems(config)]
  return { valid: problems.length === 0, problems }
}

export async function findConfig(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<AgentConfigRow> {
  const row = await selectAgentConfig(world.meta, actor.orgId, id)
  // A file may say anything of any log: whom a policy limits reads only those that he asked for.
  const isSeen = row && (isSame(actor.identity, row.created_by) || !(await isLimited(world, actor)))
  if (!isSeen) throw notFound('configuration', id)
  return row
}

export async function shownConfig(world: Pick<World, 'meta' | 'vault'>, row: AgentConfigRow): Promise<AgentConfig> {
  const opened = await openSecret(world, world.meta, placeOf(row), row.sealed)
  return { ...(JSON.parse(opened.reveal()) as Omit<AgentConfig, 'id' | 'metadata'>), ...recordOf(row) }
}

type Asked = { agent: Agent; prompt: string | undefined; asked: ConfigChanges }

/** understood adds what a prompt means; what was asked for in so many words goes before it. */
async function understood(
  world: Writer,
  { agent, prompt = '', asked }: Asked,
  signal: AbortSignal,
): Promise<{ wish: ConfigChanges; notes: string[] }> {
  if (prompt.trim() === '') return { wish: asked, notes: [] }
  const { wish, notes } = await understand(world, { prompt, agent: agent.displayName }, signal)
  const sources = asked.sources?.length ? asked.sources : wish.sources
  const options = { ...wish.options, ...asked.options }
  return { wish: { ...wish, ...asked, ...(sources ? { sources } : {}), options }, notes }
}

function checkWish({ options = {}, collection, dataset }: ConfigChanges): void {
  for (const [name, value] of Object.entries({ collection, dataset }))
    if (value?.startsWith('.')) throw badField(name, 'must not begin with a dot: such names belong to the system', 'RESERVED')
  for (const field of ['redact', 'drop'] as const) for (const one of options[field] ?? []) checkExpression(`options.${field}`, one)
  for (const { match } of options.routes ?? []) checkExpression('options.routes', match)
  if (options.multiline !== undefined) checkExpression('options.multiline', options.multiline)
}

async function keep(world: Writer, actor: Actor, { agent, format }: Agent, work: Work & { diff?: string }): Promise<AgentConfig> {
  const told: Omit<AgentConfig, 'id' | 'metadata'> = {
    agent,
    format,
    config: work.config,
    explanation: work.reasons.join('\n'),
    warnings: [...work.warnings],
    ...(work.diff === undefined ? {} : { diff: work.diff }),
  }
  const made = { org_id: actor.orgId, id: world.ids.uuid(), created_at: world.clock.nowMs(), created_by: actor.identity }
  await world.meta.write(actor.orgId, async (tx) => {
    // A file that somebody gave may hold passwords: all of it is kept sealed.
    const sealed = await sealSecret(world, tx, placeOf(made), new Secret(JSON.stringify(told)))
    await insertAgentConfig(tx, { ...made, sealed })
    await deleteOldAgentConfigs(tx, actor.orgId, KEPT_MAX)
    await recordChange(world, tx, actor, { entity: { type: 'agent_config', id: made.id }, after: { agent } })
  })
  return { ...told, ...recordOf(made) }
}

type Made = Omit<AgentConfigRow, 'sealed'>

const placeOf = ({ org_id, id }: Made) => ({ orgId: org_id, table: 'agent_configs', row: id, column: 'sealed' })

const recordOf = ({ id, created_at, created_by }: Made) => ({
  id,
  metadata: metadataOf({ created_at, created_by, modified_at: created_at, modified_by: created_by }),
})
