import { useEffect, useState } from 'react'
import { colorsOf, PALETTE } from './name-colors.ts'

/** The colors of the current theme in a form that a canvas accepts. */
export type ChartColors = {
  series: readonly string[]
  faint: readonly string[]
  ink: string
  soft: string
  line: string
  accent: string
  error: string
  warn: string
  sunk: string
  panel: string
}

const DASHES: readonly (readonly number[])[] = [[], [6, 3], [2, 3], [8, 3, 2, 3]]

/** dashOf distinguishes series of the same color. */
export const dashOf = (repeats: number): number[] => [...(DASHES[repeats % DASHES.length] ?? [])]
export const colorOf = (list: readonly string[], index: number): string => list[index % list.length] ?? 'grey'

/** The colors by index: the palette, then the colors of names with a meaning. */
const VARIABLES = [
  ...Array.from({ length: PALETTE }, (_, index) => `--color-series-${index + 1}`),
  '--color-bar-error',
  '--color-bar-warn',
  '--color-bar-info',
  '--color-soft',
]

/** A color as a CSS value. */
export const seriesColor = (index: number): string => `var(${VARIABLES[index % VARIABLES.length]})`

/** The colors of the series of one chart as CSS values. */
export const nameColors = (names: readonly string[]): string[] => colorsOf(names).map(seriesColor)

/** Follows the theme of the page and of the system. */
export function useChartColors(): ChartColors {
  const [colors, setColors] = useState(readColors)
  useEffect(() => {
    const read = () => setColors(readColors())
    const dark = matchMedia('(prefers-color-scheme: dark)')
    const turned = new MutationObserver(read)
    turned.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    dark.addEventListener('change', read)
    return () => {
      turned.disconnect()
      dark.removeEventListener('change', read)
    }
  }, [])
  return colors
}

/** Resolves the colors in the browser: a canvas supports neither CSS variables nor light-dark(). */
function readColors(): ChartColors {
  const probe = document.createElement('span')
  document.body.append(probe)
  const read = (color: string): string => {
    probe.style.color = color
    return getComputedStyle(probe).color
  }
  const probes = VARIABLES.map((_, index) => index)
  const named = (name: string) => read(`var(--color-${name})`)
  const colors = {
    series: probes.map((index) => read(seriesColor(index))),
    faint: probes.map((index) => read(`color-mix(in srgb, ${seriesColor(index)} 45%, var(--color-panel))`)),
    ink: named('ink'),
    soft: named('soft'),
    line: named('line'),
    accent: named('accent'),
    error: named('error'),
    warn: named('warn'),
    sunk: named('sunk'),
    panel: named('panel'),
  }
  probe.remove()
  return colors
}
