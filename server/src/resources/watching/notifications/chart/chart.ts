import { type Picture, pngOf, type RgbColor } from './png.ts'

/** The value of a monitor at its latest evaluations, the last one that of the message; null where there was nothing to measure. */
export type ValueHistory = { readonly fromMs: number; readonly toMs: number; readonly values: readonly (number | null)[] }

/** The displayed size; the image has twice as many pixels for high-resolution screens. */
export const CHART_WIDTH = 560
export const CHART_HEIGHT = 180
const [WIDTH, HEIGHT] = [CHART_WIDTH * 2, CHART_HEIGHT * 2]
const MARGIN = 16
const LINE = 4
const THRESHOLD = 3
const DOT = 9
const DASH = 18

const [PAPER, AREA, AXIS, VALUES, BOUND] = [0, 1, 2, 3, 4]
const palette: readonly RgbColor[] = [
  [255, 255, 255],
  [219, 231, 250],
  [196, 200, 206],
  [38, 96, 196],
  [179, 38, 30],
]

/** Draws the values as a line and each threshold as a dashed line. The numbers are given as text next to the image. */
export function chartOf({ values }: ValueHistory, bounds: readonly number[]): Buffer {
  const picture: Picture = { width: WIDTH, height: HEIGHT, colors: palette, pixels: new Uint8Array(WIDTH * HEIGHT).fill(PAPER) }
  const known = values.filter((value) => value !== null)
  const yOf = scaleY([0, ...known, ...bounds])
  const xOf = (index: number): number =>
    values.length < 2 ? WIDTH - MARGIN : MARGIN + (index * (WIDTH - 2 * MARGIN)) / (values.length - 1)
  const ground = yOf(0)
  const points = values.map((value, index) => (value === null ? undefined : { x: xOf(index), y: yOf(value) }))
  points.forEach((point, index) => {
    const before = points[index - 1]
    if (point && before) walkLine(before, point, (x, y) => bar(picture, x, y, ground, AREA))
  })
  box(picture, { x: MARGIN, y: ground, width: WIDTH - 2 * MARGIN, height: 2 }, AXIS)
  for (const bound of bounds) {
    for (let x = MARGIN; x < WIDTH - MARGIN; x += 2 * DASH) {
      box(picture, { x, y: yOf(bound) - THRESHOLD / 2, width: Math.min(DASH, WIDTH - MARGIN - x), height: THRESHOLD }, BOUND)
    }
  }
  points.forEach((point, index) => {
    const before = points[index - 1]
    if (point && before) walkLine(before, point, (x, y) => dot(picture, x, y, LINE / 2, VALUES))
    else if (point) dot(picture, point.x, point.y, LINE, VALUES)
  })
  const last = points.at(-1)
  if (last) dot(picture, last.x, last.y, DOT, VALUES)
  return pngOf(picture)
}

/** Maps the smallest number to the bottom and the largest to the top; equal numbers lie in the middle. */
function scaleY(numbers: readonly number[]): (value: number) => number {
  const [least, most] = [Math.min(...numbers), Math.max(...numbers)]
  const height = HEIGHT - 2 * MARGIN
  return (value) => (most === least ? HEIGHT / 2 : HEIGHT - MARGIN - ((value - least) / (most - least)) * height)
}

type Point = { readonly x: number; readonly y: number }

/** Steps along a line by less than a pixel. */
function walkLine(from: Point, to: Point, at: (x: number, y: number) => void): void {
  const steps = Math.max(1, Math.ceil(2 * Math.max(Math.abs(to.x - from.x), Math.abs(to.y - from.y))))
  for (let step = 0; step <= steps; step += 1) {
    at(from.x + ((to.x - from.x) * step) / steps, from.y + ((to.y - from.y) * step) / steps)
  }
}

const bar = (picture: Picture, x: number, y: number, ground: number, color: number): void =>
  box(picture, { x, y: Math.min(y, ground), width: 1, height: Math.abs(ground - y) }, color)

function dot(picture: Picture, x: number, y: number, radius: number, color: number): void {
  for (let down = -radius; down <= radius; down += 1) {
    const half = Math.sqrt(radius * radius - down * down)
    box(picture, { x: x - half, y: y + down, width: 2 * half, height: 1 }, color)
  }
}

function box(picture: Picture, { x, y, width, height }: { x: number; y: number; width: number; height: number }, color: number): void {
  const [left, top] = [Math.max(0, Math.round(x)), Math.max(0, Math.round(y))]
  const [right, bottom] = [Math.min(picture.width, Math.round(x + width)), Math.min(picture.height, Math.round(y + height))]
  for (let row = top; row < bottom; row += 1) {
    if (right > left) picture.pixels.fill(color, row * picture.width + left, row * picture.width + right)
  }
}
