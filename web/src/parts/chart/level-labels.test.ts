import { describe, expect, test } from 'vitest'
import { type LabelLevel, labelBoxes } from './level-labels.ts'

const area = { left: 60, top: 10, width: 300, height: 100, textHeight: 12, gap: 4 }
const alert = (y: number, width = 50): LabelLevel => ({ y, width, side: 'right' })
const warn = (y: number, width = 60): LabelLevel => ({ y, width, side: 'left' })

describe('the names of levels', () => {
  test.each([
    [
      'far apart: above their lines, at opposite ends',
      [alert(40), warn(80)],
      [
        ['right', 'above'],
        ['left', 'above'],
      ],
    ],
    ['at the top: below the line', [alert(14)], [['right', 'below']]],
    [
      'a line closely above: below the own line',
      [alert(40), warn(46)],
      [
        ['right', 'above'],
        ['left', 'below'],
      ],
    ],
    [
      'one height: at opposite ends',
      [alert(60), warn(60)],
      [
        ['right', 'above'],
        ['left', 'above'],
      ],
    ],
    [
      'one height, too wide for one line: above and below',
      [alert(60, 160), warn(60, 160)],
      [
        ['right', 'above'],
        ['left', 'below'],
      ],
    ],
    ['between two lines without room', [alert(40), warn(48), alert(56)], [['right', 'above'], undefined, ['right', 'below']]],
    ['wider than the plot', [alert(40, 400)], [undefined]],
  ] as const)('%s', (_, levels, expected) => {
    const boxes = labelBoxes(levels, area)
    const places = boxes.map(
      (box, at) => box && [box.left === area.left + area.gap ? 'left' : 'right', box.top < (levels[at]?.y ?? 0) ? 'above' : 'below'],
    )
    expect(places).toEqual(expected)
  })
})
