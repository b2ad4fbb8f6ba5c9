import { type AskedRange, readAskedRange } from '../../parts/asked-range.ts'

const views = ['metrics', 'templates'] as const

/** Asked is what of the page stands in the address: the list, a dashboard over a range, or what is written or used. */
export type Asked = AskedRange & {
  id?: string
  /** widget, frame and metric are what is written; `new` is one that does not exist yet. */
  widget?: string
  frame?: string
  metric?: string
  /** into is the frame that a new widget is for. */
  into?: string
  /** template is the template that a dashboard is made from. */
  template?: string
  view?: (typeof views)[number]
  /** before tells that the period before is drawn too. */
  before?: true
}

const words = ['id', 'widget', 'frame', 'metric', 'into', 'template'] as const

export function readAsked(search: Record<string, unknown>): Asked {
  const asked: Asked = readAskedRange(search)
  for (const name of words) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') asked[name] = value
  }
  const view = views.find((one) => one === search.view)
  if (view) asked.view = view
  if (search.before === true) asked.before = true
  return asked
}
