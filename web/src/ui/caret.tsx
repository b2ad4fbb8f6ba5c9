import { ChevronDown } from 'lucide-react'
import { Icon } from './icon.tsx'

/** Caret marks a button that opens a menu. */
export const Caret = () => <Icon of={ChevronDown} size="small" className="-mr-0.5 opacity-70" />
