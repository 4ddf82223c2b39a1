import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react(), tailwindcss()],
  resolve: {
    // The contract's schemas are checked by the services. Here only method and path matter, so zod stays out of the bundle.
    alias: [{ find: /^zod$/, replacement: new URL('./src/zod-shape.ts', import.meta.url).pathname }],
  },
  build: { target: 'es2023', reportCompressedSize: false, modulePreload: { polyfill: false }, assetsInlineLimit: 0 },
});
