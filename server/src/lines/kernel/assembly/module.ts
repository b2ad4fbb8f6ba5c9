import { initBytes } from './bytes'
import { clearKeys, FULL } from './keys'
import { initLevels } from './levels'
import { initMasks } from './masks'
import { LINE_SHAPES, LINES, MESSAGE, PATHS, RESULT, SHAPES, STEPS, VALUES } from './memory'
import { initNames } from './names'
import { beginNested, clearNested, nestedValueCount, readNested } from './nested'
import { clearPaths, WHOLE } from './objects'
import { initPattern } from './pattern'
import { clearLevels } from './severity'
import { clearOpenMaps, clearShapes } from './shapes'
import { clearSteps } from './steps'
import { initTextKinds } from './text-kinds'
import { clearTimes } from './times'

export { scratchEnd, setScratch } from './escapes'
export { readRow, setArrival, setOptions } from './lines'
export { hashHigh, hashLow, hashMessage } from './masks'
export { valueCount } from './objects'
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
}

/** Reads any text as one JSON object: the number of its values, -1 when it is none, or FULL. */
export function readObject(start: i32, end: i32): i32 {
  beginNested()
  const read = readNested(start, end)
  return read === WHOLE ? nestedValueCount() : read === FULL ? FULL : -1
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
