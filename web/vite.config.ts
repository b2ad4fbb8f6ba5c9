import { clientRoutes, contract } from '@dendro/api'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { compressFiles } from './compress-files.ts'
import { preloadTypefaces, subsetTypefaces } from './typefaces.ts'

/** clientRoutesModule brings the routes of the contract into the page as plain data; the schemas, a hundred times as large, stay at home. */
const clientRoutesModule = (): Plugin => ({
  name: 'dendro-routes',
  resolveId: (id) => (id === 'virtual:routes' ? '\0virtual:routes' : undefined),
  load: (id) => (id === '\0virtual:routes' ? `export const routes = ${JSON.stringify(clientRoutes(contract))}` : undefined),
})

// biome-ignore lint/style/noDefaultExport: the bundler reads the default export
export default defineConfig(async () => {
  await subsetTypefaces()
  return {
    root: import.meta.dirname,
    plugins: [react(), tailwindcss(), clientRoutesModule(), preloadTypefaces(), compressFiles()],
    base: '/app/',
    build: {
      outDir: 'dist',
      emptyOutDir: true,
      assetsDir: 'files',
      target: 'es2023',
      modulePreload: { polyfill: false },
      // The first file has 510 kB, 137 kB compressed. bench/web.ts measures what each page loads.
      chunkSizeWarningLimit: 600,
    },
  }
})
