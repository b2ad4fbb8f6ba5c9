/** exploreUrl is the path of the Explore page with these search parameters. */
export const exploreUrl = (params: Record<string, unknown>): string =>
  `/app/explore?${Object.entries(params)
    .map(([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`)
    .join('&')}`
