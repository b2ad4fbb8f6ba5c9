import type { ButtonHTMLAttributes } from 'react'

const variants = {
  plain: 'border border-line bg-panel hover:border-soft',
  main: 'bg-accent text-accent-ink hover:brightness-110',
  quiet: 'text-soft hover:bg-tint hover:text-ink',
  chosen: 'bg-tint text-ink font-medium',
}

const sizes = { normal: 'h-8 px-2.5', small: 'h-6.5 px-2 text-xs' }

type Style = { variant?: keyof typeof variants; size?: keyof typeof sizes }

/** The style of a button, also for links. */
export const buttonClass = ({ variant = 'plain', size = 'normal' }: Style = {}): string =>
  `inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap rounded disabled:cursor-default disabled:opacity-50 ${sizes[size]} ${variants[variant]}`

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & Style

export function Button({ variant = 'plain', size = 'normal', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`${buttonClass({ variant, size })} ${className}`} {...rest} />
}
