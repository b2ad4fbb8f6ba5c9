// A script, not a module, so that its declarations are global.
declare module 'virtual:routes' {
  const routes: import('@dendro/api').RoutesOf<typeof import('@dendro/api').contract>
}
declare module '*.css' {}
// biome-ignore lint/correctness/noUnusedVariables: it adds to the type of `import.meta`
interface ImportMeta {
  /** The bundler puts the files that match into the page. */
  glob<T>(pattern: string, options: { query: '?raw'; import: 'default'; eager: true }): Record<string, T>
}
