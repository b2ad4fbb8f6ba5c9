// A script, not a module, so that its declarations are global.
declare module 'virtual:routes' {
  const routes: import('@dendro/api').RoutesOf<typeof import('@dendro/api').contract>
}
declare module '*.css' {}
