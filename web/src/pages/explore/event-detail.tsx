import type { Event } from '@dendro/api'
import { useState } from 'react'
import { copyText } from '../../parts/copy.ts'
import { Button } from '../../ui/button.tsx'
import { plainLine, prettyJson } from './line-text.ts'
import { linkTo } from './link.ts'
import { type ValueActions, ValueMenu } from './value-menu.tsx'

type EventDetailProps = { event: Event; actions: ValueActions; onContext(): void }

/** RAW_SHOWN_MAX bounds the text put into the page; a copy is always whole. */
const RAW_SHOWN_MAX = 20_000
const KEYS_SHOWN = 60

/** EventDetail is an event in full: every key with what can be done with it, and the line as it came. */
export function EventDetail({ event, actions, onContext }: EventDetailProps) {
  const [isAll, setAll] = useState(false)
  const raw = event['@raw'] ?? ''
  const pairs = [...Object.entries(event.message_kvs), ...Object.entries(event.attributes)]
  const shown = isAll ? pairs : pairs.slice(0, KEYS_SHOWN)
  const text = prettyJson(raw) ?? raw
  return (
    <div className="border-line border-t border-b bg-panel px-3 py-2 text-xs">
      <div className="mb-2 flex flex-wrap gap-1">
        <Button size="small" onClick={onContext} title="What was before and after (c)">
          Context
        </Button>
        <Button size="small" onClick={() => copyText(linkTo(event))} title="Copy a link that shows this event and what was around it">
          Copy link
        </Button>
        <Button size="small" onClick={() => copyText(raw)}>
          Copy line
        </Button>
        <Button size="small" onClick={() => copyText(JSON.stringify(Object.fromEntries(pairs), undefined, 2))}>
          Copy keys as JSON
        </Button>
      </div>
      <table className="w-full table-fixed">
        <caption className="sr-only">The keys of this event</caption>
        <colgroup>
          <col className="w-1/3 md:w-56" />
          <col />
        </colgroup>
        <tbody>
          {shown.map(([name, value]) => (
            <tr key={name} className="align-top">
              <th scope="row" className="truncate py-0.5 pr-3 text-left font-mono font-normal text-soft" title={name}>
                {name}
              </th>
              <td className="py-0.5">
                <ValueMenu
                  name={name}
                  value={value}
                  actions={actions}
                  className="max-h-40 max-w-full overflow-auto whitespace-pre-wrap break-all font-mono"
                >
                  {value === '' ? <span className="text-soft">(empty)</span> : plainLine(value)}
                </ValueMenu>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {pairs.length > shown.length && (
        <Button size="small" className="mt-1" onClick={() => setAll(true)}>
          Show all {pairs.length} keys
        </Button>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard too */}
      <pre tabIndex={0} className="mt-2 max-h-80 overflow-auto whitespace-pre-wrap break-all rounded bg-sunk p-2 font-mono">
        {plainLine(text.slice(0, RAW_SHOWN_MAX))}
        {text.length > RAW_SHOWN_MAX && ` … ${text.length - RAW_SHOWN_MAX} characters more; copy the line for all of it`}
      </pre>
    </div>
  )
}
