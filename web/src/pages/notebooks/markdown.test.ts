import type { Notebook } from '@dendro/api'
import { expect, test } from 'vitest'
import { fenced, notebookMarkdown } from './markdown.ts'

const notebook: Notebook = {
  id: '00000000-0000-4000-8000-000000000001',
  name: 'Outage\nof Friday',
  description: 'What we know.',
  version: 1,
  metadata: {},
  steps: [
    {
      title: 'Timeouts',
      words: 'They **began** at noon.\n',
      search_details: { from_expr: '*', where: "level = 'error'", from_ts: Date.UTC(2026, 0, 2, 12), to_ts: Date.UTC(2026, 0, 2, 13) },
    },
    { words: 'Then it stopped.' },
    { search_details: { from_expr: '*', time_range: 'Last 1 hour' } },
  ],
}

test('an investigation is written with its words, queries, times in UTC, links and lines', () => {
  const lines = [{ ms: Date.UTC(2026, 0, 2, 12, 0, 1, 5), text: 'upstream\n timed out' }]
  const results = [{ count: 1_200, isExact: true, lines }, undefined, { count: 7, isExact: false, lines: [] }]
  expect(notebookMarkdown(notebook, results, ({ search_details }) => (search_details?.where ? 'https://logs/x' : undefined))).toBe(
    `# Outage of Friday

What we know.

## 1. Timeouts

They **began** at noon.

\`\`\`
level = 'error'
\`\`\`

2026-01-02 12:00 – 13:00 UTC · 1,200 events · [open in Dendro](https://logs/x)

\`\`\`
2026-01-02 12:00:01.005  upstream timed out
\`\`\`

## 2. Note

Then it stopped.

## 3. Query

\`\`\`
all events
\`\`\`

Last 1 hour UTC · at least 7 events
`,
  )
})

test('lines with backticks stay within their block', () => {
  expect(fenced('a ```` b')).toBe('`````\na ```` b\n`````')
})

test('a query that could not be run says why', () => {
  const results = [{ failure: 'the event store\ndid not answer' }]
  const text = notebookMarkdown(notebook, results, () => undefined)
  expect(text).toContain('12:00 – 13:00 UTC\n\nThe query could not be run: the event store did not answer\n')
})
