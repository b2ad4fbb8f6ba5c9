import type { AgentConfig, ConfigChanges, ConfigModification, ConfigRequest } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { badField, notFound } from '../../../kernel/errors.ts'
import { Secret } from '../../../kernel/secret.ts'
import { metadataOf } from '../../../meta/metadata.ts'
import type { World } from '../../../world.ts'
import { recordChange } from '../../access/audit/audit.ts'
import { isLimited } from '../../access/policies/policies.ts'
import { openSecret, sealSecret } from '../../access/secrets/secrets.ts'
import { isSameIdentity } from '../../data/datasets/datasets.ts'
import { type Agent, type ConfigProblem, UnreadableConfig } from './agent.ts'
import { agentNamed, agents } from './agents.ts'
import { checkExpression } from './expressions.ts'
import { interpretPrompt } from './prompt.ts'
import { type AgentConfigRow, deleteOldAgentConfigs, insertAgentConfig, selectAgentConfig } from './rows.ts'
import { type ConfigResult, changeConfig, writeConfig } from './work.ts'

/** The number of stored configurations of an organization. */
const KEPT_MAX = 200

type ConfigWorld = Pick<World, 'meta' | 'clock' | 'ids' | 'vault' | 'model' | 'log'>

export const listAgents = () =>
  agents.map(({ agent, displayName, format, sources }) => ({ agent, display_name: displayName, formats: [format], sources: [...sources] }))

/** Writes a file for a new agent. */
export async function createConfig(world: ConfigWorld, actor: Actor, request: ConfigRequest, signal: AbortSignal): Promise<AgentConfig> {
  const { agent: name, prompt, ...explicit } = request
  const agent = agentNamed(name)
  const { changes, notes } = await resolveChanges(world, { agent, prompt, explicit: explicit }, signal)
  if (!changes.sources?.length) throw badField('sources', 'must have at least 1 item, unless prompt names sources')
  checkChanges(changes)
  const result = writeConfig(agent, changes, { url: actor.facts.baseUrl })
  return storeConfig(world, actor, agent, { ...result, warnings: [...notes, ...result.warnings] })
}

/** Changes a file; everything else in it stays as it is. */
export async function modifyConfig(
  world: ConfigWorld,
  actor: Actor,
  request: ConfigModification,
  signal: AbortSignal,
): Promise<AgentConfig> {
  const agent = agentNamed(request.agent)
  const { changes, notes } = await resolveChanges(world, { agent, prompt: request.prompt, explicit: request.changes ?? {} }, signal)
  checkChanges(changes)
  try {
    const result = changeConfig(agent, request.config, changes, { url: actor.facts.baseUrl })
    return await storeConfig(world, actor, agent, { ...result, warnings: [...notes, ...result.warnings] })
  } catch (cause) {
    if (cause instanceof UnreadableConfig)
      throw badField('config', `cannot be read as a configuration of ${agent.displayName}: ${cause.message}`)
    throw cause
  }
}

export function validateConfig({ agent, config }: Pick<ConfigModification, 'agent' | 'config'>): {
  valid: boolean
  problems: ConfigProblem[]
} {
  const problems = [...agentNamed(agent).problems(config)]
  return { valid: problems.length === 0, problems }
}

export async function findConfig(world: Pick<World, 'meta'>, actor: Actor, id: string): Promise<AgentConfigRow> {
  const row = await selectAgentConfig(world.meta, actor.orgId, id)
  // A file may mention any log, so callers limited by a policy read only their own.
  const isSeen = row && (isSameIdentity(actor.identity, row.created_by) || !(await isLimited(world, actor)))
  if (!isSeen) throw notFound('configuration', id)
  return row
}

export async function readConfig(world: Pick<World, 'meta' | 'vault'>, row: AgentConfigRow): Promise<AgentConfig> {
  const opened = await openSecret(world, world.meta, placeOf(row), row.sealed)
  return { ...(JSON.parse(opened.reveal()) as Omit<AgentConfig, 'id' | 'metadata'>), ...recordOf(row) }
}

type ChangeRequest = { agent: Agent; prompt: string | undefined; explicit: ConfigChanges }

/** Adds the changes that the prompt describes; explicit ones take precedence. */
async function resolveChanges(
  world: ConfigWorld,
  { agent, prompt = '', explicit }: ChangeRequest,
  signal: AbortSignal,
): Promise<{ changes: ConfigChanges; notes: string[] }> {
  if (prompt.trim() === '') return { changes: explicit, notes: [] }
  const { changes, notes } = await interpretPrompt(world, { prompt, agent: agent.displayName }, signal)
  const sources = explicit.sources?.length ? explicit.sources : changes.sources
  const options = { ...changes.options, ...explicit.options }
  return { changes: { ...changes, ...explicit, ...(sources ? { sources } : {}), options }, notes }
}

function checkChanges({ options = {}, collection, dataset }: ConfigChanges): void {
  for (const [name, value] of Object.entries({ collection, dataset }))
    if (value?.startsWith('.')) throw badField(name, 'must not begin with a dot: such names belong to the system', 'RESERVED')
  for (const field of ['redact', 'drop'] as const) for (const one of options[field] ?? []) checkExpression(`options.${field}`, one)
  for (const { match } of options.routes ?? []) checkExpression('options.routes', match)
  if (options.multiline !== undefined) checkExpression('options.multiline', options.multiline)
}

async function storeConfig(
  world: ConfigWorld,
  actor: Actor,
  { agent, format }: Agent,
  result: ConfigResult & { diff?: string },
): Promise<AgentConfig> {
  const content: Omit<AgentConfig, 'id' | 'metadata'> = {
    agent,
    format,
    config: result.config,
    explanation: result.reasons.join('\n'),
    warnings: [...result.warnings],
    ...(result.diff === undefined ? {} : { diff: result.diff }),
  }
  const stored = { org_id: actor.orgId, id: world.ids.uuid(), created_at: world.clock.nowMs(), created_by: actor.identity }
  await world.meta.write(actor.orgId, async (tx) => {
    // A given file may contain passwords, so all of it is stored encrypted.
    const sealed = await sealSecret(world, tx, placeOf(stored), new Secret(JSON.stringify(content)))
    await insertAgentConfig(tx, { ...stored, sealed })
    await deleteOldAgentConfigs(tx, actor.orgId, KEPT_MAX)
    await recordChange(world, tx, actor, { entity: { type: 'agent_config', id: stored.id }, after: { agent } })
  })
  return { ...content, ...recordOf(stored) }
}

type StoredConfig = Omit<AgentConfigRow, 'sealed'>

const placeOf = ({ org_id, id }: StoredConfig) => ({ orgId: org_id, table: 'agent_configs', row: id, column: 'sealed' })

const recordOf = ({ id, created_at, created_by }: StoredConfig) => ({
  id,
  metadata: metadataOf({ created_at, created_by, modified_at: created_at, modified_by: created_by }),
})
