// A script and not a module, so that these names are known everywhere.
declare module 'virtual:routes' {
  const routes: import('@dendro/api').RoutesOf<typeof import('@dendro/api').contract>
}
declare module '*.css' {}
