import { ChevronDown } from 'lucide-react'
import { Icon } from './icon.tsx'

/** Marks a button that opens a menu. */
export const Caret = () => <Icon of={ChevronDown} size="small" className="caret -mr-0.5 opacity-70" />
