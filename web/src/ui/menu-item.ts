/** The style of an entry of a menu: an icon and a name. */
export const menuItem = 'flex w-full items-center gap-2.5 whitespace-nowrap rounded px-2 py-1.5 text-left hover:bg-tint disabled:opacity-50'
