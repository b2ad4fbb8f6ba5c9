export type IndexRoute = { collection: string | undefined; dataset: string | undefined }

/** Suffixes that writers add to a name to get a new index each month, day or hour, or when one is full. */
const TAIL = /[-_.](?:(?:19|20)\d\d[.-]\d\d(?:[.-]\d\d){0,2}|\d{6})$/
const TAILS_MAX = 3
const BACKING_INDEX = '.ds-'
/** In a name such as <logs-{now/d}> the server computes the date. */
const DATE_MATH = /^<(.*?)\{.*\}>$/
const DATA_STREAM = /^(?:logs|metrics|traces|synthetics|profiling)-([^-]+)-(.+)$/

/** Decodes a part of a path; an invalid escape leaves it unchanged. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The dataset for an index. A data stream names its dataset and namespace; other names are the dataset without their date. */
export function routeOfIndex(index: string): IndexRoute {
  const name = withoutTails(withoutDateMath(index.startsWith(BACKING_INDEX) ? index.slice(BACKING_INDEX.length) : index))
  const [, dataset, namespace] = DATA_STREAM.exec(name) ?? []
  return dataset === undefined ? { collection: undefined, dataset: name || undefined } : { collection: namespace, dataset }
}

function withoutDateMath(index: string): string {
  const before = DATE_MATH.exec(index)?.[1]
  return before === undefined ? index : before.replace(/[-_.]+$/, '')
}

function withoutTails(index: string): string {
  let name = index
  for (let tails = 0; tails < TAILS_MAX; tails += 1) {
    const shorter = name.replace(TAIL, '')
    if (shorter === '' || shorter === name) return name
    name = shorter
  }
  return name
}
