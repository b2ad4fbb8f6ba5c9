import type { LucideIcon } from 'lucide-react'

const sizes = { small: 14, normal: 16 }

type IconProps = { of: LucideIcon; size?: keyof typeof sizes; className?: string }

/** A decorative icon; the control that holds it has the name. */
export const Icon = ({ of: Glyph, size = 'normal', className = '' }: IconProps) => (
  <Glyph aria-hidden size={sizes[size]} strokeWidth={1.75} className={`inline-block shrink-0 align-[-0.15em] ${className}`} />
)
