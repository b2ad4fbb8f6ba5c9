const KEY = 'dendro.queries'
const KEPT_MAX = 20

/** recentQueries are the last ones that were asked in this browser, newest first. */
export function recentQueries(): string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

export function keepQuery(query: string): void {
  if (query.trim() === '') return
  localStorage.setItem(KEY, JSON.stringify([query, ...recentQueries().filter((one) => one !== query)].slice(0, KEPT_MAX)))
}
