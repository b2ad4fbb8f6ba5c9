import { useCopying } from '../../../parts/shell/copied.ts'
import { boundsOf, type Range } from '../../../parts/time/time-range.ts'
import { exploreUrl } from '../events/detail/event-link.ts'
import { type ExploreParams, exploreRangeOf, withFixedTimes } from '../explore-params.ts'
import { curlOf, type ViewRequest } from './curl.ts'

type ShareMenuProps = { params: ExploreParams; columns: readonly string[]; view: ViewRequest }

/** Copies the view as a link with a relative or fixed time range, or as a curl command. */
export function ShareMenu({ params, columns, view: request }: ShareMenuProps) {
  const viewParams: ExploreParams = columns.length > 0 ? { ...params, cols: [...columns] } : params
  const range = exploreRangeOf(params)
  const relativeLink = {
    label: 'Link with relative time',
    note: `Shows "${rangeText(range)}" at the time of opening`,
    text: () => exploreUrl(viewParams),
  }
  const formats = [
    ...('words' in range ? [relativeLink] : []),
    {
      label: 'Link with fixed times',
      note: 'Shows the same events while they are retained',
      text: () => exploreUrl(withFixedTimes(viewParams, boundsOf(range, Date.now()))),
    },
    { label: 'curl command', note: 'Runs the same query in a terminal', text: () => curlOf(request) },
  ]
  const content = JSON.stringify([viewParams, request])
  return (
    <ul className="flex w-72 max-w-full flex-col gap-1">
      {formats.map((one) => (
        <li key={one.label}>
          <ShareFormat {...one} content={content} />
        </li>
      ))}
    </ul>
  )
}

type ShareFormatProps = { label: string; note: string; content: string; text(): string }

function ShareFormat({ label, note, content, text }: ShareFormatProps) {
  const { state, copy } = useCopying(content)
  return (
    <button type="button" className="w-full rounded px-2 py-1 text-left hover:bg-tint" onClick={() => copy(text)}>
      <span className="block">{label}</span>
      <span className="block text-soft text-xs" role="status">
        {state === 'copied' ? 'Copied.' : note}
      </span>
    </button>
  )
}

const rangeText = (range: Range): string => ('words' in range ? range.words : '')
