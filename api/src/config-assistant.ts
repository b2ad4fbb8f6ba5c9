import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { list, Metadata, Tags, text, textList, uuid, withoutControls } from './values.ts'

const CONFIG_CHARS_MAX = 131_072
const SOURCES_MAX = 20
const PATHS_MAX = 50
const EXPRESSIONS_MAX = 20
const ROUTES_MAX = 10
const DAY_SECONDS = 86_400

const agents = ['otel-collector', 'fluent-bit', 'vector', 'filebeat', 'logstash', 'rsyslog', 'alloy'] as const
const sourceKinds = ['file', 'journald', 'syslog', 'docker', 'kubernetes', 'otlp'] as const

/** A text on one line of a configuration. */
const line = (max: number) => withoutControls(text(1, max))
const expression = line(1_000)
const port = z.int().min(1).max(65_535)

const SourceOptions = z
  .strictObject({
    paths: textList(line(4_096), { max: PATHS_MAX }).optional().describe('Files to read, with wildcards; only for `file`.'),
    units: textList(line(255), { max: PATHS_MAX }).optional().describe('Only these units; only for `journald`.'),
    port: port.optional().describe('Of `syslog` (5514 when absent), and of OTLP over HTTP (4318).'),
    grpc_port: port.optional().describe('Of OTLP over gRPC; 4317 when absent.'),
    protocol: z.enum(['tcp', 'udp']).optional().describe('Of `syslog`; `tcp` when absent.'),
  })
  .describe('Options of another kind of source lead to warnings.')

const ConfigSource = z.object({ kind: z.enum(sourceKinds), options: SourceOptions.optional() })
export type ConfigSource = z.output<typeof ConfigSource>

const ConfigOptions = z.strictObject({
  compression: z.enum(['gzip', 'zstd', 'none']).optional(),
  batch_size: z.int().min(1).max(100_000).optional().describe('Events sent at once.'),
  batch_seconds: z.int().min(1).max(300).optional().describe('How long to wait for a batch to fill.'),
  multiline: expression
    .optional()
    .describe('Regular expression for the first line of an event; lines that do not match continue the previous event.'),
  include_traces: z.boolean().optional().describe('Forwards traces received over OTLP.'),
  parse: z.enum(['json', 'logfmt']).optional().describe('Makes the agent parse keys and values from lines.'),
  redact: textList(expression, { max: EXPRESSIONS_MAX })
    .optional()
    .describe('Values to replace with *** before sending: `email`, `card`, `ip`, `token`, or a regular expression.'),
  drop: textList(expression, { max: EXPRESSIONS_MAX }).optional().describe('Regular expressions; lines that match one are not sent.'),
  sample_percent: z.int().min(1).max(99).optional().describe('Percentage of events to send, chosen at random.'),
  retry_seconds: z.int().min(0).max(DAY_SECONDS).optional().describe('How long to retry a batch; 0 retries until it succeeds.'),
  tls: z
    .strictObject({
      ca_file: line(4_096).optional(),
      cert_file: line(4_096).optional(),
      key_file: line(4_096).optional(),
      verify: z.boolean().optional().describe('false accepts any certificate of the service.'),
    })
    .optional(),
  routes: list(z.strictObject({ match: expression, collection: line(255).optional(), dataset: line(255) }), { max: ROUTES_MAX })
    .optional()
    .describe('Sends matching lines to another dataset; the first matching route wins.'),
})

const wishes = {
  version: line(40).optional().describe('Version of the agent; old versions lead to a warning.'),
  platform: z.enum(['linux', 'kubernetes', 'docker', 'windows']).optional(),
  collection: line(255).optional(),
  dataset: line(255).optional().describe('Target dataset; when absent, the OTLP service name or `default`.'),
  tags: Tags.optional(),
  options: ConfigOptions.optional(),
}
const agent = z.enum(agents)
export type AgentType = z.output<typeof agent>
const sources = list(ConfigSource, { max: SOURCES_MAX })
const prompt = text(0, 4_000).describe(
  'A request in plain words. A configured model interprets it; without a model, common words are understood.',
)

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
    config: z.string().describe('The configuration file; it reads the API key from the environment variable DENDRO_API_KEY.'),
    explanation: z.string().describe('What was configured and why, one line for each request.'),
    warnings: z.array(z.string()).describe('Requests that the agent cannot satisfy, and points to check.'),
    diff: z.string().optional().describe('The changes to the given file, as a unified diff.'),
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
    summary: 'List the agents that configurations can be generated for',
    reply: z.object({
      agents: z.array(z.object({ agent, display_name: z.string(), formats: z.array(z.string()), sources: z.array(z.enum(sourceKinds)) })),
    }),
  }),
  create: endpoint({
    method: 'POST',
    path: '/config-assistant/configs',
    permission,
    tier: 'C',
    summary: 'Generate a configuration that sends to this deployment',
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
    summary: 'Modify a configuration and keep the rest; without a request, it only adds sending to this deployment',
    body: ConfigModification,
    reply: AgentConfig,
    fails: [503],
  }),
  validate: endpoint({
    method: 'POST',
    path: '/config-assistant/configs/validate',
    permission,
    tier: 'X',
    summary: 'Validate the structure of a configuration',
    body: z.object({ agent, config }),
    reply: z.object({ valid: z.boolean(), problems: z.array(z.object({ line: z.int().optional(), message: z.string() })) }),
  }),
  get: endpoint({
    method: 'GET',
    path: '/config-assistant/configs/{configId}',
    permission,
    tier: 'X',
    summary: 'Get a recently generated or modified configuration',
    reply: AgentConfig,
    fails: [404],
  }),
}
