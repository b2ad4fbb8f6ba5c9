import type { ButtonHTMLAttributes } from 'react'

const looks = {
  plain: 'border border-line bg-panel hover:border-soft',
  main: 'bg-accent text-accent-ink hover:brightness-110',
  quiet: 'text-soft hover:bg-tint hover:text-ink',
  chosen: 'bg-tint text-ink font-medium',
}

const sizes = { normal: 'h-8 px-2.5', small: 'h-6.5 px-2 text-xs' }

type Style = { look?: keyof typeof looks; size?: keyof typeof sizes }

/** buttonClass is the style of a button, also for links. */
export const buttonClass = ({ look = 'plain', size = 'normal' }: Style = {}): string =>
  `inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap rounded disabled:cursor-default disabled:opacity-50 ${sizes[size]} ${looks[look]}`

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & Style

export function Button({ look = 'plain', size = 'normal', className = '', type = 'button', ...rest }: ButtonProps) {
  return <button type={type} className={`${buttonClass({ look, size })} ${className}`} {...rest} />
}
