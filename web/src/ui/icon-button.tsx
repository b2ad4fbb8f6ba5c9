import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes } from 'react'
import { Icon } from './icon.tsx'

type IconButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> & {
  icon: LucideIcon
  /** Names the button and is its tooltip. */
  label: string
}

/** A small button with an icon only. */
export const IconButton = ({ icon, label, className = '', type = 'button', title = label, ...rest }: IconButtonProps) => (
  <button
    type={type}
    aria-label={label}
    title={title}
    className={`inline-flex size-5.5 shrink-0 items-center justify-center rounded text-soft hover:bg-tint hover:text-ink disabled:opacity-50 ${className}`}
    {...rest}
  >
    <Icon of={icon} size="small" />
  </button>
)
