import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, Tags, text, uuid } from './values.ts'

const CONFIG_CHARS_MAX = 131_072
const SOURCES_MAX = 20
const PATHS_MAX = 50
const EXPRESSIONS_MAX = 20
const ROUTES_MAX = 10
const DAY_SECONDS = 86_400

const agents = ['otel-collector', 'fluent-bit', 'vector', 'filebeat', 'logstash', 'rsyslog', 'alloy'] as const
const sourceKinds = ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'] as const

/** line is a text that stands on one line of a configuration. */
const line = (max: number) => text(1, max).regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' })
const expression = line(1_000)
const port = z.int().min(1).max(65_535)

const SourceOptions = z
  .strictObject({
    paths: list(line(4_096), { max: PATHS_MAX }).optional().describe('Files to read, with wildcards; of `file`.'),
    units: list(line(255), { max: PATHS_MAX }).optional().describe('Only these units; of `journald`.'),
    port: port.optional().describe('Of `syslog` (5514 when absent), and of OTLP over HTTP (4318).'),
    grpc_port: port.optional().describe('Of OTLP over gRPC; 4317 when absent.'),
    protocol: z.enum(['tcp', 'udp']).optional().describe('Of `syslog`; `tcp` when absent.'),
  })
  .describe('What belongs to another kind of source is said in the warnings.')

const ConfigSource = z.object({ kind: z.enum(sourceKinds), options: SourceOptions.optional() })
export type ConfigSource = z.output<typeof ConfigSource>

const ConfigOptions = z.strictObject({
  compression: z.enum(['gzip', 'zstd', 'none']).optional(),
  batch_size: z.int().min(1).max(100_000).optional().describe('Events sent at once.'),
  batch_seconds: z.int().min(1).max(300).optional().describe('How long a batch waits to be full.'),
  multiline: expression
    .optional()
    .describe('An expression for the first line of an event; lines that do not match belong to the one before.'),
  include_traces: z.boolean().optional().describe('Sends on the traces that come in over OTLP.'),
  parse: z.enum(['json', 'logfmt']).optional().describe('Takes keys and values out of lines at the agent.'),
  redact: list(expression, { max: EXPRESSIONS_MAX })
    .optional()
    .describe('What is replaced by *** before it is sent: `email`, `card`, `ip`, `token`, or a regular expression.'),
  drop: list(expression, { max: EXPRESSIONS_MAX }).optional().describe('Regular expressions; lines that match one are not sent.'),
  sample_percent: z.int().min(1).max(99).optional().describe('How many of a hundred events are sent, by chance.'),
  retry_seconds: z.int().min(0).max(DAY_SECONDS).optional().describe('How long a batch is tried again; 0 until it gets through.'),
  tls: z
    .strictObject({
      ca_file: line(4_096).optional(),
      cert_file: line(4_096).optional(),
      key_file: line(4_096).optional(),
      verify: z.boolean().optional().describe('false takes any certificate of the service.'),
    })
    .optional(),
  routes: list(z.strictObject({ match: expression, collection: line(255).optional(), dataset: line(255) }), { max: ROUTES_MAX })
    .optional()
    .describe('Lines that match go to another dataset; the first route that matches counts.'),
})

const wishes = {
  version: line(40).optional().describe('The version of the agent; old ones are warned about.'),
  platform: z.enum(['linux', 'kubernetes', 'docker', 'windows']).optional(),
  collection: line(255).optional(),
  dataset: line(255).optional().describe('Where events go; where it is absent it follows the service name of OTLP, or is `default`.'),
  tags: Tags.optional(),
  options: ConfigOptions.optional(),
}
const agent = z.enum(agents)
export type AgentType = z.output<typeof agent>
const sources = list(ConfigSource, { max: SOURCES_MAX })
const prompt = text(0, 4_000).describe('A wish in words. A configured model reads it; without one, common words are understood.')

const ConfigChanges = z.strictObject({ ...wishes, sources: sources.optional() })
export type ConfigChanges = z.output<typeof ConfigChanges>

const ConfigRequest = z.object({
  agent,
  ...wishes,
  sources: sources.describe('May be empty when `prompt` names sources.'),
  prompt: prompt.optional(),
})
export type ConfigRequest = z.output<typeof ConfigRequest>

const config = text(0, CONFIG_CHARS_MAX).describe('The file as it is.')
const ConfigModification = z.object({ agent, config, changes: ConfigChanges.optional(), prompt: prompt.optional() })
export type ConfigModification = z.output<typeof ConfigModification>

const AgentConfig = z
  .object({
    id: uuid,
    agent,
    format: z.enum(['yaml', 'toml', 'conf']),
    config: z.string().describe('The file, with the environment variable DENDRO_API_KEY where the key goes.'),
    explanation: z.string().describe('What was done and why, a line for each wish.'),
    warnings: z.array(z.string()).describe('Wishes that the agent cannot fulfil, and what to look after.'),
    diff: z.string().optional().describe('What a change made of the file that was given, as a unified diff.'),
    metadata: Metadata,
  })
  .meta({ id: 'AgentConfig', description: 'A configuration of an agent that sends to this deployment.' })
export type AgentConfig = z.output<typeof AgentConfig>

const permission = 'config_assistant_use'

export const configAssistant = {
  agents: endpoint({
    method: 'GET',
    path: '/config-assistant/agents',
    permission,
    tier: 'C',
    summary: 'The agents whose configurations can be written',
    reply: z.object({
      agents: z.array(z.object({ agent, display_name: z.string(), formats: z.array(z.string()), sources: z.array(z.enum(sourceKinds)) })),
    }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/config-assistant/configs',
    permission,
    tier: 'C',
    summary: 'Write a configuration that sends to this deployment',
    body: ConfigRequest,
    status: 201,
    reply: AgentConfig,
    fails: [503],
  }),
  modify: endpoint({
    method: 'POST',
    path: '/config-assistant/configs/modify',
    permission,
    tier: 'C',
    summary: 'Change a configuration and keep everything else; without a wish it is made to send to this deployment as well',
    body: ConfigModification,
    reply: AgentConfig,
    fails: [503],
  }),
  validate: endpoint({
    method: 'POST',
    path: '/config-assistant/configs/validate',
    permission,
    tier: 'X',
    summary: 'Look for mistakes in the structure of a configuration',
    body: z.object({ agent, config }),
    reply: z.object({ valid: z.boolean(), problems: z.array(z.object({ line: z.int().optional(), message: z.string() })) }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/config-assistant/configs/{configId}',
    permission,
    tier: 'X',
    summary: 'A configuration that was written or changed lately',
    reply: AgentConfig,
    fails: [404],
  }),
}
