import type { ContentPackPreview } from '@dendro/api'
import { count } from '../../parts/chart/numbers.ts'
import { Panel } from '../../parts/shell/page.tsx'
import { Preview } from './preview.tsx'
import { styleOf } from './widget-style.ts'

type PackWidgetsProps = { preview: ContentPackPreview; range: string; isOld: boolean }

/** Draws every widget of a content pack over the range. */
export function PackWidgets({ preview: { dashboard, sampled }, range, isOld }: PackWidgetsProps) {
  return (
    <div className="flex flex-col gap-3" aria-busy={isOld}>
      <p className="text-soft">
        {dashboard.widgets.length === 0
          ? 'No widget fits: name the fields of the dataset under “Parameters”.'
          : `${count(dashboard.widgets.length)} widgets, ${range.toLowerCase()}.`}
        {sampled > 0 && ` The fields are those of the newest ${count(sampled)} events.`}
      </p>
      <div className="grid items-start gap-3 md:grid-cols-2">
        {dashboard.widgets.map(({ name, type, queries, formulas, failure }) => (
          <Panel key={name} title={name}>
            <div className="p-2">
              {failure === undefined ? (
                <Preview
                  type={type}
                  style={styleOf({})}
                  queries={queries}
                  formula={formulas[0]?.expression ?? ''}
                  formulaName={formulas[0]?.name}
                  range={{ words: range }}
                />
              ) : (
                <p role="alert" className="break-words p-2 text-error">
                  {failure}
                </p>
              )}
            </div>
          </Panel>
        ))}
      </div>
    </div>
  )
}
