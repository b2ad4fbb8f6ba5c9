import { ChartArea, ChartColumnStacked, ChartLine, type LucideIcon } from 'lucide-react'
import { type ChartShape, chartShapes } from '../../../parts/chart/data.ts'
import { Button } from '../../../ui/button.tsx'
import { Icon } from '../../../ui/icon.tsx'

const shapes: Record<ChartShape, { name: string; icon: LucideIcon }> = {
  line: { name: 'Lines', icon: ChartLine },
  area: { name: 'Stacked areas', icon: ChartArea },
  bar: { name: 'Stacked bars', icon: ChartColumnStacked },
}

type ShapePickerProps = { shape: ChartShape; canStack: boolean; onPick(shape: ChartShape): void }

/** Selects how the chart is drawn. */
export function ShapePicker({ shape, canStack, onPick }: ShapePickerProps) {
  return (
    <fieldset aria-label="Shape of the chart" className="ml-2 flex">
      {chartShapes.map((one) => {
        const isPossible = one === 'line' || canStack
        return (
          <Button
            key={one}
            size="small"
            variant={one === shape ? 'chosen' : 'quiet'}
            aria-pressed={one === shape}
            aria-label={shapes[one].name}
            title={isPossible ? shapes[one].name : 'Only counts and sums of one measure can be stacked'}
            disabled={!isPossible}
            onClick={() => onPick(one)}
          >
            <Icon of={shapes[one].icon} />
          </Button>
        )
      })}
    </fieldset>
  )
}
