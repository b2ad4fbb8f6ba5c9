import { Link } from '@tanstack/react-router'
import { Permitted } from '../../../parts/shell/permitted.tsx'
import { buttonClass } from '../../../ui/button.tsx'
import type { Pattern } from './patterns.ts'

const NAME_CHARS = 60

/** Leads to a new ingest rule that drops lines with a pattern, with its effect on recent events. */
export function DropSimilar({ id, template, datasets }: Pick<Pattern, 'id' | 'template' | 'datasets'>) {
  const name = `Drop ${template.replace(/\s+/g, ' ').trim().slice(0, NAME_CHARS)}`
  return (
    <Permitted to="ingest_rules_write">
      <Link
        to="/data"
        search={{ rules: true, draft: { name, from: datasets, where: `@pattern = '${id}'`, action: { type: 'DROP' } } }}
        title="Drop such lines before they are stored; shows first what that would do"
        className={buttonClass({ size: 'small', variant: 'quiet' })}
      >
        Drop
      </Link>
    </Permitted>
  )
}
