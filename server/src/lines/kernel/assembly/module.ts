import { initBytes } from './bytes'
import { forgetColumns, initColumns } from './columns'
import { clearKeys } from './keys'
import { initLevels } from './levels'
import { initMasks } from './masks'
import { ARENA, COLUMNS, LINE_SHAPES, LINES, MESSAGE, PATHS, RESULT, SHAPES, STEPS, VALUES } from './memory'
import { initNames } from './names'
import { clearNested } from './nested'
import { clearPaths } from './objects'
import { initPattern } from './pattern'
import { clearLevels } from './severity'
import { clearOpenMaps, clearShapes } from './shapes'
import { clearSteps } from './steps'
import { initTextKinds } from './text-kinds'
import { clearTextFormats } from './text-times'
import { clearTimes } from './times'

export { addOverflow, addText, arenaEnd, clearBlock, fillRows, forgetColumns, observe, writeRow } from './columns'
export { readRow, readTextRow, setArrival, setOptions } from './lines'
export { hashHigh, hashLow, hashMessage } from './masks'
export { clearOpenMaps } from './shapes'
export { formatOfTime, isTime, msOfTime, nsOfTime } from './times'
export { repair } from './utf8'

/** Fills the tables of classes, once. Places in the other tables depend on the secret, but no result does. */
export function init(secretHigh: i32, secretLow: i32): void {
  initBytes(secretHigh, secretLow)
  initMasks()
  initPattern()
  initTextKinds()
  initNames()
  initLevels()
  clearLevels()
  initColumns()
  clear()
}

/** Forgets what was learned from lines. */
export function clear(): void {
  clearKeys()
  clearSteps()
  clearShapes()
  clearOpenMaps()
  clearPaths()
  clearNested()
  clearTimes()
  clearTextFormats()
  forgetColumns()
}

/** The places that the host reads and writes. */
export function resultAt(): i32 {
  return RESULT
}
export function valuesAt(): i32 {
  return VALUES
}
export function lineShapesAt(): i32 {
  return LINE_SHAPES
}
export function pathsAt(): i32 {
  return PATHS
}
export function stepsAt(): i32 {
  return STEPS
}
export function shapesAt(): i32 {
  return SHAPES
}
export function messageAt(): i32 {
  return MESSAGE
}
export function linesAt(): i32 {
  return LINES
}
export function columnsAt(): i32 {
  return COLUMNS
}
export function arenaAt(): i32 {
  return ARENA
}
