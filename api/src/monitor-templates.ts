import { z } from 'zod'
import { MonitorStatus, monitorTypes, operators } from './monitor-shapes.ts'
import { aux, GROUP_RETENTION_MAX_MS } from './monitors.ts'
import { TemplateParameters, TemplateReference, templateLibrary } from './templates.ts'
import { Metadata, mapOf, text, uuid } from './values.ts'

const TAGS_MAX = 100
const ACTIONS_CHARS_MAX = 16_384

/** textOf also accepts numbers and booleans, and stores their text. */
const textOf = (charsMax: number) =>
  z.preprocess((given) => (['number', 'bigint', 'boolean'].includes(typeof given) ? String(given) : given), text(1, charsMax))

const TagMap = mapOf(text(1, 255), TAGS_MAX)

const members = {
  name: text(1, 255),
  description: text(0, 4_000).optional(),
  comparison_operator: z.enum(operators),
  threshold: textOf(255).describe('A number, or a text with `{{name}}` for a parameter.'),
  warning_threshold: textOf(255).optional(),
  actions: text(0, ACTIONS_CHARS_MAX).optional().describe('The list of actions as JSON text, or a placeholder for it.'),
  notify_once: textOf(255).optional(),
  window: text(1, 100),
  no_data_status: MonitorStatus.optional(),
  group_retention: z.int().min(0).max(GROUP_RETENTION_MAX_MS).optional(),
  aux: aux.optional(),
  compare_to: text(0, 100).optional(),
  change_type: z.enum(['DIFFERENCE', 'PERCENTAGE']).optional(),
  evaluation_window: text(0, 100).optional(),
  anomaly_algorithm: z.enum(['MEDIAN_MAD']).optional(),
}

const given = {
  ...members,
  type: z.enum(monitorTypes).optional().describe('The same as `monitor_type`.'),
  monitor_type: z.enum(monitorTypes).optional(),
  metric: TemplateReference.optional().describe(
    'The template of the metric definition with its arguments; required here or as `metric_id`.',
  ),
  metric_id: TemplateReference.optional().describe('The same as `metric`.'),
  parameters: TemplateParameters.default({}),
}

const Draft = z.object({ ...given, this_template_tags: TagMap })
export type MonitorTemplateDraft = z.output<typeof Draft>

/** Accepts tags as a map, or as a list of names and values. */
const tagsGiven = z.preprocess(
  (tags) =>
    Array.isArray(tags) && tags.length <= TAGS_MAX && tags.every(isNamed)
      ? Object.fromEntries(tags.map(({ name, value }) => [name, value]))
      : tags,
  TagMap,
)

const isNamed = (tag: unknown): tag is { name: string; value: unknown } =>
  typeof tag === 'object' && tag !== null && 'name' in tag && 'value' in tag && typeof tag.name === 'string'

const Change = z.object({ ...given, this_template_tags: tagsGiven.optional() })
export type MonitorTemplateChange = z.output<typeof Change>

export const MonitorTemplate = z
  .object({
    id: uuid,
    ...members,
    threshold: z.string(),
    warning_threshold: z.string().optional(),
    notify_once: z.string().optional(),
    aux: z.record(z.string(), z.unknown()).optional(),
    type: z.enum(monitorTypes),
    monitor_type: z.enum(monitorTypes),
    metric_id: TemplateReference,
    parameters: TemplateParameters,
    this_template_tags: z.record(z.string(), z.string()).optional(),
    metadata: Metadata,
  })
  .meta({
    id: 'MonitorTemplate',
    description: 'A monitor with parameters; its queries come from the template of a metric definition.',
  })

const library = templateLibrary('monitors', {
  of: 'monitors',
  draft: Draft,
  change: Change,
  shown: MonitorTemplate,
  permissions: ['monitors_read', 'monitors_write', 'monitors_delete'],
})

export const monitorTemplates = { ...library, list: { ...library.list, tier: 'S' as const } }
