import { MonitorDraft, type MonitorTemplateChange, type MonitorTemplateDraft, type Template } from '@dendro/api'
import type { Actor } from '../../../http/actor.ts'
import { check } from '../../../http/validation.ts'
import { badField } from '../../../kernel/errors.ts'
import type { World } from '../../../world.ts'
import { metricDefinitionTemplates, draftFromTemplate as metricFromTemplate } from '../../queries/metric-definitions/metric-definitions.ts'
import { bindTemplate, checkReferences, fillIn, type Library, usesOf } from '../../queries/templates/templates.ts'

type StoredMonitorTemplate = Omit<MonitorTemplateDraft, 'metric' | 'metric_id' | 'this_template_tags'> & {
  type: NonNullable<MonitorTemplateDraft['type']>
  monitor_type: NonNullable<MonitorTemplateDraft['type']>
  metric_id: NonNullable<MonitorTemplateDraft['metric_id']>
  this_template_tags?: Record<string, string>
}

/** The fields that may hold placeholders. */
const texts = [
  'name',
  'description',
  'threshold',
  'warning_threshold',
  'actions',
  'notify_once',
  'window',
  'compare_to',
  'evaluation_window',
  'aux',
] as const satisfies readonly (keyof StoredMonitorTemplate)[]

export const monitorTemplates: Library<StoredMonitorTemplate> = {
  kind: 'monitor_template',
  parts: texts,
  uses: ({ metric_id }) => [usesOf(metricDefinitionTemplates, [metric_id])],
  check: (world, actor, { metric_id, parameters }) =>
    checkReferences(world, actor, metricDefinitionTemplates, { references: [metric_id], outer: parameters, fieldOf: () => 'metric' }),
}

/** Normalizes a template: one field each for type and metric. A change without tags keeps the tags. */
export function normalizeTemplate(
  { metric, metric_id, type, monitor_type, ...draft }: MonitorTemplateDraft | MonitorTemplateChange,
  before?: StoredMonitorTemplate,
): StoredMonitorTemplate {
  if (type !== undefined && monitor_type !== undefined && type !== monitor_type) {
    throw badField('monitor_type', 'must be absent or the same as type', 'CONFLICT')
  }
  const reference = metric ?? metric_id
  if (!reference) throw badField('metric', 'is required', 'INVALID_TYPE')
  if (metric && metric_id && metric.id !== metric_id.id) throw badField('metric_id', 'must be absent or the same as metric', 'CONFLICT')
  const kept = type ?? monitor_type ?? 'PATTERN'
  const tags = draft.this_template_tags ?? before?.this_template_tags
  return { ...draft, type: kept, monitor_type: kept, metric_id: reference, ...(tags ? { this_template_tags: tags } : {}) }
}

/** Fills a template with its arguments; fields of the request take precedence. */
export async function draftFromTemplate(
  world: World,
  actor: Actor,
  use: Template,
  requested: object,
): Promise<{ draft: MonitorDraft; template: Template }> {
  const { definition, binding, template } = await bindTemplate(world, actor, monitorTemplates, { ...use, field: 'template' })
  const filled = Object.fromEntries(texts.map((part) => [part, fillIn(definition[part], binding, part)]))
  const { id, arguments: args } = definition.metric_id
  const metric = await metricFromTemplate(world, actor, { id, arguments: args, field: 'template.metric_id', enclosing: binding })
  const { queries, formulas } = metric.draft
  const { comparison_operator, monitor_type, no_data_status, group_retention, change_type, anomaly_algorithm } = definition
  const given = Object.fromEntries(Object.entries(requested).filter(([, value]) => value !== undefined))
  const made = {
    comparison_operator,
    // The request may give the type under either name.
    ...('type' in given ? {} : { monitor_type }),
    no_data_status,
    group_retention,
    change_type,
    anomaly_algorithm,
    queries,
    formulas,
    ...filled,
    threshold: numberIn(filled.threshold),
    warning_threshold: numberIn(filled.warning_threshold),
    actions: jsonIn(filled.actions),
    notify_once: jsonIn(filled.notify_once),
    description: filled.description === '' ? undefined : filled.description,
  }
  return { draft: check(MonitorDraft, { ...made, ...given }, 'template'), template }
}

const numberIn = (text: unknown): unknown => (typeof text === 'string' && text.trim() !== '' ? Number(text) : undefined)

function jsonIn(text: unknown): unknown {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
