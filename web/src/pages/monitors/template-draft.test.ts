import { expect, test } from 'vitest'
import { draftOfTemplate, targetsIn, withDraft } from './template-draft.ts'

const template = {
  name: 'Errors in {{region}}',
  comparison_operator: 'ABOVE',
  threshold: '{{threshold}}',
  window: 'Last 5 minutes',
  type: 'PATTERN',
  monitor_type: 'PATTERN',
  anomaly_algorithm: 'MEDIAN_MAD',
  metric_id: { id: 'x', arguments: {} },
  parameters: { threshold: { type: 'DOUBLE' } },
}

test('the form shows the template and changes only what the user changes', () => {
  const draft = draftOfTemplate(template, [])
  expect(draft).toMatchObject({ threshold: '{{threshold}}', warning: '', noData: 'NO_DATA', window: 'Last 5 minutes' })
  expect(withDraft(template, draft, { warning: '{{warning}}', noData: 'OK', retentionHours: '2' })).toEqual({
    ...template,
    warning_threshold: '{{warning}}',
    no_data_status: 'OK',
    group_retention: 7_200_000,
  })
  expect(withDraft(template, draft, {})).toEqual(template)
})

test('a change of the kind adds its fields and removes those of the other', () => {
  const change = withDraft(template, draftOfTemplate(template, []), { type: 'CHANGE_DETECTION' })
  expect(change).toMatchObject({ type: 'CHANGE_DETECTION', monitor_type: 'CHANGE_DETECTION', compare_to: '1 day ago' })
  expect(withDraft(change, draftOfTemplate(change, []), { type: 'PATTERN' })).toEqual(template)
})

test('recipients are a list, or a text that parameters turn into one', () => {
  expect(targetsIn('[{"email":"{{email}}"}]')).toEqual([{ email: '{{email}}' }])
  expect(targetsIn('')).toEqual([])
  for (const strange of ['{{actions}}', '[{"email":"a","type":"EMAIL"}]', '{}']) expect(targetsIn(strange)).toBe(undefined)
})
