import { isSame } from './bytes'
import { FULL } from './keys'
import { CUT, hasRepeatedPaths, IN_TEXT, isCutAlready, nestedAt, nestedValueCount, pathOfNested } from './nested'
import { SYMBOL, TEXT_END as VALUE_END, TEXT_START as VALUE_START } from './objects'
import { addWord, endShape, startShapes, TIME } from './shapes'
import { stepOfText, TEXT_END, TEXT_TIME, TEXT_VALUE, TEXT_WORDS } from './steps'
import { hasTextTime, textTimeEnd, textTimeStart } from './text-times'

/** Cuts the time and the values before the words out of a text, as the reference does. */
const NONE: i32 = -1

/** What became of a text: nothing can be cut out of it, or no shape rebuilds it; it has a shape; there is no more room. */
export const NO_SHAPE: i32 = 0
export const HAS_SHAPE: i32 = 1

/** The end of what is in the shape so far. */
let shapedTo: i32 = 0
let cuts: i32 = 0

/** Makes the shape of a text; `format` is that of its time, 0 when the time cannot be rebuilt. */
export function addTextShape(from: i32, to: i32, words: i32, format: i32): i32 {
  startShapes()
  shapedTo = from
  cuts = 0
  let isTimeLeft = hasTextTime()
  const count = nestedValueCount()
  for (let index = 0; index < count; index += 1) {
    const value = nestedAt(index)
    if (load<i32>(value, SYMBOL) !== IN_TEXT) continue
    const start = load<i32>(value, VALUE_START)
    const end = load<i32>(value, VALUE_END)
    if (isTimeLeft && start > textTimeStart()) {
      const state = cutTime(words, format)
      if (state !== HAS_SHAPE) return state
      isTimeLeft = false
    }
    if (start < shapedTo || end > words) continue
    // With the path of another value, which no shape can have twice.
    if (isCutAlready(value)) return NO_SHAPE
    if (!cut(start, end, pathOfNested(value), TEXT_VALUE)) return FULL
    store<i32>(value, CUT, SYMBOL)
  }
  if (isTimeLeft) {
    const state = cutTime(words, format)
    if (state !== HAS_SHAPE) return state
  }
  if (cuts === 0 || (hasRepeatedPaths() && !areKept())) return NO_SHAPE
  const step = stepOfText(shapedTo, words, NONE, words < to ? TEXT_WORDS : TEXT_END)
  if (step === FULL) return FULL
  addWord(step << 2)
  return endShape() ? HAS_SHAPE : FULL
}

function cut(start: i32, end: i32, path: i32, kind: i32): bool {
  const step = stepOfText(shapedTo, start, path, kind)
  if (step === FULL) return false
  addWord(kind === TEXT_TIME ? step : step << 2)
  shapedTo = end
  cuts += 1
  return true
}

function cutTime(words: i32, format: i32): i32 {
  if (textTimeStart() < shapedTo || textTimeEnd() > words) return HAS_SHAPE
  if (format === 0) return NO_SHAPE
  addWord(TIME)
  if (!cut(textTimeStart(), textTimeEnd(), NONE, TEXT_TIME)) return FULL
  addWord(format)
  return HAS_SHAPE
}

/** True when each value that is cut out is the one that is stored: the last of its path. */
function areKept(): bool {
  const count = nestedValueCount()
  for (let index = 0; index < count; index += 1) {
    const value = nestedAt(index)
    if (load<i32>(value, SYMBOL) !== CUT) continue
    const path = pathOfNested(value)
    let last = value
    for (let other = index + 1; other < count; other += 1) if (pathOfNested(nestedAt(other)) === path) last = nestedAt(other)
    if (last !== value && !areSame(value, last)) return false
  }
  return true
}

function areSame(one: i32, other: i32): bool {
  const length = load<i32>(one, VALUE_END) - load<i32>(one, VALUE_START)
  if (load<i32>(other, VALUE_END) - load<i32>(other, VALUE_START) !== length) return false
  return isSame(load<i32>(one, VALUE_START), load<i32>(other, VALUE_START), length)
}
