import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import type { Plugin } from 'vite';

/** The contract's schemas are checked by the services. Here only method and path matter, so its zod stays out of the bundle. */
const leanContract: Plugin = {
  name: 'lean-contract',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source === 'zod' && importer?.includes('/packages/contract/')
      ? new URL('./src/zod-shape.ts', import.meta.url).pathname
      : undefined,
};

export default defineConfig({
  plugins: [leanContract, react(), tailwindcss()],
  build: { target: 'es2023', reportCompressedSize: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
