// Entries of the file managers' menu, by the names that `docmount desktop run` takes. Apart from what they do, which loads the page.

export const desktopActions = ['keep', 'free', 'send', 'status', 'versions', 'link'] as const
export type DesktopAction = (typeof desktopActions)[number]
