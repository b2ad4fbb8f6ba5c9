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

test('what the form shows is what stands there, and what it changes is all that changes', () => {
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

test('another kind takes along what it needs and leaves behind what it does not know', () => {
  const change = withDraft(template, draftOfTemplate(template, []), { type: 'CHANGE_DETECTION' })
  expect(change).toMatchObject({ type: 'CHANGE_DETECTION', monitor_type: 'CHANGE_DETECTION', compare_to: '1 day ago' })
  expect(withDraft(change, draftOfTemplate(change, []), { type: 'PATTERN' })).toEqual(template)
})

test('whom a template tells is a list, or a text that only its parameters make one', () => {
  expect(targetsIn('[{"email":"{{email}}"}]')).toEqual([{ email: '{{email}}' }])
  expect(targetsIn('')).toEqual([])
  for (const strange of ['{{actions}}', '[{"email":"a","type":"EMAIL"}]', '{}']) expect(targetsIn(strange)).toBe(undefined)
})
