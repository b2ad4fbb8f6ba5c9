import { Page } from '../../parts/shell/page.tsx'
import { ChartStates } from './chart-states.tsx'
import { ControlStates } from './control-states.tsx'
import { Group, State } from './kit-state.tsx'
import { PageStates } from './page-states.tsx'

const colors = [
  ...['ground', 'panel', 'sunk', 'line', 'ink', 'soft', 'accent', 'accent-ink', 'tint', 'mark'],
  ...['error', 'warn', 'info', 'bar-error', 'bar-warn', 'bar-info'],
  ...Array.from({ length: 8 }, (_, at) => `series-${at + 1}`),
] as const
const sizes = ['text-row', 'text-xs', 'text-sm', 'text-base', 'text-lg', 'text-xl'] as const

/** Shows every shared component in every state, for development and for the tests that compare them. No page links to it. */
export function KitPage() {
  return (
    <Page title="Components">
      <Group title="Colors">
        {colors.map((name) => (
          <State key={name} name={`color ${name}`} caption={name}>
            <span className="block h-8 w-20 rounded border border-line" style={{ background: `var(--color-${name})` }} />
          </State>
        ))}
      </Group>
      <Group title="Type scale">
        {sizes.map((size) => (
          <State key={size} name={`type ${size}`} caption={size}>
            <span className={size}>Events 0123456789</span>
          </State>
        ))}
        <State name="type log text" caption="log text">
          <span className="font-mono text-row">GET /cart 502 in 2,413 ms</span>
        </State>
      </Group>
      <ControlStates />
      <PageStates />
      <ChartStates />
    </Page>
  )
}
