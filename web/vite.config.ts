import { clientRoutes, contract } from '@dendro/api'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** clientRoutesModule brings the routes of the contract into the page as plain data; the schemas, a hundred times as large, stay at home. */
const clientRoutesModule = (): Plugin => ({
  name: 'dendro-routes',
  resolveId: (id) => (id === 'virtual:routes' ? '\0virtual:routes' : undefined),
  load: (id) => (id === '\0virtual:routes' ? `export const routes = ${JSON.stringify(clientRoutes(contract))}` : undefined),
})

/** preloadTypefaces requests the typefaces with the page, so that the first text has them. */
const preloadTypefaces = (): Plugin => ({
  name: 'dendro-typefaces',
  transformIndexHtml: {
    order: 'post',
    handler: (_, { bundle = {} }) =>
      Object.keys(bundle)
        .filter((name) => name.endsWith('.woff2'))
        .map((name) => ({
          tag: 'link',
          attrs: { rel: 'preload', href: `/app/${name}`, as: 'font', type: 'font/woff2', crossorigin: '' },
          injectTo: 'head',
        })),
  },
})

// biome-ignore lint/style/noDefaultExport: the bundler reads the default export
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss(), clientRoutesModule(), preloadTypefaces()],
  base: '/app/',
  build: { outDir: 'dist', emptyOutDir: true, assetsDir: 'files', target: 'es2023', modulePreload: { polyfill: false } },
})
